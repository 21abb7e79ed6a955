"""Figures, loads and ranges: what is written is what is meant."""

from __future__ import annotations

import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.metrics.catalogue import METRICS, MetricKey
from analysis.study.interpolation import amount_of, complaint_about
from analysis.study.sections import Capacity, Range

KEYS = st.sampled_from(list(METRICS)).flatmap(
    lambda metric: st.builds(
        MetricKey,
        st.just(metric),
        st.sampled_from(["all", "new_order", "raft_log/lock", "fallback:full"]),
        st.sampled_from(METRICS[metric].stats),
    )
)


def capacity(load: str, low: float = 1, high: float = 1000) -> Capacity:
    return Capacity(slo=(), load=load, between=(low, high))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("lock_latency_ms", MetricKey("lock_latency_ms")),
        ("lock_latency_ms.p99", MetricKey("lock_latency_ms", "all", "p99")),
        ("txn_latency_ms.new_order.p95", MetricKey("txn_latency_ms", "new_order", "p95")),
        ("disk_busy.raft_disk", MetricKey("disk_busy", "raft_disk")),
        ("lock_table_bytes.max", MetricKey("lock_table_bytes", "all", "max")),
    ],
)
def test_a_figure_is_its_metric_its_class_and_its_statistic(text: str, key: MetricKey) -> None:
    assert MetricKey.parse(text) == key
    assert str(key) == text


def test_what_goes_without_saying_may_be_said() -> None:
    assert str(MetricKey.parse("lock_latency_ms.all.mean")) == "lock_latency_ms"


@given(KEYS)
def test_a_figure_written_and_read_is_the_same(key: MetricKey) -> None:
    assert MetricKey.parse(str(key)) == key


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("lock_latency.p99", "no metric 'lock_latency'; did you mean lock_latency_ms?"),
        ("txn_per_s.p99", "txn_per_s has no p99; write txn_per_s"),
        ("txn_per_s.new_order.max", "txn_per_s has no max; write txn_per_s.new_order"),
        ("lock_table_bytes", "has no mean; write lock_table_bytes.max or lock_table_bytes.p99"),
        ("lock_latency_ms.p98", "no statistic 'p98'; did you mean p99?"),
        ("txn_latency_ms.new_order.median", "no statistic 'median'"),
        ("lock_latency_ms.", "is not a metric; write metric, metric.stat"),
        ("lock_latency_ms.a.b.p99", "is not a metric"),
        ("lock_latency_ms.p99.p95", "is not a metric"),
        ("", "no metric ''"),
    ],
)
def test_a_wrong_figure_is_refused_with_a_mend(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=r"\w") as caught:
        MetricKey.parse(text)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("load", "x", "value"),
    [
        ("workload.threads", 120.4, 120),
        ("workload.threads", 1234.0, 1230),
        ("workload.threads", 0.2, 1),
        ("workload.threads", 10.53125, 11),
        ("workload.rate", 1204.0, "1200/s"),
        ("workload.rate", 0.5, "0.5/s"),
        ("workload.rate", 12.34, "12.3/s"),
    ],
)
def test_a_load_is_written_so_that_loads_coincide(load: str, x: float, value: int | str) -> None:
    assert capacity(load).load_value(x) == value


@given(st.floats(1, 1e6), st.sampled_from(["workload.threads", "workload.rate"]))
def test_a_load_read_back_is_written_the_same(x: float, load: str) -> None:
    search = capacity(load)
    value = search.load_value(x)
    back = search.load_of({load: value, "cluster.stores": 3})
    assert search.load_value(back) == value
    assert back == pytest.approx(x, rel=0.006, abs=0.5)


@pytest.mark.parametrize(
    ("low", "high", "scale", "share", "value"),
    [
        (10, 400, "linear", 0.5, 205),
        (10, 1000, "log", 0.5, 100),
        (0.0, 1.0, "linear", 1 / 3, 0.3333),
        (1, 2.0, "linear", 0.5, 1.5),
        ("100us", "1ms", "log", 0.5, "316.2us"),
        ("100us", "2ms", "linear", 0.5, "1.05ms"),
        ("1ns", "9ns", "linear", 0.4, "4ns"),
        ("1s", "2min", "linear", 0.5, "1.008min"),
        ("4KiB", "64KiB", "linear", 0.5, "34KiB"),
        ("4KiB", "64MiB", "log", 0.5, "512KiB"),
        ("1KiB", "2KiB", "linear", 0.123, "1.15KB"),
        ("100MB/s", "1GB/s", "log", 0.5, "316.2MB/s"),
        ("200/s", "4000/s", "log", 0.5, "894.4/s"),
        ("10000us", "99999us", "linear", 0.99999, "99999us"),
    ],
)
def test_a_value_between_two_is_written_as_a_file_would(
    low: str | float, high: str | float, scale: str, share: float, value: str | float
) -> None:
    between = Range("k", low, high, scale)  # type: ignore[arg-type]
    assert between.at(share) == value
    assert (between.at(0), between.at(1)) == (low, high)


def test_an_estimate_between_two_has_three_digits() -> None:
    assert Range("k", "90us", "1ms", "log").at(0.9547, telling=3) == "897us"
    assert Range("k", "1KiB", "2KiB").at(0.125, telling=3) == "1.15KB"
    assert Range("k", 1, 2.0).at(0.12345, telling=3) == 1.12
    assert Range("k", 10, 200).at(1, telling=3) == 200


@given(
    st.sampled_from(
        [("3us", "7ms"), ("1KiB", "1TiB"), ("0.02/s", "9/s"), (1, 9), ("1B/s", "2GB/s")]
    ),
    st.lists(st.floats(0, 1), min_size=2, max_size=2).map(sorted),
    st.sampled_from(["linear", "log"]),
)
def test_values_grow_with_the_share_and_stay_inside(
    ends: tuple[str | int, str | int], shares: list[float], scale: str
) -> None:
    between = Range("k", *ends, scale)  # type: ignore[arg-type]
    first, second = (amount_of(between.at(share)) for share in shares)
    assert amount_of(ends[0]) <= first <= second <= amount_of(ends[1])


@pytest.mark.parametrize(
    ("low", "high", "scale", "message"),
    [
        (1, "5ms", "linear", "are of two kinds; use the same unit"),
        ("5s", "5MB", "linear", "are of two kinds"),
        (5, 5, "linear", "5 is not less than 5; write the smaller one first"),
        ("1s", "5ms", "linear", "'1s' is not less than '5ms'"),
        (0, 5, "log", "a log scale begins above 0"),
        ("gp3_max", "i3", "linear", "must be a number or a quantity"),
        (True, 5, "linear", "must be a number or a quantity, is true"),
        (float("nan"), 5, "linear", "must be a number"),
    ],
)
def test_two_values_without_a_between_are_refused(
    low: object, high: object, scale: str, message: str
) -> None:
    assert message in str(complaint_about(low, high, scale))  # type: ignore[arg-type]
    assert complaint_about(1, 2, "log") is None


def test_they_travel_between_processes() -> None:
    search = capacity("workload.rate")
    assert pickle.loads(pickle.dumps(search)) == search
