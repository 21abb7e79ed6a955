"""``units.parquet``: what each unit came to, a row a unit and metric, written some cases at a time.

A latency that the summary refuses is refused here, too: its value is null.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from analysis.metrics.row_table import POINT
from analysis.report.refusal import Refusals, reasons
from analysis.report.tidy import beside_points

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
