"""A study's numbers with their intervals: found by point, variant and key, and put into words."""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final, NamedTuple

import pandas as pd

from analysis.metrics import rounding
from analysis.metrics.catalogue import HIGHER_IS_BETTER, NEITHER_IS_BETTER, MetricKey
from analysis.metrics.rounding import NOT_KNOWN, decimals, short, with_half_width
from analysis.metrics.row_table import POINT, RowTable, point_text

_LEAST_SHOWN: Final = 0.0005
"""A change of less reads as 0.0 %."""


class NumberKey(NamedTuple):
    """Which number of a study."""

    point: str
    """As JSON with sorted keys."""
    variant: str
    figure: MetricKey

    @property
    def settings(self) -> str:
        """The point's settings, each by the last part of its key."""
        settings = json.loads(self.point)
        return ", ".join(f"{key.rpartition('.')[2]} {value}" for key, value in settings.items())


class StudyNumber(NamedTuple):
    """A number, or the ratio of two variants', with its 95 % interval."""

    metric: str
    value: float = math.nan
    """NaN where there is none, or where it is refused."""
    ci_low: float = math.nan
    """NaN, as is the other end, where there is no interval."""
    ci_high: float = math.nan
    replications: int = 0
    refused: str = ""
    """Why it is refused; empty if it is not."""
    at_least: bool = False
    """Whether the true one is only known to be greater."""
    unit: str = ""

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> StudyNumber:
        """Returns the number that a row of ``summary.json`` says."""
        said = (row.get("value" if "value" in row else "ratio"), row["ci_low"], row["ci_high"])
        value, low, high = (math.nan if each is None else float(each) for each in said)
        return cls(
            row["metric"], value, low, high, row.get("replications", 0), row.get("refused") or "",
            at_least=bool(row.get("at_least")),
        )  # fmt: skip

    @property
    def is_there(self) -> bool:
        """Whether there is a value."""
        return not math.isnan(self.value)

    @property
    def is_drawn(self) -> bool:
        """Whether a curve may go through it: a bound looks like a value there."""
        return self.is_there and not self.at_least

    @property
    def has_interval(self) -> bool:
        """Whether more than one replication says it."""
        return not math.isnan(self.ci_low)

    @property
    def half(self) -> float:
        """Half the width of the interval; NaN without one."""
        return (self.ci_high - self.ci_low) / 2

    @property
    def told_apart(self) -> bool:
        """Whether the interval of a ratio excludes 1, by as much as a reader sees of it."""
        return self.has_interval and not (
            self.ci_low < 1.0 + _LEAST_SHOWN and self.ci_high > 1.0 - _LEAST_SHOWN
        )

    @property
    def is_better(self) -> bool | None:
        """Whether a ratio is for the better; None if it may be luck, or neither good nor bad."""
        if not self.told_apart or self.metric in NEITHER_IS_BETTER:
            return None
        return (self.value > 1) == (self.metric in HIGHER_IS_BETTER)

    def text(self, scale: float = 1.0) -> str:
        """Returns ``1.93 ± 0.04``, ``1.93 (n=1)``, or ``> 4,870`` for what is only known so far."""
        value = self.value * scale
        if self.at_least:
            return f"> {short(value)}"
        if not self.has_interval:
            return f"{short(value)} (n={self.replications})"
        return with_half_width(value, self.half * scale)

    def scaled(self, scale: float) -> StudyNumber:
        """Returns the number in another unit."""
        ends = self.ci_low * scale, self.ci_high * scale
        return self._replace(value=self.value * scale, ci_low=ends[0], ci_high=ends[1])


NOTHING: Final = StudyNumber("")
"""Stands for a number that a study does not have."""


class Numbers:
    """Rows of a study's summary, or of its comparisons, by what they are about."""

    def __init__(
        self,
        rows: Sequence[Mapping[str, Any]],
        *,
        keys: Collection[MetricKey] | None = None,
        points: Collection[Mapping[str, Any]] | None = None,
    ) -> None:
        """Takes some rows of ``summary.json``.

        Args:
            rows: all of them.
            keys: the only numbers wanted; None for all.
            points: the only ones wanted; None for all.
        """
        table = RowTable.from_rows(rows)
        columns, texts = table.columns, list(map(point_text, table.points))
        if points is not None:
            wanted = set(map(point_text, points))
            places = [place for place, text in enumerate(texts) if text in wanted]
            columns = columns[columns[POINT].isin(places)]
        if keys is not None and len(columns):
            columns = columns[columns["metric"].isin([key.metric for key in keys])]
        self._numbers: dict[NumberKey, StudyNumber] = {}
        self.points = [table.points[place] for place in columns[POINT].unique()]
        """Those at which there is any of the numbers, in their order."""
        if not len(columns):
            return
        names = ("variant", "metric", "class", "stat")
        for point, variant, metric, class_, stat, number in zip(
            columns[POINT], *(columns[name] for name in names), _numbers(columns), strict=True
        ):
            key = MetricKey(metric, class_, stat)
            if keys is None or key in keys:
                self._numbers[NumberKey(texts[point], variant, key)] = number

    def get(self, point: Mapping[str, Any], variant: str, key: MetricKey) -> StudyNumber:
        """Returns a number; ``NOTHING`` if there is none."""
        return self._numbers.get(NumberKey(point_text(point), variant, key), NOTHING)

    def of(self, key: MetricKey) -> list[tuple[str, StudyNumber]]:
        """Returns the numbers of a key at all points, each with its point as text."""
        return [(point, number) for (point, _, of), number in self._numbers.items() if of == key]

    def classes(self, point: Mapping[str, Any], metric: str) -> list[str]:
        """Returns the classes of a metric that any variant has at a point, without ``all``."""
        text = point_text(point)
        return sorted({
            key.class_
            for of_point, _, key in self._numbers
            if of_point == text and (key.metric, key.stat) == (metric, "mean")
            and key.class_ != "all"
        })  # fmt: skip


def _numbers(columns: pd.DataFrame) -> list[StudyNumber]:
    """Returns the number of each row."""
    ends = ["value" if "value" in columns else "ratio", "ci_low", "ci_high"]
    parts = [columns["metric"], *(columns[name].astype(float) for name in ends)]
    for name, none in (("replications", 0), ("refused", ""), ("at_least", False)):
        if name in columns:
            parts.append(columns[name].where(columns[name].notna(), none))
        else:
            parts.append(pd.Series(none, index=columns.index))
    return [StudyNumber(*said) for said in zip(*(part.tolist() for part in parts), strict=True)]


_TENTHS: Final = 0.5
"""Half width of an interval in percent that is written with one decimal."""
TIMES_FROM: Final = 3.0
"""Ratio from which a change is written as a multiple."""


def change_text(ratio: StudyNumber) -> str:
    """Returns the change that a ratio means, with its interval."""
    return " ".join(filter(None, change_parts(ratio)))


def change_parts(ratio: StudyNumber) -> tuple[str, str]:
    """Returns ``−64.1 %`` and ``[−64.3, −63.9]``; of great ones ``×3.08`` and its ends."""
    value, low, high = ratio.value, ratio.ci_low, ratio.ci_high
    if ratio.has_interval and not rounding.ratio_is_known(value, low, high):
        return NOT_KNOWN, ""
    if _is_great(ratio):
        if not ratio.has_interval:
            return f"×{short(value)}", "(n=1)"
        times, _, ends = rounding.with_ends(value, low, high).partition(" ")
        return f"×{times}", ends
    change = 100 * (value - 1)
    if not ratio.has_interval:
        return f"{signed(change, 10.0)} %", "(n=1)"
    low, high = (100 * (end - 1) for end in (low, high))
    half = _half_shown(ratio)
    return f"{signed(change, half)} %", f"[{signed(low, half)}, {signed(high, half)}]"


def _half_shown(ratio: StudyNumber) -> float:
    """Returns half a change's width in percent, or one whose digits let no end read as none.

    Only where the interval excludes none.
    """
    ends = [100 * (end - 1) for end in (ratio.ci_low, ratio.ci_high)]
    half = (ends[1] - ends[0]) / 2
    if ratio.told_apart and any(signed(end, half) == "0" for end in ends):
        return _TENTHS
    return half


def _is_great(ratio: StudyNumber) -> bool:
    return ratio.value >= TIMES_FROM or ratio.ci_high >= TIMES_FROM


def span_text(ratio: StudyNumber) -> str:
    """Returns how much more or less, without a sign: ``64.1 % [63.9, 64.3]``.

    Great ratios are ``a factor of 7.20 [7.10, 7.30]``.
    """
    if _is_great(ratio) and ratio.value > 1:
        return f"a factor of {change_text(ratio).lstrip('×')}"
    change = 100 * (ratio.value - 1)
    turned = -1 if change < 0 else 1
    if not ratio.has_interval:
        return f"{abs(change):.0f} % (n=1)"
    ends = sorted(turned * 100 * (end - 1) for end in (ratio.ci_low, ratio.ci_high))
    half = _half_shown(ratio)
    shown = [signed(end, half).lstrip("+") for end in (abs(change), *ends)]
    return f"{shown[0]} % [{shown[1]}, {shown[2]}]"


def signed(percent: float, half: float) -> str:
    """Returns ``−64.1`` or ``+3``, with a true minus sign.

    A percentage has no more decimals than a ratio with three digits.
    """
    places = decimals(10.0, half) if half else 0
    text = f"{percent:+.{places}f}".replace("-", "−")
    return text.lstrip("−+") if float(text.replace("−", "-")) == 0 else text
