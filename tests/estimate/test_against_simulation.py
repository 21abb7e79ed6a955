"""The estimate against the simulation, on every shipped scenario.

The rules, said openly:

* Each variant is simulated at the study's first point, for less time than the scenario asks for;
  the estimate is made for that same time, and for the transactions that were drawn in it (one
  Delivery more or less in twenty moves bytes by a percent, and is no error of the estimate). Draws
  are fixed, so nothing here depends on luck.
* Below saturation means: no station was 90 % busy in the simulation, and pollers were in rounds for
  less than that. There every station and the bytes per transaction must be within 25 %. A station
  that was less than 2 % busy may be off by one point: its figure is mostly chance.
* Where a station is saturated, nothing is asserted but that the estimate says so.
* What the engines hold back until half a megabyte has gathered counts as written: a short window
  would otherwise see no flush, or a whole one.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any

import pytest

from analysis.study.load import load_study
from sim.estimate import Sample, draw, estimate, has_estimate, mean_of, same_footprint
from sim.record.facts import MemorySink
from sim.simulation import SimulatedUnit
from sim.units import NS_PER_MS, NS_PER_S

if TYPE_CHECKING:
    from analysis.study.study import Study
    from sim.scenario import Scenario
    from sim.server.store import Store

pytestmark = pytest.mark.slow

SCENARIOS = Path(__file__).resolve().parents[2] / "scenarios"
SATURATED = 0.9
WITHIN = 0.25
HARDLY_USED = 0.02
ONE_POINT = 0.01


@dataclass(frozen=True)
class Length:
    """How long a scenario is simulated."""

    warmup_ns: int
    shortest_ns: int
    transactions: int
    """That end in the measured time, unless it is the shortest."""


BELOW_SATURATION = Length(100 * NS_PER_MS, 100 * NS_PER_MS, 600)
AT_SATURATION = Length(60 * NS_PER_MS, 40 * NS_PER_MS, 200)
"""Where the estimate speaks of saturation, a run says whether that is so."""


@cache
def _study(name: str) -> Study:
    return load_study(SCENARIOS / f"{name}.yaml")


CASES = [
    (file.stem, variant)
    for file in sorted(SCENARIOS.glob("*.yaml"))
    for variant, scenario in _study(file.stem).variants.items()
    if has_estimate(scenario)
]


def _lasting(scenario: Scenario, length: Length, per_s: float) -> Scenario:
    """Returns a scenario with a measured time in which about so many transactions end."""
    measure_ns = max(length.shortest_ns, int(length.transactions / per_s * NS_PER_S))
    return replace(
        scenario,
        run=replace(
            scenario.run,
            warmup_ns=length.warmup_ns,
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


def _simulated(scenario: Scenario) -> tuple[dict[str, float], float, float, dict[str, float]]:
    """Returns how busy each station is, pollers in rounds, bytes a transaction, and what was done.

    The last are transactions by class.
    """
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
    total = done.pop("all")
    return busy, in_rounds, grown["bytes", "all"] / total, done


def _complaints(estimated: dict[str, float], simulated: dict[str, float]) -> list[str]:
    complaints = []
    for name, is_busy in simulated.items():
        allowed = ONE_POINT if is_busy < HARDLY_USED else WITHIN * is_busy
        if abs(estimated[name] - is_busy) > allowed:
            complaints.append(f"{name}: {estimated[name]:.3f}, simulated {is_busy:.3f}")
    return complaints


@pytest.mark.parametrize(("name", "variant"), CASES)
def test_stations_and_bytes_are_within_a_quarter_below_saturation(name: str, variant: str) -> None:
    scenario = _study(name).variants[variant]
    drawn = _sample(scenario)
    hint = estimate(scenario, mean_of(drawn))
    length = AT_SATURATION if hint.is_saturated else BELOW_SATURATION
    scenario = _lasting(scenario, length, hint.txn_per_s)
    simulated, in_rounds, simulated_bytes, mix = _simulated(scenario)
    found = estimate(scenario, mean_of(drawn, mix))
    if max(in_rounds, *simulated.values()) >= SATURATED:
        assert max(found.busiest.utilisation, found.in_rounds) > SATURATED - 0.05
        return
    estimated = {station.name: station.utilisation for station in found.stations}
    complaints = _complaints(estimated, simulated)
    assert found.bytes_per_txn is not None
    if abs(found.bytes_per_txn / simulated_bytes - 1) > WITHIN:
        complaints.append(f"bytes: {found.bytes_per_txn:,.0f}, simulated {simulated_bytes:,.0f}")
    assert not complaints, complaints


def test_the_rule_can_fail() -> None:
    simulated: dict[str, Any] = {"raft_log": 0.4, "apply": 0.01}
    assert _complaints({"raft_log": 0.31, "apply": 0.019}, simulated) == []
    assert len(_complaints({"raft_log": 0.29, "apply": 0.021}, simulated)) == 2
