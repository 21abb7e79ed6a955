"""Why a measurement cannot be used: the file, the place in it, the cause, and what to do."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

MOST_BYTES: Final = 50 * 1024 * 1024
"""fio's histograms of a hundred jobs are 4 MB; a file larger than this is something else."""


_PACKED: Final = {
    b"\x1f\x8b": "gunzip", b"\x28\xb5\x2f\xfd": "unzstd", b"\xfd7zXZ": "unxz", b"BZh": "bunzip2",
    b"PK\x03\x04": "unzip",
}  # fmt: skip


_UTF_16_MARKS: Final = (b"\xff\xfe", b"\xfe\xff")
_UTF_16_ZEROS: Final = ([True, False, True, False], [False, True, False, True])
"""Which of the first four bytes are 0 in English text without a mark."""
_DIGITS: Final = 300
"""An integer of more may be beyond every float; it is read as one, which is infinite then."""
_AN_OBJECT: Final = re.compile(r"^\{", re.MULTILINE)


class CalibrationError(Exception):
    """A measurement that cannot be used; its text is one line."""

    def __init__(self, path: Path, place: str, message: str) -> None:
        """Args: ``place`` is a key or line of the file, or empty; ``message`` has the remedy."""
        super().__init__(": ".join(part for part in (str(path), place, message) if part))


def read_text(path: Path) -> str:
    """Returns a file's text.

    Raises:
        CalibrationError: if it cannot be read, is too large, or is no text.
    """
    try:
        with path.open("rb") as file:
            # Not as a whole: a device has no end.
            content = file.read(MOST_BYTES + 1)
            size_bytes = max(len(content), path.stat().st_size)
    except IsADirectoryError:
        raise CalibrationError(path, "", "is a folder; give the files in it") from None
    except OSError as error:
        raise CalibrationError(path, "", f"{error.strerror}; check the name") from None
    if size_bytes > MOST_BYTES:
        size = f"{size_bytes / 1024**2:.0f} MiB"
        raise CalibrationError(path, "", f"{size} is more than 50 MiB; give the summary alone")
    packed = next((how for magic, how in _PACKED.items() if content.startswith(magic)), None)
    if packed is not None:
        raise CalibrationError(path, "", f"is compressed; unpack it first: {packed}")
    if not content.strip():
        raise CalibrationError(path, "", "is empty; give the tool's own output")
    if content.startswith(_UTF_16_MARKS) or [byte == 0 for byte in content[:4]] in _UTF_16_ZEROS:
        raise CalibrationError(path, "", "is UTF-16 text; save it as UTF-8")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise CalibrationError(path, "", "is not text; give the tool's own output") from None


@dataclass(frozen=True, slots=True)
class JsonValue:
    """A value in a JSON file: what stands there, where that is, and how to get a better file."""

    path: Path
    place: str
    """Dotted; empty for the file as a whole."""
    value: Any
    """None: nothing."""
    remedy: str

    def __getitem__(self, key: str) -> JsonValue:
        """Returns the value of a key, whether or not it is there."""
        place = f"{self.place}.{key}".removeprefix(".")
        return JsonValue(self.path, place, self.entries.get(key), self.remedy)

    @property
    def entries(self) -> Mapping[str, Any]:
        """The entries of an object, and none of anything else."""
        return self.value if isinstance(self.value, dict) else {}

    @property
    def elements(self) -> list[JsonValue]:
        """The elements of a list, and none of anything else."""
        values = self.value if isinstance(self.value, list) else []
        return [
            JsonValue(self.path, f"{self.place}[{number}]", value, self.remedy)
            for number, value in enumerate(values)
        ]

    def refusal(self, message: str) -> CalibrationError:
        """Returns what to raise where the value cannot be used."""
        return CalibrationError(self.path, self.place, message)

    def number(self, most: float) -> float:
        """Returns a number between 0 and ``most``.

        Raises:
            CalibrationError: if it is none.
        """
        value = self.value
        if (
            isinstance(value, bool)
            or not isinstance(value, int | float)
            or not math.isfinite(value)
        ):
            raise self.refusal(f"is not a number; {self.remedy}")
        if not 0 <= value <= most:
            raise self.refusal(f"is {value:g}, which cannot be; measure again")
        return float(value)


def has_json(text: str) -> bool:
    """Returns whether a line of a text begins an object, be it behind a tool's remarks."""
    return text.lstrip().startswith("{") or _AN_OBJECT.search(text) is not None


def read_json(path: Path, remedy: str) -> JsonValue:
    """Returns the object that a JSON file holds; what a tool wrote before and after is skipped.

    Raises:
        CalibrationError: if it holds no such thing; ``remedy`` says how to make one.
    """
    text = read_text(path)
    begin = len(text) - len(text.lstrip())
    if text[begin] not in "{[" and (found := _AN_OBJECT.search(text)) is not None:
        begin = found.start()
    decoder = json.JSONDecoder(parse_int=_whole)
    try:
        document, end = decoder.raw_decode(text, begin)
        _check_end(path, text, end)
    except (json.JSONDecodeError, RecursionError) as error:
        place = f"line {error.lineno}" if isinstance(error, json.JSONDecodeError) else ""
        raise CalibrationError(path, place, f"is not JSON; {remedy}") from None
    if not isinstance(document, dict):
        raise CalibrationError(path, "", f"is not a JSON object; {remedy}")
    return JsonValue(path, "", document, remedy)


def _whole(digits: str) -> int | float:
    return int(digits) if len(digits) <= _DIGITS else float(digits)


def _check_end(path: Path, text: str, end: int) -> None:
    """Refuses what goes on behind an object: in its line, or with another one."""
    rest = text[end:]
    if (another := _AN_OBJECT.search(rest)) is not None or rest.lstrip().startswith("{"):
        line = text.count("\n", 0, end + (0 if another is None else another.start())) + 1
        raise CalibrationError(path, f"line {line}", "begins a second object; keep one of them")
    if rest.partition("\n")[0].strip():
        raise json.JSONDecodeError("Extra data", text, end)
