"""The whole ``summary.json`` of a study, made some points at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any, Final

import numpy as np
import pandas as pd

from analysis.experiments.capacity_conclusion import capacity_rows
from analysis.lint.vacuity import Facts, study_warnings
from analysis.metrics.row_table import RowTable
from analysis.metrics.study_tables import StudyTables
from analysis.metrics.unit_metrics import lower_bounds, unit_metrics
from analysis.report.expectations import claims_to_judge, judge
from analysis.report.manifest import invariants
from analysis.report.refusal import refusals, unit_facts
from analysis.report.study_verdict import study_verdict
from analysis.report.summary import comparison_rows, summary_rows, variant_values
from analysis.report.tidy import TakeValues, take_nothing
from analysis.study.finished_study import FinishedStudy

UNITS_AT_ONCE: Final = 500
"""About so many units' numbers are put side by side at a time; the answer does not depend on it."""


def study_summary(
    run: FinishedStudy, tables: StudyTables, take: TakeValues = take_nothing
) -> dict[str, Any]:
    """Returns the content of ``summary.json``; ``rows`` and ``comparisons`` are ``RowTable``.

    Args:
        run: a study with at least one finished unit.
        tables: of its facts, units in the order of the plan.
        take: is given the values of every replication, some cases at a time.
    """
    points, units = run.plan.points, tables.units
    baseline = next(iter(run.study.variants))
    refused = refusals(units)
    rows: list[RowTable] = []
    compared: list[RowTable] = []
    cases = _cases(tables.batches, tables.sums, list(run.study.variants))
    for wide, bounds in cases:
        rows.append(summary_rows(wide, points, refused, bounds))
        compared.append(comparison_rows(wide, points, baseline, refused, bounds))
        take(wide, refused)
    if "capacity" in run.found:
        rows.append(RowTable.from_rows(capacity_rows(run.found["capacity"]), points))
        ratios = list(run.found["capacity"]["comparisons"])
        if ratios:
            compared.append(RowTable.from_rows(ratios, points))
    summary: dict[str, Any] = {
        "study": run.name,
        "verdict": {},
        "rows": RowTable.of(rows),
        "comparisons": RowTable.of(compared),
    }
    claims = claims_to_judge(run.study.expect, run.found)
    summary |= {
        "expectations": judge(claims, summary["rows"], summary["comparisons"]),
        "units": unit_facts(units, points),
        **run.found,
        "warnings": study_warnings(run.study, Facts(tables.batches, tables.sums, points)),
        "invariants": invariants(run.done, checks=run.study.run.checks),
        "cost": {
            "wall_s": round(sum(record.wall_s for record in run.done.values()), 3),
            "events": int(units["events"].sum()),
            "transactions": int(units["transactions"].sum()),
            "simulated_s": float(units["simulated_s"].sum()),
        },
    }
    summary["verdict"] = asdict(study_verdict(summary))
    return summary


def _cases(
    batches: pd.DataFrame, sums: pd.DataFrame, variants: Sequence[str]
) -> Iterator[tuple[pd.DataFrame, pd.Index]]:
    """Yields the values of some whole points at a time, and those that are lower bounds."""
    replications = sorted(set(batches["replication"]))
    by_point = batches["point_index"].to_numpy().argsort(kind="stable")
    ends = np.flatnonzero(np.diff(batches["point_index"].to_numpy()[by_point], append=-1)) + 1
    first = 0
    for end in ends.tolist():
        if end - first >= UNITS_AT_ONCE or end == len(batches):
            some = by_point[first:end]
            metrics = unit_metrics(sums.iloc[some], batches["measured_s"].iloc[some])
            of = batches.iloc[some]
            bounds = lower_bounds(sums.iloc[some]).astype(float).replace(0.0, np.nan)
            yield (
                variant_values(metrics, of, variants, replications),
                variant_values(bounds, of, variants, replications).index,
            )
            first = end
