"""Which faults are in force: the end of one of them undoes nothing that another one does.

Law: of faults of one kind on one store the one that began last counts; when it ends, the one before
it does that is still in force. A store that is started again is no longer the one that a timer
waits for.
"""

from collections.abc import Sequence
from typing import Any

Groups = Sequence[Sequence[str]]


class FaultsInForce:
    """The faults of one cluster that have begun and not ended, whichever operation began them."""

    def __init__(self) -> None:
        self._partitions: dict[int, Groups] = {}
        self._on_stores: dict[tuple[str, int], dict[int, Any]] = {}
        self._stops: dict[int, int] = {}
        self._begun = 0

    def partitioned(self, groups: Groups) -> int:
        """Adds a partition; returns its number."""
        number = self._next()
        self._partitions[number] = groups
        return number

    def healed(self, number: int) -> list[Groups]:
        """Ends a partition; returns those that are still in force."""
        del self._partitions[number]
        return list(self._partitions.values())

    def begun(self, kind: str, store: int, strength: Any) -> int:
        """Adds a fault of a store; returns its number."""
        number = self._next()
        self._on_stores.setdefault((kind, store), {})[number] = strength
        return number

    def ended(self, kind: str, store: int, number: int) -> Any:
        """Ends a fault of a store; returns the strength that is left, None if there is none."""
        strengths = self._on_stores[kind, store]
        del strengths[number]
        return next(reversed(strengths.values()), None)

    def stopped(self, store: int) -> int:
        """Notes that a store has been stopped; returns the number of this stop."""
        self._stops[store] = number = self._next()
        return number

    def is_latest_stop(self, store: int, number: int) -> bool:
        """Returns whether a store has not been stopped again since."""
        return self._stops[store] == number

    def _next(self) -> int:
        self._begun += 1
        return self._begun
