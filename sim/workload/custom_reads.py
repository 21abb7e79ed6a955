"""Which rows of a custom mix's table are read, and how often: what caches keep follows from it."""

from collections.abc import Iterator, Sequence

from sim.scenario.schema.arrival import StatementSpec, TableSpec, TransactionSpec
from sim.workload.layout import BlockPart, parts_between


class TableReads:
    """The rows of one table that transactions draw; an update reads its rows, an insert none."""

    def __init__(self, table: TableSpec, transactions: Sequence[TransactionSpec]) -> None:
        self._rows = table.rows
        weight = sum(transaction.weight for transaction in transactions)
        self._drawn = [
            (transaction.weight / weight * (drawn.rows or 0), drawn)
            for transaction in transactions
            for drawn in _draws(table.name, transaction.statements)
        ]
        """Rows that each statement draws, a transaction of any kind."""

    def per_transaction(self) -> float:
        """Returns how many rows of the table a transaction reads on average."""
        return sum(rows for rows, _ in self._drawn)

    def parts(self, rows_of_block: int) -> Sequence[BlockPart]:
        """Returns how these reads are spread over the table's blocks, the hot rows' first."""
        reads = self.per_transaction()
        whole = min(1.0, rows_of_block / self._rows)
        hot = {max(whole, spec.hot_rows / self._rows) for _, spec in self._drawn}
        borders = sorted(hot | {0.0, 1.0})
        return parts_between(borders, [self._below(share) / reads for share in borders])

    def _below(self, share: float) -> float:
        """Returns how many rows a transaction reads of the first share of the table."""
        return sum(rows * _share_below(spec, share, self._rows) for rows, spec in self._drawn)


def _draws(table: str, statements: Sequence[StatementSpec]) -> Iterator[StatementSpec]:
    """Yields the statements whose draws decide which rows of a table are read."""
    for statement in statements:
        if statement.table != table or statement.verb == "insert":
            continue
        if statement.like:
            drawn = _draws(statement.like, statements)
            yield from (each for each in drawn if each.verb != "read")
        elif statement.rows is not None:
            yield statement


def _share_below(spec: StatementSpec, share: float, rows: int) -> float:
    """Returns how many of a statement's draws fall into the first share of the table's rows."""
    even = (1 - spec.hot_fraction) * share
    if not spec.hot_rows:
        return even
    return even + spec.hot_fraction * min(1.0, share * rows / spec.hot_rows)
