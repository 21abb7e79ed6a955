"""Which marks a run has hit, and how often."""

from __future__ import annotations

from sim.protocol.marks import MARKS
from sim.storage.probe import Probe


class Coverage(Probe):
    """Counts marks."""

    def __init__(self) -> None:
        self.hits: dict[str, int] = {}

    def mark(self, name: str) -> None:
        """Notes a mark.

        Raises:
            KeyError: if no mark is called so.
        """
        _ = MARKS[name]
        self.hits[name] = self.hits.get(name, 0) + 1


def add_hits(total: dict[str, int], hits: dict[str, int]) -> None:
    """Adds one run's hits to those of all."""
    for name, count in hits.items():
        total[name] = total.get(name, 0) + count


def never_hit(total: dict[str, int]) -> list[str]:
    """Returns the marks that no run has hit."""
    return [name for name in MARKS if not total.get(name)]


def shown(total: dict[str, int]) -> list[str]:
    """Returns one line for each mark, in the order in which they are listed."""
    width = max(map(len, MARKS))
    return [f"{name:<{width}}  {total.get(name, 0):>7}  {about}" for name, about in MARKS.items()]
