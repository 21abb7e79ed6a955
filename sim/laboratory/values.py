"""Values in a script, read and shown: keys, timestamps, durations, sizes, ranges.

What is shown can be read back. A timestamp below 2^18 is a plain number; one that has a
physical part is ``200ms`` or ``200ms+3``.

Source of the timestamp's layout: tikv/pd server/tso.
"""

import re
from typing import Final

from sim.laboratory.grammar import ScriptProblem
from sim.protocol.keys import show_key as plain_key
from sim.protocol.timestamp import compose_ts, logical_part, physical_ms
from sim.units import NS_PER_MS, NS_PER_S, NS_PER_US

LONGEST_KEY: Final = 1 << 20
MOST_WORDS: Final = 10_000
MOST_SHOWN: Final = 12

_UNITS_NS = {"ns": 1, "us": NS_PER_US, "ms": NS_PER_MS, "s": NS_PER_S, "m": 60 * NS_PER_S}
_SIZES = {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "KB": 1000, "MB": 1000**2}
_QUANTITY = re.compile(r"(\d+(?:\.\d+)?)([A-Za-z]*)")
_TIMESTAMP = re.compile(r"(?:(\d+(?:\.\d+)?(?:ms|s|m)))?\+?(\d+)?")
_REPEATED = re.compile(r"(.)\{(\d+)\}", re.DOTALL)
_NUMBERS = re.compile(r"\{(\d+)\.\.(\d+)\}")
_RUN = re.compile(r"(.)\1{31,}", re.DOTALL)
_ESCAPE = re.compile(r"\\x([0-9a-fA-F]{2})")


def key_of(text: str) -> bytes:
    r"""Returns the key a word stands for; ``\x00`` is a byte, ``k{300}`` is ``k`` 300 times.

    Raises:
        ScriptProblem: if it has a character that is no byte, or is longer than a key may be.
    """
    plain = _ESCAPE.sub(lambda found: chr(int(found[1], 16)), text)
    lengths = [int(found[2]) for found in _REPEATED.finditer(plain)]
    if sum(lengths) > LONGEST_KEY:
        raise ScriptProblem(f"{text} is longer than {LONGEST_KEY} bytes; write a shorter key")
    try:
        return _REPEATED.sub(lambda found: found[1] * int(found[2]), plain).encode("latin-1")
    except UnicodeEncodeError:
        raise ScriptProblem(rf"{text} is not a key; write bytes above 127 as \xe4") from None


def show_key(key: bytes) -> str:
    """Returns a key as ``key_of`` reads it; a long run of one character is ``k{300}``."""
    return _RUN.sub(lambda run: f"{run[1]}{{{len(run[0])}}}", plain_key(key))


def expanded(word: str) -> list[str]:
    """Returns the words that ``k{1..3}`` stands for: ``k1``, ``k2``, ``k3``.

    Numbers are padded as the first one is.

    Raises:
        ScriptProblem: if there are more than ten thousand.
    """
    found = _NUMBERS.search(word)
    if found is None:
        return [word]
    first, last = int(found[1]), int(found[2])
    if not 0 <= last - first < MOST_WORDS:
        raise ScriptProblem(f"{found[0]} goes over {MOST_WORDS} or backwards; write {{1..300}}")
    width = len(found[1])
    head, tail = word[: found.start()], word[found.end() :]
    return [each for n in range(first, last + 1) for each in expanded(f"{head}{n:0{width}d}{tail}")]


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
        raise ScriptProblem(f"{text!r} is not a duration; write 200ms, 1.5s or 30us")
    return int(float(found[1]) * unit)


def size_bytes(text: str) -> int:
    """Returns ``32KiB``, or a number of bytes, in bytes.

    Raises:
        ScriptProblem: if it is no size.
    """
    found = _QUANTITY.fullmatch(text)
    unit = _SIZES.get(found[2] or "B", 0) if found else 0
    if not found or not unit:
        raise ScriptProblem(f"{text!r} is not a size; write 300, 32KiB or 1MiB")
    return int(float(found[1]) * unit)


def timestamp(text: str) -> int:
    """Returns the timestamp that ``10``, ``200ms`` or ``200ms+3`` stands for.

    Raises:
        ScriptProblem: if it is no timestamp.
    """
    found = _TIMESTAMP.fullmatch(text)
    if not text or not found:
        raise ScriptProblem(f"{text!r} is not a timestamp; write 10, 200ms, 200ms+3 or now")
    milliseconds = duration_ns(found[1]) // NS_PER_MS if found[1] else 0
    return compose_ts(milliseconds, int(found[2] or 0))


def key_range(text: str) -> tuple[bytes, bytes]:
    """Returns the bounds of ``[a,m)``; an open end is empty, ``-inf`` or ``+inf``.

    Raises:
        ScriptProblem: if it is no range.
    """
    if not (text.startswith(("[", "(")) and text.endswith((")", "]")) and text.count(",") == 1):
        raise ScriptProblem(f"{text!r} is not a range; write [a, m), [, m) or [m, +inf)")
    start, end = (part.strip('"') for part in text[1:-1].split(","))
    lowest, highest = key_of("" if start == "-inf" else start), key_of(end)
    return lowest, b"" if end in {"+inf", "inf"} else highest


def show_timestamp(value: int) -> str:
    """Returns a timestamp as ``timestamp`` reads it."""
    milliseconds, logical = physical_ms(value), logical_part(value)
    if not milliseconds:
        return str(logical)
    return f"{milliseconds}ms+{logical}" if logical else f"{milliseconds}ms"


def show_duration(value_ns: int) -> str:
    """Returns a duration in the largest unit that it has at least one of."""
    unit = next((unit for unit in ("s", "ms", "us") if value_ns >= _UNITS_NS[unit]), "ns")
    whole, rest = divmod(value_ns, _UNITS_NS[unit])
    if not rest:
        return f"{whole}{unit}"
    places = len(str(_UNITS_NS[unit])) - 1
    return f"{whole}.{rest:0{places}d}".rstrip("0") + unit


def show_keys(keys: list[bytes] | tuple[bytes, ...]) -> str:
    """Returns keys with a space between each two; ``nothing`` if there are none.

    Of more than a dozen only the first, the last and their number are shown.
    """
    if len(keys) > MOST_SHOWN:
        return f"{show_key(keys[0])} … {show_key(keys[-1])} ({len(keys)} keys)"
    return " ".join(show_key(key) for key in keys) or "nothing"
