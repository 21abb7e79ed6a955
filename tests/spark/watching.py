"""A study of the stub for tests of what runs it, and a watch that remembers."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

from analysis.pipeline.run_units import Watch
from analysis.pipeline.unit_task import UnitJob
from analysis.study.study import Study
from analysis.study.unit_folder import file_digest
from analysis.study.units import Unit
from sim.record.facts import TABLES
from tests.planned import plan_units
from tests.stub_model import run_settings, stub_study


class Remembers(Watch):
    """A watch that keeps what it was told, and wants to stop after some failures."""

    def __init__(self, stop_at: float = math.inf) -> None:
        self.ended = 0
        self.failures: list[tuple[str, str, int]] = []
        """Variant, error, and how many units had ended when it was told."""
        self._stop_at = stop_at

    def finished(self, done: int) -> None:
        """Takes the number of units that have ended."""
        assert done >= self.ended
        self.ended = done

    def failed(self, unit: Unit, error: str) -> None:
        """Takes a failure."""
        self.failures.append((unit.variant, error, self.ended))

    @property
    def wants_stop(self) -> bool:
        """Whether there were failures enough."""
        return len(self.failures) >= self._stop_at


def small_study(name: str = "stub", replications: int = 2) -> Study:
    """Returns a study of three variants that takes no time."""
    run = run_settings(measure_ns=300_000_000, replications=replications)
    return stub_study(name=name, run=run)


def job_in(folder: Path, study: Study, function: str) -> tuple[UnitJob, list[Unit]]:
    """Returns a job whose units are run by a function of ``tests``, and its units."""
    units_dir = folder / "units"
    units_dir.mkdir(parents=True, exist_ok=True)
    return UnitJob(study, str(units_dir), f"tests.{function}"), plan_units(study)


def facts_of(units_dir: Path) -> dict[str, list[str]]:
    """Returns the digests of all facts, by unit hash; leftovers would be units, too."""
    return {
        folder.name: [file_digest(folder / f"{table}.parquet") for table in TABLES]
        for folder in sorted(units_dir.iterdir())
    }


def processes_below(pid: int, named: str) -> list[int]:
    """Returns the processes started by a process, or by those, whose command line says a word."""
    parents = dict(_parents())
    found = []
    for child in parents:
        above: int | None = child
        while above is not None and above != pid:
            above = parents.get(above)
        if above == pid and child != pid and named in _command(child):
            found.append(child)
    return found


def _parents() -> Iterator[tuple[int, int]]:
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                status = (entry / "stat").read_text()
            except OSError:
                continue
            yield int(entry.name), int(status.rpartition(")")[2].split()[1])


def _command(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
    except OSError:
        return ""
