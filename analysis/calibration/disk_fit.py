"""How well the model of a disk says what fio measured: quantile by quantile, run by run.

Law: what is compared is the model running under as many jobs as fio had, with fio's pauses between
two accesses, not the figures that the profile holds. A run that the profile claims to describe must
agree within 5 % from p10 to p99.9.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from analysis.calibration.disk_profile import DiskProfile, without
from analysis.calibration.fio_file import FioRun
from analysis.calibration.profile_text import disk_part
from analysis.calibration.refusal import CalibrationError
from sim.hardware.closed_loop import closed_loop
from sim.scenario import ScenarioError
from sim.scenario.profiles import hardware_of

LEVELS: Final = (0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.995, 0.999)
"""Quantiles that are compared."""
ALLOWED: Final = 0.05
_ACCESSES: Final = 100_000


@dataclass(frozen=True)
class RunFit:
    """A run beside the model."""

    run: FioRun
    profile: str
    measured_ns: tuple[int, ...]
    """At ``LEVELS``."""
    modelled_ns: tuple[int, ...]
    measured_per_s: float
    modelled_per_s: float
    modelled: tuple[int, ...]
    """All latencies, ascending, in nanoseconds."""

    @cached_property
    def errors(self) -> tuple[float, ...]:
        """By which share the model is off, at ``LEVELS``."""
        return tuple(
            model / max(1, measured) - 1
            for model, measured in zip(self.modelled_ns, self.measured_ns, strict=True)
        )

    @property
    def holds(self) -> bool:
        """Whether every quantile is within what is allowed."""
        return all(abs(error) <= ALLOWED for error in self.errors)


def fits(profiles: Sequence[DiskProfile]) -> list[RunFit]:
    """Returns every run that a profile claims to describe, beside the model; each run once."""
    done: list[RunFit] = []
    seen: set[Path] = set()
    for profile in profiles:
        spec = _spec(profile)
        for run in profile.runs:
            if run.path not in seen:
                seen.add(run.path)
                done.append(_fit(run, profile.name, spec))
    return done


def predictions(profile: DiskProfile) -> Iterator[RunFit]:
    """Yields each run of several jobs, predicted by a profile made without it."""
    for run in profile.runs:
        if run.kind == "append" and run.in_flight > 1:
            blind = without(profile, run.in_flight)
            if blind is not None:
                yield predicted_by(blind, run)


def predicted_by(profile: DiskProfile, run: FioRun) -> RunFit:
    """Returns a run beside a profile that may not have seen it."""
    return _fit(run, profile.name, _spec(profile))


def _spec(profile: DiskProfile) -> Any:
    """Returns the disk that a scenario gets which extends the profile's file."""
    part = disk_part(profile)
    try:
        return hardware_of(part.keys, profile.name).raft_disk
    except ScenarioError as error:
        problem = error.problems[0]
        message = f"makes no disk: {problem.path}: {problem.message}"
        raise CalibrationError(profile.runs[0].path, "", message) from None


def _fit(run: FioRun, name: str, spec: Any) -> RunFit:
    latencies, per_s = closed_loop(
        spec,
        "fetch" if run.kind == "fetch" else "append",
        jobs=run.in_flight,
        size_bytes=run.size_bytes,
        pause_ns=round(run.pause_ns),
        count=_ACCESSES,
    )
    latencies.sort()
    return RunFit(
        run=run,
        profile=name,
        measured_ns=tuple(run.latency.quantile_ns(level) for level in LEVELS),
        modelled_ns=tuple(_quantile(latencies, level) for level in LEVELS),
        measured_per_s=run.per_s,
        modelled_per_s=per_s,
        modelled=tuple(latencies),
    )


def _quantile(latencies: Sequence[int], level: float) -> int:
    return latencies[min(len(latencies) - 1, int(level * len(latencies)))]
