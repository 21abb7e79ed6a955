"""An estimate beside what a finished study has found."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from analysis.metrics.catalogue import MetricKey
from analysis.metrics.numbers import Numbers
from analysis.metrics.shown import KEY_FIGURE_OF, TO_KIB
from analysis.report.estimate_table import Compared, Measured
from analysis.report.explained import expected
from sim.estimate import Estimate

_LEFT_OUT: Final = "proposals_per_txn"
"""Follows from the workload alone, so that nothing is learnt from it."""


def compared(
    estimate: Estimate, point: Mapping[str, Any], variant: str, summary: Mapping[str, Any]
) -> list[Compared]:
    """Returns every figure of an estimate beside the one that was simulated."""
    numbers = Numbers(summary["rows"], points=[point])
    found = []
    for metric, class_, value in expected(estimate):
        key = MetricKey(metric, class_)
        if metric == _LEFT_OUT:
            continue
        if key in KEY_FIGURE_OF:
            label, scale = KEY_FIGURE_OF[key].title, KEY_FIGURE_OF[key].scale
        elif metric == "disk_write_bytes_per_txn":
            label, scale = f"  {class_}", TO_KIB
        else:
            label, scale = f"{class_} busy (%)", 100.0
        number = numbers.get(point, variant, key).scaled(scale)
        half = number.half if number.has_interval else None
        measured = Measured(number.value, half) if number.is_there else None
        found.append(Compared(label, None if value is None else value * scale, measured))
    return found
