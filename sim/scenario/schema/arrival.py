"""What every workload is: how clients arrive, and what a simulation reads of all its kinds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

from sim.distributions import Distribution
from sim.scenario.fields import LOAD, Count, Size, Wrong
from sim.scenario.schema.shape import SHAPE
from sim.scenario.section import Section

ETCD = "etcd"
"""The kind of workload whose stores are etcd members."""

LOCKING_SCRIPTS: Final = ("oltp_read_write", "oltp_write_only")
"""sysbench's transactions between BEGIN and COMMIT that write."""

OTHER_SCRIPTS: Final = (
    "oltp_read_only", "oltp_point_select", "oltp_update_index", "oltp_update_non_index",
    "oltp_insert", "oltp_delete",
)  # fmt: skip
"""Those that ask for no pessimistic lock: they only read, or write one row in auto-commit."""

SCRIPTS: Final = (*LOCKING_SCRIPTS, *OTHER_SCRIPTS)

ROWS: Final = Count(1, 100_000_000_000)
RandType = Literal["uniform", "special", "gaussian", "pareto", "zipfian"]
Verb = Literal["read", "lock", "update", "insert"]


@dataclass(frozen=True, kw_only=True)
class TableSpec(Section):
    """Rows 1 to ``rows``."""

    name: str = ""
    rows: int = ROWS.key("Number of rows before the run.")
    row_bytes: int = Size("1B", "1MiB").key(
        "Size of a row's value. Source: our own default.", default="120B", name="row_bytes"
    )


@dataclass(frozen=True, kw_only=True)
class StatementSpec:
    """A statement of a custom mix."""

    verb: Verb
    table: str
    rows: int | None
    """How many different rows; None with ``update``: those the transaction has locked there."""
    hot_rows: int = 0
    """The first rows of the table, to which ``hot_fraction`` of the draws go."""
    hot_fraction: float = 0.0
    like: str = ""
    """The rows with the numbers that the transaction has locked in this other table."""
    pause_ns: int = 0
    """The client waits this long before it."""


@dataclass(frozen=True, kw_only=True)
class TransactionSpec:
    """A transaction of a custom mix."""

    name: str
    weight: float
    statements: tuple[StatementSpec, ...]
    autocommit: bool = False


@dataclass(frozen=True, kw_only=True)
class Workload:
    """What clients ask for; each kind reads its own part."""

    kind: str
    threads: int | None = None
    """Closed loop: clients that wait for each answer. Exactly one of this and ``rate_per_s``."""
    rate_per_s: float | None = None
    """Open loop: transactions arrive at this mean rate, whatever the answers."""
    think_time: Distribution | None = None
    """Closed loop: pause of a client between two transactions."""
    warehouses: int = 0
    """tpcc."""
    mix: Mapping[str, float] | None = None
    """tpcc: weights by transaction type; None: go-tpc's."""
    tables: int = 0
    """oltp_*."""
    table_rows: int = 0
    """oltp_*: rows of each table."""
    rand_type: RandType = "uniform"
    """oltp_*: how ids are drawn."""
    custom_tables: tuple[TableSpec, ...] = ()
    """custom."""
    transactions: tuple[TransactionSpec, ...] = ()
    """custom."""
    keys: int = 0
    """etcd: how many different keys are put."""
    key_bytes: int = 0
    """etcd."""
    value_bytes: int = 0
    """etcd."""
    connections: int = 0
    """etcd: the most connections that a node's clients share."""
    timeout_ns: int = 0
    """etcd: after which a put that was not answered has failed."""

    @property
    def takes_locks(self) -> bool:
        """Whether it asks for pessimistic locks; auto-commit does so only after a conflict."""
        if self.kind == "custom":
            return any(
                statement.verb != "read"
                for transaction in self.transactions
                if not transaction.autocommit
                for statement in transaction.statements
            )
        return self.kind != ETCD and self.kind not in OTHER_SCRIPTS


@dataclass(frozen=True, kw_only=True)
class ArrivalSection(Section):
    """How clients arrive: a closed loop of threads, or an open loop with a rate."""

    MAKES = Workload

    threads: int | None = Count(1, 100_000).key(
        "Closed loop: number of clients, which wait for each answer.", default=None
    )
    rate_per_s: float | None = LOAD.key(
        "Open loop: transactions arrive at this mean rate, and latency counts from the intended "
        "start.",
        default=None,
    )
    think_time: Distribution | None = SHAPE.key(
        "Closed loop: pause of a client between two transactions; none by default. Source: go-tpc "
        "has none unless --wait.",
        default=None,
    )

    def check(self) -> None:
        """Judges whether clients form one kind of loop."""
        if self.threads is not None and self.rate_per_s is not None:
            raise Wrong("both threads and rate; keep threads (closed loop) or rate (open loop); "
                        "to drop the one that an extended file gives, set it to null",
                        at="rate")  # fmt: skip
        if self.threads is None and self.rate_per_s is None:
            raise Wrong("says neither threads nor rate; write threads: 50 (closed loop) or "
                        "rate: 2400/s (open loop)")  # fmt: skip
        if self.rate_per_s is not None and self.think_time is not None:
            raise Wrong("has no meaning in an open loop; remove it or write threads",
                        at="think_time")  # fmt: skip
