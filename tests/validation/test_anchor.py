"""When the model agrees with an anchor, and what is said when it does not."""

from __future__ import annotations

from dataclasses import replace

import pytest

from analysis.validation.anchor import Alone, Anchor, Band, Figure, Judged
from analysis.validation.table import error_text, mean_error, middle_text, verdict_lines


def anchor(theirs: Figure, band: Band, unit: str = "ms", kind: str = "measured") -> Anchor:
    return Anchor(
        name="it",
        kind=kind,  # type: ignore[arg-type]
        conditions="",
        source="somebody",
        unit=unit,
        theirs=theirs,
        band=band,
        origin=Alone(list, float),
    )


@pytest.mark.parametrize(
    ("ours", "verdict"),
    [(84.9, "outside"), (85.0, "in band"), (115.0, "in band"), (115.1, "outside")],
)
def test_a_share_reaches_as_far_on_both_sides(ours: float, verdict: str) -> None:
    judged = Judged(anchor(Figure.exactly(100.0), Band(share=0.15)), Figure.exactly(ours))
    assert judged.verdict == verdict


def test_publications_that_differ_widen_no_band() -> None:
    gain = anchor(Figure(28.0, 22.0, 34.0), Band(amount=5.0), unit="%")
    assert Judged(gain, Figure.exactly(23.0)).verdict == "in band"
    assert Judged(gain, Figure.exactly(22.9)).verdict == "outside"
    assert error_text(Judged(gain, Figure.exactly(17.0))) == "-11.0 pt"


def test_what_follows_from_other_figures_is_in_no_mean_error() -> None:
    level = anchor(Figure.exactly(100.0), Band(share=0.2))
    judged = [
        Judged(level, Figure.exactly(110.0)),
        Judged(replace(level, standing="fitted"), Figure.exactly(130.0)),
        Judged(replace(level, standing="derived"), Figure.exactly(190.0)),
    ]
    assert [line for line in verdict_lines(judged) if "mean absolute error" in line] == [
        "mean absolute error, published and measured: 20.0%",
        "mean absolute error, not used for fitting: 10.0%",
    ]


def test_an_interval_of_ours_widens_no_band() -> None:
    wide = Figure(130.0, 90.0, 170.0)
    assert Judged(anchor(Figure.exactly(100.0), Band(share=0.15)), wide).verdict == "outside"


def test_what_a_study_refuses_is_no_agreement() -> None:
    refused = Judged(anchor(Figure.exactly(1.0), Band(share=1.0)), None, "overloaded")
    assert refused.verdict == "refused"
    assert "refused: it: overloaded" in list(verdict_lines([refused]))


def test_the_mean_error_is_over_levels_alone() -> None:
    levels = [
        Judged(anchor(Figure.exactly(100.0), Band(share=0.2)), Figure.exactly(110.0)),
        Judged(anchor(Figure.exactly(100.0), Band(share=0.2)), Figure.exactly(70.0)),
    ]
    change = Judged(anchor(Figure.exactly(-50.0), Band(amount=1.0), unit="%"), Figure.exactly(-5.0))
    assert mean_error([*levels, change]) == pytest.approx(0.2)
    assert mean_error([change]) is None


def test_figures_are_told_with_their_half_width() -> None:
    assert middle_text(Figure(44.5, 44.2, 44.8)) == "44.5 ± 0.300"
    assert middle_text(Figure.exactly(1.0)) == "1.00"
