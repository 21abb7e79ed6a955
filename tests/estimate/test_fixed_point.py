"""Proves: figures that follow from themselves are found, wherever a bound or a jump puts them."""

from __future__ import annotations

from math import cos, exp

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim.estimate.fixed_point import fixed_point

CLOSE = 1e-4


@given(
    root=st.floats(0.01, 100.0),
    slope=st.floats(-50.0, 0.8),
    near=st.floats(0.01, 200.0),
)
def test_a_line_crosses_where_it_crosses(root: float, slope: float, near: float) -> None:
    found = fixed_point(lambda at: root + slope * (at - root), near, close=CLOSE, most=200.0)
    assert found == pytest.approx(root, rel=10 * CLOSE)


def test_curves_of_known_answers() -> None:
    assert fixed_point(cos, 0.1, close=CLOSE) == pytest.approx(0.739085, rel=CLOSE)
    omega = fixed_point(lambda at: exp(-at), 30.0, close=CLOSE)  # Lambert's W of 1.
    assert omega == pytest.approx(0.567143, rel=CLOSE)


@pytest.mark.parametrize("near", [1.0, 3.0, 9.0])
def test_an_answer_beyond_a_bound_is_the_bound(near: float) -> None:
    assert fixed_point(lambda _: 0.5, near, close=CLOSE, least=1.0) == pytest.approx(1.0, rel=CLOSE)
    assert fixed_point(lambda _: 20.0, near, close=CLOSE, most=9.0) == pytest.approx(9.0, rel=CLOSE)


@given(capacity=st.floats(0.01, 90.0), clients=st.floats(0.1, 1e4))
def test_a_closed_loop_is_bounded_by_its_clients_and_its_server(
    capacity: float, clients: float
) -> None:
    # Asymptotic bounds (Muntz, Wong 1974): the corner is where a secant knows the least.
    def bounded(rate: float) -> float:
        return min(clients / (1.0 + rate / 100.0), capacity)

    found = fixed_point(bounded, 50.0, close=CLOSE, least=1e-3, most=100.0)
    assert found == pytest.approx(bounded(found), rel=10 * CLOSE)


def test_no_more_is_tried_than_needed() -> None:
    tried = []

    def image(at: float) -> float:
        tried.append(at)
        return exp(-at)

    found = fixed_point(image, 0.5, close=CLOSE)
    assert len(tried) <= 4
    assert tried[-1] == found


@given(root=st.floats(0.01, 100.0), slope=st.floats(-50.0, 0.8), most=st.floats(0.01, 200.0))
def test_the_answer_is_what_was_asked_last(root: float, slope: float, most: float) -> None:
    tried = []

    def image(at: float) -> float:
        tried.append(at)
        return root + slope * (at - root)

    found = fixed_point(image, most / 2, close=CLOSE, most=most)
    assert tried[-1] == found
