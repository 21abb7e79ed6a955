"""Transactions whose statements are all known when they are made: sysbench, custom mixes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sim.workload.statement import Payloads, Statement, Transaction

if TYPE_CHECKING:
    from collections.abc import Generator


class Script(Transaction):
    """A fixed list of statements; no statement depends on what an earlier one returned.

    An auto-commit statement reads its row in the first, optimistic try. In the second, pessimistic
    one the lock request returns the row instead, so the reads fall away (tidb
    pkg/executor/point_get.go).
    """

    __slots__ = ("_script", "_tries")

    def __init__(self, name: str, script: list[Statement], *, autocommit: bool = False) -> None:
        self.name = name
        self.autocommit = autocommit
        self._script = script
        self._tries = 0

    def statements(self) -> Generator[Statement, Payloads, None]:
        """Yields the list, without the reads of locked rows from the second try on."""
        self._tries += 1
        if self.autocommit and self._tries == 2:
            self._script = [_without_reads(statement) for statement in self._script]
        for statement in self._script:  # noqa: UP028 - a list does not take what is sent
            yield statement


def _without_reads(statement: Statement) -> Statement:
    if not statement.lock_keys:
        return statement
    return Statement(
        statement.label,
        (),
        statement.lock_keys,
        statement.writes,
        insert=statement.insert,
        returns_values=statement.returns_values,
        fresh_ts=statement.fresh_ts,
    )
