"""The estimate of ``explain`` and the simulation of one variant, side by side.

* A variant is simulated at its study's first point, for less time than the scenario asks for; the
  estimate is made for that same time, and for the transactions that were drawn in it (one Delivery
  more or less in twenty moves bytes by a percent, and is no error of the estimate). Draws are
  fixed, so nothing here depends on luck.
* Saturated means: in the simulation a station was 90 % busy, or pollers were in rounds for so long.
* What the engines hold back until half a megabyte has gathered counts as written: a short window
  would otherwise see no flush, or a whole one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from statistics import fmean
from typing import Final, NamedTuple

from analysis.study.load import load_study
from analysis.study.study import Study
from benchmarks.documents import ROOT
from sim.client.client_stats import PATH_NAMES
from sim.estimate import Estimate, Sample, draw, estimate, has_estimate, mean_of, same_footprint
from sim.record.facts import MemorySink
from sim.scenario import Scenario
from sim.server.store import Store
from sim.simulation import SimulatedUnit
from sim.units import NS_PER_MS, NS_PER_S

SCENARIOS: Final = ROOT / "scenarios"
SATURATED: Final = 0.9
HARDLY_USED: Final = 0.02
"""Share of time; how often a station below it was met is mostly chance."""


@dataclass(frozen=True)
class Length:
    """How long a scenario is simulated."""

    warmup_ns: int
    shortest_ns: int
    transactions: int
    """That end in the measured time, unless it is the shortest."""
    settled_after: int
    """Transactions that each client has had before it, on average, unless the warm-up is longer."""


_BELOW_SATURATION: Final = Length(100 * NS_PER_MS, 600 * NS_PER_MS, 600, 8)
_AT_SATURATION: Final = Length(60 * NS_PER_MS, 40 * NS_PER_MS, 200, 0)
"""Where the estimate speaks of saturation, so short a run may say that it is so."""


@dataclass(frozen=True)
class Beside:
    """What the simulation did, and what was expected of it.

    Attributes:
        simulated, estimated: share of time that each station is busy, by name.
        simulated_in_rounds, estimated_in_rounds: share of time that pollers do not wait for mail.
        simulated_bytes, estimated_bytes: written a transaction; no estimate is None.
        simulated_per_s, estimated_per_s: transactions.
        simulated_lock_ms, estimated_lock_ms: mean latency of a lock; None: it takes none, or has
            no estimate.
    """

    simulated: Mapping[str, float]
    estimated: Mapping[str, float]
    simulated_in_rounds: float
    estimated_in_rounds: float
    simulated_bytes: float
    estimated_bytes: float | None
    simulated_per_s: float = 0.0
    estimated_per_s: float = 0.0
    simulated_lock_ms: float | None = None
    estimated_lock_ms: float | None = None

    @property
    def busiest(self) -> tuple[float, float]:
        """How busy what was busiest is, pollers in rounds included: simulated, and estimated."""
        return (
            max(self.simulated_in_rounds, *self.simulated.values()),
            max(self.estimated_in_rounds, *self.estimated.values()),
        )

    @property
    def is_saturated(self) -> bool:
        """Whether the simulation had a station without time to spare."""
        return self.busiest[0] >= SATURATED

    def errors(self) -> dict[str, float]:
        """Returns the estimate over the simulation less one, of each station worth speaking of."""
        return {
            name: self.estimated[name] / busy - 1
            for name, busy in self.simulated.items()
            if busy >= HARDLY_USED
        }

    def bytes_error(self) -> float | None:
        """Returns the estimate of bytes a transaction over the simulation's, less one."""
        return _error(self.estimated_bytes, self.simulated_bytes)

    def rate_error(self) -> float | None:
        """Returns the estimate of transactions a second over the simulation's, less one."""
        return _error(self.estimated_per_s, self.simulated_per_s)

    def lock_error(self) -> float | None:
        """Returns the estimate of a lock's latency over the simulation's, less one."""
        return _error(self.estimated_lock_ms, self.simulated_lock_ms)


def _error(estimated: float | None, simulated: float | None) -> float | None:
    return estimated / simulated - 1 if estimated is not None and simulated else None


class Case(NamedTuple):
    """One variant of a shipped scenario."""

    name: str
    variant: str


def cases() -> list[Case]:
    """Returns every variant that has an estimate, by scenario."""
    return [
        Case(file.stem, variant)
        for file in sorted(SCENARIOS.glob("*.yaml"))
        for variant, scenario in _study(file.stem).variants.items()
        if has_estimate(scenario)
    ]


def compare(case: Case) -> Beside:
    """Simulates a variant for some hundred transactions, and estimates the same."""
    scenario = _study(case.name).variants[case.variant]
    drawn = _sample(scenario)
    hint = estimate(scenario, mean_of(drawn))
    if hint.is_saturated:
        scenario = _lasting(scenario, _AT_SATURATION, hint)
        found = _beside(scenario, drawn)
        if found.is_saturated:
            return found
    return _beside(_lasting(scenario, _BELOW_SATURATION, hint), drawn)


def _beside(scenario: Scenario, drawn: Sample) -> Beside:
    seen = _simulated(scenario)
    found = estimate(scenario, mean_of(drawn, seen.done))
    return Beside(
        seen.busy,
        {station.name: station.utilisation for station in found.stations},
        seen.in_rounds,
        found.in_rounds,
        seen.bytes_per_txn,
        found.bytes_per_txn,
        seen.txn_per_s,
        found.txn_per_s,
        seen.lock_ms,
        found.lock_latency_ms,
    )


@cache
def _study(name: str) -> Study:
    return load_study(SCENARIOS / f"{name}.yaml")


def _lasting(scenario: Scenario, length: Length, hint: Estimate) -> Scenario:
    """Returns a scenario with a measured time in which about so many transactions end."""
    measure_ns = max(length.shortest_ns, int(length.transactions / hint.txn_per_s * NS_PER_S))
    settled_ns = int(length.settled_after * (hint.response_ms or 0.0) * NS_PER_MS)
    return replace(
        scenario,
        run=replace(
            scenario.run,
            warmup_ns=max(length.warmup_ns, settled_ns),
            measure_ns=measure_ns,
            window_ns=NS_PER_S * 1000,
            checks=False,
        ),
    )


_drawn: list[tuple[Scenario, Sample]] = []


def _sample(scenario: Scenario) -> Sample:
    for other, made in _drawn:
        if same_footprint(other, scenario):
            return made
    _drawn[:] = [(scenario, draw(scenario))]
    return _drawn[0][1]


def _held_back(store: Store) -> float:
    """Returns the bytes that a store's engines will write for what they were given already."""
    kv, log = store.raftstore.apply._kv, store.raftstore.log
    amplification = kv._amplification
    held_back: float = (
        kv._wal.total
        + kv._memtables.total * amplification.data
        + kv._lock_memtable.total * amplification.lock
        + log._rewrite_bytes * log._format.rewrite
    )
    return held_back


def _counted(unit: SimulatedUnit) -> dict[tuple[str, str], float]:
    unit.meter.read(unit.env.now_ns)
    counts: dict[tuple[str, str], float] = {
        (counter.metric, counter.class_): float(counter.value)
        for counter in unit.recorder.counters()
    }
    stores = unit.cluster.stores.values()
    counts["bytes", "all"] = unit.cluster.ledger.total() + sum(map(_held_back, stores))
    counts["txns", "all"] = unit.stats.total_committed()
    latencies = [unit.recorder.series("lock_latency", path) for path in PATH_NAMES]
    counts["lock_latency", "count"] = sum(series.count for series in latencies)
    counts["lock_latency", "sum"] = sum(series.sum for series in latencies)
    return counts


def _pollers_in_rounds(unit: SimulatedUnit, until_ns: int) -> float:
    """Runs the unit; returns the mean share of its pollers that do not wait for mail."""
    stores = unit.cluster.stores.values()
    shares = []
    while unit.env.now_ns < until_ns:
        unit.env.run_until(min(unit.env.now_ns + NS_PER_MS, until_ns))
        idle = sum(len(store.ctx.router.idle) for store in stores)
        shares.append(1 - idle / sum(store.raftstore.pool.threads for store in stores))
    return fmean(shares)


class _Simulated(NamedTuple):
    """What a run shows.

    Attributes:
        busy: share of time, by station.
        in_rounds: share of time that pollers do not wait for mail.
        bytes_per_txn: written.
        txn_per_s: transactions.
        lock_ms: mean latency of a lock, if there was one.
        done: transactions by class.
    """

    busy: dict[str, float]
    in_rounds: float
    bytes_per_txn: float
    txn_per_s: float
    lock_ms: float | None
    done: dict[str, float]


def _simulated(scenario: Scenario) -> _Simulated:
    unit = SimulatedUnit(scenario, 0, MemorySink())
    run = scenario.run
    assert run.warmup_ns is not None
    unit.env.run_until(run.warmup_ns)
    before = _counted(unit)
    in_rounds = _pollers_in_rounds(unit, run.warmup_ns + run.measure_ns)
    after = _counted(unit)
    grown: dict[tuple[str, str], float] = {
        name: value - before.get(name, 0.0) for name, value in after.items()
    }
    busy = {
        name: value / grown["capacity_ns", name]
        for (metric, name), value in grown.items()
        if metric == "busy_ns"
    }
    done = {name: count for (metric, name), count in grown.items() if metric == "txns"}
    total, locks = done.pop("all"), grown["lock_latency", "count"]
    return _Simulated(
        busy,
        in_rounds,
        grown["bytes", "all"] / total,
        total / run.measure_ns * NS_PER_S,
        grown["lock_latency", "sum"] / locks / NS_PER_MS if locks else None,
        done,
    )
