"""The model's figure of an anchor: from a study's summary, or from a station run by itself.

Of each study, what shortens it for a glance.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from analysis.program import SCENARIOS
from analysis.statistics.intervals import mean_interval
from analysis.validation.anchor import (
    Alone,
    Anchor,
    Figure,
    InStudy,
    Judged,
    Quotient,
)

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
    if isinstance(origin, Alone):
        middle, low, high = map(origin.to_unit, mean_interval(origin.run()))
        return Figure(middle, min(low, high), max(low, high))
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


_FEW: Final = ("run.replications=2", "run.warmup=500ms", "run.measure=1s")

STUDIES: Final[dict[str, tuple[str, ...]]] = {
    "tpcc_i3_4xlarge": (*_FEW, "sweep.grid.workload.threads=[50]"),
    "claims_gp3": _FEW,
    "pipelined_over_sync": _FEW,
    "raft_engine": _FEW,
    "sysbench_point_select": ("run.replications=2",),
    "sysbench_update_non_index": ("run.replications=2",),
    "sysbench_idle": (),
    "tpcc_idle": (),
    "etcd_loopback": (
        "run.replications=2", "run.measure=2s", "sweep.grid.workload.threads=[4]",
    ),
    "etcd_1ms": _FEW,
    "rocksdb_locks": _FEW,
    "leader_transfer": _FEW,
    "quiet_transfer": (),
    "transfer_fails": (),
}  # fmt: skip
"""By study: what ``--quick`` changes in its scenario, as ``--set`` takes it."""


def file_of(study: str) -> Path:
    """Returns the scenario of a study: one of its own, or one that is shown to users as well."""
    own = SCENARIOS / "validation" / f"{study}.yaml"
    return own if own.exists() else SCENARIOS / f"{study}.yaml"


def study_of(anchor: Anchor) -> str | None:
    """Returns the name of the study that an anchor is looked up in; None for theory."""
    origin = anchor.origin
    if isinstance(origin, Quotient):
        return origin.over.study
    return origin.study if isinstance(origin, InStudy) else None


def studies_of(anchors: Sequence[Anchor]) -> list[str]:
    """Returns the studies that some anchors need, in the order of ``STUDIES``."""
    needed = {study_of(anchor) for anchor in anchors}
    return [name for name in STUDIES if name in needed]
