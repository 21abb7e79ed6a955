"""What one store has of the load: from where regions lie, and as the simulation has it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import pytest

from analysis.study.load import load_study
from sim.estimate import Estimate, Footprint, estimate, footprint_of
from sim.record.facts import MemorySink
from sim.scenario import Scenario
from sim.simulation import SimulatedUnit
from sim.units import NS_PER_S

HOT = {"rows": 100_000, "fraction": 1}
"""Fewer rows than a region has."""
MOVE: list[dict[str, Any]] = [{"lock": "t", "rows": 1, "hot": HOT}, {"update": "t"}]


def scenario_of(statements: list[dict[str, Any]], **sections: Any) -> Scenario:
    workload = {
        "kind": "custom",
        "threads": 30,
        "tables": {"t": {"rows": 50_000_000, "row_bytes": "200B"}},
        "transactions": {"t": {"weight": 1, "statements": statements}},
    }
    study = load_study({"workload": workload, **sections})
    return next(iter(study.variants.values()))


def led(footprint: Footprint, kind: Any) -> list[float]:
    return [share.led[kind] for share in footprint.stores]


class Seen(NamedTuple):
    """What a simulation did in its last 300 ms."""

    txn_per_s: float
    reads_busy: list[float]
    """Of each store's read pool."""


def simulated(scenario: Scenario) -> Seen:
    run = replace(scenario.run, checks=False)
    unit = SimulatedUnit(replace(scenario, run=run), 0, MemorySink())
    pools = [store.machine.pools.reads for store in unit.cluster.stores.values()]

    def so_far(now_ns: int) -> tuple[int, list[int]]:
        unit.env.run(until=now_ns)
        return unit.stats.total_committed(), [pool.busy_until(now_ns) for pool in pools]

    (before, idle), (after, busy) = so_far(NS_PER_S // 10), so_far(NS_PER_S * 4 // 10)
    used = [(b - a) / 0.3 / NS_PER_S for a, b in zip(idle, busy, strict=True)]
    return Seen((after - before) / 0.3, used)


def station(found: Estimate, name: str) -> Any:
    return next(each for each in found.stations if each.name == name)


def test_the_store_that_leads_a_hot_region_has_all_of_its_requests_and_a_copy_like_others() -> None:
    footprint = footprint_of(scenario_of(MOVE))
    assert sorted(led(footprint, "lock")) == [0.0, 0.0, pytest.approx(3.0)]
    assert [share.kept["prewrite"] for share in footprint.stores] == pytest.approx([1.0] * 3)
    assert footprint.fullest in footprint.stores


def test_rows_of_a_whole_table_are_led_as_its_regions_are_however_a_sample_falls() -> None:
    scenario = scenario_of([{"lock": "t", "rows": 1}, {"update": "t"}], cluster={"regions": 12})
    footprint = footprint_of(scenario)
    assert led(footprint, "prewrite") == pytest.approx([1.0] * 3)
    assert footprint.fullest is None
    assert all(each.fullest is None for each in estimate(scenario).stations if each.name != "apply")


def test_a_store_without_a_replica_has_nothing() -> None:
    footprint = footprint_of(scenario_of(MOVE, cluster={"stores": 4, "replicas": 3}))
    assert [share.kept["lock"] for share in footprint.stores].count(0.0) == 1
    assert sum(share.kept["lock"] for share in footprint.stores) == pytest.approx(4.0)


def test_one_stores_read_pool_limits_reads_of_a_hot_region_as_in_the_simulation() -> None:
    scenario = scenario_of(
        [{"read": "t", "rows": 1, "hot": HOT}],
        tikv={"readpool.unified.max-thread-count": 1},
    )
    found, seen = estimate(scenario), simulated(scenario)
    assert found.bottleneck == "read_pool"
    assert found.busiest.fullest == pytest.approx(max(seen.reads_busy), rel=0.1)
    assert found.busiest.utilisation == pytest.approx(sum(seen.reads_busy) / 3, rel=0.25)
    assert found.txn_per_s == pytest.approx(seen.txn_per_s, rel=0.15)


def test_one_thread_at_a_time_applies_a_hot_region() -> None:
    scenario = scenario_of(
        MOVE,
        hardware={"cpu": {"kvdb_record": "400us"}},
        tikv={"raftstore.apply-pool-size": 4},
    )
    found, seen = estimate(scenario), simulated(scenario)
    assert found.bottleneck == "apply"
    assert found.is_saturated
    assert station(found, "apply").utilisation < 0.3
    assert station(found, "apply").fullest > 0.9
    assert found.txn_per_s == pytest.approx(seen.txn_per_s, rel=0.2)


@pytest.mark.parametrize("stores", [6, 9])
def test_a_hot_region_is_applied_no_faster_where_most_stores_have_no_copy(stores: int) -> None:
    half = HOT | {"fraction": 0.5}

    def limit(stores: int) -> float:
        scenario = scenario_of(
            [{"lock": "t", "rows": 1, "hot": half}, {"update": "t"}],
            cluster={"stores": stores, "replicas": 3},
            hardware={"cpu": {"kvdb_record": "400us"}},
            tikv={"raftstore.apply-pool-size": 4},
        )
        found = estimate(scenario)
        assert found.bottleneck == "apply"
        return found.txn_per_s

    assert limit(stores) == pytest.approx(limit(3), rel=0.1)


def test_the_store_with_the_most_to_do_may_have_no_copy_of_what_is_written() -> None:
    workload = {
        "kind": "custom",
        "threads": 30,
        "tables": {"read": {"rows": 20_000}, "written": {"rows": 20_000}},
        "transactions": {
            "t": {"statements": [
                *[{"read": "read", "rows": 1}] * 8,
                {"lock": "written", "rows": 1},
                {"update": "written"},
            ]},
        },
    }  # fmt: skip
    study = load_study({"workload": workload, "cluster": {"stores": 9, "replicas": 3}})
    scenario = next(iter(study.variants.values()))
    fullest = footprint_of(scenario).fullest
    assert fullest is not None
    assert fullest.kept["prewrite"] == 0.0
    assert estimate(scenario).txn_per_s > 0
