"""Numbers are as exact as their intervals, and changes have the right verdict."""

from __future__ import annotations

import pytest

from analysis.metrics.numbers import NOTHING, StudyNumber, change_text, span_text
from analysis.report.cells import plain_value, ratio_cell, share_text, value_cell
from tests.page.hostile import ratio, row


def between(value: float, half: float) -> StudyNumber:
    return StudyNumber.of(row("v", "m", value, ci_low=value - half, ci_high=value + half))


def change(metric: str, value: float, low: float | None, high: float | None) -> StudyNumber:
    return StudyNumber.of(ratio(metric, value, low, high))


@pytest.mark.parametrize(
    ("value", "half", "text"),
    [
        (2.3008, 0.0081, "2.30 ± 0.01"),
        (0.11223, 0.00008, "0.112 ± <0.001"),
        (8.0, 57.0, "not known yet"),
        (13.851, 1.3, "13.9 ± 1.3"),
        (138.51, 1.3, "139 ± 1"),
        (175.3, 2.4, "175 ± 2"),
        (32128.0, 199.0, "32,128 ± 199"),
        (0.71, 0.14, "0.71 ± 0.14"),
        (5.0, 0.0, "5.00 (all equal)"),
    ],
)
def test_a_value_has_the_digits_that_its_interval_supports(
    value: float, half: float, text: str
) -> None:
    assert between(value, half).text() == text


def test_a_sentence_has_three_digits_or_what_is_supported() -> None:
    assert plain_value(between(2.3008, 0.0081)) == "2.30"
    assert plain_value(between(7.872, 0.11)) == "7.87"
    assert plain_value(between(7.872, 1.2)) == "7.9"
    assert plain_value(between(1191.1, 4.2)) == "1,191"


def test_changes_are_percent_with_as_many_digits_as_their_interval() -> None:
    assert change_text(change("m", 0.3593, 0.3575, 0.3611)) == "−64.1 % [−64.2, −63.9]"
    assert change_text(change("m", 0.9, 0.8, 1.02)) == "−10 % [−20, +2]"
    assert change_text(change("m", 1.0, 1.0, 1.0)) == "0 % [0, 0]"
    assert change_text(change("m", 7.2, 7.1, 7.3)) == "×7.20 [7.10, 7.30]"
    assert change_text(change("m", 0.5, None, None)) == "−50 % (n=1)"
    assert change_text(change("m", 1300.0, 511.0, 3291.0)) == "×1,300 [511, 3,291]"
    assert change_text(change("m", 1300.0, 0.9, 3291.0)) == "not known yet"


def test_a_span_has_its_ends_in_order() -> None:
    assert span_text(change("m", 0.5, 0.48, 0.52)) == "50 % [48, 52]"
    assert span_text(change("m", 1.2, 1.19, 1.21)) == "20.0 % [19.0, 21.0]"
    assert span_text(change("m", 7.2, 7.1, 7.3)) == "a factor of 7.20 [7.10, 7.30]"


@pytest.mark.parametrize(
    ("metric", "value", "verdict"),
    [
        ("lock_latency_ms", 0.5, "better"),
        ("lock_latency_ms", 1.5, "worse"),
        ("txn_per_s", 1.5, "better"),
        ("capacity_load", 1.5, "better"),
        ("capacity_txn_per_s", 0.5, "worse"),
        ("disk_write_bytes_per_s", 1.5, ""),
    ],
)
def test_a_change_is_for_the_better_or_for_the_worse(
    metric: str, value: float, verdict: str
) -> None:
    cell = ratio_cell(change(metric, value, value - 0.01, value + 0.01))
    assert cell.tone == verdict
    assert cell.verdict == verdict


def test_what_may_be_luck_has_no_verdict() -> None:
    assert ratio_cell(change("lock_latency_ms", 0.99, 0.9, 1.1)).tone == ""
    assert ratio_cell(change("lock_latency_ms", 0.5, None, None)).tone == ""


def test_what_is_refused_is_a_word() -> None:
    assert value_cell(StudyNumber.of(row("v", "m", None, refused="overloaded"))).text == "refused"
    assert value_cell(NOTHING).text == "–"
    assert share_text(between(0.9912, 0.0004)) == "99.1 %"
    assert share_text(between(0.9912, 0.0044)) == "99.1 ± 0.4 %"
