"""Tidy tables of a study: a row a number, a column a variable, amounts as numbers in a named unit.

``point`` is a point as its file wrote it, in JSON. Beside it each swept key has a column: a number
where all its values are amounts of one kind, with the unit in the column's name
(``hardware.network.latency_ms``), else the text. A mapping that is swept as a whole has a column an
entry.

``units.parquet`` has a row a unit and metric, written some cases at a time. A latency that the
summary refuses is refused there, too: its value is null.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from analysis.metrics.row_table import OPTIONAL, POINT, RowTable, point_text
from analysis.program import command
from analysis.report.refusal import Refusals, reasons
from analysis.study.study_folder import StudyFolderError
from sim.scenario.quantities import (
    BANDWIDTH,
    DURATION,
    PERCENT,
    RATE,
    SIZE,
    QuantityError,
    QuantityKind,
)
from sim.units import NS_PER_MS

SUMMARY: Final = "summary"
COMPARISONS: Final = "comparisons"
CAPACITY: Final = "capacity"
SENSITIVITY: Final = "sensitivity"
UNITS: Final = "units"
TABLES: Final = (SUMMARY, COMPARISONS, CAPACITY, SENSITIVITY, UNITS)
"""Each is a Parquet file of that name in a study's folder, as far as the study asked for it."""

_UNIT_OF: Final[tuple[tuple[QuantityKind, str, float], ...]] = (
    (DURATION, "ms", NS_PER_MS),
    (SIZE, "bytes", 1),
    (BANDWIDTH, "bytes_per_s", 1),
    (RATE, "per_s", 1),
    (PERCENT, "share", 1),
)
"""Kind of a quantity, the unit of its column, base units in one of those."""

_CASE: Final = ("present", "cost_per_hour", "cost_per_1000_txn", "pareto")


def tables_of(summary: Mapping[str, Any]) -> dict[str, pd.DataFrame]:
    """Returns the tidy tables that the content of ``summary.json`` holds, by name."""
    rows = rows_table(summary["rows"])
    for name in sorted(OPTIONAL.difference(rows.columns)):
        rows[name] = None
    rows = rows.astype({"refused": "string"}).assign(at_least=rows["at_least"].notna())
    tables = {SUMMARY: rows, COMPARISONS: rows_table(summary["comparisons"])}
    if "capacity" in summary:
        tables[CAPACITY] = _capacity(summary["capacity"])
    if "sensitivity" in summary:
        tables[SENSITIVITY] = _sensitivity(summary["sensitivity"])
    return tables


def read_table(folder: Path, name: str) -> pd.DataFrame:
    """Returns a table of a study's folder.

    Raises:
        StudyFolderError: if there is none that can be read.
    """
    path = folder / f"{name}.parquet"
    try:
        return pd.read_parquet(path, engine="pyarrow")
    except (OSError, ValueError) as error:
        again = command("report", folder)
        raise StudyFolderError(f"{path}: cannot be read; {again} makes it again") from error


def rows_table(rows: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """Returns rows that each have a ``point``, with the columns of their points first."""
    table = RowTable.from_rows(rows)
    return beside_points(table.points, table.columns[POINT], table.columns.drop(columns=POINT))


def beside_points(
    points: Sequence[Mapping[str, Any]], places: pd.Series[int], rest: pd.DataFrame
) -> pd.DataFrame:
    """Returns a table with the columns of its rows' points first.

    Args:
        points: of the study.
        places: of each row, its point's place among ``points``.
        rest: the other columns.
    """
    columns = point_columns(points).take(places.to_numpy())
    parts = [columns.reset_index(drop=True), rest.reset_index(drop=True)]
    return pd.concat(parts, axis=1)


def point_columns(points: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """Returns a row a point: ``point``, and a column for each key."""
    flat = [dict(_entries(point)) for point in points]
    keys = dict.fromkeys(key for each in flat for key in each)
    table = {"point": [point_text(point) for point in points]}
    for key in keys:
        name, values = _column(key, [each.get(key) for each in flat])
        table[name] = values
    return pd.DataFrame(table)


def _entries(point: Mapping[str, Any]) -> Iterable[tuple[str, Any]]:
    for key, value in point.items():
        if isinstance(value, Mapping):
            yield from _entries({f"{key}.{entry}": child for entry, child in value.items()})
        else:
            yield key, value


def _column(key: str, values: list[Any]) -> tuple[str, list[Any]]:
    """Returns the name and the values of a key's column."""
    said = [value for value in values if value is not None]
    if all(isinstance(value, bool | int | float) for value in said):
        return key, values
    for kind, unit, base in _UNIT_OF:
        with suppress(QuantityError):
            return f"{key}_{unit}", [
                None if value is None else float(kind.parse(value)) / base for value in values
            ]
    return key, [value if value is None or isinstance(value, str) else json.dumps(value)
                 for value in values]  # fmt: skip


def _capacity(found: Mapping[str, Any]) -> pd.DataFrame:
    """Returns a row a case: the load that it carries, what limits it, what it costs."""
    rows = []
    for case in found["cases"]:
        station = case["station"] or {}
        names = [f"{what}{end}" for what in ("load", "txn_per_s") for end in
                 ("", "_ci_low", "_ci_high")]  # fmt: skip
        rows.append(
            {"point": case["point"], "variant": case["variant"], "status": case["status"]}
            | {"load_key": found["load"], "load_unit": found["unit"]}
            | {name: case[name] for name in names}
            | {"replications": case["replications"], "binds": case["binds"]}
            | {"station": station.get("name"), "station_busy": station.get("busy")}
            | {"headroom": case["headroom"]}
            | {name: case.get(name) for name in _CASE}
        )
    return rows_table(rows)


def _sensitivity(found: Mapping[str, Any]) -> pd.DataFrame:
    """Returns a row a factor and outcome: Morris' screening, Sobol' indices, shares of variance."""
    rows = []
    for outcome in found["outcomes"]:
        of = {name: outcome[name] for name in ("metric", "class", "stat", "variant", "baseline")}
        indices = _by_factor(outcome["sobol"], "indices")
        shares = _by_factor(outcome["shares"], "factors")
        for effect in outcome["morris"]["effects"]:
            more = [by.get(effect["factor"], {}) for by in (indices, shares)]
            sobol, share = ({k: v for k, v in each.items() if k != "factor"} for each in more)
            rows.append(
                {**of, **effect}
                | {f"sobol_{name}": value for name, value in sobol.items()}
                | {f"share_{name}": value for name, value in share.items()}
            )
    return pd.DataFrame(rows)


def _by_factor(said: Mapping[str, Any] | None, name: str) -> dict[str, Mapping[str, Any]]:
    return {each["factor"]: each for each in (said or {}).get(name, ())}


TakeValues = Callable[[pd.DataFrame, Refusals], None]
"""Takes values of whole cases, from ``variant_values``, and why some are refused."""

_OF_UNIT: Final = ("unit_hash", "verdict", "measured_s")
_REPEATED: Final = ("point", "variant", "metric", "class", "stat", "unit", "unit_hash", "verdict")


def take_nothing(_wide: pd.DataFrame, _refused: Refusals) -> None:
    """Writes no table."""


@contextmanager
def unit_table_written(
    path: Path, points: Sequence[Mapping[str, Any]], batches: pd.DataFrame
) -> Iterator[TakeValues]:
    """Gives what writes values into the file at ``path``.

    Args:
        path: of the file.
        points: of the study, by ``point_index``.
        batches: from ``batches_of``: a row a replication as intervals count them.
    """
    writer: pq.ParquetWriter | None = None
    units = batches.set_index([POINT, "variant", "replication"])[list(_OF_UNIT)]

    def take(wide: pd.DataFrame, refused: Refusals) -> None:
        nonlocal writer
        table = pa.Table.from_pandas(_long(wide, refused, points, units), preserve_index=False)
        if writer is None:
            writer = pq.ParquetWriter(path, table.schema, use_dictionary=list(_REPEATED))
        writer.write_table(table.cast(writer.schema))

    try:
        yield take
    finally:
        if writer is not None:
            writer.close()


def _long(
    wide: pd.DataFrame,
    refused: Refusals,
    points: Sequence[Mapping[str, Any]],
    units: pd.DataFrame,
) -> pd.DataFrame:
    """Returns a row a value."""
    values = wide.to_numpy(dtype=np.float64)
    row, column = np.nonzero(~np.isnan(values))
    keys = wide.index.to_frame(index=False).take(row).reset_index(drop=True)
    keys.insert(2, "replication", wide.columns.to_numpy()[column])
    why = reasons(wide.index, refused)[row]
    of_unit = units.reindex(pd.MultiIndex.from_frame(keys[[POINT, "variant", "replication"]]))
    of_unit = of_unit.reset_index(drop=True)
    keys.insert(0, "unit_hash", of_unit["unit_hash"])
    table = keys.drop(columns=POINT).assign(
        value=np.where(pd.notna(why), np.nan, values[row, column]),
        refused=pd.Series(why, dtype="string"),
        verdict=of_unit["verdict"],
        measured_s=of_unit["measured_s"],
    )
    return beside_points(points, keys[POINT], table)
