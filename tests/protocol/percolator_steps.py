"""Random percolator steps, run on the real region and on its dumb twin."""

from dataclasses import dataclass

from hypothesis import strategies as st

from sim.protocol import percolator
from sim.protocol.lock_table import InstanceMemory, PeerPessimisticLocks
from sim.protocol.mvcc import DELETE, INSERT, LOCK, PUT, ROLLBACK, Mvcc
from sim.protocol.percolator import Mutation, MvccError, PessimisticLockNotFound, WriteConflict
from sim.protocol.write_batch import WriteBatch
from tests.protocol.percolator_twin import Answer, FlatLock, FlatRegion, FlatVersion

KEYS = (b"a", b"b", b"c")
PRIMARY = b"a"


@dataclass(frozen=True)
class Step:
    """One command; each uses what it needs."""

    name: str
    keys: tuple[bytes, ...]
    txn: int
    later: int
    op: int
    flag: bool
    other: bool
    fast: str

    @property
    def start_ts(self) -> int:
        return self.txn * 10

    @property
    def for_update_ts(self) -> int:
        return self.start_ts + self.later

    @property
    def max_ts(self) -> int:
        return self.later if self.other else 0

    def mutations(self, number: int) -> list[Mutation]:
        value = f"v{number}" if self.op in (PUT, INSERT) else None
        size = 300 if self.other else 2
        size = size if value else -1
        return [Mutation(key, self.op, size, value, self.flag) for key in self.keys]


NAMES = ["acquire"] * 4 + ["prewrite"] * 4 + ["commit"] * 3
NAMES += ["pessimistic_rollback", "rollback", "cleanup", "heartbeat", "lose_memory", "get"]
LATERS = (0, 1, 5, 9, 9, 19, 29, 40, 45)
"""A commit_ts of ``start_ts + 9 + 1`` is another transaction's start_ts."""


def steps_of(
    names: list[str], *, txns: tuple[int, int] = (1, 4), laters: tuple[int, ...] = LATERS
) -> st.SearchStrategy[list[Step]]:
    """Returns lists of steps; those with ``later >= 40`` are optimistic."""
    keys = st.lists(st.sampled_from(KEYS), min_size=1, max_size=3, unique=True)
    step = st.builds(
        Step,
        name=st.sampled_from(names),
        keys=keys.map(tuple),
        txn=st.integers(*txns),
        later=st.sampled_from(laters),
        op=st.sampled_from([PUT, PUT, DELETE, INSERT, LOCK]),
        flag=st.booleans(),
        other=st.booleans(),
        fast=st.sampled_from(["", "async", "one_pc", "one_pc"]),
    )
    return st.lists(step, min_size=5, max_size=25)


STEPS = steps_of(NAMES)


class RealRegion:
    """The real rules, answering in the twin's words."""

    def __init__(self, mvcc: Mvcc) -> None:
        self.mvcc = mvcc
        self.memory = PeerPessimisticLocks(InstanceMemory())

    def run(self, step: Step, number: int) -> Answer:  # noqa: C901, PLR0912 - a table of commands
        """Runs a step; a batch is applied at once."""
        mvcc, memory, keys, start_ts = self.mvcc, self.memory, step.keys, step.start_ts
        match step.name:
            case "acquire":
                return self.acquire(step)
            case "prewrite":
                return self.prewrite(step, number)
            case "commit":
                commit_ts = step.for_update_ts + 1
                result: object = percolator.commit(
                    mvcc, memory, keys, start_ts=start_ts, commit_ts=commit_ts
                )
            case "pessimistic_rollback":
                result = percolator.pessimistic_rollback(
                    mvcc, memory, keys, start_ts, step.for_update_ts
                )
            case "rollback":
                result = percolator.rollback(mvcc, memory, keys, start_ts)
            case "cleanup":
                result = percolator.cleanup(mvcc, memory, keys[0], start_ts, 0)
            case "heartbeat":
                ttl_ms = 2990 + step.later
                result = percolator.txn_heart_beat(mvcc, memory, keys[0], start_ts, ttl_ms)
            case "get":
                refusal = percolator.lock_blocking_keys(mvcc, {}, keys[:1], step.for_update_ts)
                if refusal is not None:
                    return words(refusal)
                seen = percolator.visible_version(mvcc, keys[0], step.for_update_ts)
                return "seen", seen.value if seen else None
            case _:
                memory.clear()
                return ("lost",)
        if isinstance(result, MvccError):
            return words(result)
        self.apply(result.batch)  # type: ignore[attr-defined]
        if isinstance(result, percolator.Beat):
            return "Beat", result.ttl_ms
        return (type(result).__name__,)

    def acquire(self, step: Step) -> Answer:
        result = percolator.acquire_pessimistic_lock(
            self.mvcc,
            self.memory,
            step.keys[:1] if step.flag else step.keys,
            primary=PRIMARY,
            start_ts=step.start_ts,
            for_update_ts=step.for_update_ts,
            ttl_ms=3000,
            min_commit_ts=step.start_ts + 1,
            should_not_exist=step.op == INSERT,
            allow_lock_with_conflict=step.flag,
        )
        if isinstance(result, MvccError):
            return words(result)
        if step.other:
            self.memory.insert(result.locks)
        else:
            self.apply(percolator.lock_batch(result.locks))
        keys = [key for key, _ in result.locks]
        return "Acquired", keys, result.values, result.locked_with_conflict_ts

    def prewrite(self, step: Step, number: int) -> Answer:
        pessimistic = step.later < 40
        result = percolator.prewrite(
            self.mvcc,
            self.memory,
            step.mutations(number),
            primary=PRIMARY,
            start_ts=step.start_ts,
            for_update_ts=step.for_update_ts if pessimistic else 0,
            ttl_ms=2000,
            async_commit_secondaries=KEYS[1:],
            use_async_commit=step.fast == "async",
            one_pc_commit_ts=0 if step.fast == "one_pc" else None,
            min_commit_ts=step.start_ts + 1,
            max_ts=step.max_ts,
            pessimistic=pessimistic,
        )
        if isinstance(result, MvccError):
            return words(result)
        self.apply(result.batch)
        return "Prewritten", result.min_commit_ts, result.one_pc_commit_ts, len(result.amended)

    def apply(self, batch: WriteBatch) -> None:
        marked = self.memory.mark_replaced(batch)
        self.mvcc.apply(batch)
        self.memory.remove(marked)


def words(error: MvccError) -> Answer:
    """Returns a refusal as the twin says it."""
    name = type(error).__name__
    if isinstance(error, PessimisticLockNotFound):
        name = error.reason.value
    key: bytes = error.key  # type: ignore[attr-defined]
    if isinstance(error, WriteConflict):
        return name, key, error.conflict_commit_ts
    return name, key


def run_twin(twin: FlatRegion, step: Step, number: int) -> Answer:  # noqa: C901, PLR0911
    """Runs a step on the twin."""
    keys, start_ts, for_update_ts = list(step.keys), step.start_ts, step.for_update_ts
    pessimistic = step.later < 40
    match step.name:
        case "acquire":
            return twin.acquire(
                keys[:1] if step.flag else keys,
                start_ts,
                for_update_ts,
                "memory" if step.other else "cf",
                fair=step.flag,
                insert=step.op == INSERT,
            )
        case "prewrite":
            return twin.prewrite(
                step.mutations(number),
                start_ts,
                for_update_ts if pessimistic else 0,
                step.max_ts,
                pessimistic=pessimistic,
                fast=step.fast,
            )
        case "commit":
            return twin.commit(keys, start_ts, for_update_ts + 1)
        case "pessimistic_rollback":
            return twin.pessimistic_rollback(keys, start_ts, for_update_ts)
        case "rollback":
            return twin.rollback(keys, start_ts)
        case "cleanup":
            return twin.rollback(keys[:1], start_ts, protect=True)
        case "heartbeat":
            return twin.heartbeat(keys[0], start_ts, 2990 + step.later)
        case "get":
            return twin.get(keys[0], for_update_ts)
        case _:
            return twin.lose_memory()


def would_overwrite(twin: FlatRegion, step: Step) -> bool:
    """Two transactions never commit one key at one timestamp: locks and TSO see to it."""
    commit_ts = step.for_update_ts + 1
    return any(
        v.commit_ts == commit_ts and v.kind != ROLLBACK
        for key in step.keys
        for v in twin.versions_of(key)
    )


def flatten(real: RealRegion) -> FlatRegion:
    """Returns the real region's state in the twin's form, sorted."""
    flat = FlatRegion()
    for place, table in (("cf", real.mvcc.locks), ("memory", real.memory.map)):
        for key, lock in sorted(table.items()):
            flat.locks.append(
                FlatLock(
                    key,
                    lock.kind,
                    lock.start_ts,
                    lock.for_update_ts,
                    lock.min_commit_ts,
                    lock.ttl_ms,
                    lock.value,
                    lock.use_async_commit,
                    place,
                )
            )
    for key in sorted(real.mvcc.writes):
        version = real.mvcc.writes.get(key)
        while version is not None:
            flat.versions.append(
                FlatVersion(
                    key,
                    version.kind,
                    version.start_ts,
                    version.commit_ts,
                    version.value,
                    version.has_overlapped_rollback,
                )
            )
            version = version.prev
    return flat
