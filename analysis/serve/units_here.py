"""Units that the explorer simulates: one at a time, in a process of its own, kept as facts.

They lie in a folder of their own, as units of any study do, under the hash of all that decides
them. An interval is made of the parts of each unit, and of all units of a case that there are.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from analysis.metrics.catalogue import STATIONS_OF
from analysis.metrics.rounding import short, with_half_width
from analysis.pipeline.study_tables import read_unit_metrics
from analysis.program import IMPORTED_FROM, module
from analysis.serve.studies import Studies
from analysis.statistics.intervals import mean_and_ends
from analysis.statistics.saturation import Verdict
from analysis.study.ledger import read_failure
from analysis.study.run import has_fixed_times
from analysis.study.study import Study
from analysis.study.unit_folder import UnitRecord, model_digest, read_unit
from analysis.study.units import Point

Simulated = Mapping[str, Any]
"""``from``, ``values`` (that intervals rest on), ``figures`` by name, each with ``value``, ``low``
and ``high``, ``busy`` by station, and the ``verdict`` on what does not stand its load."""

FOLDER: Final = ".explorer"
FIGURES: Final[Mapping[str, tuple[str, float]]] = {
    "lock_latency_ms": ("lock_latency_ms", 1.0),
    "txn_per_s": ("txn_per_s", 1.0),
    "txn_latency_ms": ("txn_latency_ms", 1.0),
    "write_kib_per_txn": ("disk_write_bytes_per_txn", 1 / 1024),
    "fsyncs_per_s": ("fsync_per_s", 1.0),
}
"""Metric and scale of each figure of a page."""

MOST_REPLICATIONS: Final = 50
_PARTS: Final = 5
"""Batches of a unit where the study does not say how many."""
_LATENCIES: Final = frozenset({"lock_latency_ms", "txn_latency_ms"})
_FINE: Final = frozenset({Verdict.STABLE, Verdict.NOT_JUDGED})


class BusyError(Exception):
    """A unit is being simulated; the message says so."""


@dataclass(slots=True)
class _Job:
    process: subprocess.Popen[bytes]
    unit_hash: str
    begun_s: float
    stopped: bool = False


class UnitsHere:
    """Simulates units, and reads those that there are."""

    def __init__(self, studies: Studies) -> None:
        """Takes the studies, beside which the units are kept."""
        self._folder = studies.results / FOLDER
        self._units_dir = self._folder / "units"
        self._turn = threading.Lock()
        self._job: _Job | None = None
        self._read: dict[tuple[str, ...], Simulated] = {}

    def found(self, study: Study, point: Point, variant: str) -> Iterator[Simulated]:
        """Yields what units simulated here say of a case; nothing if there are none."""
        units = list(self._done(study, point, variant))
        if not units:
            return
        names = tuple(unit_hash for unit_hash, _ in units)
        if names not in self._read:
            parts = study.run.batches
            if parts == 1 and not has_fixed_times(study.scenario(point, variant)):
                parts = _PARTS
            self._read[names] = _summed(self._units_dir, units, parts)
        yield self._read[names]

    def _done(self, study: Study, point: Point, variant: str) -> Iterator[tuple[str, UnitRecord]]:
        for replication in range(MOST_REPLICATIONS):
            unit_hash = study.config_hash(point, variant, replication)
            if not (self._units_dir / unit_hash).is_dir():
                return
            record = read_unit(self._units_dir / unit_hash)
            if record is None or record.model != model_digest():
                return
            yield unit_hash, record

    def start(self, file: Path, study: Study, point: Point, variant: str) -> None:
        """Begins to simulate the next replication of a case.

        Args:
            file: of the study, which the other process reads again.
            study: what the file says.
            point: of the case.
            variant: likewise.

        Raises:
            BusyError: if a unit is being simulated, or there are enough of this case.
        """
        with self._turn:
            if self._job is not None and self._job.process.poll() is None:
                raise BusyError("one unit is simulated at a time; wait for it, or stop it")
            replication = sum(1 for _ in self._done(study, point, variant))
            if replication == MOST_REPLICATIONS:
                raise BusyError(f"there are {replication} replications of this case; for more, "
                                "run the scenario")  # fmt: skip
            unit_hash = study.config_hash(point, variant, replication)
            asked = {
                "file": str(file), "point": dict(point), "variant": variant,
                "replication": replication, "units_dir": str(self._units_dir),
            }  # fmt: skip
            process = subprocess.Popen(
                [sys.executable, "-m", module("analysis.serve.one_unit")],
                cwd=IMPORTED_FROM,
                env=os.environ | {"PYTHONPATH": str(IMPORTED_FROM)},
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
            if process.stdin is not None:
                process.stdin.write(json.dumps(asked).encode())
                process.stdin.close()
            self._job = _Job(process, unit_hash, time.monotonic())

    def state(self) -> dict[str, Any]:
        """Returns how the last unit is: ``state`` (none, running, done, stopped or failed)."""
        job = self._job
        if job is None:
            return {"state": "none"}
        if job.process.poll() is None:
            return {"state": "running", "seconds": time.monotonic() - job.begun_s}
        if job.stopped:
            return {"state": "stopped"}
        if (self._units_dir / job.unit_hash).is_dir():
            return {"state": "done"}
        failure = read_failure(self._units_dir, job.unit_hash)
        return {"state": "failed", "error": failure.error if failure else "its process has ended"}

    def stop(self) -> None:
        """Ends the unit that is being simulated, if there is one."""
        job = self._job
        if job is not None and job.process.poll() is None:
            job.stopped = True
            job.process.terminate()
            job.process.wait(10)


def figure(value: float, low: float | None, high: float | None) -> dict[str, Any]:
    """Returns a simulated figure with its interval, and the words for both."""
    if low is None or high is None:
        return {"value": value, "low": None, "high": None, "words": f"{short(value)} (n=1)"}
    words = with_half_width(value, (high - low) / 2)
    return {"value": value, "low": low, "high": high, "words": words}


def _summed(units_dir: Path, units: list[tuple[str, UnitRecord]], parts: int) -> Simulated:
    tall = read_unit_metrics(None, units_dir, [record for _, record in units], batches=parts)
    tall = tall[tall["stat"] == "mean"]
    verdicts = {Verdict(record.verdict) for _, record in units}
    refused = any(verdict.refused for verdict in verdicts)
    figures = {}
    for name, (metric, scale) in FIGURES.items():
        chosen = tall[(tall["metric"] == metric) & (tall["class"] == "all")]
        if chosen.empty or (refused and name in _LATENCIES):
            continue
        figures[name] = figure(*mean_and_ends(chosen["value"].to_numpy(dtype=np.float64) * scale))
    busy = tall[tall["metric"].isin(STATIONS_OF)].groupby("class")["value"].mean()
    return {
        "from": "here",
        "values": len(units) * parts,
        "figures": figures,
        "busy": {str(name): float(value) for name, value in busy.items()},
        "verdict": ", ".join(sorted(str(verdict) for verdict in verdicts - _FINE)),
    }
