"""OpenMetrics text 1.0: families, samples, escapes, numbers. It knows nothing of what they mean.

Law: a family's lines are together, a series' samples too and in the order of time. A counter whose
real name does not end in ``_total`` is of type ``unknown``, since OpenMetrics would rename it.

Source: OpenMetrics 1.0, "Text format".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np

from analysis.export.families import TOTAL, Labels
from sim.units import NS_PER_MS

EOF: Final = "# EOF\n"
_ESCAPES: Final = str.maketrans({"\\": r"\\", '"': r"\"", "\n": r"\n"})
_UNITS: Final = ("seconds", "bytes")


def head(name: str, kind: str, about: str) -> Iterator[str]:
    """Yields the lines that open a family.

    Args:
        name: of the family's samples, without ``_bucket`` and the like.
        kind: ``counter``, ``gauge`` or ``histogram``.
        about: one sentence.
    """
    if kind == "counter" and not name.endswith(TOTAL):
        kind = "unknown"
    family = name.removesuffix(TOTAL) if kind == "counter" else name
    yield f"# TYPE {family} {kind}\n"
    for unit in _UNITS:
        if family.endswith(f"_{unit}"):
            yield f"# UNIT {family} {unit}\n"
    yield f"# HELP {family} {about.translate(_ESCAPES)}\n"


def sample(name: str, labels: Labels, value: str, at_ns: int) -> str:
    """Returns one line; ``at_ns`` counts from 1970."""
    return f"{name}{{{label_text(labels)}}} {value} {timestamp(at_ns)}\n"


def label_text(labels: Labels) -> str:
    """Returns ``a="1",b="2"``, sorted by name, ``le`` last; a label without a value is absent."""
    names = sorted((name for name in labels if labels[name]), key=lambda name: (name == "le", name))
    return ",".join(f'{name}="{labels[name].translate(_ESCAPES)}"' for name in names)


def timestamp(at_ns: int) -> str:
    """Returns seconds with three decimals: what Prometheus keeps."""
    at_ms = at_ns // NS_PER_MS
    return f"{at_ms // 1000}.{at_ms % 1000:03d}"


def decimal(value: int, divisor: int) -> str:
    """Returns ``value / divisor`` exactly; the divisor is a power of ten."""
    if divisor == 1:
        return str(value)
    whole, rest = divmod(value, divisor)
    digits = str(rest).zfill(len(str(divisor)) - 1).rstrip("0")
    return f"{whole}.{digits or '0'}"


def bound_text(bound: float) -> str:
    """Returns a bound without an exponent: ``0.0005``, ``1.0``."""
    return str(np.format_float_positional(bound, trim="0"))


def bounds_text(bounds_s: Sequence[float]) -> list[str]:
    """Returns all bounds of a histogram, with infinity."""
    return [*map(bound_text, bounds_s), "+Inf"]
