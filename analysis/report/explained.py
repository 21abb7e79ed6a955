"""What to expect of the variants of a study at its points: estimates."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from analysis.metrics.catalogue import DISK_STATIONS
from analysis.study.study import Study
from analysis.study.units import point_words
from sim.estimate import Estimate, Estimates, has_estimate
from sim.scenario.problems import Mark, Problem, ScenarioError


@dataclass(frozen=True, slots=True)
class Explained:
    """The estimates of one point, by variant."""

    point: Mapping[str, Any]
    variants: Mapping[str, Estimate]

    @property
    def title(self) -> str:
        """The point in words; empty without a sweep."""
        return point_words(self.point)


def explained(study: Study, points: int | None = None) -> list[Explained]:
    """Returns the estimates at a study's first points, or at all.

    Raises:
        ScenarioError: it has no transactions.
    """
    kinds = {each.workload.kind for each in study.variants.values() if not has_estimate(each)}
    if kinds:
        wrong = (
            f"{kinds.pop()} has no transactions to explain; run it, or choose tpcc, oltp_* or "
            "custom"
        )
        raise ScenarioError([Problem(Mark(study.name), "workload.kind", wrong)])
    estimates = Estimates()
    return [
        Explained(
            point, {name: estimates.of(study.scenario(point, name)) for name in study.variants}
        )
        for point in study.points[:points]
    ]


class Expected(NamedTuple):
    """A number that ``summary.json`` has under the same name; None where there is no balance."""

    metric: str
    class_: str
    value: float | None


def expected(found: Estimate) -> Iterator[Expected]:
    """Yields the numbers of an estimate, under the names that they have in a summary."""
    yield Expected("txn_per_s", "all", found.txn_per_s if found.in_balance else None)
    yield Expected("txn_latency_ms", "all", found.response_ms)
    yield Expected("lock_latency_ms", "all", found.lock_latency_ms)
    yield Expected("disk_write_bytes_per_txn", "all", found.bytes_per_txn)
    for place, size in found.write_bytes_per_txn.items():
        yield Expected("disk_write_bytes_per_txn", place, size)
    yield Expected("fsync_per_s", "all", found.fsyncs_per_s)
    yield Expected("proposals_per_txn", "all", found.proposals_per_txn)
    for station in found.stations:
        yield Expected(busy_metric(station.name), station.name, station.utilisation)


def busy_metric(station: str) -> str:
    """Returns the metric that says how busy a station is."""
    return "disk_busy" if station in DISK_STATIONS else "cpu_busy"
