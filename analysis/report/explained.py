"""What to expect of the variants of a study at its points: estimates."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from analysis.metrics.catalogue import STATIONS_OF, MetricKey
from analysis.study.study import Study
from analysis.study.units import point_words
from sim.estimate import Estimate, Estimates, has_estimate
from sim.scenario.problems import Mark, Problem, ScenarioError

_BUSY: Final = {name: metric for metric, names in STATIONS_OF.items() for name in names}


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


def expected(found: Estimate) -> Iterator[tuple[MetricKey, float | None]]:
    """Yields the numbers that a summary has under the same key; None where there is no balance."""
    yield MetricKey("txn_per_s"), found.txn_per_s if found.in_balance else None
    yield MetricKey("txn_latency_ms"), found.response_ms
    yield MetricKey("lock_latency_ms"), found.lock_latency_ms
    yield MetricKey("disk_write_bytes_per_txn"), found.bytes_per_txn
    for place, size in found.write_bytes_per_txn.items():
        yield MetricKey("disk_write_bytes_per_txn", place), size
    yield MetricKey("fsync_per_s"), found.fsyncs_per_s
    yield MetricKey("proposals_per_txn"), found.proposals_per_txn
    for station in found.stations:
        yield MetricKey(_BUSY.get(station.name, "cpu_busy"), station.name), station.utilisation
