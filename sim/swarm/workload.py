"""What the swarm's clients do: small transactions on few rows, whose sums show what was lost.

Transfers move amounts between accounts, which sum to zero at all times; an increment adds one
to a counter, which at the end is as great as the number of commits; an order takes the next id of a
counter and inserts a row of that id, which must not be there. A lost update breaks one of them.
Blind writes (auto-commit, an index entry) and readers meet the locks of the others.

Source of the idea: tipocket's bank and append tests; TPC-C's order ids.
"""

from collections.abc import Generator
from dataclasses import dataclass
from functools import cache
from typing import Final

from sim.protocol.keys import record_prefix, row_key
from sim.protocol.mvcc import PUT
from sim.protocol.percolator import Mutation
from sim.streams import Stream, Streams
from sim.swarm.recipe import Recipe
from sim.workload.layout import Table, rows_by_handle
from sim.workload.statement import (
    ROLLBACK,
    Payloads,
    Read,
    ReadKind,
    Script,
    Statement,
    Transaction,
)

ACCOUNTS: Final = 100
ORDERS: Final = 102
INDEX: Final = 104
BLIND: Final = 106
"""Ids of the tables: rows with a number each, rows by order id, index entries of the accounts, rows
that are written without being read."""

ROW_BYTES: Final = 20
ACCOUNT_PREFIX: Final = record_prefix(ACCOUNTS)


def account_key(row: int) -> bytes:
    """Returns the key of an account, or of the counter that comes after the last account."""
    return row_key(ACCOUNTS, row + 1)


@dataclass
class Tally:
    """What clients know to be committed."""

    increments: int = 0
    orders: int = 0


@dataclass(eq=False, kw_only=True)
class Changing(Transaction):
    """Reads and locks rows, and writes each with another number in it."""

    name: str
    changes: dict[bytes, int]
    """What to add to each row's number."""
    tally: Tally
    one_by_one: bool
    """A statement for each row, instead of one for all."""
    gives_up: bool
    """Rolls back at the end."""
    indexed: bool
    """Writes an index entry with each row."""

    def statements(self) -> Generator[Statement, Payloads, None]:
        """Yields the statements."""
        keys = list(self.changes)
        groups = [(key,) for key in keys] if self.one_by_one else [tuple(keys)]
        for group in groups:
            label = "SELECT account FOR UPDATE"
            numbers = yield Statement(label, (), group, fresh_ts=True, returns_values=True)
            writes = [
                Mutation(key, PUT, ROW_BYTES, (number or 0) + self.changes[key])  # type: ignore[operator]
                for key, number in zip(group, numbers, strict=True)
            ]
            order_id = writes[0].value
            if self.indexed:
                writes += [_index_entry(key) for key in group]
            yield Statement("UPDATE account", (), (), tuple(writes))
            if self.name == "orders":
                yield self._insert(order_id)
        if self.gives_up:
            yield ROLLBACK

    def committed(self) -> None:
        """Counts what the counter must show at the end."""
        if self.name == "orders":
            self.tally.orders += 1
        elif self.name == "counters":
            self.tally.increments += 1

    @staticmethod
    def _insert(order_id: object) -> Statement:
        assert isinstance(order_id, int), "a counter holds a number"
        row = row_key(ORDERS, order_id)
        return Statement(
            "INSERT order", (), (row,), (Mutation(row, PUT, ROW_BYTES, order_id),), insert=True
        )


class SwarmWorkload:
    """Draws the transactions of one recipe."""

    def __init__(self, recipe: Recipe, streams: Streams) -> None:
        self._recipe = recipe
        self._stream_of = cache(lambda client_id: streams.stream(f"swarm/client-{client_id}"))
        weights = recipe.weights()
        self._kinds = [kind for kind in weights for _ in range(weights[kind])] or ["transfers"]
        self.tally = Tally()

    def tables(self) -> tuple[Table, ...]:
        """Returns the tables in key order."""
        rows = self._recipe.rows + 2
        return tuple(
            Table(
                str(table_id),
                record_prefix(table_id)[:-2],
                (rows_by_handle(str(table_id), table_id, rows, ROW_BYTES),),
            )
            for table_id in (ACCOUNTS, ORDERS, INDEX, BLIND)
        )

    def transaction(self, client_id: int) -> Transaction:
        """Draws the next transaction of one client."""
        stream = self._stream_of(client_id)
        kind = self._kinds[stream.randint(0, len(self._kinds) - 1)]
        rows = self._recipe.rows
        if kind == "blind":
            return self._blind(stream, rows)
        if kind == "readers":
            return _reader(stream, rows)
        if kind == "counters":
            changes = {account_key(rows): 1}
        elif kind == "orders":
            changes = {account_key(rows + 1): 1}
        else:
            changes = _transfer(stream, rows)
        return Changing(
            name=kind,
            changes=changes,
            tally=self.tally,
            one_by_one=stream.random() < 0.5,
            gives_up=kind == "transfers" and stream.random() < 0.1,
            indexed=stream.random() < 0.3,
        )

    def _blind(self, stream: Stream, rows: int) -> Script:
        key = row_key(BLIND, stream.randint(1, rows))
        write = Statement(
            "UPDATE blind",
            (Read(ReadKind.GET, (key,), 1),),
            (key,),
            (Mutation(key, PUT, ROW_BYTES),),
        )
        read = Statement(
            "SELECT", (Read(ReadKind.GET, (account_key(stream.randint(0, rows)),), 1),)
        )
        if stream.random() < 0.5:
            return Script("blind", [write], autocommit=True)
        return Script("blind", [read, write])


def _reader(stream: Stream, rows: int) -> Script:
    """Draws a transaction that reads accounts twice: each alone, some together, or all in a row."""
    keys = tuple(account_key(row) for row in range(rows))
    reads = (
        Read(ReadKind.GET, (keys[stream.randint(0, rows - 1)],), 1),
        Read(ReadKind.BATCH_GET, keys, rows),
        Read(ReadKind.COP, (keys[0], keys[-1]), rows),
    )
    once = Statement("SELECT", (reads[stream.randint(0, 2)],))
    again = Statement("SELECT", (reads[stream.randint(0, 2)],))
    return Script("readers", [once, again], autocommit=stream.random() < 0.3)


def _index_entry(account: bytes) -> Mutation:
    """Returns the write of an account's index entry, which the account's lock covers."""
    key = record_prefix(INDEX) + account[len(record_prefix(ACCOUNTS)) :]
    return Mutation(key, PUT, ROW_BYTES, pessimistic_check=False)


def _transfer(stream: Stream, rows: int) -> dict[bytes, int]:
    """Draws amounts of two to four different accounts; they sum to zero."""
    changes: dict[bytes, int] = {}
    for _ in range(min(rows, stream.randint(2, 4))):
        changes[account_key(stream.randint(0, rows - 1))] = stream.randint(1, 9)
    first = next(iter(changes))
    changes[first] = -sum(amount for key, amount in changes.items() if key != first)
    return changes
