"""Facts to Parquet: the only module that knows the file format of facts.

Each batch becomes a row group, so memory stays that of one batch. Settings are fixed: the same
facts give the same bytes, which is what digests are taken of.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Final, Self

import pyarrow as pa
import pyarrow.parquet as pq

from sim.record.facts import TABLES, Columns

PROGRESS_FILE: Final = "progress"
"""How far a unit is and how far it goes, in simulated ns; only as long as it is being simulated."""
TOLD_EVERY_S: Final = 1.0
_ARROW_TYPES: Final = {"int32": pa.int32(), "int64": pa.int64(), "string": pa.string()}

ARROW_SCHEMAS: Final[dict[str, pa.Schema]] = {
    table: pa.schema(
        [pa.field(name, _ARROW_TYPES[kind], nullable=False) for name, kind in columns.items()]
    )
    for table, columns in TABLES.items()
}


def read_here(file: Path, columns: Sequence[str] | None = None) -> pa.Table:
    """Returns a Parquet file, read by the thread that asks: Arrow's own threads would never end."""
    with pq.ParquetFile(file, pre_buffer=False) as table:
        return table.read(columns, use_threads=False)


class ParquetSink:
    """A ``FactSink`` that writes one Parquet file a table into ``folder``.

    Until it is closed, a small file beside them says how far the unit is.
    """

    def __init__(self, folder: Path) -> None:
        self.until_ns = 0
        """How long the unit is; 0: not known."""
        self._progress = folder / PROGRESS_FILE
        self._progress.touch()  # the folder does not change from here on: it has the unit's age
        self._told_s = time.perf_counter()
        self._writers = {
            table: pq.ParquetWriter(
                folder / f"{table}.parquet", schema, compression="zstd", use_dictionary=True
            )
            for table, schema in ARROW_SCHEMAS.items()
        }

    def write(self, table: str, columns: Columns) -> None:
        """Writes a batch as a row group."""
        batch = pa.Table.from_pydict(dict(columns), schema=ARROW_SCHEMAS[table])
        self._writers[table].write_table(batch)

    def reached(self, now_ns: int) -> None:
        """Writes down how far the unit is, once a second."""
        now_s = time.perf_counter()
        if now_s - self._told_s >= TOLD_EVERY_S:
            self._told_s = now_s
            self._progress.write_text(f"{now_ns} {self.until_ns}")

    def close(self) -> None:
        """Writes the footers; without them the files cannot be read.

        Raises:
            OSError: if one cannot be written; all are closed all the same.
        """
        self._progress.unlink(missing_ok=True)
        errors: list[OSError] = []
        for writer in self._writers.values():
            try:
                writer.close()
            except OSError as error:
                writer.is_open = False  # or it would try again when it is forgotten
                errors.append(error)
        if errors:
            raise errors[0]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Closes the files, also after an error."""
        self.close()
