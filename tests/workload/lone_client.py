"""A client without a cluster: runs transactions one after another and counts what they ask for.

Requests are counted as client-go would send them: keys grouped by region, one request each.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable

from sim.protocol.percolator import Mutation
from sim.workload.statement import ROLLBACK, Statement, Transaction


class LoneClient:
    """Executes transactions; nobody else is there, so every lock and every commit succeeds."""

    def __init__(self, region_starts: list[bytes]) -> None:
        self.starts = region_starts
        self.counts: dict[str, Counter[str]] = {}
        self.payloads: dict[bytes, object] = {}
        self.rows: dict[bytes, bool] = {}

    def run(self, transaction: Transaction) -> dict[bytes, Mutation]:
        """Runs one transaction to its end and returns what it committed."""
        counts = self.counts.setdefault(transaction.name, Counter())
        counts["transactions"] += 1
        buffer: dict[bytes, Mutation] = {}
        held: dict[bytes, bool] = {}
        steps = transaction.statements()
        statement = next(steps, None)
        while statement is not None:
            if statement is ROLLBACK:
                counts["ROLLBACK"] += 1
                assert next(steps, None) is None, "nothing may follow a rollback"
                return {}
            keys = self._execute(statement, held, buffer, counts, transaction.autocommit)
            payloads = tuple(self.payloads.get(key) for key in keys)
            try:
                statement = steps.send(payloads if statement.returns_values else ())
            except StopIteration:
                break
        self._commit(buffer, counts)
        transaction.committed()
        return buffer

    def _execute(
        self,
        statement: Statement,
        held: dict[bytes, bool],
        buffer: dict[bytes, Mutation],
        counts: Counter[str],
        autocommit: bool,
    ) -> tuple[bytes, ...]:
        counts["statements"] += 1
        counts[statement.label.split()[0]] += 1
        for read in statement.reads:
            counts[f"{read.kind.name} requests"] += self.requests(read.keys)
        keys = statement.select() if statement.select else statement.lock_keys
        if not autocommit:
            assert not [key for key in keys if key in held], f"{statement} asks for a held lock"
            if statement.insert:
                assert not [key for key in keys if key in self.rows], f"{statement}: exists"
            held.update(dict.fromkeys(keys, True))
            counts["lock requests"] += self.requests(keys)
            counts["locked keys"] += len(keys)
        for mutation in statement.writes:
            if mutation.pessimistic_check and not autocommit:
                assert mutation.key in held, f"{statement} writes a row it has not locked"
            buffer[mutation.key] = mutation
        return keys

    def _commit(self, buffer: dict[bytes, Mutation], counts: Counter[str]) -> None:
        counts["mutations"] += len(buffer)
        counts["prewrite requests"] += self.requests(buffer)
        for key, mutation in buffer.items():
            counts["row bytes"] += len(key) + max(0, mutation.value_bytes)
            self.rows[key] = True
            if mutation.value is not None:
                self.payloads[key] = mutation.value

    def requests(self, keys: Iterable[bytes]) -> int:
        """Returns into how many regions the keys fall."""
        return len({bisect_right(self.starts, key) for key in keys})

    def mean(self, what: str, name: str | None = None) -> float:
        """Returns a count per transaction, of one type or of all."""
        counts = [self.counts[name]] if name else list(self.counts.values())
        return sum(c[what] for c in counts) / sum(c["transactions"] for c in counts)
