"""A capacity search on queues whose capacity is known, with overload."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from types import SimpleNamespace
from typing import Any

import pytest

from analysis.experiments.capacity import CapacitySearch
from analysis.experiments.capacity_conclusion import capacity_rows
from analysis.experiments.case_runs import ABORTS, MEANT_ABORTS, STATIONS, THROUGHPUT
from analysis.experiments.experiment import Request, Seen
from analysis.metrics.catalogue import MetricKey
from analysis.statistics.saturation import Verdict
from analysis.study.sections import Capacity, NodePrices, Objective
from analysis.study.study import point_key

LOCKS = MetricKey("lock_latency_ms", stat="p99")
TXNS = MetricKey("txn_latency_ms", "new_order", "p95")
MOST = {"pipelined": 1000.0, "in_memory": 1500.0}
"""Where each variant's latency has no end; 1 / (most - load) s, so 10 ms end at most - 100."""
LUCK = (1.0, 1.02, 0.98, 1.01, 0.99)


def rate_of(request: Request) -> float:
    return float(str(request.point["workload.rate"]).removesuffix("/s"))


def most_of(request: Request) -> float:
    return MOST[request.variant] * LUCK[request.replication]


class QueueSeen(Seen):
    """Runs queues; counts what was asked for."""

    def __init__(
        self, failing: Callable[[Request], bool] = lambda _: False, scale: float = 1.0
    ) -> None:
        self.failing = failing
        self.scale = scale
        self.told: list[str] = []
        """What was said before each round."""
        self.sizes: list[int] = []
        """How many units had been taken by then."""
        self.taken: dict[tuple[str, str, int], Request] = {}
        self.rounds = 0

    def search(self, search: CapacitySearch) -> dict[str, Any]:
        while True:
            fresh = {name_of(each): each for each in search.requests(self)}
            assert set(self.taken) <= set(fresh), "what was run is asked for again"
            if set(fresh) == set(self.taken):
                return search.conclusion(self)
            self.told.append(search.progress(self))
            self.sizes.append(len(self.taken))
            self.taken = fresh
            self.rounds += 1
            assert self.rounds < 60

    def verdict(self, request: Request) -> Verdict | None:
        if name_of(request) not in self.taken or self.failing(request):
            return None
        full = rate_of(request) >= self.scale * most_of(request)
        return Verdict.OVERLOADED if full else Verdict.STABLE

    def failed(self, request: Request) -> bool:
        return name_of(request) in self.taken and self.failing(request)

    def value(self, request: Request, key: MetricKey) -> float:
        verdict = self.verdict(request)
        if verdict is None:
            return math.nan
        rate, most = rate_of(request), self.scale * most_of(request)
        if key.metric.endswith("_ms"):
            known = key in {LOCKS, TXNS} and verdict is Verdict.STABLE
            return 1e3 / (most - rate) if known else math.nan
        busy = {"store_poller": rate / most, "apply": 0.3}.get(key.class_, math.nan)
        return min(rate, most) * 0.99 if key == THROUGHPUT else busy


def name_of(request: Request) -> tuple[str, str, int]:
    return point_key(request.point), request.variant, request.replication


def study(
    between: tuple[float, float] = (200.0, 3000.0),
    slo: Mapping[MetricKey, float] | None = None,
    replications: int = 4,
    prices: Mapping[str, NodePrices] | None = None,
) -> Any:
    def scenario(point: Mapping[str, Any], variant: str) -> Any:
        return SimpleNamespace(
            workload=SimpleNamespace(rate_per_s=600.0, threads=None),
            cluster=SimpleNamespace(stores=3, tidb_nodes=2),
            hardware=SimpleNamespace(profile="gp3_max"),
        )

    limits = slo if slo is not None else {LOCKS: 10.0}
    objectives = tuple(Objective(key, limit) for key, limit in limits.items())
    capacity = Capacity(
        slo=objectives, load="workload.rate", between=between, tolerance=0.05, prices=prices
    )
    return SimpleNamespace(
        points=({},), variants=dict.fromkeys(MOST), replications=replications,
        capacity=capacity, scenario=scenario,
    )  # fmt: skip


def truth(variant: str, replication: int) -> float:
    return MOST[variant] * LUCK[replication] - 100.0


def test_every_replication_crosses_where_its_queue_does() -> None:
    found = QueueSeen().search(CapacitySearch(study()))
    for case in found["cases"]:
        expected = [truth(case["variant"], number) for number in range(4)]
        assert case["status"] == "found"
        assert case["finished"]
        assert case["crossings"] == pytest.approx(expected, rel=0.003)
        assert case["load"] == pytest.approx(sum(case["crossings"]) / 4)
        assert case["load_ci_low"] < sum(expected) / 4 < case["load_ci_high"]
        assert case["txn_per_s"] == pytest.approx(0.99 * case["load"], rel=0.001)
        assert case["headroom"] == pytest.approx(case["load"] / 600.0 - 1.0)
        assert case["present_p_met"] > 0.99
        assert case["binds"] == "lock_latency_ms.p99"
        assert case["station"]["name"] == "store_poller"
        assert case["station"]["busy"] == pytest.approx(0.92, abs=0.04)


def test_it_takes_few_units_and_rounds() -> None:
    seen = QueueSeen()
    seen.search(CapacitySearch(study()))
    assert len(seen.taken) <= 2 * (8 + 3 * 3)
    assert seen.rounds <= 9


def test_two_searches_ask_the_same_and_find_the_same() -> None:
    first, second = QueueSeen(), QueueSeen()
    assert first.search(CapacitySearch(study())) == second.search(CapacitySearch(study()))
    assert list(first.taken) == list(second.taken)


def test_a_search_that_is_taken_up_again_asks_the_same() -> None:
    seen = QueueSeen()
    whole = seen.search(CapacitySearch(study()))
    again = CapacitySearch(study())
    assert [name_of(each) for each in again.requests(seen)]
    assert again.conclusion(seen) == whole


def test_variants_are_compared_pair_by_pair() -> None:
    found = QueueSeen().search(CapacitySearch(study()))
    loads, through = found["comparisons"]
    assert (loads["metric"], through["metric"]) == ("capacity_load", "capacity_txn_per_s")
    assert (loads["baseline"], loads["variant"]) == ("pipelined", "in_memory")
    assert loads["ratio"] == pytest.approx(1400.0 / 900.0, rel=0.01)
    assert loads["ci_low"] < loads["ratio"] < loads["ci_high"]


def test_rows_have_the_keys_of_the_summary() -> None:
    rows = capacity_rows(QueueSeen().search(CapacitySearch(study())))
    assert [(row["variant"], row["metric"], row["stat"]) for row in rows] == [
        ("pipelined", "capacity_load", "max"),
        ("pipelined", "capacity_txn_per_s", "max"),
        ("in_memory", "capacity_load", "max"),
        ("in_memory", "capacity_txn_per_s", "max"),
    ]
    assert all(row["ci_low"] < row["value"] < row["ci_high"] for row in rows)
    assert not any("refused" in row for row in rows)


def test_the_tightest_of_several_objectives_binds() -> None:
    slo = {LOCKS: 100.0, TXNS: 10.0}
    found = QueueSeen().search(CapacitySearch(study(slo=slo)))
    assert {case["binds"] for case in found["cases"]} == {"txn_latency_ms.new_order.p95"}
    assert found["cases"][0]["load"] == pytest.approx(902.5, rel=0.003)


def test_overload_binds_where_no_objective_does() -> None:
    found = QueueSeen().search(CapacitySearch(study(slo={THROUGHPUT: 1e6})))
    assert {case["binds"] for case in found["cases"]} == {"overload"}
    assert found["cases"][0]["load"] == pytest.approx(1000.0, rel=0.05)


class StoppedSeen(QueueSeen):
    """Work stops where it would pile up."""

    def verdict(self, request: Request) -> Verdict | None:
        found = super().verdict(request)
        return Verdict.OUTAGE if found is Verdict.OVERLOADED else found


def test_work_that_stops_binds_where_no_objective_does() -> None:
    found = StoppedSeen().search(CapacitySearch(study(slo={THROUGHPUT: 1e6})))
    assert {case["binds"] for case in found["cases"]} == {"outage"}
    for case in found["cases"]:
        loads = [each["load"] for each in case["loads"] if each["stopped"]]
        assert min(loads) > min(case["crossings"])


def test_no_end_of_an_interval_is_below_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.experiments.test_capacity.LUCK", (0.4, 2.0))
    found = QueueSeen().search(CapacitySearch(study(replications=2)))
    case = found["cases"][0]
    assert (case["status"], case["load_ci_low"], case["txn_per_s_ci_low"]) == ("found", 0.0, 0.0)


def test_met_at_the_upper_end_is_more_than_it() -> None:
    found = QueueSeen().search(CapacitySearch(study(between=(200.0, 1200.0))))
    pipelined, in_memory = found["cases"]
    assert pipelined["status"] == "found"
    assert (in_memory["status"], in_memory["load_ci_low"]) == ("above", None)
    row = capacity_rows(found)[2]
    assert row["value"] is None
    assert "more than 1,200/s" in row["refused"]
    assert found["comparisons"] == []


def test_met_by_some_at_the_upper_end_is_at_least_their_mean() -> None:
    found = QueueSeen().search(CapacitySearch(study(between=(200.0, 900.0))))
    case = found["cases"][0]
    assert case["status"] == "at least"
    assert case["load"] < 900.0
    assert (case["load_ci_low"], case["load_ci_high"]) == (None, None)


def test_met_nowhere_is_less_than_the_lower_end() -> None:
    found = QueueSeen().search(CapacitySearch(study(between=(1100.0, 3000.0))))
    pipelined, in_memory = found["cases"]
    assert pipelined["status"] == "below"
    assert (
        "less than 1,100/s: the lower end is too much already" in capacity_rows(found)[0]["refused"]
    )
    assert in_memory["status"] == "found"


def test_the_objective_that_is_never_met_is_named() -> None:
    found = QueueSeen().search(CapacitySearch(study(slo={LOCKS: 0.5, TXNS: 100.0})))
    assert [case["binds"] for case in found["cases"]] == ["lock_latency_ms.p99"] * 2


def test_rollbacks_that_the_workload_asks_for_do_not_count() -> None:
    class Aborting(QueueSeen):
        def value(self, request: Request, key: MetricKey) -> float:
            if key in {ABORTS, MEANT_ABORTS}:
                failed = 1e-6 * rate_of(request)
                return 0.005 + (failed if key == ABORTS else 0.0)
            return super().value(request, key)

    search = CapacitySearch(study(slo={ABORTS: 0.0007}))
    assert search.keys()[:2] == (ABORTS, MEANT_ABORTS)
    found = Aborting().search(search)
    assert found["cases"][0]["load"] == pytest.approx(700.0, rel=0.005)


def test_an_objective_that_no_run_has_is_named() -> None:
    nothing = MetricKey("txn_latency_ms", "new_ordr", "p95")
    found = QueueSeen().search(CapacitySearch(study(slo={LOCKS: 10.0, nothing: 10.0})))
    assert (
        "no unit has a value of txn_latency_ms.new_ordr.p95" in capacity_rows(found)[0]["refused"]
    )


def test_one_replication_has_a_capacity_without_an_interval() -> None:
    case = QueueSeen().search(CapacitySearch(study(replications=1)))["cases"][0]
    assert case["load"] == pytest.approx(900.0, rel=0.003)
    assert (case["load_ci_low"], case["present_p_met"]) == (None, None)


def test_costs_are_per_hour_and_per_thousand_transactions() -> None:
    prices = {"all": NodePrices(store=1.0, tidb_node=0.5)}
    pipelined, in_memory = QueueSeen().search(CapacitySearch(study(prices=prices)))["cases"]
    assert pipelined["cost_per_hour"] == 4.0
    assert pipelined["cost_per_1000_txn"] == pytest.approx(
        4.0 / 3600 / pipelined["txn_per_s"] * 1000
    )
    assert (pipelined["pareto"], in_memory["pareto"]) == (False, True)


def test_it_sees_what_it_needs() -> None:
    assert CapacitySearch(study()).keys() == (LOCKS, THROUGHPUT, *STATIONS)
