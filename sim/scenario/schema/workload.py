"""Section ``workload``: what clients ask for, and how they arrive."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, get_args

from sim.scenario.fields import (
    LATENCY,
    NAME,
    SHARE,
    SWITCH,
    Count,
    ListOf,
    MapOf,
    Number,
    OneOf,
    Wrong,
)
from sim.scenario.schema.arrival import (
    ETCD,
    ROWS,
    SCRIPTS,
    ArrivalSection,
    RandType,
    StatementSpec,
    TableSpec,
    TransactionSpec,
    Verb,
    Workload,
)
from sim.scenario.schema.etcd import EtcdSection
from sim.scenario.section import Document, Section, SectionOf, keys_of

_WEIGHT = Number(0, 1_000_000)
_MOST_KEYS = 10_000
_MIX_SOURCE = "Weight. Source: TPC-C 5.2.3; go-tpc tpcc/workload.go."


@dataclass(frozen=True, kw_only=True)
class TpccMix(Section):
    """Weights of the transaction types; they need not add up to 100."""

    new_order: float = _WEIGHT.key(_MIX_SOURCE, default=45.0)
    payment: float = _WEIGHT.key(_MIX_SOURCE, default=43.0)
    order_status: float = _WEIGHT.key(_MIX_SOURCE, default=4.0)
    delivery: float = _WEIGHT.key(_MIX_SOURCE, default=4.0)
    stock_level: float = _WEIGHT.key(_MIX_SOURCE, default=4.0)

    def check(self) -> None:
        """Judges whether anything is drawn."""
        if not any(self.resolved().values()):
            raise Wrong("every weight is 0; give one transaction a weight")

    def resolved(self) -> dict[str, float]:
        """Returns the weights by name."""
        return {name: getattr(self, name) for name in keys_of(TpccMix)}

    @classmethod
    def document_of(cls, value: Any) -> Document:
        """Returns the weights by name."""
        return dict(value)


@dataclass(frozen=True, kw_only=True)
class TpccSection(ArrivalSection):
    """TPC-C as go-tpc runs it."""

    kind: str = OneOf("tpcc").key()
    warehouses: int = Count(1, 1_000_000).key("Number of warehouses, about 111 MiB each.")
    mix: Mapping[str, float] | None = SectionOf(TpccMix).key(
        "Weights of the transaction types. Source: go-tpc tpcc/workload.go.", default=None
    )


@dataclass(frozen=True, kw_only=True)
class SysbenchSection(ArrivalSection):
    """One of sysbench's scripts."""

    kind: str = OneOf(*SCRIPTS).key()
    tables: int = Count(1, 10_000).key(
        "Number of tables. Source: TiDB docs, v6.0 sysbench benchmark: 16.", default=16
    )
    table_rows: int = ROWS.key(
        "Rows of each table. Source: TiDB docs, v6.0 sysbench benchmark: 10 M.", default=10_000_000
    )
    rand_type: RandType = OneOf(*get_args(RandType)).key(
        "Distribution of ids, as --rand-type with its default options. Source: "
        "akopytov/sysbench#329, the default of 1.1; TiDB docs' benchmarks.",
        default="uniform",
    )


@dataclass(frozen=True, kw_only=True)
class Hot(Section):
    """A part of the draws goes to the first rows of the table."""

    rows: int = Count(1, 1_000_000).key("Number of hot rows, the first of the table.")
    fraction: float = SHARE.key(
        "Share of accesses that go to these rows; all by default. Source: our own default.",
        default=1.0,
    )


@dataclass(frozen=True, kw_only=True)
class CustomStatement(Section):
    """One verb with its table: ``{lock: acct, rows: 2}``."""

    read: str | None = NAME.key("Point get or batch get.", default=None)
    lock: str | None = NAME.key("SELECT ... FOR UPDATE.", default=None)
    update: str | None = NAME.key(
        "UPDATE by primary key, of locked rows if rows is not given.", default=None
    )
    insert: str | None = NAME.key("INSERT of new rows.", default=None)
    rows: int | None = Count(1, _MOST_KEYS).key(
        "Number of different rows: 1, for update those that are locked. Source: our own default.",
        default=None,
    )
    hot: Hot | None = SectionOf(Hot).key(
        "Skew of accesses; by default uniform. Source: our own default.", default=None
    )
    like: str | None = NAME.key(
        "Another table: uses the row numbers that are locked there.", default=None
    )
    pause_ns: int = LATENCY.key(
        "Pause of the client before the statement; none by default. Source: our own default.",
        default="0ns",
    )

    def check(self) -> None:
        """Judges whether it has one verb, and rows that go with it."""
        if len(self.verbs) != 1:
            raise Wrong(f"{len(self.verbs)} verbs; a statement has one of read, lock, update, "
                        "insert, such as {lock: acct, rows: 2}")  # fmt: skip
        if self.hot is not None and self.insert is not None:
            raise Wrong("an insert makes new rows; remove hot", at="hot")
        if self.like is not None and (self.insert or self.rows is not None or self.hot):
            raise Wrong("decides which rows; remove rows, hot or insert", at="like")

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
            pause_ns=self.pause_ns,
        )

    @classmethod
    def document_of(cls, value: Any) -> Document:
        """Returns what a file says for a statement, and nothing that goes without saying."""
        hot = Hot(rows=value.hot_rows, fraction=value.hot_fraction) if value.hot_rows else None
        said = cls(
            **{value.verb: value.table},
            rows=value.rows,
            hot=hot,
            like=value.like or None,
            pause_ns=value.pause_ns,
        )
        document = super().document_of(said)
        return document if value.pause_ns else {k: v for k, v in document.items() if k != "pause"}


@dataclass(frozen=True, kw_only=True)
class CustomTransaction(Section):
    """Statements between BEGIN and COMMIT."""

    weight: float = _WEIGHT.key("Share of the mix. Source: our own default.", default=1.0)
    autocommit: bool = SWITCH.key(
        "One update outside BEGIN, tried optimistically first. Source: TiDB docs, pessimistic "
        "transaction mode, differences from MySQL (auto-commit).",
        default=False,
    )
    statements: tuple[CustomStatement, ...] = ListOf(
        SectionOf(CustomStatement), at_least=1, at_most=1_000
    ).key("Statements, in order.")

    def check(self) -> None:
        """Judges each statement by those before it."""
        if self.autocommit and (len(self.statements) != 1 or not self.statements[0].update):
            raise Wrong("needs exactly one statement, an update; remove it or the others",
                        at="autocommit")  # fmt: skip
        locked: list[str | None] = []
        for place, statement in enumerate(self.statements):
            if statement.like is not None and statement.like not in locked:
                raise Wrong(f"no statement before it locks rows of {statement.like}; write one",
                            at=f"statements[{place}].like")  # fmt: skip
            locked += [statement.lock, statement.update, statement.insert]

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


@dataclass(frozen=True, kw_only=True)
class CustomSection(ArrivalSection):
    """A mix written in the scenario."""

    kind: str = OneOf("custom").key()
    custom_tables: Mapping[str, TableSpec] = MapOf(
        SectionOf(TableSpec), NAME, "accounts: {rows: 1000}", at_least=1, at_most=100
    ).key("Tables by name.", name="tables")
    transactions: Mapping[str, CustomTransaction] = MapOf(
        SectionOf(CustomTransaction),
        NAME,
        "pay: {statements: [{update: accounts}]}",
        at_least=1,
        at_most=100,
    ).key("Transactions by name.")

    def check(self) -> None:
        """Judges the loop, and whether tables have the rows that statements ask for."""
        super().check()
        for name, transaction in self.transactions.items():
            for place, statement in enumerate(transaction.statements):
                at = f"transactions.{name}.statements[{place}]"
                self._check(statement, at)
        if not any(transaction.weight for transaction in self.transactions.values()):
            raise Wrong("every weight is 0; give one transaction a weight", at="transactions")

    def resolved(self) -> Workload:
        """Returns the workload, its tables and transactions with their names."""
        tables = [replace(table, name=name) for name, table in self.custom_tables.items()]
        transactions = [each.spec(name) for name, each in self.transactions.items()]
        arrival: Workload = super().resolved()
        return replace(arrival, custom_tables=tuple(tables), transactions=tuple(transactions))

    @classmethod
    def document_of(cls, value: Any) -> Document:
        """Returns what a file says, tables and transactions by their names."""
        by_name = {
            "custom_tables": {each.name: each for each in value.custom_tables},
            "transactions": {each.name: each for each in value.transactions},
        }
        return super().document_of(replace(value, **by_name))

    def _check(self, statement: CustomStatement, at: str) -> None:
        verb, name = statement.verbs[0]
        table = self.custom_tables.get(name)
        if table is None:
            raise Wrong(f"there is no table {name}; use one of {', '.join(self.custom_tables)}",
                        at=f"{at}.{verb}")  # fmt: skip
        hot_rows = statement.hot.rows if statement.hot else 0
        if hot_rows > table.rows:
            raise Wrong(f"{hot_rows} hot rows, but table {name} has {table.rows}; write less",
                        at=f"{at}.hot.rows")  # fmt: skip
        reachable = hot_rows if statement.hot and statement.hot.fraction == 1 else table.rows
        if verb != "insert" and (statement.rows or 1) > reachable:
            raise Wrong(f"{statement.rows} different rows out of {reachable}; write less",
                        at=f"{at}.rows")  # fmt: skip


AnyWorkload = TpccSection | SysbenchSection | CustomSection | EtcdSection
SECTIONS: Final[dict[str, type[AnyWorkload]]] = {
    "tpcc": TpccSection,
    **dict.fromkeys(SCRIPTS, SysbenchSection),
    "custom": CustomSection,
    ETCD: EtcdSection,
}
"""Which section each kind has."""
