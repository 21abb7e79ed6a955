"""OpenMetrics text 1.0: families, samples, escapes, numbers; from courses to series of a family.

Law: a family's lines are together, a series' samples too and in the order of time. A counter whose
real name does not end in ``_total`` is of type ``unknown``, since OpenMetrics would rename it.

Source: OpenMetrics 1.0, "Text format".
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import numpy as np

from analysis.export.families import TOTAL, Buckets, Difference, Family, Labels, Level, Total
from analysis.export.unit_course import CounterCourse, Key, ReplicationFacts, up_to
from sim.units import NS_PER_MS, NS_PER_S

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


ZERO_AFTER_NS: Final = 10**6
"""A replication's zeros stand 1 ms after its beginning, where the last one's totals stand."""

INSTANCES: Final = {"tikv": "stores", "tidb": "tidb", "pessim": "pessim"}
"""Facts are counted over all nodes of a kind; they stand for one."""

_Series = dict[tuple[tuple[str, str], ...], list[Key]]


def family_lines(
    family: Family, replications: Sequence[ReplicationFacts], labels: Mapping[str, str]
) -> Iterator[str]:
    """Yields a family with all its series; nothing if the facts have none of it."""
    common = {"instance": INSTANCES[family.job], "job": family.job, **labels}
    body = [
        line
        for own, keys in sorted(_series(family, replications).items())
        for line in _series_lines(family, {**common, **dict(own)}, keys, replications)
    ]
    if body:
        yield from head(family.name, family.made_of.kind, family.about)
        yield from body


def _series(family: Family, replications: Sequence[ReplicationFacts]) -> _Series:
    """Returns the keys of facts behind each set of labels, in any replication."""
    facts = family.made_of.counters + family.made_of.series
    keys = {
        key
        for replication in replications
        for part in (replication.course.counters, replication.course.counts)
        for key in part
        if key[0] in facts
    }
    series: _Series = {}
    for key in sorted(keys):
        labels = family.labels_of(*key)
        if labels is not None:
            series.setdefault(tuple(sorted(labels.items())), []).append(key)
    return series


def _series_lines(
    family: Family, labels: Labels, keys: list[Key], replications: Sequence[ReplicationFacts]
) -> Iterator[str]:
    """Yields the samples of one series, in the order of time."""
    start = f"{family.name}{{{label_text(labels)}}}"
    for replication in replications:
        course, made_of = replication.course, family.made_of
        times = [timestamp(replication.begin_ns + at_ns) for at_ns in course.ends_ns]
        zero = timestamp(replication.begin_ns + ZERO_AFTER_NS)
        match made_of:
            case Total(divisor=divisor):
                totals = [0, *course.total(course.counters, keys).tolist()]
                values: list[str | None] = [decimal(total, divisor) for total in totals]
            case Difference(counters=(gained, lost)):
                ups, downs = (
                    course.total(course.counters, [key for key in keys if key[0] == fact])
                    for fact in (gained, lost)
                )
                values = [str(level) for level in (ups - downs).tolist()]
            case Level():
                values = _means(course, keys)
            case _:
                yield from _histogram_lines(family, labels, keys, course, [zero, *times])
                continue
        at = [zero, *times] if isinstance(made_of, Total) else times
        for value, time in zip(values, at, strict=True):
            if value is not None:
                yield f"{start} {value} {time}\n"


def _means(course: CounterCourse, keys: list[Key]) -> list[str | None]:
    """Returns the mean of each step; None without values."""
    counts = np.diff(course.total(course.counts, keys), prepend=0).tolist()
    sums = np.diff(course.total(course.sums, keys), prepend=0).tolist()
    return [
        str(round(total / count, 3)) if count else None
        for count, total in zip(counts, sums, strict=True)
    ]


def _histogram_lines(
    family: Family, labels: Labels, keys: list[Key], course: CounterCourse, times: Sequence[str]
) -> Iterator[str]:
    """Yields the samples of a histogram at every time, at the first of which all are 0."""
    counts = course.total(course.counts, keys)[:, None]
    match family.made_of:
        case Buckets(bounds_s=bounds_s):
            bounds_ns = [bound * NS_PER_S for bound in bounds_s]
            below = np.zeros((len(counts), len(bounds_ns)), dtype=np.int64)
            for key in keys:
                if key in course.buckets:
                    below += up_to(course.buckets[key], bounds_ns)
            counts, sums = np.hstack([below, counts]), course.total(course.sums, keys)
        case _:
            bounds_s, sums = (), course.total(course.counters, keys)
    name, text = family.name, label_text(labels)
    buckets = [f'{name}_bucket{{{text},le="{bound}"}}' for bound in bounds_text(bounds_s)]
    rows = [[0] * len(buckets), *counts.tolist()]
    for row, sum_ns, at in zip(rows, [0, *sums.tolist()], times, strict=True):
        for bucket, count in zip(buckets, row, strict=True):
            yield f"{bucket} {count} {at}\n"
        yield f"{name}_count{{{text}}} {row[-1]} {at}\n"
        yield f"{name}_sum{{{text}}} {decimal(sum_ns, NS_PER_S)} {at}\n"
