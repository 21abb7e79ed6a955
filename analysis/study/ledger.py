"""Which units are done, failed (and why), running or missing.

The ledger is the folder itself: ``<hash>/`` is done, ``<hash>.failed`` has failed and says why,
``.writing-<hash>-*`` is being written. There is no list beside it that could say something else. A
failure is written at once by whoever saw it, and goes when the unit is done or tried again.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Final, Self

from analysis.study.study_folder import Holder, lock_holder, write_text_whole
from analysis.study.unit_folder import (
    FAILED_SUFFIX,
    TEMPORARY_PREFIX,
    UnitNotWrittenError,
    UnitRecord,
    failure_path,
    is_cut,
    read_unit,
)
from analysis.study.units import AskedUnits, Unit, read_plan


@dataclass(frozen=True, slots=True)
class UnitFailure:
    """Why a unit has no facts."""

    unit_hash: str
    variant: str
    replication: int
    point: dict[str, object]
    error: str
    """One line."""
    trace: str
    """Python's traceback; empty if the process died."""
    model: str
    """Digest of the source of the model that failed."""
    attempts: int
    """How often the unit has been tried, earlier runs included."""


def write_failure(units_dir: Path, failure: UnitFailure) -> None:
    """Writes a failure whole.

    Raises:
        UnitNotWrittenError: if it cannot be written.
    """
    text = json.dumps(asdict(failure), indent=1) + "\n"
    try:
        write_text_whole(failure_path(units_dir, failure.unit_hash), text)
    except OSError as error:
        raise UnitNotWrittenError(error.errno, error.strerror, str(units_dir)) from error


def read_failure(units_dir: Path, unit_hash: str) -> UnitFailure | None:
    """Returns why a unit failed; None if it has not, or the file cannot be read."""
    try:
        content = json.loads(failure_path(units_dir, unit_hash).read_text(encoding="utf-8"))
        return UnitFailure(**content)
    except (OSError, ValueError, TypeError):
        return None


READERS: Final = 4


@dataclass(frozen=True, slots=True)
class Scan:
    """The folder at a glance, by unit hash; nothing is opened."""

    done: frozenset[str]
    failed: frozenset[str]
    running: frozenset[str]
    """Being written, or left by a run that was killed."""


@dataclass(frozen=True, slots=True)
class Ledger:
    """A plan, split three ways."""

    done: dict[Unit, UnitRecord]
    failed: dict[Unit, str]
    """The error of each."""
    missing: list[Unit]


def scan(units_dir: Path) -> Scan:
    """Looks the folder over, with one listing."""
    done: set[str] = set()
    failed: set[str] = set()
    running: set[str] = set()
    try:
        with os.scandir(units_dir) as entries:
            for name in (entry.name for entry in entries):
                if name.startswith(TEMPORARY_PREFIX):
                    running.add(name.removeprefix(TEMPORARY_PREFIX).rpartition("-")[0])
                elif name.startswith("."):
                    continue
                elif name.endswith(FAILED_SUFFIX):
                    failed.add(name.removesuffix(FAILED_SUFFIX))
                else:
                    done.add(name)
    except FileNotFoundError:
        pass
    return Scan(frozenset(done), frozenset(failed - done), frozenset(running - done))


def read_ledger(units_dir: Path, plan: Sequence[Unit], model: str | None = None) -> Ledger:
    """Looks every unit of the plan up, and checks its digests.

    Only a folder that agrees with its digests is done. Done or failed by another model is missing.

    Args:
        units_dir: ``results/<study>/units``.
        plan: the units asked for.
        model: digest of the model that must have made them; None for any.
    """
    seen = scan(units_dir)
    records = _read_records(units_dir, (unit for unit in plan if unit.unit_hash in seen.done))
    done: dict[Unit, UnitRecord] = {}
    failed: dict[Unit, str] = {}
    missing: list[Unit] = []
    for unit in plan:
        record = records.get(unit.unit_hash)
        if record is not None and model in (None, record.model):
            done[unit] = record
            continue
        error = _failure(units_dir, unit.unit_hash, model) if unit.unit_hash in seen.failed else ""
        if error:
            failed[unit] = error
        else:
            missing.append(unit)
    return Ledger(done, failed, missing)


def _failure(units_dir: Path, unit_hash: str, model: str | None) -> str:
    failure = read_failure(units_dir, unit_hash)
    return "" if failure is None or model not in (None, failure.model) else failure.error


def _read_records(units_dir: Path, units: Iterable[Unit]) -> dict[str, UnitRecord | None]:
    """Reads units several at a time: hashing and waiting for a disk leave Python free."""
    hashes = [unit.unit_hash for unit in units]
    with ThreadPoolExecutor(READERS) as readers:
        records = readers.map(read_unit, (units_dir / unit_hash for unit_hash in hashes))
        return dict(zip(hashes, records, strict=True))


STATES: Final = ("done", "failed", "running", "missing")
DAMAGED: Final = "damaged"
"""State of a unit that is done, to judge by the folder's listing, and that cannot be used."""


@dataclass(frozen=True, slots=True)
class StudyState:
    """A study's folder at a glance; no unit is opened."""

    folder: Path
    plan: AskedUnits
    by_unit: Mapping[Unit, str]
    """One of ``STATES`` or ``DAMAGED``, in the order of the plan.

    What a killed run was writing is missing.
    """
    holder: Holder | None
    """Who is writing into the folder."""

    @classmethod
    def now(cls, folder: Path) -> Self:
        """Looks a folder over.

        Raises:
            StudyFolderError: if it has no plan.
        """
        plan = read_plan(folder)
        holder = lock_holder(folder)  # before the folder is read: what ends in between is done
        seen = scan(folder / "units")
        of_hash = {} if holder is None else dict.fromkeys(seen.running, "running")
        of_hash |= dict.fromkeys(seen.failed, "failed") | dict.fromkeys(seen.done, "done")
        by_unit = {unit: of_hash.get(unit.unit_hash, "missing") for unit in plan.units}
        return cls(folder, plan, by_unit, holder)

    def but_cut(self) -> Self:
        """Returns it with units whose files end too soon, as a look at their ends shows."""
        units = self.folder / "units"
        return self.but_damaged(
            [unit for unit in self.units("done") if is_cut(units / unit.unit_hash)]
        )

    def but_damaged(self, damaged: Collection[Unit]) -> Self:
        """Returns it with units whose folders have been looked into, and are not whole."""
        return replace(self, by_unit={**self.by_unit, **dict.fromkeys(damaged, DAMAGED)})

    @property
    def variants(self) -> list[str]:
        """Variants that have units."""
        return list(dict.fromkeys(unit.variant for unit in self.by_unit))

    def units(self, state: str) -> list[Unit]:
        """Returns the units in a state."""
        return [unit for unit, is_in in self.by_unit.items() if is_in == state]

    def counts(self, variant: str | None = None) -> Counter[str]:
        """Returns how many units, of one variant or all, are in each state."""
        return Counter(
            state for unit, state in self.by_unit.items() if variant in {None, unit.variant}
        )
