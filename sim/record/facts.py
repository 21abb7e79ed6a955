"""The fact tables that a unit writes, and the sink that it writes them to.

One row type per table; the Parquet and Spark schemas are derived from these. Rows are flat integers
and names, in ns and bytes, per window of simulated time. A metric is a name, a class splits it
(``lock_latency`` by path, ``disk_write_bytes`` by ``place/cause``). ``class`` is a Python keyword,
so the field is ``class_`` here and the column is ``class``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Final, Protocol, get_type_hints

Int32 = Annotated[int, "int32"]
Int64 = Annotated[int, "int64"]
Columns = Mapping[str, Sequence[int] | Sequence[str]]


@dataclass(frozen=True, slots=True)
class Moments:
    """Count, sum and maximum of the values of one series in one window."""

    window: Int32
    metric: str
    class_: str
    count: Int64
    sum: Int64
    max: Int64


@dataclass(frozen=True, slots=True)
class HistogramBucket:
    """How many values of one series fell into one bucket in one window."""

    window: Int32
    metric: str
    class_: str
    bucket: Int32
    count: Int64


@dataclass(frozen=True, slots=True)
class CounterDelta:
    """By how much one counter grew in one window."""

    window: Int32
    metric: str
    class_: str
    value: Int64


@dataclass(frozen=True, slots=True)
class Happening:
    """Something that was done to the cluster at one moment."""

    at_ns: Int64
    kind: str
    detail: str


MOMENTS: Final = "moments"
HISTOGRAM: Final = "histogram"
COUNTER: Final = "counter"
EVENT: Final = "event"


def _columns(row_type: type) -> dict[str, str]:
    hints = get_type_hints(row_type, include_extras=True)
    return {
        name.rstrip("_"): "string" if hint is str else hint.__metadata__[0]
        for name, hint in hints.items()
    }


TABLES: Final[dict[str, dict[str, str]]] = {
    MOMENTS: _columns(Moments),
    HISTOGRAM: _columns(HistogramBucket),
    COUNTER: _columns(CounterDelta),
    EVENT: _columns(Happening),
}
"""Table name -> column name -> ``int32``, ``int64`` or ``string``, in order."""


class FactSink(Protocol):
    """Takes batches of facts and stores them in its own way."""

    def write(self, table: str, columns: Columns) -> None:
        """Takes rows of ``table``, given by column; the caller does not use them again."""

    def reached(self, now_ns: int) -> None:
        """Takes the simulated time at the end of each window."""


class NoSink:
    """Drops facts, where a run is not made for them."""

    def write(self, table: str, columns: Columns) -> None:
        """Drops a batch."""

    def reached(self, now_ns: int) -> None:
        """Does nothing."""


class MemorySink:
    """Keeps facts in lists, for tests and the laboratory."""

    def __init__(self) -> None:
        self.tables: dict[str, dict[str, list[int | str]]] = {
            table: {column: [] for column in columns} for table, columns in TABLES.items()
        }

    def write(self, table: str, columns: Columns) -> None:
        """Appends the rows."""
        for name, values in columns.items():
            self.tables[table][name].extend(values)

    def reached(self, now_ns: int) -> None:
        """Does nothing."""

    def rows(self, table: str) -> list[tuple[int | str, ...]]:
        """Returns the rows of a table as tuples, in the order in which they came."""
        return list(zip(*self.tables[table].values(), strict=True))
