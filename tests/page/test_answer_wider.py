"""The answers of searches for capacity."""

from __future__ import annotations

from typing import Any

from analysis.page.answer_wider import of_capacity
from analysis.page.capacity import capacity_tiles


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
