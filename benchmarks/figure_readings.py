"""A figure of a study, read from its summary by a few words, and written as a reader takes it in.

The words of a reading, in any order::

    lock_latency_ms            a metric; with class and statistic lock_latency_ms.pipelined.p99
    threads=50                 a point of a sweep, by the ends of its keys
    in_memory                  a variant: its value
    in_memory/pipelined        a ratio
    KiB                        a unit to write a value in, or none
    ±  []  gain  change ...    how it is written, ``WRITTEN``

A study that has found something else, such as a capacity, says it under a path:
``capacity.cases.0.load``.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Final

from analysis.metrics import rounding
from analysis.metrics.numbers import StudyNumber, change_parts, change_text, signed
from analysis.metrics.rounding import short
from analysis.report.cells import plain_value
from analysis.report.table import DASH

Row = Mapping[str, Any]

UNITS: Final = {
    "KiB": 1 / 1024,
    "MB": 1e-6,
    "GB": 1e-9,
    "us": 1e3,
    "s": 1e-3,
    "%": 100.0,
    "thousand": 1e3,
}
"""By the word, what a value is multiplied by; ``us`` and ``s`` are of milliseconds, ``thousand`` of
what is given for one."""

_WHOLE_FROM: Final = 10.0
"""Percent in a sentence from which on they are whole."""
_STATS: Final = ("mean", "p50", "p90", "p95", "p99", "p999", "max", "total")


class ReadingError(ValueError):
    """A reading that the summary of its study has no answer to."""


def _ends(number: StudyNumber, scale: float) -> str:
    number = number.scaled(scale)
    if number.ci_low == number.ci_high:
        return short(number.value)
    return _ratio_ends(number)


def _ratio_ends(number: StudyNumber) -> str:
    return rounding.with_ends(number.value, number.ci_low, number.ci_high)


def _percent(ratio: StudyNumber, sign: int) -> str:
    percent = 100 * (ratio.value - 1)
    shown = signed(percent, 100 * ratio.half if abs(percent) < _WHOLE_FROM else 0.0)
    if shown.startswith("−" if sign > 0 else "+"):
        what = "gain" if sign > 0 else "saving"
        raise ReadingError(f"{ratio.metric}: {shown} % is no {what}")
    return f"{shown.lstrip('+−')} %"


OF_VALUE: Final[Mapping[str, Callable[[StudyNumber, float], str]]] = {
    "plain": plain_value,
    "±": StudyNumber.text,
    "[]": _ends,
    "whole": lambda number, scale: f"{number.value * scale:,.0f}",
}
"""How values are written: ``0.826``, ``0.826 ± 0.006``, ``0.826 [0.820, 0.832]``, ``1,562``."""

SUM: Final = "sum"
"""A count over all runs of a variant: a counter that never counted has no row."""

OF_RATIO: Final[Mapping[str, Callable[[StudyNumber], str]]] = {
    "[]": _ratio_ends,
    "ratio": lambda ratio: rounding.rounded(ratio.value, ratio.half),
    "over": lambda ratio: short(ratio.value),
    "gain": lambda ratio: _percent(ratio, 1),
    "saved": lambda ratio: _percent(ratio, -1),
    "change": lambda ratio: change_parts(ratio)[0],
    "ends": lambda ratio: change_parts(ratio)[1],
    "change[]": change_text,
}
"""How ratios are written: ``0.366 [0.361, 0.371]``, ``0.366``, with three digits whatever its
interval, ``29 %`` (of more), ``63 %`` (of less), ``−63.4 %``, ``[−63.9, −62.9]``, both."""


def read(summary: Mapping[str, Any], reading: str) -> str:
    """Returns a figure as text.

    Raises:
        ReadingError: if the summary does not have it.
    """
    if "." in reading and reading.partition(".")[0] in summary:
        return _at_path(summary, reading)
    variants = {row["variant"] for row in summary["rows"]}
    words = _Words(reading.split(), variants)
    scale = UNITS[words.unit] if words.unit else 1.0
    if words.written == SUM:
        return f"{words.sum(summary['rows']) * scale:,.0f}"
    if not words.is_ratio:
        form = OF_VALUE.get(words.written or "plain")
        if form is None:
            raise ReadingError(f"{reading}: {words.written} is for ratios")
        return form(StudyNumber.of(words.row(summary["rows"], "value")), scale)
    form_of_ratio = OF_RATIO.get(words.written or "[]")
    if form_of_ratio is None:
        raise ReadingError(f"{reading}: {words.written} is for values")
    return form_of_ratio(StudyNumber.of(words.ratio(summary["comparisons"])))


_KINDS: Final = ("metric", "variant", "point", "unit", "form")


def _kind(word: str, variants: Collection[str]) -> str:
    """Returns what a word of a reading is."""
    if word in OF_VALUE or word in OF_RATIO or word == SUM:
        return "form"
    if word in UNITS:
        return "unit"
    if "=" in word:
        return "point"
    return "variant" if word.partition("/")[0] in variants else "metric"


class _Words:
    """The words of a reading, told apart."""

    def __init__(self, words: Sequence[str], variants: Collection[str]) -> None:
        self.reading = " ".join(words)
        said: dict[str, list[str]] = {kind: [] for kind in _KINDS}
        for word in words:
            said[_kind(word, variants)].append(word)
        extra = [kind for kind in _KINDS if kind != "point" and len(said[kind]) > 1]
        if extra:
            raise ReadingError(f"{self.reading}: {said[extra[0]][1]} is one {extra[0]} too many")
        self.point = dict(word.split("=") for word in said["point"])
        self.metric, self.unit, self.written, who = (
            "".join(said[kind]) for kind in ("metric", "unit", "form", "variant")
        )
        alone = next(iter(variants)) if len(variants) == 1 else ""
        self.variant, pair, self.against = (who or alone).partition("/")
        self.is_ratio = bool(pair)

    def row(self, rows: Sequence[Row], number: str) -> Row:
        """Returns the one row that is meant."""
        metric, class_, stat = metric_words(self.metric)
        found = [
            row
            for row in rows
            if (row["metric"], row["class"], row["stat"]) == (metric, class_, stat)
            and row["variant"] == self.variant
            and self._is_point(row["point"])
        ]
        if len(found) != 1 or found[0].get(number) is None:
            raise ReadingError(
                f"{self.reading}: {len(found)} such rows, one with a {number} wanted"
            )
        return found[0]

    def sum(self, rows: Sequence[Row]) -> float:
        """Returns what all replications at all points that are meant counted."""
        metric, class_, stat = metric_words(self.metric)
        of_metric = [row for row in rows if row["metric"] == metric]
        if not of_metric or not self.variant or self.is_ratio:
            raise ReadingError(f"{self.reading}: no count of a metric and of a variant")
        counted = sum(
            row["value"] * row["replications"]
            for row in of_metric
            if (row["class"], row["stat"], row["variant"]) == (class_, stat, self.variant)
            and self._is_point(row["point"])
        )
        return float(counted)

    def ratio(self, rows: Sequence[Row]) -> Row:
        """Returns the row of a ratio; one of two other variants is not in a summary."""
        row = self.row(rows, "ratio")
        if row["baseline"] != self.against:
            raise ReadingError(f"{self.reading}: ratios are over {row['baseline']}")
        if row["ci_low"] is None:
            raise ReadingError(f"{self.reading}: the ratio has no interval")
        return row

    def _is_point(self, point: Mapping[str, Any]) -> bool:
        return all(
            any(key.endswith(end) and str(value) == wanted for key, value in point.items())
            for end, wanted in self.point.items()
        )


def metric_words(word: str) -> tuple[str, str, str]:
    """Returns metric, class and statistic, as in ``slo``: ``txn_latency_ms.new_order.p95``."""
    metric, *rest = word.split(".")
    stat = rest.pop() if rest and rest[-1] in _STATS else "mean"
    return metric, ".".join(rest) or "all", stat


def _at_path(summary: Mapping[str, Any], reading: str) -> str:
    """Returns what is at a path: text as it is, numbers short, or whole."""
    path, *words = reading.split()
    place: Any = summary
    try:
        for step in path.split("."):
            place = place[int(step)] if isinstance(place, list) else place[step]
            if place is None:
                return DASH
    except (LookupError, ValueError, TypeError) as error:
        raise ReadingError(f"{reading}: {error!r}") from error
    if isinstance(place, str):
        return place
    scale = UNITS[words[0]] if words and words[0] in UNITS else 1.0
    return f"{place * scale:,.0f}" if "whole" in words else short(place * scale)
