"""Facts to Parquet: the only module that knows the file format of facts.

Each batch becomes a row group, so memory stays that of one batch. Settings are fixed: the same
facts give the same bytes, which is what digests are taken of.
"""

from __future__ import annotations

from pathlib import Path
from types import TracebackType
from typing import Final, Self

import pyarrow as pa
import pyarrow.parquet as pq

from sim.record.facts import TABLES, Columns

_ARROW_TYPES: Final = {"int32": pa.int32(), "int64": pa.int64(), "string": pa.string()}

ARROW_SCHEMAS: Final[dict[str, pa.Schema]] = {
    table: pa.schema(
        [pa.field(name, _ARROW_TYPES[kind], nullable=False) for name, kind in columns.items()]
    )
    for table, columns in TABLES.items()
}


class ParquetSink:
    """A ``FactSink`` that writes one Parquet file a table into ``folder``."""

    def __init__(self, folder: Path) -> None:
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

    def close(self) -> None:
        """Writes the footers; without them the files cannot be read.

        Raises:
            OSError: if one cannot be written; all are closed all the same.
        """
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
