"""From sums of facts to published metrics: units, divisors, sums over classes."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from analysis.metrics.unit_metrics import FACT_KEY, unit_metrics, with_sums

MEASURED_S = pd.Series([10.0, 10.0])
UNITS = ["u", "v"]


def sums_of(*facts: tuple[str, str, str, float], unit: str = "u") -> pd.DataFrame:
    """Returns the sums of units ``u`` and ``v``, of which one has the facts given."""
    columns = pd.MultiIndex.from_tuples([fact[:3] for fact in facts], names=FACT_KEY)
    table = pd.DataFrame(np.nan, index=range(2), columns=columns)
    table.iloc[UNITS.index(unit)] = [fact[3] for fact in facts]
    return table


def published(*facts: tuple[str, str, str, float], unit: str = "u") -> dict[tuple[str, ...], float]:
    """Returns ``(metric, class, stat) -> value`` of unit ``u`` for the facts given of ``unit``."""
    own = unit_metrics(sums_of(*facts, unit=unit), MEASURED_S).iloc[0].dropna()
    names = [(metric, class_, stat) for metric, class_, stat, _ in own.index]
    return dict(zip(names, own, strict=True))


def test_latencies_are_in_milliseconds() -> None:
    metrics = published(("lock_latency", "sync", "p99", 2_500_000.0))
    assert metrics["lock_latency_ms", "sync", "p99"] == 2.5


def test_rates_divide_by_the_measured_time() -> None:
    metrics = published(("txns", "new_order", "total", 300.0), ("txns", "payment", "total", 200.0))
    assert metrics["txn_per_s", "all", "mean"] == 50
    assert metrics["txn_per_s", "new_order", "mean"] == 30
    assert metrics["tpmc", "all", "mean"] == 1800


def test_bytes_are_told_by_place_by_cause_and_by_both() -> None:
    metrics = published(
        ("txns", "all", "total", 100.0),
        ("disk_write_bytes", "raft_log/lock", "total", 1000.0),
        ("disk_write_bytes", "raft_log/commit", "total", 3000.0),
        ("disk_write_bytes", "kv_wal/commit", "total", 6000.0),
    )
    expected = {"all": 100, "raft_log": 40, "kv_wal": 60, "lock": 10, "commit": 90}
    for name, value in expected.items():
        assert metrics["disk_write_bytes_per_txn", name, "mean"] == value
        assert metrics["disk_write_bytes_per_s", name, "mean"] == value * 10
    assert metrics["disk_write_bytes_per_txn", "raft_log/lock", "mean"] == 10


def test_without_a_commit_nothing_is_per_transaction() -> None:
    metrics = published(("lock_rpcs", "all", "total", 5.0))
    assert ("lock_rpcs_per_txn", "all", "mean") not in metrics


def test_a_class_that_only_another_unit_counted_is_zero() -> None:
    metrics = published(("locks_total", "fallback:limit", "total", 5.0), unit="v")
    assert metrics["locks_total", "fallback:limit", "mean"] == 0


def test_what_never_happened_is_told_as_zero() -> None:
    metrics = published(("txns", "all", "total", 1.0))
    for metric in ("locks_lost", "mutual_exclusion_lost", "txn_aborts", "leader_transfers"):
        assert metrics[metric, "all", "mean"] == 0


def test_transactions_that_only_read_write_and_lock_zero() -> None:
    metrics = published(("txns", "all", "total", 1.0))
    for metric in ("disk_write_bytes_per_txn", "disk_write_bytes_per_s", "fsync_per_s",
                   "proposals_per_txn", "lock_rpcs_per_txn", "locks_total"):  # fmt: skip
        assert metrics[metric, "all", "mean"] == 0


def test_early_prewrites_are_a_share_that_a_unit_without_any_does_not_have() -> None:
    counted = (("early_prewrites", "waited", "total", 3.0),
               ("early_prewrites", "overtook", "total", 1.0))  # fmt: skip
    key = ("early_prewrites_waited", "all", "mean")
    assert published(*counted)[key] == 0.75
    assert published(counted[0])[key] == 1.0
    assert published(counted[1])[key] == 0.0
    assert key not in published(*counted, unit="v")


def test_a_request_takes_the_mean_of_its_kind() -> None:
    counted = (
        ("requests_answered", "get", "total", 3.0),
        ("requests_answered", "commit", "total", 1.0),
        ("request_ns", "get", "total", 3_000_000.0),
        ("request_ns", "commit", "total", 5_000_000.0),
        ("request_service_ns", "get", "total", 1_500_000.0),
        ("request_service_ns", "commit", "total", 4_000_000.0),
    )
    metrics = published(*counted)
    assert metrics["request_latency_ms", "get", "mean"] == pytest.approx(1.0)
    assert metrics["request_latency_ms", "commit", "mean"] == pytest.approx(5.0)
    assert metrics["request_latency_ms", "all", "mean"] == pytest.approx(2.0)
    assert metrics["request_service_ms", "get", "mean"] == pytest.approx(0.5)
    assert metrics["request_service_ms", "commit", "mean"] == pytest.approx(4.0)
    only_errors = published(*counted[:-1])
    assert only_errors["request_latency_ms", "commit", "mean"] == pytest.approx(5.0)
    assert ("request_service_ms", "commit", "mean") not in only_errors
    unasked = published(*counted[::2])
    assert ("request_latency_ms", "commit", "mean") not in unasked


def test_busy_is_a_share_of_capacity_by_station() -> None:
    metrics = published(
        ("busy_ns", "apply", "total", 40.0),
        ("busy_ns", "raft_disk", "total", 25.0),
        ("capacity_ns", "apply", "total", 200.0),
        ("capacity_ns", "raft_disk", "total", 50.0),
    )
    assert metrics["cpu_busy", "apply", "mean"] == pytest.approx(0.2)
    assert metrics["disk_busy", "raft_disk", "mean"] == pytest.approx(0.5)
    assert ("disk_busy", "apply", "mean") not in metrics


def test_ports_of_the_network_are_stations_of_their_own() -> None:
    metrics = published(
        ("busy_ns", "store_network", "total", 30.0),
        ("capacity_ns", "store_network", "total", 40.0),
    )
    assert metrics["network_busy", "store_network", "mean"] == pytest.approx(0.75)


def test_waits_for_others_are_shared_by_all_transactions_that_ended() -> None:
    waits = (("lock_wait", "all", "count", 4.0), ("lock_wait", "all", "mean", 15_000_000.0))
    metrics = published(
        *waits, ("txns", "move", "total", 2.0), ("txn_aborts", "deadlock", "total", 1.0)
    )
    assert metrics["lock_wait_per_txn_ms", "all", "mean"] == pytest.approx(20.0)
    assert ("lock_wait_per_txn_ms", "all", "mean") not in published(*waits)
    assert ("lock_wait_per_txn_ms", "all", "mean") not in published(("txns", "a", "total", 1.0))


def test_stations_add_up_to_the_mean_latency() -> None:
    metrics = published(
        ("txns", "all", "total", 1.0),
        ("lock_latency", "in_memory", "count", 3.0),
        ("lock_latency", "sync", "count", 1.0),
        ("lock_latency", "all", "count", 4.0),
        ("lock_station_ns", "in_memory/request", "total", 3_000_000.0),
        ("lock_station_ns", "sync/request", "total", 1_000_000.0),
        ("lock_station_ns", "sync/replicate", "total", 4_000_000.0),
    )
    assert metrics["lock_station_ms", "in_memory/request", "mean"] == 1
    assert metrics["lock_station_ms", "sync/replicate", "mean"] == 4
    assert metrics["lock_station_ms", "request", "mean"] == 1
    assert metrics["lock_station_ms", "replicate", "mean"] == 1


def test_a_class_called_all_is_not_counted_twice() -> None:
    table = pd.DataFrame({"all": [5.0]}, index=pd.Index(["u"], name="unit_hash"))
    assert with_sums(table).to_dict("list") == {"all": [5.0]}
