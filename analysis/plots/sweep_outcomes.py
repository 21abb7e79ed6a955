"""The outcomes that a sweep is read by, and their values and ratios by point."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

Row = Mapping[str, Any]
Point = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class SweepOutcome:
    """One outcome of ``summary.json``.

    Attributes:
        title: with its unit.
        metric: with ``class_`` and ``stat``.
        stat: ``mean``, ``p99``.
        scale: from the published unit to the shown one.
        file: how figures of it are called.
        class_: of the metric.
    """

    title: str
    metric: str
    stat: str
    scale: float
    file: str
    class_: str = "all"

    @property
    def key(self) -> tuple[str, str, str]:
        """Metric, class and stat."""
        return self.metric, self.class_, self.stat

    @property
    def name(self) -> str:
        """The title without the unit, for ratios."""
        return self.title.partition(" (")[0]


OUTCOMES: Final = (
    SweepOutcome("lock latency, mean (ms)", "lock_latency_ms", "mean", 1.0, "lock_latency"),
    SweepOutcome("lock latency, p99 (ms)", "lock_latency_ms", "p99", 1.0, "lock_latency_p99"),
    SweepOutcome(
        "disk writes per transaction (KiB)", "disk_write_bytes_per_txn", "mean", 1 / 1024,
        "disk_bytes_per_txn",
    ),
    SweepOutcome("transactions (1/s)", "txn_per_s", "mean", 1.0, "txn_per_s"),
)  # fmt: skip


class OutcomeCells:
    """Values and ratios of one outcome, by point and variant."""

    def __init__(self, outcome: SweepOutcome, values: Iterable[Row], ratios: Iterable[Row]) -> None:
        """Takes the rows of ``summary.json`` and the comparisons that are about the outcome."""
        self.outcome = outcome
        self._values = _by_case(values)
        self._ratios = _by_case(ratios)
        self._refused = {point for (point, _), row in self._values.items() if row.get("refused")}

    @property
    def empty(self) -> bool:
        """Whether the study has no value of it."""
        return not any(row["value"] is not None for row in self._values.values())

    @property
    def any_refused(self) -> bool:
        """Whether a value is refused somewhere."""
        return bool(self._refused)

    def refused_at(self, point: Point) -> bool:
        """Whether a variant's value is refused there, so that there is nothing to compare."""
        return _text(point) in self._refused

    def value(self, point: Point, variant: str) -> Row | None:
        """Returns the row of ``summary.json``, or None."""
        return self._values.get((_text(point), variant))

    def ratio(self, point: Point, variant: str) -> Row | None:
        """Returns the comparison with the baseline, or None."""
        return self._ratios.get((_text(point), variant))

    def refusal(self, point: Point, variant: str) -> str | None:
        """Returns why the value is refused, or None."""
        reason = (self.value(point, variant) or {}).get("refused")
        return None if reason is None else str(reason)


def outcome_cells(
    summary: Mapping[str, Any], outcomes: Sequence[SweepOutcome] = OUTCOMES
) -> list[OutcomeCells]:
    """Returns the outcomes that a study has, in the order in which they are shown."""
    values = _by_outcome(summary["rows"], outcomes)
    ratios = _by_outcome(summary["comparisons"], outcomes)
    found = [OutcomeCells(each, values[each.key], ratios[each.key]) for each in outcomes]
    return [cells for cells in found if not cells.empty or cells.any_refused]


def _by_outcome(
    rows: Iterable[Row], outcomes: Sequence[SweepOutcome]
) -> dict[tuple[str, str, str], list[Row]]:
    """Returns the rows of each outcome; rows are made on the way, so they are passed once."""
    found: dict[tuple[str, str, str], list[Row]] = {outcome.key: [] for outcome in outcomes}
    for row in rows:
        kept = found.get((row["metric"], row["class"], row["stat"]))
        if kept is not None:
            kept.append(row)
    return found


def _by_case(rows: Iterable[Row]) -> dict[tuple[str, str], Row]:
    return {(_text(row["point"]), row["variant"]): row for row in rows}


def _text(point: Point) -> str:
    return json.dumps(dict(point), sort_keys=True)


def compared(variants: Sequence[str]) -> tuple[str, ...]:
    """Returns the variants that have a ratio: all but the baseline."""
    return tuple(variants[1:])
