"""Keys that several transactions want, as a sample shows them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sim.estimate.dry_transaction import DryTransaction

_SURELY_HOT: Final = 12
"""A key drawn this often in the sample is hot by nature, not by luck."""


@dataclass(slots=True)
class Contention:
    """How likely transactions want the same key, and how long a key is held."""

    collision: float = 0.0
    """Probability that two transactions lock a common key, summed over keys."""
    hottest: float = 0.0
    """Share of the transactions that lock the hottest key; 0 if no key is hot by nature."""
    statements_held: float = 0.0
    """Statements between a lock and its transaction's commit, COMMIT included."""
    pause_held_ns: float = 0.0


def contention_of(drawn: Sequence[DryTransaction]) -> Contention:
    """Returns how often a sample's transactions want the same key, and for how long."""
    times = Counter(key for each in drawn for key in each.statements_after_lock)
    if not times:
        return Contention()
    pairs = len(drawn) * (len(drawn) - 1)
    hottest, most = times.most_common(1)[0]
    held = [each for each in drawn if each.statements_after_lock]
    if most >= _SURELY_HOT:
        held = [each for each in held if hottest in each.statements_after_lock]
    statements = pauses = locks = 0.0
    for each in held:
        for key, after in each.statements_after_lock.items():
            if times[key] > 1 or most < _SURELY_HOT:
                statements += after
                pauses += each.pause_after_lock_ns[key]
                locks += 1
    return Contention(
        collision=sum(n * (n - 1) for n in times.values()) / pairs,
        hottest=most / len(drawn) if most >= _SURELY_HOT else 0.0,
        statements_held=statements / locks if locks else 0.0,
        pause_held_ns=pauses / locks if locks else 0.0,
    )
