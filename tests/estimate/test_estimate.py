"""What is made of a load: modes, saturation, contention, full tables, warnings, cost."""

from __future__ import annotations

import pytest

from analysis.study.load import load_study
from analysis.study.study import Study
from sim.estimate import Estimate, Footprint, estimate, footprint_of, same_footprint
from sim.scenario.fields import Quantity
from sim.scenario.schema.hardware import CpuCosts
from sim.scenario.section import keys_of
from tests.estimate.exact_networks import mean_value_analysis
from tests.scenes import FOLDER


def study_of(name: str, *overrides: str) -> Study:
    return load_study(FOLDER / f"{name}.yaml", list(overrides))


def estimates_of(name: str, *overrides: str) -> dict[str, Estimate]:
    study = study_of(name, *overrides)
    drawn: Footprint | None = None
    found = {}
    for variant, scenario in study.variants.items():
        drawn = drawn or footprint_of(scenario)
        found[variant] = estimate(scenario, drawn)
    return found


def known(figure: float | None) -> float:
    """Returns a figure of an estimate that is in balance."""
    assert figure is not None
    return figure


def warnings_of(found: Estimate) -> dict[str, str]:
    return {each.place: each.text for each in found.warnings}


def test_each_lock_mode_does_less_than_the_one_before() -> None:
    found = estimates_of("crash")
    latencies = [found[name].lock_latency_ms for name in ("sync", "pipelined", "in_memory")]
    assert None not in latencies
    assert latencies == sorted(latencies, key=lambda each: -(each or 0))
    assert known(found["in_memory"].bytes_per_txn) < known(found["pipelined"].bytes_per_txn)
    assert found["sync"].bytes_per_txn == pytest.approx(found["pipelined"].bytes_per_txn, rel=1e-3)
    assert [found[name].lock_path for name in found] == ["pipelined", "in_memory", "sync"]


def test_the_utilisation_law_holds() -> None:
    # So few that jobs take as long: a woken thread waits for hardly any other.
    once, twice = (
        estimates_of("crash", f"workload.rate={rate}/s")["pipelined"] for rate in (50, 100)
    )
    for station in ("apply", "tidb_cpu", "scheduler"):
        before, after = (
            next(each.utilisation for each in found.stations if each.name == station)
            for found in (once, twice)
        )
        assert after == pytest.approx(2 * before, rel=0.02)


def test_a_closed_loop_obeys_the_response_time_law() -> None:
    for threads in (1, 20, 200):
        found = estimates_of("quickstart", f"workload.threads={threads}")["pipelined"]
        assert found.txn_per_s * known(found.response_ms) / 1000 == pytest.approx(threads, rel=0.02)


@pytest.mark.parametrize("threads", [1, 4, 12])
def test_a_closed_loop_is_near_the_exact_network(threads: int) -> None:
    # One TiDB core, statements of 1 ms: nothing else is busy, so the rest of a transaction is a
    # delay, and mean value analysis knows the answer (for exponential services).
    one_core = (
        "hardware.tidb_cores=1", "cluster.tidb_nodes=1", "hardware.cpu.cv=1",
        "hardware.cpu.tidb_statement=1ms", "hardware.cpu.tidb_write=0us",
        "hardware.cpu.tidb_row=0us", "hardware.cpu.tidb_request=0us",
        "hardware.cpu.grpc_message=0us",
    )  # fmt: skip
    alone = estimates_of("crash", *one_core, "workload.rate=null", "workload.threads=1")["sync"]
    found = estimates_of("crash", *one_core, "workload.rate=null", f"workload.threads={threads}")[
        "sync"
    ]
    statements = footprint_of(next(iter(study_of("crash").variants.values()))).statements
    exact, _ = mean_value_analysis(threads, [statements], known(alone.response_ms) - statements)
    assert found.txn_per_s == pytest.approx(exact * 1000, rel=0.1)


def test_think_time_is_no_response_time() -> None:
    found = estimates_of("hot_region_full", "workload.think_time=1s")["pipelined"]
    assert known(found.response_ms) < 100
    assert found.txn_per_s == pytest.approx(32 / 1.026, rel=0.05)


def test_a_rate_that_no_poller_can_serve_is_said() -> None:
    slow_pollers = ("hardware.cpu.store_message=60us", "hardware.cpu.kvdb_record=1us")
    found = estimates_of("open_loop", "workload.rate=5000/s", *slow_pollers)["pipelined"]
    assert found.is_saturated
    assert found.bottleneck == "store_poller"
    assert found.busiest.utilisation > 1
    assert "queues grow without end" in warnings_of(found)["workload.rate"]


def test_what_is_out_of_balance_has_no_time_no_rate_and_no_bytes() -> None:
    found = estimates_of("open_loop", "workload.rate=20000/s")["pipelined"]
    assert not found.in_balance
    assert found.busiest.utilisation > 1
    assert (found.lock_latency_ms, found.response_ms, found.bytes_per_txn) == (None, None, None)
    assert found.fsyncs_per_s is None
    assert all(each.service_ms is None and each.queue is None for each in found.stations)
    assert [each.place for each in found.warnings] == ["workload.rate"]


def test_what_is_left_out_follows_from_the_scenario() -> None:
    crash, quick = estimates_of("crash"), estimates_of("quickstart")
    during = "what happens to the cluster during the run"
    assert during in crash["pipelined"].left_out
    assert during not in quick["pipelined"].left_out


def test_a_saturated_closed_loop_is_said() -> None:
    found = estimates_of("rfc77_nvme", "sweep.grid.workload.threads=[400, 50]")["in_memory"]
    assert found.is_saturated
    assert found.bottleneck == "apply"
    assert "apply is 9" in warnings_of(found)["workload.threads"]
    assert "take fewer threads" in warnings_of(found)["workload.threads"]


@pytest.mark.parametrize(
    ("figure", "said"),
    [("write_iops=1200", "1,200 I/Os a second"), ("write_bandwidth=9MB/s", "9 MB/s")],
)
def test_of_a_full_disk_it_is_said_what_is_used_up(figure: str, said: str) -> None:
    found = estimates_of("rfc77", "hardware.profile=gp3_base", f"hardware.disk.raft.{figure}")
    assert f"raft_disk ({said}) is " in warnings_of(found["in_memory"])["workload.threads"]


def test_pollers_that_wait_for_the_log_all_the_time_can_do_more() -> None:
    found = estimates_of("rfc77")["pipelined"]
    busy = {station.name: station.utilisation for station in found.stations}
    assert found.in_rounds > 0.9
    assert busy["store_poller"] < 0.5
    assert found.bottleneck == "apply"
    assert "workload.threads" not in warnings_of(found)
    assert found.is_saturated, "waiting commands share entries, which no formula says"


def test_any_cost_may_be_nothing() -> None:
    drawn = footprint_of(study_of("quickstart").variants["pipelined"])
    for cost, key in keys_of(CpuCosts).items():
        if not isinstance(key.form, Quantity):
            continue
        study = study_of("quickstart", f"hardware.cpu.{cost}={key.form.at_least}")
        found = estimate(study.variants["pipelined"], drawn)
        assert 0 < known(found.lock_latency_ms) < 60, cost
        assert known(found.txn_per_s) > 0, cost


def test_far_too_many_clients_are_estimated_too() -> None:
    few, many = (
        estimates_of("rfc77_nvme", f"sweep.grid.workload.threads=[{threads}]")["in_memory"]
        for threads in ("400, 50", "3000, 400, 50")
    )
    assert few.is_saturated
    assert many.is_saturated
    assert many.txn_per_s == pytest.approx(few.txn_per_s, rel=0.3)


def test_a_log_that_waits_for_its_volume_carries_more_with_each_write() -> None:
    # A volume with few writes a second is busy long before it is full.
    rates = [
        estimates_of("cookbook/cloud_volume", f"workload.threads={threads}")["in_memory"].txn_per_s
        for threads in (10, 20, 40)
    ]
    assert rates[2] > 1.5 * rates[1] > 2 * rates[0]


def test_threads_of_a_tidb_node_share_its_cores() -> None:
    shared, own = (
        next(
            station
            for station in estimates_of(
                "crash", "workload.rate=2500/s", "hardware.tidb_cores=11",
                "hardware.cpu.tidb_statement=1ms", "hardware.cpu.tidb_write=0us",
                "hardware.cpu.tidb_request=0us",
                f"hardware.threads_per_core={threads}",
            )["in_memory"].stations
            if station.name == "tidb_cpu"
        )
        for threads in (2, 1)
    )  # fmt: skip
    assert shared.utilisation > 1.1 * own.utilisation
    assert known(shared.service_ms) > 1.1 * known(own.service_ms)


def test_a_pipelined_lock_keeps_its_own_transactions_prewrite_waiting() -> None:
    alike = "hardware.cpu.tikv_record=0us"  # A commit has more records.
    found = estimates_of("rfc77", alike)
    latency = found["pipelined"].request_latency_ms
    assert latency["prewrite"] > 1.05 * latency["commit"]
    for mode in ("sync", "in_memory"):
        inside = found[mode].request_service_ms
        assert inside["prewrite"] == inside["commit"]


def test_a_hot_row_is_the_limit_whatever_the_clients() -> None:
    few = estimates_of("hot_row", "workload.threads=50")["in_memory"]
    many = estimates_of("hot_row", "workload.threads=400")["in_memory"]
    assert many.txn_per_s == pytest.approx(few.txn_per_s, rel=0.1)
    assert "one row is locked" in warnings_of(few)["workload"]


def test_nobody_is_told_to_add_load_to_a_row_that_is_full() -> None:
    slow = "workload.transactions.move.statements=[{lock: acct, rows: 1, hot: {rows: 1}}, "
    crash = ("operations=[]", f"{slow}{{update: acct, pause: 100ms}}]", "workload.rate=null")
    found = estimates_of("crash", *crash, "workload.threads=16")["in_memory"]
    assert list(warnings_of(found)) == ["workload"]


def test_a_full_lock_table_refuses_and_the_rest_is_proposed() -> None:
    found = estimates_of("hot_region_full")
    assert found["in_memory"].lock_refused < 0.001
    assert 0.3 < found["in_memory_full"].lock_refused < 0.6
    assert any("will not fit" in text for text in warnings_of(found["in_memory_full"]).values())
    pipelined, refused = found["pipelined"], found["in_memory_full"]
    assert (refused.lock_latency_ms or 0) > (pipelined.lock_latency_ms or 0)


def test_an_old_store_keeps_locks_out_of_memory() -> None:
    found = estimates_of("rolling_upgrade")
    assert found["in_memory"].lock_path == "pipelined"
    assert found["in_memory_forced"].lock_path == "in_memory"
    assert "5.4.0" in warnings_of(found["in_memory"])["cluster.store_versions"]


def test_a_workload_without_locks_has_no_lock_latency() -> None:
    assert estimates_of("sysbench_update_non_index")["pipelined"].lock_latency_ms is None


def test_a_log_of_its_own_has_a_disk_of_its_own() -> None:
    found = estimates_of("crash", "hardware.profile=gp3_two_volumes")["pipelined"]
    assert {"raft_disk", "kv_disk"} <= {each.name for each in found.stations}


def test_write_workers_free_the_pollers() -> None:
    waiting, free = (
        estimates_of("crash", f"tikv.raftstore.store-io-pool-size={workers}")["pipelined"]
        for workers in (0, 1)
    )
    assert free.in_rounds < waiting.in_rounds * 0.7


def test_more_of_everything_takes_longer_to_run() -> None:
    short, long = (
        estimates_of("quickstart", f"run.measure={seconds}s")["pipelined"].cost
        for seconds in (1, 10)
    )
    assert long.events > 5 * short.events
    assert long.seconds > 5 * short.seconds
    assert long.memory_bytes >= short.memory_bytes
    assert 0.8 < long.events_per_txn / short.events_per_txn < 1.2


def test_variants_of_lock_mode_share_a_footprint_and_other_workloads_do_not() -> None:
    one, *others = study_of("rfc77").variants.values()
    assert all(same_footprint(one, other) for other in others)
    assert not same_footprint(one, next(iter(study_of("quickstart").variants.values())))


@pytest.mark.parametrize(("hot_rows", "warned"), [(1, True), (900_000, False)])
def test_a_row_that_statements_in_auto_commit_want_is_a_server_of_its_own(
    hot_rows: int, *, warned: bool
) -> None:
    increment = {"update": "t", "rows": 1, "hot": {"rows": hot_rows, "fraction": 1}}
    workload = {
        "kind": "custom",
        "threads": 50,
        "tables": {"t": {"rows": 1_000_000}},
        "transactions": {
            "inc": {"autocommit": True, "weight": 1, "statements": [increment]},
        },
    }
    found = estimate(next(iter(load_study({"workload": workload}).variants.values())))
    assert (found.txn_per_s < 1_000) is warned  # 34,000 stations could do
    assert warnings_of(found).get("workload", "").startswith("one row is locked") is warned
    assert any(part.startswith("second tries") for part in found.left_out) is warned
