"""The answers of sweeps, and of searches for capacity."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from analysis.page.answer_of_sweep import of_sweep
from analysis.page.capacity import capacity_tiles, of_capacity
from analysis.page.failures import failures_anywhere
from analysis.page.findings import Findings
from analysis.plots.axes import axes_of
from tests.page.test_answer import findings

TWO = ("pipelined", "in_memory")


def case(variant: str, load: float | None, **more: Any) -> dict[str, Any]:
    known = load is not None
    return {
        "point": {"hardware.profile": "gp3_max"}, "variant": variant, "finished": True,
        "status": "found" if known else "above", "load": load,
        "load_ci_low": load and 0.98 * load, "load_ci_high": load and 1.02 * load,
        "replications": 4, "binds": "lock_latency_ms.p99", "without_value": [],
        "station": {"name": "store_poller", "busy": 0.97} if known else None, "headroom": 0.5,
    } | more  # fmt: skip


def found(
    *cases: dict[str, Any], ratio: tuple[float, float, float] | None = None
) -> dict[str, Any]:
    row = {
        "point": {"hardware.profile": "gp3_max"}, "variant": "in_memory",
        "baseline": "pipelined", "metric": "capacity_load",
    }  # fmt: skip
    ends = {} if ratio is None else dict(zip(("ratio", "ci_low", "ci_high"), ratio, strict=True))
    objective = {"key": "lock_latency_ms.p99", "metric": "lock_latency_ms", "limit": 10.0}
    return {
        "unit": "1/s", "between": [600.0, 4000.0], "slo": [objective], "cases": list(cases),
        "comparisons": [row | ends] if ends else [],
    }  # fmt: skip


def test_a_capacity_is_compared_first_and_told_with_its_promise() -> None:
    content = found(case("pipelined", 1500.0), case("in_memory", 2250.0), ratio=(1.5, 1.47, 1.53))
    assert list(of_capacity(content)) == [
        "On gp3_max, in_memory carries 50 % [47, 53] more than pipelined.",
        "in_memory on gp3_max carries the most: 2,250 [2,205, 2,295] transactions a second, "
        "keeping lock_latency_ms.p99 ≤ 10 ms.",
    ]


def test_capacities_that_may_be_alike_are_not_ranked() -> None:
    content = found(case("pipelined", 1500.0), case("in_memory", 1510.0), ratio=(1.01, 0.9, 1.1))
    assert next(of_capacity(content)) == (
        "On gp3_max, in_memory carries as much (+1 % [−10, +10]) as pipelined."
    )


def test_without_a_capacity_nothing_is_promised() -> None:
    content = found(case("pipelined", None), case("in_memory", None))
    [said] = of_capacity(content)
    promise = "lock_latency_ms.p99 ≤ 10 ms"
    assert said == f"Every case keeps {promise} up to 4,000 transactions a second at least."
    below = found(case("pipelined", None, status="below"), case("in_memory", None, status="below"))
    assert list(of_capacity(below)) == [
        f"No case keeps {promise}, not even at 600 transactions a second."
    ]
    both = found(case("pipelined", None, status="below"), case("in_memory", None))
    assert list(of_capacity(both)) == [
        "No case has a capacity that is known to lie between 600 transactions a second and "
        f"4,000 transactions a second, with {promise}."
    ]


def test_a_tile_says_how_far_a_case_goes_or_why_that_is_not_known() -> None:
    known, unknown = capacity_tiles(found(case("pipelined", 1500.0), case("in_memory", None)))
    assert (known.label, known.change, known.interval) == (
        "pipelined on gp3_max", "1,500/s", "[1,470, 1,530]",
    )  # fmt: skip
    assert known.detail == "store pollers, 97 % busy, +50 % headroom"
    assert unknown.change == "more than 4,000/s"
    assert "raise capacity.between" in unknown.detail


def swept(*ratios: tuple[float, float], variants: Sequence[str] = TWO) -> Findings:
    """Returns a study at as many points: the last variant's ratio at each, and half its width."""
    points = [{"workload.threads": 10 * (place + 1)} for place in range(len(ratios))]
    rows, comparisons = [], []
    for point, (ratio, half) in zip(points, ratios, strict=True):
        of = {"metric": "lock_latency_ms", "class": "all", "stat": "mean", "point": point}
        for variant in variants:
            value = 2.0 * ratio if variant == variants[-1] else 2.0
            ends = {"ci_low": value - half, "ci_high": value + half, "replications": 5}
            rows.append(of | ends | {"variant": variant, "value": value})
        between = {"ratio": ratio, "ci_low": ratio - half, "ci_high": ratio + half}
        comparisons.append(of | between | {"variant": variants[-1], "baseline": variants[0]})
    return findings(points, rows, comparisons)


@pytest.mark.parametrize(
    ("ratios", "says"),
    [
        (
            [(0.5, 0.02), (0.99, 0.02), (0.8, 0.02)],
            "2.00 ms with pipelined, 1.00 to 1.98 ms with in_memory; difference from "
            "−50 % [−52, −48] (at threads 10) to −20 % [−22, −18] (at threads 30); no clear "
            "difference at 1 of 3 points",
        ),
        (
            [(0.5, 0.02), (0.75, 0.4), (1.2, 0.3)],
            "2.0 ms with pipelined, 1.00 to 2.4 ms with in_memory; difference −50 % [−52, −48] "
            "(at threads 10); no clear difference at 2 of 3 points",
        ),
        (
            [(0.75, 0.4), (1.2, 0.3), (1.5, 1.6)],
            "2.0 ms with pipelined, 1.5 to 3.0 ms with in_memory; no clear difference at 2, no "
            "ratio at 1 of 3 points",
        ),
        (
            [(1.01, 0.02), (0.99, 0.02)],
            "2.00 ms with pipelined, 1.98 to 2.02 ms with in_memory; no clear difference anywhere",
        ),
        (
            [(0.5, 0.02), (1.5, 1.6)],
            "2.0 ms with pipelined, 1.00 to 3.0 ms with in_memory; difference "
            "−50 % [−52, −48] (at threads 10); no ratio at 1 of 2 points",
        ),
    ],
)
def test_a_sweep_is_told_by_its_ends_as_far_as_they_are_known(
    ratios: list[tuple[float, float]], says: str
) -> None:
    [said] = of_sweep(swept(*ratios))
    assert said == f"Lock latency, mean: {says}."


def test_a_range_has_points_at_which_every_variant_is_known() -> None:
    of = swept((0.5, 0.02), (0.6, 0.02), (0.7, 0.02))
    rows = [dict(row) for row in of.summary["rows"]]
    slow = next(row for row in rows if row["variant"] == "pipelined" and row["point"] ==
                {"workload.threads": 30})  # fmt: skip
    slow |= {"value": 3.0, "ci_low": -1.0, "ci_high": 7.0}

    def said() -> str:
        points = [dict(point) for point in of.points]
        (told,) = of_sweep(findings(points, rows, list(of.summary["comparisons"])))
        return told.partition(";")[0]

    assert said() == (
        "Lock latency, mean: 2.00 ms with pipelined, 1.00 to 1.20 ms with in_memory (at 2 of 3 "
        "points, where both are known)"
    )
    slow |= {"value": 900.0, "ci_low": None, "ci_high": None, "at_least": True}
    assert said().endswith("in_memory (at 2 of 3 points, where both are known)")


def test_latency_of_transactions_is_told_where_nobody_asks_for_a_lock() -> None:
    everywhere = swept((0.5, 0.02), (0.8, 0.02), (0.9, 0.02), variants=("in_memory",))
    locks = list(everywhere.summary["rows"])
    txns = [row | {"metric": "txn_latency_ms", "stat": "p99"} for row in locks]

    def told(rows: list[dict[str, Any]]) -> list[str]:
        points = [dict(point) for point in everywhere.points]
        said = of_sweep(findings(points, rows, []))
        return [sentence.partition(":")[0] for sentence in said]

    assert told(locks + txns) == ["Lock latency, mean"]
    assert told(locks[1:] + txns) == ["Lock latency, mean", "Transaction latency, p99"]
    assert told(txns) == ["Transaction latency, p99"]


def test_the_most_that_failed_at_any_point_is_told_with_its_place() -> None:
    points = [{"workload.threads": threads} for threads in (10, 20)]
    counts = {
        ("in_memory", 10, "locks_lost", "all"): 2.0, ("in_memory", 20, "locks_lost", "all"): 6.0,
        ("in_memory", 10, "txn_aborts", "all"): 5.5, ("in_memory", 20, "txn_aborts", "all"): 5.0,
        ("in_memory", 20, "txn_aborts", "rollback"): 5.0, ("pipelined", 10, "locks_lost", "all"): 0,
    }  # fmt: skip
    rows = [
        {
            "point": {"workload.threads": threads}, "variant": variant, "metric": metric,
            "class": class_, "stat": "mean", "value": value, "ci_low": value, "ci_high": value,
            "replications": 5,
        }
        for (variant, threads, metric, class_), value in counts.items()
    ]  # fmt: skip
    assert failures_anywhere(findings(points, rows, []), axes_of(points)) == (
        "Over all points, with in_memory up to 12 locks were lost in a run (at threads 20) and up "
        "to 11 transactions failed in a run (at threads 10); with pipelined no lock was lost and "
        "no transaction failed."
    )
    assert failures_anywhere(findings(points, rows[5:], []), axes_of(points)) == (
        "Over all points, no lock was lost and no transaction failed."
    )


def test_a_sweep_without_levels_or_differences_says_so() -> None:
    [said] = of_sweep(swept((800.0, 900.0), (900.0, 950.0)))
    assert said == (
        "Lock latency, mean, in_memory against pipelined: not known yet, it varies too much from "
        "run to run."
    )


@pytest.mark.parametrize(
    ("ratio", "says"),
    [
        (0.5, "−50 % [−52, −48] at each of 2 points"),
        (1.01, "no clear difference anywhere"),
    ],
)
def test_of_more_than_two_variants_it_is_said_which_are_compared(ratio: float, says: str) -> None:
    ratios = [(ratio, 0.02)] * 2
    [said] = of_sweep(swept(*ratios, variants=("sync", "pipelined", "in_memory")))
    assert said == (
        "Lock latency, mean: 2.00 ms with sync, 2.00 ms with pipelined, "
        f"{2 * ratio:.2f} ms with in_memory; in_memory against sync: {says}."
    )


@pytest.mark.parametrize(
    ("halves", "apart"), [((0.1, 0.1), ""), ((0.1, 1.5), ", which cannot be told apart")]
)
def test_values_of_one_variant_have_their_unit(halves: tuple[float, float], apart: str) -> None:
    ratios = [(ratio, half) for ratio, half in zip((0.5, 1.0), halves, strict=True)]
    [said] = of_sweep(swept(*ratios, variants=("in_memory",)))
    least = "1.00 ms (at threads 10)"
    most = "2.00 ms (at threads 20)" if not apart else "2.0 ms (at threads 20)"
    assert said == f"Lock latency, mean: from {least} to {most}{apart}."
