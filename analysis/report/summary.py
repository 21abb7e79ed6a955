"""``summary.json``: every number with its interval, every variant against the baseline.

An interval is a 95 % t interval over replications; quantiles are widened by the histogram's stated
error. With one replication there is no interval, and it is null. Latencies of a case with a unit
that was overloaded or did not settle are refused: null, with the reason. A number that is only
known to be greater (``at_least``), since something never ended, has no interval either, and is not
compared. It is made some points at a time.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from analysis.experiments.capacity_conclusion import capacity_rows
from analysis.lint.vacuity import Facts, study_warnings
from analysis.metrics.catalogue import QUANTILES
from analysis.metrics.rounding import kept
from analysis.metrics.row_table import POINT, RowTable
from analysis.metrics.study_tables import StudyTables
from analysis.metrics.unit_metrics import KEY, lower_bounds, unit_metrics
from analysis.report.expectations import claims_to_judge, judge
from analysis.report.manifest import SUMMARY, invariants
from analysis.report.refusal import Refusals, reasons, refusals, unit_facts
from analysis.report.study_verdict import study_verdict
from analysis.report.tidy import TABLES, UNITS, TakeValues, tables_of, take_nothing
from analysis.statistics.intervals import half_widths, means, paired_ratios
from analysis.study.finished_study import FinishedStudy
from analysis.study.study_folder import write_text_whole, written_whole
from sim.record.histogram import RELATIVE_ERROR

NONE_REFUSED: Final[Refusals] = {}
GROUP: Final = [POINT, "variant", *KEY]


def variant_values(
    metrics: pd.DataFrame,
    units: pd.DataFrame,
    variants: Sequence[str],
    replications: Sequence[int],
) -> pd.DataFrame:
    """Puts replications side by side.

    Args:
        metrics: a row a unit, a column a published number, from ``unit_metrics``.
        units: ``point_index``, ``variant``, ``replication``; the same rows.
        variants: in the order in which they are to be shown.
        replications: the columns to be.

    Returns:
        Index ``point_index, variant, metric, class, stat, unit``; a column a replication, NaN
        where it has no value. A number that no replication has is left out.
    """
    place = pd.Index(variants).get_indexer(pd.Index(units["variant"]))
    both = units[POINT].to_numpy() * len(variants) + place
    cases, case = np.unique(both, return_inverse=True)
    column = pd.Index(list(replications)).get_indexer(pd.Index(units["replication"]))
    shape = (len(replications), len(cases), metrics.shape[1])
    values = np.full(shape, np.nan)
    values[column, case] = metrics.to_numpy(dtype=np.float64)
    rows = values.reshape(len(replications), -1).T
    there = ~np.isnan(rows).all(axis=1)
    of_case, of_name = np.divmod(np.flatnonzero(there), max(metrics.shape[1], 1))
    point, variant = np.divmod(cases[of_case], len(variants))
    shown = np.array(list(variants), dtype=object)[variant]
    levels = [metrics.columns[of_name].get_level_values(level) for level in KEY]
    index = pd.MultiIndex.from_arrays([point, shown, *levels], names=GROUP)
    return pd.DataFrame(rows[there], index=index, columns=list(replications))


def summary_rows(
    wide: pd.DataFrame,
    points: Sequence[Mapping[str, Any]],
    refused: Refusals = NONE_REFUSED,
    bounds: pd.Index | None = None,
) -> RowTable:
    """Returns the rows of ``summary.json``; a refused one has no numbers, but a reason.

    Args:
        wide: from ``variant_values``.
        points: by ``point_index``.
        refused: why latencies are refused.
        bounds: those of the index that are lower bounds.
    """
    values = wide.to_numpy(dtype=np.float64)
    why = reasons(wide.index, refused)
    count = np.sum(~np.isnan(values), axis=1)
    values = np.where(pd.notna(why)[:, None], np.nan, values)
    middle, half = means(values), half_widths(values)
    half = half + np.where(_is_quantile(wide), middle * RELATIVE_ERROR, 0.0)
    bound = _are_in(wide.index, bounds) & pd.isna(why)
    half = np.where(bound, np.nan, half)
    keys = wide.index.to_frame(index=False)
    columns = keys.drop(columns="unit").assign(
        value=_rounded(middle),
        ci_low=_rounded(middle - half),
        ci_high=_rounded(middle + half),
        replications=count,
        unit=keys["unit"],
        **({"refused": why} if refused else {}),
        **(
            {"at_least": np.array([each or None for each in bound.tolist()])} if bound.any() else {}
        ),
    )
    return RowTable(columns, points)


def comparison_rows(
    wide: pd.DataFrame,
    points: Sequence[Mapping[str, Any]],
    baseline: str,
    refused: Refusals = NONE_REFUSED,
    bounds: pd.Index | None = None,
) -> RowTable:
    """Returns the comparisons of every other variant with the baseline, paired by replication.

    What is refused of either of them, or only known to be greater, is not compared.
    """
    wide = wide[pd.isna(reasons(wide.index, refused)) & ~_are_in(wide.index, bounds)]
    variants = wide.index.get_level_values("variant")
    base = wide[variants == baseline].droplevel("variant")
    others = wide[variants != baseline]
    places = base.index.get_indexer(others.index.droplevel("variant"))
    others, places = others[places >= 0], places[places >= 0]
    ratio, low, high = paired_ratios(
        others.to_numpy(dtype=np.float64), base.to_numpy(dtype=np.float64)[places]
    )
    error = np.where(_is_quantile(others), (1.0 + RELATIVE_ERROR) ** 2, 1.0)
    columns = others.index.to_frame(index=False).drop(columns="unit").assign(
        ratio=_rounded(ratio), ci_low=_rounded(low / error), ci_high=_rounded(high * error)
    )  # fmt: skip
    columns.insert(1, "baseline", baseline)
    return RowTable(columns[~np.isnan(ratio)], points)


def _are_in(index: pd.Index, bounds: pd.Index | None) -> NDArray[np.bool_]:
    """Returns which rows are lower bounds."""
    if bounds is None or not len(bounds):
        return np.zeros(len(index), dtype=np.bool_)
    return np.asarray(index.isin(bounds))


def _is_quantile(wide: pd.DataFrame) -> NDArray[np.bool_]:
    stats = wide.index.get_level_values("stat")
    return np.asarray(stats.isin(list(QUANTILES)))


def _rounded(values: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.array([kept(value) for value in values.tolist()], dtype=np.float64)


_INDENT: Final = "\n "


def write_summary(folder: Path, summary: Mapping[str, Any]) -> None:
    """Writes ``summary.json``, and each of its tidy tables as a Parquet file of its name.

    A table that an earlier question left in the folder, and that is none of this one's, goes.
    """
    write_text_whole(folder / SUMMARY, summary_text(summary))
    tables = tables_of(summary)
    for name, table in tables.items():
        with written_whole(folder / f"{name}.parquet") as path:
            table.to_parquet(path, engine="pyarrow", index=False)
    for name in {*TABLES} - {*tables, UNITS}:
        (folder / f"{name}.parquet").unlink(missing_ok=True)


def summary_text(summary: Mapping[str, Any]) -> Iterator[str]:
    """Yields the text of ``json.dumps(summary, indent=1)`` and a newline, piece by piece."""
    separator = "{"
    for key, value in summary.items():
        yield f"{separator}{_INDENT}{json.dumps(key)}: "
        if isinstance(value, RowTable):
            yield from _rows_text(value)
        else:
            yield json.dumps(value, indent=1).replace("\n", _INDENT)
        separator = ","
    yield "\n}\n" if summary else "{}\n"


def _rows_text(rows: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """Yields a list of rows as it stands one level deep."""
    separator = "["
    texts: dict[str, str] = {}
    for row in rows:
        cells = ",\n   ".join(f'"{key}": {_cell(value, texts)}' for key, value in row.items())
        yield f"{separator}\n  {{\n   {cells}\n  }}"
        separator = ","
    yield "[]" if separator == "[" else "\n ]"


def _cell(value: Any, texts: dict[str, str]) -> str:
    if isinstance(value, str):
        if value not in texts:
            texts[value] = json.dumps(value)
        return texts[value]
    if isinstance(value, dict):
        return json.dumps(value, indent=1).replace("\n", "\n   ")
    return json.dumps(value)


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
