"""Where a summary has the figure of an anchor."""

from __future__ import annotations

from typing import Any

import pytest

from analysis.metrics.catalogue import MetricKey
from analysis.validation.anchor import InStudy, Quotient
from analysis.validation.figures import NoFigureError, figure_of


def row(variant: str, threads: int, value: float | None, **more: Any) -> dict[str, Any]:
    return {
        "point": {"workload.threads": threads}, "variant": variant, "metric": "tpmc",
        "class": "all", "stat": "mean", "value": value, "ci_low": None if value is None else
        0.9 * value, "ci_high": None if value is None else 1.1 * value, **more,
    }  # fmt: skip


RATIO = {
    "point": {"workload.threads": 50}, "baseline": "old", "variant": "new", "metric": "tpmc",
    "class": "all", "stat": "mean", "ratio": 1.2, "ci_low": 1.1, "ci_high": 1.3,
}  # fmt: skip
SUMMARY: dict[str, Any] = {
    "rows": [row("old", 50, 100.0), row("old", 400, 200.0), row("new", 400, None,
                                                               refused="overloaded")],
    "comparisons": [RATIO],
}  # fmt: skip
TPMC = MetricKey.parse("tpmc")
AT_50 = {"workload.threads": 50}


def test_a_level_is_the_row_of_its_point_in_their_unit() -> None:
    origin = InStudy("s", "old", TPMC, point={"workload.threads": 400}, scale=0.5)
    found = figure_of(origin, SUMMARY)
    assert (found.value, found.low, found.high) == pytest.approx((100.0, 90.0, 110.0))


def test_a_change_is_the_ratio_less_one() -> None:
    origin = InStudy("s", "new", TPMC, against="old", point=AT_50, scale=100.0, change=True)
    found = figure_of(origin, SUMMARY)
    assert (found.value, found.low, found.high) == pytest.approx((20.0, 10.0, 30.0))


def test_relative_half_widths_of_a_quotient_add_as_squares() -> None:
    place = InStudy("s", "old", TPMC, point=AT_50)
    found = figure_of(Quotient(place, place), SUMMARY)
    assert found.value == 1.0
    assert found.high - found.value == pytest.approx(0.02**0.5)


def test_a_quotient_of_nothing_is_refused_and_one_over_something_is_nothing() -> None:
    never = {**row("never", 50, 0.0), "ci_low": 0.0, "ci_high": 0.0}
    summary = {**SUMMARY, "rows": [*SUMMARY["rows"], never]}
    nothing, some = InStudy("s", "never", TPMC), InStudy("s", "old", TPMC, point=AT_50)
    assert figure_of(Quotient(nothing, some), summary).value == 0.0
    with pytest.raises(NoFigureError, match="never happened"):
        figure_of(Quotient(some, nothing), summary)


def test_what_is_refused_or_missing_is_said() -> None:
    with pytest.raises(NoFigureError, match="overloaded"):
        figure_of(InStudy("s", "new", TPMC, point={"workload.threads": 400}), SUMMARY)
    with pytest.raises(NoFigureError, match=r"s has no tpmc of new, workload.threads = 50"):
        figure_of(InStudy("s", "new", TPMC, point=AT_50), SUMMARY)
