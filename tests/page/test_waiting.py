"""What an answer and the page say of full stations and of waits for other transactions."""

from __future__ import annotations

from typing import Any

from analysis.page.findings import Findings
from analysis.page.point_tables import limit_blocks
from analysis.page.waiting import full_points_words, full_words, limit_text, waits_words
from analysis.report.table import ReportTable
from tests.page.test_answer import findings

POLLERS = ("cpu_busy", "store_poller")
PORTS = ("network_busy", "store_network")
LOG = ("disk_busy", "raft_log")
WAITS = ("lock_wait_per_txn_ms", "all")
TXNS = ("txn_latency_ms", "all")

Figures = dict[tuple[str, str], tuple[float, ...]]


def found(figures: Figures, variants: tuple[str, ...] = ("pipelined", "in_memory")) -> Findings:
    """Returns a study at one point with these means, a value a variant."""
    rows: list[dict[str, Any]] = [
        {
            "metric": metric, "class": class_, "stat": "mean", "point": {}, "variant": variant,
            "value": value, "ci_low": 0.99 * value, "ci_high": 1.01 * value, "replications": 5,
        }
        for (metric, class_), values in figures.items()
        for variant, value in zip(variants, values, strict=True)
    ]  # fmt: skip
    return findings([{}], rows, [])


def test_a_full_station_is_named_with_each_variant() -> None:
    of = found({POLLERS: (0.93, 0.91), PORTS: (0.2, 0.3), LOG: (0.99, 0.99)})
    assert full_words(of, 0) == (
        "What limits it: store pollers, 91 % busy with in_memory and 93 % with pipelined."
    )
    assert limit_text(of, 0, "pipelined") == "limited by the station “store pollers”, 93 % busy"


def test_a_station_with_a_tenth_to_spare_is_not_full() -> None:
    of = found({POLLERS: (0.89, 0.83)})
    assert full_words(of, 0) == full_points_words(of) == ""
    assert "no station is full" in limit_text(of, 0, "pipelined")


def test_variants_may_be_limited_by_different_stations() -> None:
    of = found({POLLERS: (0.95, 0.5), PORTS: (0.3, 0.97)})
    assert full_words(of, 0) == (
        "What limits it: network port of a store, sending, 97 % busy with in_memory and "
        "store pollers, 95 % busy with pipelined."
    )


def test_a_variant_with_room_is_named_too() -> None:
    of = found({POLLERS: (0.95, 0.5)})
    assert full_words(of, 0) == (
        "What limits it: store pollers, 95 % busy with pipelined; no station is full with "
        "in_memory."
    )


def test_waits_that_are_refused_are_not_called_none() -> None:
    of = found({WAITS: (130.0, 0.0), TXNS: (140.0, 0.0)})
    assert "0 ms with in_memory" in waits_words(of, 0)
    rows: list[dict[str, Any]] = [
        {"metric": metric, "class": "all", "stat": "mean", "point": {}, "variant": variant,
         "value": value, "ci_low": None, "ci_high": None, "replications": 2, "refused": refused}
        for metric, variant, value, refused in (
            ("lock_wait_per_txn_ms", "pipelined", 130.0, ""),
            ("lock_wait_per_txn_ms", "in_memory", None, "not settled"),
            ("txn_latency_ms", "pipelined", 120.0, ""),
            ("txn_latency_ms", "in_memory", None, "not settled"),
        )
    ]  # fmt: skip
    assert waits_words(findings([{}], rows, []), 0) == (
        "Waits for other transactions' locks, which are no part of a lock's latency, take "
        "nearly all of a transaction's 120 ms with pipelined."
    )


def test_a_sweep_is_told_at_how_many_points_which_station_is_full() -> None:
    busy = {"pipelined": [(0.5, 0.2), (0.92, 0.3)], "in_memory": [(0.4, 0.95), (0.9, 0.3)]}
    points = [{"workload.threads": threads} for threads in (10, 20)]
    rows = [
        {
            "metric": metric, "class": class_, "stat": "mean", "point": point, "variant": variant,
            "value": value, "ci_low": value, "ci_high": value, "replications": 5,
        }
        for variant, of in busy.items()
        for point, values in zip(points, of, strict=True)
        for (metric, class_), value in zip((POLLERS, PORTS), values, strict=True)
    ]  # fmt: skip
    assert full_points_words(findings(points, rows, [])) == (
        "Of 2 points a station is full at 2 with in_memory (network port of a store, sending or "
        "store pollers, up to 95 % busy), at 1 with pipelined (store pollers, up to 92 % busy)."
    )
    assert full_points_words(found({POLLERS: (0.5, 0.6)})) == ""


def test_the_busiest_station_of_many_points_has_its_short_name() -> None:
    points = [{"workload.threads": threads} for threads in range(1, 6)]
    rows = [
        {
            "metric": POLLERS[0], "class": POLLERS[1], "stat": "mean", "point": point,
            "variant": "sync", "value": 0.9, "ci_low": 0.9, "ci_high": 0.9, "replications": 5,
        }
        for point in points
    ]  # fmt: skip
    (table,) = limit_blocks(findings(points, rows, []))
    assert isinstance(table, ReportTable)
    assert table.title == "Busiest station by point"
    assert [row[1].text for row in table.rows] == ["store_poller 90 %"] * 5


def test_of_one_variant_no_name_is_needed() -> None:
    assert full_words(found({POLLERS: (0.9,)}, ("sync",)), 0) == (
        "What limits it: store pollers, 90 % busy."
    )


def test_where_nothing_is_full_the_answer_does_not_mention_it() -> None:
    of = found({POLLERS: (0.5, 0.6), WAITS: (0.05, 0.04), TXNS: (10.0, 9.0)})
    assert full_words(of, 0) == waits_words(of, 0) == ""
    assert limit_text(of, 0, "in_memory") == (
        "no station is full; the busiest station is “store pollers”, 60 % busy"
    )


def test_waits_for_other_transactions_are_told_beside_the_lock_latency() -> None:
    of = found({POLLERS: (0.02, 0.01), WAITS: (511.0, 474.0), TXNS: (517.0, 479.0)})
    assert waits_words(of, 0) == (
        "Waits for other transactions' locks, which are no part of a lock's latency, take 474 of a "
        "transaction's 479 ms with in_memory, 511 of 517 ms with pipelined."
    )
    assert limit_text(of, 0, "pipelined") == (
        "limited by rows that several transactions want: 99 % of their time they wait for each "
        "other's locks; the busiest station is “store pollers”, 2 % busy"
    )


def test_waits_of_unknown_length_are_said_to_be_so() -> None:
    rows: list[dict[str, Any]] = [
        {"metric": metric, "class": "all", "stat": "mean", "point": {}, "variant": variant,
         "value": value, "ci_low": value - half, "ci_high": value + half, "replications": 2}
        for metric, variant, value, half in (
            ("lock_wait_per_txn_ms", "pipelined", 0.01, 0.001),
            ("lock_wait_per_txn_ms", "in_memory", 7.0, 30.0),
            ("txn_latency_ms", "pipelined", 12.0, 0.1),
            ("txn_latency_ms", "in_memory", 16.0, 0.1),
        )
    ]  # fmt: skip
    assert waits_words(findings([{}], rows, []), 0).endswith(
        "take an unknown part of a transaction's 16.0 ms with in_memory, 0.0100 of 12.0 ms with "
        "pipelined."
    )


def test_a_variant_whose_waits_are_short_is_told_beside_the_other() -> None:
    of = found({WAITS: (3.0, 0.0), TXNS: (20.0, 15.0)})
    assert waits_words(of, 0).endswith(
        "take 0 of a transaction's 15.0 ms with in_memory, 3.00 of 20.0 ms with pipelined."
    )
