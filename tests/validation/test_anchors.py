"""The anchors that there are: each has a source, a place where the model's figure is, a band."""

from __future__ import annotations

import pytest

from analysis.study.load import load_study
from analysis.validation.anchor import Anchor, InStudy, Quotient
from analysis.validation.anchors import ANCHORS
from analysis.validation.figures import STUDIES, file_of, studies_of, study_of


def places(anchor: Anchor) -> list[InStudy]:
    match anchor.origin:
        case InStudy() as place:
            return [place]
        case Quotient(over, under):
            return [over, under]
        case _:
            return []


def test_every_anchor_has_a_name_of_its_own() -> None:
    names = [anchor.name for anchor in ANCHORS]
    assert len(set(names)) == len(names) > 60


@pytest.mark.parametrize("anchor", ANCHORS, ids=lambda anchor: anchor.name)
def test_an_anchor_says_whose_figure_it_is_and_can_fail(anchor: Anchor) -> None:
    assert anchor.source
    low, high = anchor.band.around(anchor.theirs)
    assert low <= anchor.theirs.low <= anchor.theirs.high <= high
    assert high - low < 2 * abs(anchor.theirs.value) + 1


@pytest.mark.parametrize("name", STUDIES)
@pytest.mark.parametrize("quick", [False, True])
def test_a_study_has_the_variants_and_points_that_its_anchors_name(name: str, quick: bool) -> None:
    anchors = [each for each in ANCHORS if study_of(each) == name and (each.quick or not quick)]
    study = load_study(file_of(name), STUDIES[name] if quick else ())
    for place in (place for anchor in anchors for place in places(anchor)):
        assert place.variant in study.variants
        assert place.against in {None, next(iter(study.variants))}
        assert any(
            all(point.get(key) == value for key, value in place.point.items())
            for point in study.points
        )


def test_no_study_is_run_for_nothing() -> None:
    assert studies_of(ANCHORS) == list(STUDIES)
