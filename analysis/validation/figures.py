"""The model's figure of an anchor: from a study's summary, or from a station run by itself."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from analysis.statistics.intervals import mean_interval
from analysis.validation.anchor import (
    Alone,
    Anchor,
    Figure,
    InStudy,
    InTheory,
    Judged,
    Quotient,
)
from analysis.validation.studies import study_of
from sim.queueing.catalogue import QUEUES
from sim.queueing.devices import DEVICE

Row = Mapping[str, Any]


class NoFigureError(Exception):
    """A study has no such figure, or refuses it; the text says which, and why."""


def judged_anchor(anchor: Anchor, summaries: Mapping[str, Mapping[str, Any] | str]) -> Judged:
    """Returns an anchor with the model's figure.

    Args:
        anchor: which one.
        summaries: content of ``summary.json`` by study, or why a study has none.
    """
    try:
        return Judged(anchor, _ours(anchor, summaries))
    except NoFigureError as error:
        return Judged(anchor, None, str(error))


def _ours(anchor: Anchor, summaries: Mapping[str, Mapping[str, Any] | str]) -> Figure:
    origin = anchor.origin
    if isinstance(origin, InTheory):
        return _theory_figure(origin)
    if isinstance(origin, Alone):
        return _device_figure(origin)
    summary = summaries[study_of(anchor) or ""]
    if isinstance(summary, str):
        raise NoFigureError(summary)
    return figure_of(origin, summary)


def figure_of(origin: InStudy | Quotient, summary: Mapping[str, Any]) -> Figure:
    """Returns the model's figure in the anchor's unit, with its 95 % interval.

    Args:
        origin: which one.
        summary: content of ``summary.json`` of the study that it names.

    Raises:
        NoFigureError: if the study has none.
    """
    if isinstance(origin, Quotient):
        return _quotient(figure_of(origin.over, summary), figure_of(origin.under, summary))
    if origin.against is None:
        row, value = _row(summary["rows"], origin, {}), "value"
    else:
        row = _row(summary["comparisons"], origin, {"baseline": origin.against})
        value = "ratio"
    if row[value] is None:
        raise NoFigureError(row.get("refused", "it has no value"))
    middle = row[value]
    low = middle if row["ci_low"] is None else row["ci_low"]
    high = middle if row["ci_high"] is None else row["ci_high"]
    shift = 1.0 if origin.change else 0.0
    return Figure(*((number - shift) * origin.scale for number in (middle, low, high)))


def _row(rows: Sequence[Row], origin: InStudy, also: Mapping[str, str]) -> Row:
    wanted = {"variant": origin.variant, **origin.key.columns, **also}
    for row in rows:
        at_point = all(row["point"].get(name) == value for name, value in origin.point.items())
        if at_point and all(row[name] == value for name, value in wanted.items()):
            return row
    point = "".join(f", {name} = {value}" for name, value in origin.point.items())
    raise NoFigureError(f"{origin.study} has no {origin.key} of {origin.variant}{point}")


def _quotient(over: Figure, under: Figure) -> Figure:
    """Returns the quotient; relative half widths add up as those of independent figures."""
    if not under.value:
        raise NoFigureError("nothing to divide by: it never happened")
    value = over.value / under.value
    half_over, half_under = ((figure.high - figure.low) / 2 for figure in (over, under))
    half = math.hypot(half_over / under.value, value * half_under / under.value)
    return Figure(value, value - half, value + half)


def _theory_figure(origin: InTheory) -> Figure:
    """Returns mean and 95 % interval of a queue of ``sim.queueing``, in its unit."""
    queue = QUEUES[origin.queue]
    middle, low, high = (queue.to_unit(mean) for mean in mean_interval(queue.run()))
    return Figure(middle, min(low, high), max(low, high))


def _device_figure(origin: Alone) -> Figure:
    """Returns mean and 95 % interval of a run of ``sim.queueing.DEVICE``, in the anchor's unit."""
    return Figure(*(origin.scale * mean for mean in mean_interval(DEVICE[origin.run]())))
