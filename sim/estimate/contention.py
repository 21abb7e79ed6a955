"""Locks that transactions meet: those of others, and their own that are not applied yet."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from sim.estimate.planned_request import RequestKind
from sim.estimate.transaction_plan import Stretch, TransactionPlan, count_rounds

_SURELY_HOT: Final = 12
"""A key drawn this often in the sample is hot by nature, not by luck."""


@dataclass(slots=True)
class Contention:
    """How likely transactions want the same key, and how long a key is held."""

    collision: float = 0.0
    """Probability that two transactions lock a common key, summed over keys."""
    hottest: float = 0.0
    """Share of the transactions that lock the hottest key; 0 if no key is hot by nature."""
    hottest_unlocked: float = 0.0
    """Likewise, of those that write a key without having locked it: statements in auto-commit."""
    statements_held: float = 0.0
    """Statements between a lock and its transaction's commit, COMMIT included."""
    pause_held_ns: float = 0.0
    rounds_held: Counter[tuple[RequestKind, int]] = field(default_factory=Counter)
    """How often so many requests of a kind go together meanwhile, and are waited for."""


@dataclass(slots=True)
class OwnLocks:
    """The lock requests that a transaction's prewrites may still meet: those of its last locks."""

    transactions: float = 0.0
    """Share of the transactions that lock and commit."""
    requests: float = 0.0
    """Of the last locks, that are sent together."""
    statements: float = 0.0
    """From there to the commit, COMMIT included."""
    pause_ns: float = 0.0


class LockConflicts(NamedTuple):
    """What a mean transaction meets of others' locks; times in ns."""

    waits: float
    retries: float
    """Lock requests that are sent again."""
    latched: float
    """How long these wait for the latches of the release that has woken them."""


def contention_of(plans: Sequence[TransactionPlan]) -> Contention:
    """Returns how often a sample's transactions want the same key, and for how long."""
    holding = [(plan, _held_keys(plan)) for plan in plans]
    times = Counter(key for _, held in holding for key in held)
    if not times:
        return Contention()
    pairs = len(plans) * (len(plans) - 1)
    hottest, most = times.most_common(1)[0]
    hot = most >= _SURELY_HOT
    found = Contention(
        collision=sum(n * (n - 1) for n in times.values()) / pairs,
        hottest=most / len(plans) if hot else 0.0,
        hottest_unlocked=_hottest_unlocked(plans),
    )
    held = [
        (plan, until_end)
        for plan, keys in holding
        if not hot or hottest in keys
        for key, until_end in keys.items()
        if not hot or times[key] > 1
    ]
    share = 1 / len(held)
    for plan, until_end in held:
        found.statements_held += share * until_end.statements
        found.pause_held_ns += share * until_end.pause_ns
        rounds = plan.rounds[len(plan.rounds) - until_end.rounds :]
        count_rounds(found.rounds_held, rounds, share)
    return found


def _held_keys(plan: TransactionPlan) -> dict[bytes, Stretch]:
    """Returns the keys that a transaction holds for a while, and for how long.

    A statement in auto-commit holds what it writes from its prewrite on.
    """
    held = {key: plan.held(key) for key in plan.locked_at}
    for place, together in enumerate(plan.rounds):
        left = Stretch(0, 0, len(plan.rounds) - place)
        held |= {key: left for each in together if each.is_optimistic for key in each.keys}
    return held


def _hottest_unlocked(plans: Sequence[TransactionPlan]) -> float:
    """Returns the share of the transactions that write the hottest key without its lock."""
    requests = [each for plan in plans for together in plan.rounds for each in together]
    times = Counter(key for each in requests if each.is_optimistic for key in each.keys)
    most = max(times.values(), default=0)
    return most / len(plans) if most >= _SURELY_HOT else 0.0


def own_locks_of(weighted: Sequence[tuple[float, TransactionPlan]]) -> OwnLocks:
    """Returns what a mean transaction locks last."""
    found = OwnLocks()
    for weight, plan in weighted:
        if plan.commits and plan.locked_at:
            last = next(sent for sent in reversed(plan.rounds) if sent[0].kind == "lock")
            until_end = plan.held(last[0].keys[0])
            found.transactions += weight
            found.requests += weight * len(last)
            found.statements += weight * until_end.statements
            found.pause_ns += weight * until_end.pause_ns
    if found.transactions:
        found.requests /= found.transactions
        found.statements /= found.transactions
        found.pause_ns /= found.transactions
    return found
