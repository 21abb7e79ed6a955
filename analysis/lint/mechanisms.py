"""What a scenario sets in motion on purpose, which counts of facts show that it moved, and why not.

Source: the names of facts are those of ``sim.client.client_stats``, ``sim.operations`` and
``sim.observers.lock_fates``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from analysis.lint.operation_rules import FEWEST_TIMES
from analysis.lint.scenario_warning import LintedCase
from analysis.statistics.amounts import count
from sim.fact_names import SKIPPED
from sim.scenario.schema.operations import Driven, Operation, Rolling, ShuffleLeader, Timed
from sim.units import KIB, MIB

_COUNTED: Final = {
    "transfer_leader": "leader_transfers",
    "shuffle_leader": "leader_transfers",
    "split_region": "splits",
    "merge_region": "merges",
    "auto_split": "splits",
    "auto_merge": "merges",
}
"""Facts that count what an operation has brought about, where asking for it is not enough."""
_ON_THE_WAY: Final = ("balance_leader",)
"""Operations that serve others, and may find nothing to do."""
_CARRIES_LOCKS: Final = {
    "transfer_leader": "transfer",
    "shuffle_leader": "transfer",
    "split_region": "split",
    "merge_region": "merge",
}
_HOT_ROWS: Final = 1_000
"""Rows below which a hot spot is meant to be fought for."""
_PEER_LIMIT_BYTES: Final = 512 * KIB
_INSTANCE_LIMIT_BYTES: Final = 100 * MIB
"""TiKV's defaults: a limit below them is set to be reached. Source: TiKV docs, configuration."""
_ABOUT_WAITING: Final = (
    "pessimistic-txn.wake-up-delay-duration", "pessimistic-txn.wait-for-lock-timeout",
    "tidb_pessimistic_txn_fair_locking", "innodb_lock_wait_timeout",
)  # fmt: skip

REMEDIES: Final = {
    "no_region": "write a region that there is then, or random",
    "no_store": "write a store, or random",
    "none_up": "do it while such a store is up",
    "none_down": "do it while a store is down, or write crash_store before it",
    "is_down": "do it while the store is up, or write restart_store before it",
    "is_up": "do it while the store is down, or write crash_store before it",
    "is_leader": "write another store, or random",
    "no_replica": "write a store that has one, or random",
    "has_replica": "write a store without one; there is none unless cluster.stores is more than "
    "cluster.replicas",
    "all_have_one": "write more cluster.stores than cluster.replicas",
    "no_follower": "write cluster.replicas: 3",
    "no_split_key": "write another region, or a row in its midst",
    "no_neighbour": "write another region, or the other side (into)",
    "other_stores": "write a region whose neighbour is on the same stores, or as many "
    "cluster.replicas as cluster.stores",
}
"""What lets an operation be done that was due and could not be, by the reason."""


_PLURAL: Final = re.compile(r"(?<=lock|tion|sfer|plit|erge)s\b")
"""Ends what is counted in the words of a mechanism."""


@dataclass(frozen=True, slots=True)
class Mechanism:
    """Something that a scenario wants to see."""

    words: str
    """In the plural, after a number."""
    fact: str
    stat: str = "total"
    class_: str = ""
    """Classes that begin so count; empty: all."""
    least: int = FEWEST_TIMES
    """How often it has to happen in all replications of a variant together."""
    remedy: str = "lengthen run.measure"
    do: str = ""
    """The kind of operation that brings it about, if one does."""

    def times(self, most: int) -> str:
        """Returns ``no contended locks``, ``only 1 contended lock`` or ``only 7 splits``."""
        if most == 1:
            return f"only 1 {_PLURAL.sub('', self.words, count=1)}"
        return f"only {most:,} {self.words}" if most else f"no {self.words}"


def mechanisms(case: LintedCase, said: Mapping[str, object]) -> Iterator[Mechanism]:
    """Yields what one variant is meant to show.

    Args:
        case: at any point; points differ in how much, not in what.
        said: the keys that its variant changes.
    """
    yield Mechanism("committed transactions", "txns")
    if case.changes_lock_mode:
        return
    mode = case.scenario.tikv.lock_mode
    if case.scenario.workload.takes_locks:
        if mode == "in_memory" and case.gated_by is not None:
            mode = "pipelined"
        path = {"in_memory": "locks in memory", "pipelined": "pipelined locks"}.get(mode)
        yield Mechanism(path or "synchronous locks", "locks_total", class_=mode)
        yield from _of_keys(case, said)
    about_waiting = any(key.endswith(_ABOUT_WAITING) for key in said)
    if case.scenario.workload.takes_locks and (_fought_for(case) or about_waiting):
        remedy = "use fewer rows, more clients or a longer run.measure"
        yield Mechanism("contended locks", "lock_wait", "count", remedy=remedy)
    for each in case.scenario.operations:
        yield from _of_operation(each, case)


def _of_keys(case: LintedCase, said: Mapping[str, object]) -> Iterator[Mechanism]:
    """Yields what a variant's own keys are about: a table that is full, a way to fall back."""
    tikv = case.scenario.tikv
    small = {
        "in-memory-peer-size-limit": tikv.in_memory_peer_size_limit_bytes < _PEER_LIMIT_BYTES,
        "in-memory-instance-size-limit": (
            tikv.in_memory_instance_size_limit_bytes < _INSTANCE_LIMIT_BYTES
        ),
        "in-memory-fallback": True,
    }
    for key in said:
        if tikv.lock_mode == "in_memory" and small.get(key.rpartition(".")[2]):
            remedy = f"{key} never takes effect; set a lower limit, or hold more locks"
            yield Mechanism("locks that fell back", "locks_total", class_="fallback", remedy=remedy)
            return


def _of_operation(operation: Operation, case: LintedCase) -> Iterator[Mechanism]:
    do = operation.do
    if do in _ON_THE_WAY:
        return
    again = repeats(operation)
    least = FEWEST_TIMES if again else 1
    # What is asked for once may be meant to fail: then having asked is enough.
    fact = _COUNTED.get(do) if again or isinstance(operation, Driven) else None
    at_ns = getattr(operation, "at_ns", None)
    unseen = at_ns is not None and at_ns < case.warmup_ns  # done where no fact is counted
    if unseen and not again and not isinstance(operation, Driven | ShuffleLeader):
        return
    if fact is None:
        yield Mechanism(do, "operations", class_=do, least=1, do=do)
        return
    yield Mechanism(fact.replace("_", " "), fact, least=least, do=do)
    if again:
        yield from _locks_moved(do, case)


def _locks_moved(do: str, case: LintedCase) -> Iterator[Mechanism]:
    """Yields the locks that are to move when regions do, if there are any in memory."""
    cause, workload = _CARRIES_LOCKS.get(do), case.scenario.workload
    if cause is None or not workload.takes_locks or case.scenario.tikv.lock_mode != "in_memory":
        return
    longer = "hold locks for longer (pause), or " if workload.kind == "custom" else ""
    yield Mechanism(f"locks moved by a {cause}", "lock_fates", class_=f"migrated:{cause}",
                    remedy=f"{longer}do this more often", do=do)  # fmt: skip


def _fought_for(case: LintedCase) -> bool:
    """Returns whether the workload has rows that several clients are meant to want."""
    sizes = {table.name: table.rows for table in case.scenario.workload.custom_tables}
    return any(
        0 < each.hot_rows <= min(_HOT_ROWS, sizes.get(each.table, 0) // 10)
        and each.hot_fraction > 0
        and each.verb != "read"
        and not transaction.autocommit
        for transaction in case.scenario.workload.transactions
        for each in transaction.statements
    )


def repeats(operation: Operation) -> bool:
    """Returns whether it is done again and again, so that one time more or less is nothing."""
    endless = isinstance(operation, Timed) and operation.at_ns is None and operation.count is None
    return endless and not isinstance(operation, Rolling)


def left_out_words(operation: Operation, times: Mapping[str, int], done: int) -> str | None:
    """Returns the words of a warning, without the variant; None if there is nothing to warn of.

    Args:
        operation: which.
        times: how often it was left out, by reason; zeros do not matter.
        done: how often operations of its kind were done.
    """
    total = sum(times.values())
    if not total or (repeats(operation) and total < done):
        return None
    why = max(times, key=lambda reason: (times[reason], reason))
    return (
        f"{operation.do} (operations.{operation.name}) was left out {count(total, 'time')} in all "
        f"replications: {SKIPPED[why]}; {REMEDIES[why]}"
    )
