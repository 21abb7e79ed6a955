"""A unit's folder: facts, ``unit.json``, and the promise that both are whole.

A unit is written into a sibling with a temporary name and renamed when everything is on disk, so a
folder under its own name is complete. Its digests are checked before it is used again; a folder
that does not agree with them is run anew, and so is what another model has made, even between two
commits.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
import shutil
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final
from uuid import uuid4

from analysis.program import ROOT
from sim.record.facts import TABLES
from sim.units import NS_PER_S

if TYPE_CHECKING:
    from analysis.study.parquet_sink import ParquetSink

UNIT_FILE: Final = "unit.json"
TEMPORARY_PREFIX: Final = ".writing-"
FAILED_SUFFIX: Final = ".failed"

_NOT_THE_UNITS: Final = frozenset(
    (
        errno.ENOSPC,
        errno.EDQUOT,
        errno.EFBIG,
        errno.EROFS,
        errno.EACCES,
        errno.EPERM,
        errno.EIO,
        errno.ESTALE,
    )
)
"""A full or broken disk, a folder without the right to write: other units would fail as well."""

_PLACE_TRIES: Final = 10
_PARQUET: Final = b"PAR1"
ROOM_BYTES: Final = 256 * 1024


class UnitNotWrittenError(OSError):
    """Facts could not be written, whatever they were; ``filename`` is the folder of units."""


@dataclass(frozen=True, slots=True)
class UnitRecord:
    """What ``unit.json`` says beside the facts."""

    unit_hash: str
    variant: str
    replication: int
    point: dict[str, object]
    window_ns: int
    simulated_ns: int
    warmup_windows: int
    """Windows to leave out at the start."""
    verdict: str
    """A ``statistics.saturation.Verdict``: whether the unit carried its load."""
    verdict_reason: str
    """Why; empty for a stable unit."""
    events: int
    transactions: int
    violations: list[str]
    wall_s: float
    cpu_s: float
    model: str
    """Digest of the source of the model that made the facts."""
    digests: dict[str, str] = field(default_factory=dict)
    """SHA-256 of each fact file."""
    others_went_on: bool = False
    """Of a unit that had an outage: whether only some transactions never came back."""

    @property
    def measured_s(self) -> float:
        """Simulated seconds after the warm-up."""
        return (self.simulated_ns - self.warmup_windows * self.window_ns) / NS_PER_S


def file_digest(path: Path) -> str:
    """Returns the SHA-256 of a file in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def fact_digests(folder: Path) -> dict[str, str]:
    """Returns the digest of every fact file in a unit's folder."""
    return {table: file_digest(folder / f"{table}.parquet") for table in TABLES}


def write_unit(
    units_dir: Path, unit_hash: str, run: Callable[[ParquetSink, Callable[[], Path]], UnitRecord]
) -> UnitRecord:
    """Runs a unit into a temporary folder and gives it its name when it is whole.

    Args:
        units_dir: ``results/<study>/units``.
        unit_hash: name of the folder to be.
        run: writes facts into the sink, and returns the record without digests. Its second
            argument closes the sink and returns the folder, for whoever reads the facts back.

    Raises:
        UnitNotWrittenError: if the folder cannot be written.
    """
    from analysis.study.parquet_sink import ParquetSink  # `status` must not wait for Arrow

    temporary = units_dir / f"{TEMPORARY_PREFIX}{unit_hash}-{uuid4().hex[:8]}"
    try:
        temporary.mkdir(parents=True)
        with ParquetSink(temporary) as sink:

            def closed() -> Path:
                sink.close()
                return temporary

            record = run(sink, closed)
        record = UnitRecord(**{**asdict(record), "digests": fact_digests(temporary)})
        _write_json(temporary / UNIT_FILE, asdict(record))
        _put_in_place(temporary, units_dir / unit_hash, record)
    except OSError as error:
        if error.errno in _NOT_THE_UNITS or not temporary.is_dir():
            reason = os.strerror(error.errno) if error.errno else str(error)
            raise UnitNotWrittenError(error.errno, reason, str(units_dir)) from error
        raise
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    failure_path(units_dir, unit_hash).unlink(missing_ok=True)
    return record


def failure_path(units_dir: Path, unit_hash: str) -> Path:
    """Returns the file that says why a unit failed."""
    return units_dir / f"{unit_hash}{FAILED_SUFFIX}"


def check_room(units_dir: Path) -> None:
    """Writes and removes as much as a small unit takes.

    Raises:
        UnitNotWrittenError: if that cannot be written.
    """
    probe = units_dir / f"{TEMPORARY_PREFIX}room-{uuid4().hex[:8]}"
    try:
        probe.mkdir()
        (probe / "room").write_bytes(bytes(ROOM_BYTES))
    except OSError as error:
        raise UnitNotWrittenError(error.errno, error.strerror, str(units_dir)) from error
    finally:
        shutil.rmtree(probe, ignore_errors=True)


def unfinished_attempts(units_dir: Path, unit_hash: str) -> int:
    """Returns how many attempts at a unit are being written, or have died."""
    return sum(1 for _ in units_dir.glob(f"{TEMPORARY_PREFIX}{unit_hash}-*"))


def _put_in_place(temporary: Path, final: Path, record: UnitRecord) -> None:
    """Gives a whole folder its name, also if another attempt at the same unit does so just now.

    A folder never loses its name to be emptied under it: a reader sees a whole one or none.
    """
    for _ in range(_PLACE_TRIES):
        try:
            temporary.replace(final)
        except OSError as error:
            if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                raise
        else:
            return
        there = read_unit(final)
        if there is not None and (there.digests, there.model) == (record.digests, record.model):
            return
        outdated = final.with_name(f"{TEMPORARY_PREFIX}{final.name}-{uuid4().hex[:8]}")
        with contextlib.suppress(FileNotFoundError):
            final.replace(outdated)
        shutil.rmtree(outdated, ignore_errors=True)
    raise UnitNotWrittenError(errno.EEXIST, "others keep writing the same unit", str(final))


def _write_json(path: Path, content: dict[str, object]) -> None:
    with path.open("w", encoding="utf-8") as file:
        json.dump(content, file, indent=1, sort_keys=True)
        file.flush()
        os.fsync(file.fileno())


def is_cut(folder: Path) -> bool:
    """Returns whether a unit's record or a fact file ends too soon or is missing.

    Only the ends of files are read; what was changed in between is for ``read_unit`` to find.
    """
    try:
        json.loads((folder / UNIT_FILE).read_text(encoding="utf-8"))
        return not all(_has_both_ends(folder / f"{table}.parquet") for table in TABLES)
    except (OSError, ValueError):
        return True


def _has_both_ends(path: Path) -> bool:
    """Returns whether a file begins and ends as Parquet does: its last bytes are written last."""
    with path.open("rb") as file:
        first = file.read(len(_PARQUET))
        file.seek(-len(_PARQUET), os.SEEK_END)
        return first == file.read() == _PARQUET


def read_unit(folder: Path) -> UnitRecord | None:
    """Returns the record of a finished unit, or None if the folder is missing, cut or changed."""
    try:
        content = json.loads((folder / UNIT_FILE).read_text(encoding="utf-8"))
        record = UnitRecord(**content)
        return record if record.digests == fact_digests(folder) else None
    except (OSError, ValueError, TypeError):
        return None


_KINDS: Final = ("*.py", "*.yaml")


@cache
def source_digest(*packages: str) -> str:
    """Returns the SHA-256 over names and contents of some packages' Python files and tables."""
    digest = hashlib.sha256()
    for package in packages:
        for path in sorted(path for kind in _KINDS for path in (ROOT / package).rglob(kind)):
            content = path.read_bytes()
            digest.update(f"{path.relative_to(ROOT).as_posix()} {len(content)}\n".encode())
            digest.update(content)
    return digest.hexdigest()


def model_digest() -> str:
    """Returns the digest of the model, by which a unit's facts are made."""
    return source_digest("sim")
