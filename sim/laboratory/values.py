"""Values in a script, read and shown: keys, timestamps, durations, sizes, ranges.

Law: what is shown can be read back. A timestamp below 2^18 is a plain number; one that has a
physical part is ``200ms`` or ``200ms+3``.

Source of the timestamp's layout: tikv/pd server/tso.
"""

from __future__ import annotations

import re

from sim.cluster.pd import TSO_PHYSICAL_SHIFT
from sim.laboratory.problems import ScriptProblem
from sim.protocol.keys import show_key
from sim.units import NS_PER_MS, NS_PER_S, NS_PER_US

_LOGICAL_MASK = (1 << TSO_PHYSICAL_SHIFT) - 1
_UNITS_NS = {"ns": 1, "us": NS_PER_US, "ms": NS_PER_MS, "s": NS_PER_S, "m": 60 * NS_PER_S}
_SIZES = {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "KB": 1000, "MB": 1000**2}
_QUANTITY = re.compile(r"(\d+(?:\.\d+)?)([A-Za-z]*)")
_TIMESTAMP = re.compile(r"(?:(\d+(?:\.\d+)?(?:ms|s|m)))?\+?(\d+)?")
_ESCAPE = re.compile(r"\\x([0-9a-fA-F]{2})")


def key_of(text: str) -> bytes:
    r"""Returns the key a word stands for; ``\x00`` is a byte."""
    return _ESCAPE.sub(lambda found: chr(int(found[1], 16)), text).encode("latin-1")


def duration_ns(text: str, *, bare_ns: int = 0) -> int:
    """Returns ``200ms`` in ns; ``bare_ns`` is the unit of a number without one, 0: refused.

    Raises:
        ScriptProblem: if it is no duration.
    """
    found = _QUANTITY.fullmatch(text)
    unit = _UNITS_NS.get(found[2], 0) if found else 0
    if found and not found[2]:
        unit = bare_ns
    if not found or not unit:
        raise ScriptProblem(f"{text!r} is no duration; write 200ms, 1.5s or 30us")
    return int(float(found[1]) * unit)


def size_bytes(text: str) -> int:
    """Returns ``32KiB``, or a number of bytes, in bytes.

    Raises:
        ScriptProblem: if it is no size.
    """
    found = _QUANTITY.fullmatch(text)
    unit = _SIZES.get(found[2] or "B", 0) if found else 0
    if not found or not unit:
        raise ScriptProblem(f"{text!r} is no size; write 300, 32KiB or 1MiB")
    return int(float(found[1]) * unit)


def timestamp(text: str) -> int:
    """Returns the timestamp that ``10``, ``200ms`` or ``200ms+3`` stands for.

    Raises:
        ScriptProblem: if it is no timestamp.
    """
    found = _TIMESTAMP.fullmatch(text)
    if not text or not found:
        raise ScriptProblem(f"{text!r} is no timestamp; write 10, 200ms, 200ms+3 or now")
    physical_ms = duration_ns(found[1]) // NS_PER_MS if found[1] else 0
    return (physical_ms << TSO_PHYSICAL_SHIFT) + int(found[2] or 0)


def key_range(text: str) -> tuple[bytes, bytes]:
    """Returns the bounds of ``[a,m)``; an open end is empty, ``-inf`` or ``+inf``.

    Raises:
        ScriptProblem: if it is no range.
    """
    if not (text.startswith(("[", "(")) and text.endswith((")", "]")) and text.count(",") == 1):
        raise ScriptProblem(f"{text!r} is no range; write [a, m), [, m) or [m, +inf)")
    start, end = (part.strip('"') for part in text[1:-1].split(","))
    lowest, highest = key_of("" if start == "-inf" else start), key_of(end)
    return lowest, b"" if end in {"+inf", "inf"} else highest


def show_timestamp(value: int) -> str:
    """Returns a timestamp as ``timestamp`` reads it."""
    physical_ms, logical = value >> TSO_PHYSICAL_SHIFT, value & _LOGICAL_MASK
    if not physical_ms:
        return str(logical)
    return f"{physical_ms}ms+{logical}" if logical else f"{physical_ms}ms"


def show_duration(value_ns: int) -> str:
    """Returns a duration in the largest unit that it has at least one of."""
    unit = next((unit for unit in ("s", "ms", "us") if value_ns >= _UNITS_NS[unit]), "ns")
    whole, rest = divmod(value_ns, _UNITS_NS[unit])
    if not rest:
        return f"{whole}{unit}"
    places = len(str(_UNITS_NS[unit])) - 1
    return f"{whole}.{rest:0{places}d}".rstrip("0") + unit


def show_keys(keys: list[bytes] | tuple[bytes, ...]) -> str:
    """Returns keys with a space between each two; ``nothing`` if there are none."""
    return " ".join(show_key(key) for key in keys) or "nothing"
