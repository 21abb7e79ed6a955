"""Runs a case's first replication again and writes what some of its transactions went through."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from analysis.export.chrome_trace import FOLDER, chrome_trace
from analysis.export.openmetrics import MOST_POINTS, case_name
from analysis.study.finished_study import FinishedStudy
from analysis.study.study_folder import write_text_whole
from analysis.study.units import Unit, point_words

RULE: Final = "the first transaction to begin after each of N evenly spaced moments"


def write_traces(out: Path, run: FinishedStudy, count: int) -> Iterator[Path]:
    """Writes one file for each variant and point, and yields it; nothing beyond six points.

    Args:
        out: where the folder ``traces`` is made.
        run: the study; units of the first replication are run again, in this process.
        count: transactions to follow in each.
    """
    points = len(run.plan.points)
    if points > MOST_POINTS:
        return
    for unit in run.done:
        if unit.replication == 0:
            name = case_name(unit.variant, unit.point_index, points)
            yield write_trace(out / FOLDER / f"{name}.json", run, unit, count)


def write_trace(path: Path, run: FinishedStudy, unit: Unit, count: int) -> Path:
    """Runs one unit again and writes its file; returns its path."""
    from sim.tracing import trace_unit

    point = run.plan.points[unit.point_index]
    scenario: Any = run.study.scenario(point, unit.variant)
    traced = trace_unit(scenario, unit.replication, count)
    told = {
        "study": run.name,
        "point": dict(point),
        "variant": unit.variant,
        "replication": unit.replication,
        "seed": scenario.run.seed,
        "unit": unit.unit_hash,
        "sampled": RULE,
        "asked": count,
        "ended": len(traced),
        "time": "simulated; 0 is the beginning of the unit",
    }
    words = point_words(point)
    title = f"{unit.variant}{', ' if words else ''}{words}, replication {unit.replication}"
    path.parent.mkdir(parents=True, exist_ok=True)
    write_text_whole(path, chrome_trace(traced, title, told))
    return path
