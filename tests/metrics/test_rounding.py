"""One rule for numbers with intervals: digits follow the half width, and are three at most."""

from __future__ import annotations

import pytest

from analysis.metrics.rounding import (
    digits,
    rounded,
    share_with_half_width,
    size_with_half_width,
    with_ends,
    with_half_width,
)


@pytest.mark.parametrize(
    ("value", "half", "text"),
    [
        (0.11223, 0.00008, "0.112 ± <0.001"),
        (0.08239, 0.000161, "0.0824 ± 0.0002"),
        (0.71, 0.14, "0.71 ± 0.14"),
        (2.3008, 0.0081, "2.30 ± 0.01"),
        (23.6, 1.1, "23.6 ± 1.1"),
        (175.3, 2.4, "175 ± 2"),
        (2937.7, 6.3, "2,938 ± 6"),
        (32128.0, 1990.0, "32,128 ± 1,990"),
        (5.0, 0.0, "5.00 (all equal)"),
        (0.0, 0.0, "0"),
        (-3.21, 0.4, "-3.2 ± 0.4"),
        (8.0, 57.0, "not known yet"),
        (0.0, 1.0, "not known yet"),
    ],
)
def test_a_value_and_its_half_width(value: float, half: float, text: str) -> None:
    assert with_half_width(value, half) == text


@pytest.mark.parametrize(
    ("size", "half", "text"),
    [
        (0.65, 0.12, "0.65 ± 0.12"),
        (0.112, 0.121, "below 0.24"),
        (0.03, 0.04, "below 0.070"),
        (0.0, 0.0, "0"),
        (1_400.0, 1_511.0, "below 2,911"),
    ],
)
def test_a_size_that_may_be_nothing_has_a_bound(size: float, half: float, text: str) -> None:
    assert size_with_half_width(size, half) == text


def test_the_ends_of_a_ratio_have_its_decimals() -> None:
    assert with_ends(0.5083, 0.4952, 0.5217) == "0.508 [0.495, 0.522]"
    assert with_ends(1.3, 1.29, 1.31) == "1.30 [1.29, 1.31]"
    assert with_ends(0.4, 0.3, 0.55) == "0.40 [0.30, 0.55]"
    assert with_ends(1.414, 0.017, 115.608) == "not known yet"
    assert with_ends(1297.0, 511.0, 3291.0) == "1,297 [511, 3,291]", "it is greater than 1"
    assert with_ends(0.88, 0.77, 0.998) == "0.880 [0.770, 0.998]", "better, so no end may read as 1"
    assert with_ends(1.2, 1.03, 1.4) == "1.20 [1.03, 1.40]"
    assert with_ends(2.1, 1.04, 3.2) == "2.10 [1.04, 3.20]"
    assert with_ends(0.88, 0.75, 1.002) == "0.88 [0.75, 1.00]", "it may be 1"
    assert with_ends(0.9, 0.8, 0.9998) == "0.90 [0.80, 1.00]", "nothing is seen of so little"
    assert with_ends(0.01, 0.002, 0.05) == "0.010 [0.002, 0.050]"


def test_a_value_alone() -> None:
    assert rounded(7.872, 0.11) == "7.87"
    assert rounded(7.872, 1.2) == "7.9"
    assert rounded(8.0, 57.0) == "not known yet"


@pytest.mark.parametrize(
    ("share", "half", "text"),
    [
        (0.66, 0.21, "66 ± 21 %"),
        (0.0, 0.02, "0 ± 2 %"),
        (1.45, 0.47, "at least 98 %"),
        (1.6, 0.2, "at least 100 %"),
        (-0.05, 0.1, "below 5 %"),
    ],
)
def test_a_share_is_none_of_more_than_all(share: float, half: float, text: str) -> None:
    assert share_with_half_width(share, half) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"),
        (0.00001234, "0.0000123"),
        (0.000412, "0.000412"),
        (5.0, "5"),
        (27.34, "27.3"),
        (999.6, "1,000"),
        (1_830.4, "1,830"),
        (-1_830.4, "-1,830"),
        (None, "no value"),
    ],
)
def test_in_a_sentence_a_number_has_no_exponent(value: float | None, text: str) -> None:
    assert digits(value) == text
