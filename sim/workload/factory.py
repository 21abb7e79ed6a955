"""From a scenario's ``workload`` section to the workload it names; the only place that knows both.

How many clients there are and how they arrive is not decided here: a workload answers for any
client, whenever it is asked. What is read of a scenario is said as protocols, so that this package
depends on no schema.
"""

# ruff: noqa: D102 - a protocol says which fields are read; the schema says what they mean

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, Protocol

from sim.workload.custom import CustomWorkload, StatementSpec, TableSpec, TransactionSpec
from sim.workload.sysbench import SCRIPTS, SysbenchWorkload
from sim.workload.tpcc import TpccWorkload

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sim.streams import Streams
    from sim.workload.statement import Workload


class TableSection(Protocol):
    """One table of a custom mix."""

    @property
    def rows(self) -> int: ...
    @property
    def row_bytes(self) -> int: ...


class StatementSection(Protocol):
    """One statement of a custom mix, such as ``{update: acct, rows: 1}``."""

    @property
    def verb(self) -> Literal["read", "lock", "update", "insert"]: ...
    @property
    def table(self) -> str: ...
    @property
    def rows(self) -> int | None: ...
    @property
    def hot_rows(self) -> int: ...
    @property
    def hot_fraction(self) -> float: ...


class TransactionSection(Protocol):
    """One kind of transaction of a custom mix."""

    @property
    def name(self) -> str: ...
    @property
    def weight(self) -> float: ...
    @property
    def autocommit(self) -> bool: ...
    @property
    def statements(self) -> Sequence[StatementSection]: ...


class WorkloadSection(Protocol):
    """What is read of the scenario's ``workload`` section; each kind reads its own part.

    ``tables`` is a number with sysbench and a mapping with a custom mix.
    """

    @property
    def kind(self) -> str: ...
    @property
    def warehouses(self) -> int: ...
    @property
    def mix(self) -> Mapping[str, float] | None: ...
    @property
    def tables(self) -> int | Mapping[str, TableSection]: ...
    @property
    def table_rows(self) -> int: ...
    @property
    def transactions(self) -> Sequence[TransactionSection]: ...


def build_workload(section: WorkloadSection, streams: Streams) -> Workload:
    """Returns the workload a scenario names.

    Args:
        section: the scenario's ``workload``.
        streams: clients draw from ``client-<id>/txn``.

    Raises:
        ValueError: if the kind is unknown; the schema refuses that earlier, with a position.
    """
    if section.kind == "tpcc":
        return TpccWorkload(section.warehouses, streams, section.mix)
    if section.kind in SCRIPTS:
        tables = section.tables
        assert isinstance(tables, int), f"{section.kind} takes a number of tables, not {tables!r}"
        return SysbenchWorkload(section.kind, streams, tables=tables, rows=section.table_rows)
    if section.kind == "custom":
        return _custom(section, streams)
    raise ValueError(f"unknown workload kind {section.kind!r}")


def _custom(section: WorkloadSection, streams: Streams) -> CustomWorkload:
    assert not isinstance(section.tables, int), "a custom mix names its tables"
    return CustomWorkload(
        [TableSpec(name, table.rows, table.row_bytes) for name, table in section.tables.items()],
        [_transaction(transaction) for transaction in section.transactions],
        streams,
    )


def _transaction(section: TransactionSection) -> TransactionSpec:
    return TransactionSpec(
        section.name,
        section.weight,
        tuple(
            StatementSpec(
                statement.verb,
                statement.table,
                statement.rows,
                statement.hot_rows,
                statement.hot_fraction,
            )
            for statement in section.statements
        ),
        section.autocommit,
    )
