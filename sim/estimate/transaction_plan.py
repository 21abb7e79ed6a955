"""The requests of one transaction, in their order, without a cluster that answers them.

Each statement of the scenario's own workload is taken through TiDB's rules (keys that are held are
not locked again, the primary's request goes first, groups of one region and 16 KiB, async commit,
1PC) on the real region layout, and its records are measured by the real encodings. There is no
conflict, wait or retry.

Source: as ``sim.client`` (session, locker, committer), whose order this module follows.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from operator import sub
from typing import NamedTuple

from sim.client.region_groups import (
    RegionGroup,
    keys_by_region,
    mutations_by_region,
    ranges_by_region,
)
from sim.client.two_phase_commit import may_commit_async
from sim.estimate.planned_request import (
    READS,
    PlannedRequest,
    RequestKind,
    planned_end,
    planned_lock,
    planned_prewrite,
    planned_read,
)  # fmt: skip
from sim.estimate.records import (
    Records,
    committed,
    committed_in_one_phase,
    locked,
    prewritten,
    unlocked,
)  # fmt: skip
from sim.protocol.encoding import LockFormat, RecordSizes, prewrite_base_bytes, secondaries_bytes
from sim.protocol.mvcc import LOCK_ONLY
from sim.protocol.percolator import Mutation
from sim.protocol.region import RegionMap
from sim.scenario.schema.run import Tidb
from sim.workload.statement import ROLLBACK, Payloads, PointGet, Read, Statement, Transaction


class Stretch(NamedTuple):
    """A part of a transaction."""

    statements: int
    """Begun."""
    pause_ns: int
    rounds: int
    """Requests sent together that the client has waited for."""


@dataclass(slots=True)
class TransactionPlan:
    """One transaction as its client sees it."""

    name: str
    commits: bool = True
    statements: int = 0
    changing_statements: int = 0
    """Those of them that lock or write."""
    rows: float = 0.0
    """That its statements read, lock or write."""
    timestamps: int = 0
    """Round trips to PD that the client waits for."""
    pause_ns: int = 0
    rounds: list[list[PlannedRequest]] = field(default_factory=list)
    """Requests sent together, whose answers the client waits for."""
    background: list[PlannedRequest] = field(default_factory=list)
    """Requests after the answer to the client."""
    locked_at: dict[bytes, Stretch] = field(default_factory=dict)
    """By key locked, what comes before it."""

    def so_far(self) -> Stretch:
        """Returns what has been planned of it."""
        return Stretch(self.statements, self.pause_ns, len(self.rounds))

    def held(self, key: bytes) -> Stretch:
        """Returns what there is from a lock to the end of its transaction."""
        return Stretch(*map(sub, self.so_far(), self.locked_at[key]))


def count_rounds(
    counted: Counter[tuple[RequestKind, int]], rounds: Sequence[list[PlannedRequest]], weight: float
) -> None:
    """Adds how often so many requests of a kind go together."""
    for together in rounds:
        counted[together[0].kind, len(together)] += weight  # type: ignore[assignment]


class Planner:
    """Plans transactions one after the other; each reads what those before it have committed."""

    def __init__(self, regions: RegionMap, tidb: Tidb, locks: LockFormat) -> None:
        self.regions = regions
        self.tidb = tidb
        self.locks = locks
        self.committed: dict[bytes, object] = {}
        """What the newest version of a key carries, where somebody reads it."""

    def plan(self, transaction: Transaction) -> TransactionPlan:
        """Returns what ``transaction`` asks for, and commits it."""
        return _Session(self, transaction).run()


class _Session:
    """One transaction in the making."""

    def __init__(self, planner: Planner, transaction: Transaction) -> None:
        self._planner = planner
        self._regions = planner.regions
        self._transaction = transaction
        self._plan = TransactionPlan(transaction.name)
        self._primary = b""
        self._buffer: dict[bytes, Mutation] = {}

    def run(self) -> TransactionPlan:
        plan, transaction = self._plan, self._transaction
        explicit = not transaction.autocommit
        plan.timestamps = int(not isinstance(transaction, PointGet))
        plan.statements = int(explicit)  # BEGIN
        if not self._execute_all():
            self._roll_back()
            return plan
        plan.statements += explicit  # COMMIT
        if self._buffer or plan.locked_at:
            self._commit(explicit=explicit)
        transaction.committed()
        return plan

    def _execute_all(self) -> bool:
        """Returns whether the client goes on to COMMIT."""
        statements = self._transaction.statements()
        payloads: Payloads | None = None
        while True:
            try:
                statement = statements.send(payloads)  # type: ignore[arg-type]
            except StopIteration:
                return True
            self._plan.statements += 1
            self._plan.changing_statements += statement.changes()
            self._plan.rows += statement.rows()
            self._plan.pause_ns += statement.pause_ns
            if statement is ROLLBACK:
                return False
            payloads = self._execute(statement)

    def _execute(self, statement: Statement) -> Payloads:
        plan = self._plan
        plan.timestamps += statement.fresh_ts
        for read in statement.reads:
            plan.rounds.append(self._read(read, statement.row_bytes))
        keys: tuple[bytes, ...] = ()
        if not self._transaction.autocommit:
            keys = statement.lock_keys if statement.select is None else statement.select()
        wanted = tuple([key for key in keys if key not in plan.locked_at])
        if wanted:
            self._lock(statement, wanted)
        for mutation in statement.writes:
            self._buffer[mutation.key] = mutation
        return tuple(map(self._newest, keys)) if statement.returns_values else ()

    def _newest(self, key: bytes) -> object | None:
        own = self._buffer.get(key)
        return own.value if own is not None else self._planner.committed.get(key)

    def _read(self, read: Read, row_bytes: int) -> list[PlannedRequest]:
        kind = READS[read.kind]
        by_region = ranges_by_region if kind == "cop" else keys_by_region
        groups = [group for keys in read.tasks() for group in by_region(self._regions, keys)]
        rows = read.rows // len(groups) if kind == "cop" else 0
        return [planned_read(kind, route.region, keys, rows, row_bytes) for route, keys in groups]

    def _lock(self, statement: Statement, keys: tuple[bytes, ...]) -> None:
        plan, first = self._plan, not self._primary
        self._primary = self._primary or keys[0]
        requests = []
        for route, group in keys_by_region(self._regions, keys):
            records = Records.total(map(locked, self._pessimistic(group)))
            requests.append(planned_lock(route.region, self._primary, group, statement, records))
        together = [requests[:1], requests[1:]] if first else [requests]
        plan.rounds += [requests for requests in together if requests]
        for key in keys:
            plan.locked_at[key] = plan.so_far()

    def _pessimistic(self, keys: Sequence[bytes]) -> list[RecordSizes]:
        primary_len = len(self._primary)
        return [self._planner.locks.pessimistic(len(key), primary_len) for key in keys]

    def _roll_back(self) -> None:
        plan = self._plan
        plan.commits = False
        if not plan.locked_at:
            return
        requests = []
        for route, keys in keys_by_region(self._regions, tuple(plan.locked_at)):
            records = Records.total(map(unlocked, self._pessimistic(keys)))
            requests.append(planned_end("rollback", route.region, keys, records))
        plan.rounds.append(requests)

    def _commit(self, *, explicit: bool) -> None:
        tidb, plan = self._planner.tidb, self._plan
        for key in plan.locked_at:
            if key not in self._buffer:
                self._buffer[key] = Mutation(key, LOCK_ONLY)
        mutations = list(self._buffer.values())
        self._primary = self._primary or min(self._buffer)
        groups = mutations_by_region(self._regions, mutations)
        one_pc = tidb.one_pc and len(groups) == 1
        use_async = tidb.async_commit and may_commit_async(self._buffer)
        if tidb.guarantee_linearizability and explicit and (use_async or one_pc):
            plan.timestamps += 1
        if one_pc:
            sizes = self._sizes(groups[0], use_async=False)
            records = Records.total(
                committed_in_one_phase(size, was_locked=key in plan.locked_at)
                for key, size in zip(groups[0].keys, sizes, strict=True)
            )
            plan.rounds.append([self._prewrite(groups[0], records, use_async=False)])
        else:
            self._commit_in_two_phases(groups, use_async=use_async)
        for mutation in mutations:
            if mutation.value is not None:
                self._planner.committed[mutation.key] = mutation.value

    def _commit_in_two_phases(self, groups: Sequence[RegionGroup], *, use_async: bool) -> None:
        plan = self._plan
        prewrites: list[PlannedRequest] = []
        plan.rounds.append(prewrites)
        for group in groups:
            sizes = self._sizes(group, use_async=use_async)
            records = Records.total(map(prewritten, sizes))
            prewrites.append(self._prewrite(group, records, use_async=use_async))
            records = Records.total(map(committed, sizes))
            commit = planned_end("commit", group.route.region, group.keys, records)
            if not use_async and self._primary in group.keys:
                plan.timestamps += 1
                plan.rounds.append([commit])
            else:
                plan.background.append(commit)

    def _prewrite(self, group: RegionGroup, records: Records, *, use_async: bool) -> PlannedRequest:
        others = self._secondaries() if use_async and self._primary in group.keys else ()
        is_optimistic = self._transaction.autocommit
        return planned_prewrite(group, self._primary, others, records, is_optimistic=is_optimistic)

    def _secondaries(self) -> tuple[bytes, ...]:
        return tuple([key for key in self._buffer if key != self._primary])

    def _sizes(self, group: RegionGroup, *, use_async: bool) -> list[RecordSizes]:
        sizes = []
        pessimistic = not self._transaction.autocommit
        for mutation in group.mutations:
            base = prewrite_base_bytes(len(self._primary), use_async, pessimistic)
            if use_async and mutation.key == self._primary:
                base += secondaries_bytes(self._secondaries())
            sizes.append(
                self._planner.locks.prewrite(base, len(mutation.key), mutation.value_bytes)
            )
        return sizes
