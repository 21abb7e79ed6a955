"""Section ``workload``: what clients ask for, and how they arrive."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from sim.scenario.fields import (
    Count,
    Latency,
    Name,
    Number,
    Quantity,
    Section,
    Share,
    Switch,
    key,
    wrong,
)
from sim.scenario.quantities import SIZE
from sim.scenario.resolved import StatementSpec, TransactionSpec, Verb
from sim.scenario.schema.arrival import ArrivalSection
from sim.scenario.schema.etcd import EtcdSection

_Rows = Annotated[int, Count(1, 100_000_000_000)]
_Weight = Annotated[float, Number(0, 1_000_000)]
_MOST_KEYS = 10_000
_MIX_SOURCE = "Weight. Source: TPC-C 5.2.3; go-tpc tpcc/workload.go."


class TpccMix(Section):
    """Weights of the transaction types; they need not add up to 100."""

    new_order: _Weight = key(default=45.0, description=_MIX_SOURCE)
    payment: _Weight = key(default=43.0, description=_MIX_SOURCE)
    order_status: _Weight = key(default=4.0, description=_MIX_SOURCE)
    delivery: _Weight = key(default=4.0, description=_MIX_SOURCE)
    stock_level: _Weight = key(default=4.0, description=_MIX_SOURCE)

    @model_validator(mode="after")
    def _draws_something(self) -> Self:
        if not any(self.model_dump().values()):
            raise wrong("every weight is 0; give one transaction a weight")
        return self


class TpccSection(ArrivalSection):
    """TPC-C as go-tpc runs it."""

    kind: Literal["tpcc"] = key()
    warehouses: Annotated[int, Count(1, 1_000_000)] = key(
        description="Size of the database, about 111 MiB each."
    )
    mix: TpccMix | None = key(
        default=None,
        description="Weights of the transaction types. Source: go-tpc tpcc/workload.go.",
    )


class SysbenchSection(ArrivalSection):
    """One of sysbench's scripts."""

    kind: Literal[
        "oltp_read_write", "oltp_write_only", "oltp_update_index", "oltp_update_non_index"
    ] = key()
    tables: Annotated[int, Count(1, 10_000)] = key(
        default=16, description="Number of tables. Source: TiDB docs, v6.0 sysbench benchmark: 16."
    )
    table_rows: _Rows = key(
        default=10_000_000,
        description="Rows of each. Source: TiDB docs, v6.0 sysbench benchmark: 10 M.",
    )
    rand_type: Literal["uniform", "special"] = key(
        default="uniform",
        description="How ids are drawn. Source: akopytov/sysbench#329, the default of 1.1; TiDB "
        "docs' benchmarks.",
    )


class CustomTable(Section):
    """Rows 1 to ``rows``."""

    rows: _Rows = key(description="How many there are before the run.")
    row_bytes: Annotated[int, Quantity(SIZE, "1B", "1MiB")] = key(
        default="120B", description="Size of a row's value. Source: our own default."
    )


class Hot(Section):
    """A part of the draws goes to the first rows of the table."""

    rows: Annotated[int, Count(1, 1_000_000)] = key(description="How many.")
    fraction: Share = key(default=1.0, description="Of the draws. Source: our own default: all.")


class CustomStatement(Section):
    """One verb with its table: ``{lock: acct, rows: 2}``."""

    read: Name | None = key(default=None, description="Point get or batch get.")
    lock: Name | None = key(default=None, description="SELECT ... FOR UPDATE.")
    update: Name | None = key(
        default=None,
        description="UPDATE by primary key, of locked rows if rows is not given.",
    )  # fmt: skip
    insert: Name | None = key(default=None, description="INSERT of new rows.")
    rows: Annotated[int, Count(1, _MOST_KEYS)] | None = key(
        default=None,
        description="How many different rows: 1, but for update those that are locked. Source: "
        "our own default.",
    )
    hot: Hot | None = key(
        default=None,
        description="Skew; by default rows are drawn uniformly. Source: our own default.",
    )
    like: Name | None = key(
        default=None, description="The rows with the numbers that are locked in this other table."
    )
    pause: Latency = key(
        default="0ns",
        description="The client waits so long before it. Source: our own default, none.",
    )

    @model_validator(mode="after")
    def _has_one_verb(self) -> Self:
        if len(self.verbs) != 1:
            raise wrong(f"{len(self.verbs)} verbs; a statement has one of read, lock, update, "
                        "insert, such as {lock: acct, rows: 2}")  # fmt: skip
        if self.hot is not None and self.insert is not None:
            raise wrong("an insert makes new rows; remove hot", at="hot")
        if self.like is not None and (self.insert or self.rows is not None or self.hot):
            raise wrong("decides which rows; remove rows, hot or insert", at="like")
        return self

    @property
    def verbs(self) -> list[tuple[Verb, str]]:
        """Returns the verbs given, with their tables."""
        given: list[tuple[Verb, str | None]] = [
            ("read", self.read), ("lock", self.lock), ("update", self.update),
            ("insert", self.insert),
        ]  # fmt: skip
        return [(verb, table) for verb, table in given if table is not None]

    def spec(self, *, locked_before: bool) -> StatementSpec:
        """Returns the statement; an update without rows takes those locked before, if any."""
        ((verb, table),) = self.verbs
        takes_locked = verb == "update" and self.rows is None and locked_before
        return StatementSpec(
            verb=verb,
            table=table,
            rows=None if takes_locked or self.like else self.rows or 1,
            hot_rows=self.hot.rows if self.hot else 0,
            hot_fraction=self.hot.fraction if self.hot else 0.0,
            like=self.like or "",
            pause_ns=self.pause,
        )


class CustomTransaction(Section):
    """Statements between BEGIN and COMMIT."""

    weight: _Weight = key(default=1.0, description="Share of the mix. Source: our own default.")
    autocommit: Switch = key(
        default=False,
        description="One update outside BEGIN, tried optimistically first. Source: TiDB docs, "
        "pessimistic transaction mode, differences from MySQL (auto-commit).",
    )
    statements: list[CustomStatement] = key(description="In order.", min_length=1, max_length=1_000)

    @model_validator(mode="after")
    def _autocommit_is_one_write(self) -> Self:
        if self.autocommit and (len(self.statements) != 1 or not self.statements[0].update):
            raise wrong("needs exactly one statement, an update; remove it or the others",
                        at="autocommit")  # fmt: skip
        locked: list[str | None] = []
        for place, statement in enumerate(self.statements):
            if statement.like is not None and statement.like not in locked:
                raise wrong(f"no statement before it locks rows of {statement.like}; write one",
                            at=f"statements[{place}].like")  # fmt: skip
            locked += [statement.lock, statement.update, statement.insert]
        return self

    def spec(self, name: str) -> TransactionSpec:
        """Returns the transaction."""
        locked: list[str] = []
        statements = []
        for statement in self.statements:
            table = statement.verbs[0][1]
            statements.append(statement.spec(locked_before=table in locked))
            if statement.lock or statement.insert:
                locked.append(table)
        return TransactionSpec(
            name=name, weight=self.weight, statements=tuple(statements), autocommit=self.autocommit
        )


class CustomSection(ArrivalSection):
    """A mix written in the scenario."""

    kind: Literal["custom"] = key()
    tables: dict[Name, CustomTable] = key(description="By name.", min_length=1, max_length=100)
    transactions: dict[Name, CustomTransaction] = key(
        description="By name.", min_length=1, max_length=100
    )

    @model_validator(mode="after")
    def _tables_exist_and_suffice(self) -> Self:
        for name, transaction in self.transactions.items():
            for place, statement in enumerate(transaction.statements):
                at = f"transactions.{name}.statements[{place}]"
                self._check(statement, at)
        if not any(transaction.weight for transaction in self.transactions.values()):
            raise wrong("every weight is 0; give one transaction a weight", at="transactions")
        return self

    def _check(self, statement: CustomStatement, at: str) -> None:
        verb, name = statement.verbs[0]
        table = self.tables.get(name)
        if table is None:
            raise wrong(f"there is no table {name}; use one of {', '.join(self.tables)}",
                        at=f"{at}.{verb}")  # fmt: skip
        hot_rows = statement.hot.rows if statement.hot else 0
        if hot_rows > table.rows:
            raise wrong(f"{hot_rows} hot rows, but table {name} has {table.rows}; write less",
                        at=f"{at}.hot.rows")  # fmt: skip
        reachable = hot_rows if statement.hot and statement.hot.fraction == 1 else table.rows
        if verb != "insert" and (statement.rows or 1) > reachable:
            raise wrong(f"{statement.rows} different rows out of {reachable}; write less",
                        at=f"{at}.rows")  # fmt: skip


AnyWorkload = TpccSection | SysbenchSection | CustomSection | EtcdSection
WorkloadSection = Annotated[AnyWorkload, Field(discriminator="kind")]

SECTIONS: dict[str, type[AnyWorkload]] = {
    "tpcc": TpccSection,
    "oltp_read_write": SysbenchSection,
    "oltp_write_only": SysbenchSection,
    "oltp_update_index": SysbenchSection,
    "oltp_update_non_index": SysbenchSection,
    "custom": CustomSection,
    "etcd": EtcdSection,
}
"""Which section each kind has."""
