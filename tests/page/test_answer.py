"""What the answer says of bandwidth: bytes of a transaction, and of a second, are two things."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any, cast

import pytest

from analysis.metrics.numbers import StudyNumber, change_parts
from analysis.metrics.row_table import RowTable
from analysis.page.answer import answer, tiles
from analysis.page.findings import Findings
from analysis.study.run import RunSection

LEVELS = {
    "lock_latency_ms": 2.0,
    "disk_write_bytes_per_txn": 200 * 1024.0,
    "disk_write_bytes_per_s": 200e6,
    "txn_per_s": 1_000.0,
}
Ratios = dict[str, float]
Row = dict[str, Any]


def found(ratios: Ratios, half: float = 0.02, values: float = 0.01) -> Findings:
    """Returns a study of two variants with these ratios, by metric; the others are 1.

    Half widths are ``half`` of each ratio, and ``values`` of each value, as a share of it.
    """
    rows, comparisons = [], []
    for metric, level in LEVELS.items():
        ratio = ratios.get(metric, 1.0)
        of = {"metric": metric, "class": "all", "stat": "mean", "point": {}}
        for variant, value in (("pipelined", level), ("in_memory", level * ratio)):
            low, high = value * (1 - values), value * (1 + values)
            ends = {"ci_low": low, "ci_high": high, "replications": 5}
            rows.append(of | ends | {"variant": variant, "value": value})
        between = {"ratio": ratio, "ci_low": ratio - half, "ci_high": ratio + half}
        comparisons.append(of | between | {"variant": "in_memory"})
    return findings([{}], rows, comparisons)


def findings(points: Sequence[Row], rows: Sequence[Row], comparisons: Sequence[Row]) -> Findings:
    """Returns a study of the variants that these numbers are of."""
    variants = dict.fromkeys(row["variant"] for row in rows)
    study = SimpleNamespace(
        variants=variants, contours={}, resolved_yaml=lambda: "{}", run=RunSection(batches=2)
    )
    run = SimpleNamespace(study=study, plan=SimpleNamespace(points=points))
    summary: dict[str, Any] = {
        "rows": RowTable.from_rows(rows, points), "comparisons": comparisons, "expectations": [],
        "verdict": {"says": ""},
    }  # fmt: skip
    return Findings(cast(Any, run), summary, cast(Any, None), [])


def test_where_bandwidth_rises_because_more_is_done_the_first_sentence_says_so() -> None:
    said = answer(
        found(
            {
                "lock_latency_ms": 0.4,
                "disk_write_bytes_per_txn": 0.8,
                "disk_write_bytes_per_s": 1.05,
                "txn_per_s": 1.3,
            }
        )
    )
    assert said == (
        "With in_memory, the disks write 5 % [3, 7] more a second (210 MB/s instead of 200), "
        "because more transactions are done; each writes less.",
        "With in_memory, a lock request takes 0.800 ms on average instead of 2.00 ms with "
        "pipelined: 60 % [58, 62] less.",
        "A transaction writes 20 % [18, 22] less to disk (160 KiB instead of 200) and the cluster "
        "commits 30 % [28, 32] more transactions a second (1,300 instead of 1,000).",
    )


def test_at_a_fixed_rate_bandwidth_falls_as_the_bytes_of_a_transaction_do() -> None:
    fewer = {"disk_write_bytes_per_txn": 0.8, "disk_write_bytes_per_s": 0.8}
    said = answer(found(fewer))
    assert "the disks" not in said[0]
    assert said[-1] == (
        "At the same rate of transactions the disks write 20 % [18, 22] less a second (160 MB/s "
        "instead of 200)."
    )


def test_rates_that_may_differ_are_not_called_the_same() -> None:
    fewer = {"disk_write_bytes_per_txn": 0.8, "disk_write_bytes_per_s": 0.85}
    assert answer(found(fewer, half=0.03))[-1].startswith("The disks write 15 % [12, 18] less")


def test_rates_that_are_equal_to_the_last_digit_are_the_same() -> None:
    fewer = {"disk_write_bytes_per_txn": 0.8, "disk_write_bytes_per_s": 0.8}
    assert answer(found(fewer, half=0.0))[-1].startswith("At the same rate of transactions")


def test_rates_that_differ_by_less_than_is_shown_are_as_many() -> None:
    said = answer(found({"txn_per_s": 0.9996}, half=0.0001))
    assert any("the cluster commits as many transactions a second (1,000)" in each for each in said)


def test_rates_that_differ_by_less_than_matters_are_about_as_many() -> None:
    said = answer(found({"txn_per_s": 0.996}, half=0.01))
    assert any(
        "commits about as many transactions a second (996 and 1,000)" in each for each in said
    )


def test_rates_that_are_not_known_yet_can_be_the_same() -> None:
    vague = found({"disk_write_bytes_per_txn": 0.8}, half=0.01, values=2.0)
    assert any(each.endswith("commits as many transactions a second.") for each in answer(vague))


def test_equal_rates_of_a_single_pair_are_as_many() -> None:
    same: Row = {"class": "all", "stat": "mean", "point": {}, "ci_low": None, "ci_high": None}
    kinds = (("txn_per_s", 0.4, 1.0), ("disk_write_bytes_per_s", 3e5, 0.6))
    rows = [
        same | {"metric": metric, "variant": variant, "value": value, "replications": 1}
        for metric, value, _ in kinds
        for variant in ("pipelined", "in_memory")
    ]
    ratios = [
        same | {"metric": metric, "variant": "in_memory", "ratio": ratio}
        for metric, _, ratio in kinds
    ]
    said = answer(findings([{}], rows, ratios))
    assert "The cluster commits as many transactions a second (0.400)." in said


def test_what_nothing_tells_apart_is_one_sentence() -> None:
    assert answer(found({}, half=0.0)) == (
        "With in_memory, all main numbers are the same as with pipelined.",
    )
    assert len(answer(found({}))) > 1  # By chance.


def test_what_is_refused_is_not_the_same() -> None:
    same: Row = {"class": "all", "stat": "mean", "point": {}, "ci_low": None, "ci_high": None}
    rows = [
        same | {"metric": metric, "variant": variant, "value": value, "refused": refused}
        for metric, value, refused in (("txn_per_s", 9.0, ""), ("lock_latency_ms", None, "full"))
        for variant in ("pipelined", "in_memory")
    ]
    ratio = same | {"metric": "txn_per_s", "variant": "in_memory", "ratio": 1.0}
    assert "Latencies of in_memory are refused: full." in answer(findings([{}], rows, [ratio]))


def test_a_single_run_has_its_number_of_runs_behind_the_unit() -> None:
    row = {"metric": "disk_write_bytes_per_txn", "class": "all", "stat": "mean", "point": {}}
    alone = row | {"variant": "in_memory", "value": 204_800.0, "replications": 1}
    said = answer(findings([{}], [alone | {"ci_low": None, "ci_high": None}], []))
    assert said == ("Disk writes per transaction: 200 KiB (n=1).",)


@pytest.mark.parametrize(
    ("ratios", "last"),
    [
        ({"disk_write_bytes_per_s": 1.2, "disk_write_bytes_per_txn": 1.2}, "At the same rate"),
        ({"disk_write_bytes_per_s": 0.9, "txn_per_s": 1.1}, "The disks write 10 % [8, 12] less"),
        ({"txn_per_s": 1.1}, "Disk writes a second cannot be told apart"),
    ],
)
def test_otherwise_bandwidth_comes_last(ratios: Ratios, last: str) -> None:
    said = answer(found(ratios))
    assert said[-1].startswith(last)
    assert sum("a second (" in each and "disks" in each.lower() for each in said) <= 1


def test_what_is_not_known_yet_has_no_unit_and_no_brackets() -> None:
    vague = found({}, half=2.0, values=2.0)
    assert answer(vague) == (
        "How long a lock request takes on average varies too much from run to run: in_memory (not "
        "known yet) and pipelined (not known yet).",
        "Disk writes per transaction cannot be told apart and transactions a second cannot be told "
        "apart.",
        "Disk writes a second cannot be told apart.",
    )
    assert "not known yet ms" not in str(tiles(vague))


def test_each_of_three_variants_is_told_of_and_of_five_one() -> None:
    def said(number: int) -> tuple[str, ...]:
        names = ["pipelined", *(f"v{place}" for place in range(1, number))]
        of = {"metric": "lock_latency_ms", "class": "all", "stat": "mean", "point": {}}
        rows, comparisons = [], []
        for place, name in enumerate(names):
            ends = {"ci_low": 1.0 + place, "ci_high": 1.0 + place, "replications": 5}
            rows.append(of | ends | {"variant": name, "value": 1.0 + place})
            between = {"ratio": 1.0 + place, "ci_low": 0.9 + place, "ci_high": 1.1 + place}
            comparisons.append(of | between | {"variant": name})
        return answer(findings([{}], rows, comparisons[1:]))

    assert [line.split(",")[0] for line in said(3)] == ["With v2", "With v1"]
    assert [line.split(",")[0] for line in said(5)] == ["With v4"]


def test_failures_come_with_their_share_and_their_reasons() -> None:
    figures = {
        ("lock_latency_ms", "all"): 1.0,
        ("txn_aborts", "all"): 440.0,
        ("txn_aborts", "rollback"): 12.0,
        ("txn_aborts", "deadlock"): 400.0,
        ("txn_aborts", "lock_wait_timeout"): 28.0,
        ("txn_failures", "all"): 0.47,
    }
    rows: list[Row] = [
        {
            "metric": metric, "class": class_, "stat": "mean", "point": {}, "variant": "sync",
            "value": value, "ci_low": value, "ci_high": value, "replications": 5,
        }
        for (metric, class_), value in figures.items()
    ]  # fmt: skip
    said = answer(findings([{}], rows, []))
    assert said[0] == (
        "In a run, on average, no lock was lost and 856 transactions failed (47 % of all: "
        "deadlock, lock wait timeout). All had ended with the run."
    )


@pytest.mark.parametrize(
    ("ends", "told"),
    [
        ((0.88, 0.77, 0.998), ("−12.0 %", "[−23.0, −0.2]")),
        ((0.88, 0.76, 1.002), ("−12 %", "[−24, 0]")),
        ((1.1, 1.003, 1.2), ("+10.0 %", "[+0.3, +20.0]")),
        ((0.5, 0.4, 0.6), ("−50 %", "[−60, −40]")),
        ((7.2, 7.1, 7.3), ("×7.20", "[7.10, 7.30]")),
    ],
)
def test_no_end_of_a_clear_change_reads_as_none(
    ends: tuple[float, float, float], told: tuple[str, str]
) -> None:
    assert change_parts(StudyNumber("txn_per_s", *ends, replications=5)) == told
