"""What publications of one figure come to."""

from __future__ import annotations

import pytest

from analysis.validation.published import gains, publications, published


def test_a_figure_is_the_mean_of_its_publications_with_the_least_and_the_largest() -> None:
    tpmc = published("tpcc", 50, "tpmc", "in_memory")
    assert (tpmc.low, tpmc.high) == (54_956.6, 59_059.2)
    assert tpmc.value == pytest.approx((54_956.6 + 59_059.2) / 2)


def test_all_versions_count_where_no_lock_is_asked_for() -> None:
    assert len(publications("oltp_point_select", 300)) == 6
    p95 = published("oltp_point_select", 300, "p95_ms")
    assert (p95.low, p95.high) == (1.67, 2.07)


def test_a_gain_is_of_one_and_the_same_document() -> None:
    gain = gains("tpcc", 50)
    assert gain.value == pytest.approx(100 * (54_956.6 / 44_822.8 - 1))
    assert gain.low == gain.high


def test_what_nobody_published_is_not_made_up() -> None:
    with pytest.raises(LookupError, match="no p95_ms of tpcc with 50 threads"):
        published("tpcc", 50, "p95_ms")
