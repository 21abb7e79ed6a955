"""A transaction's requests without a cluster: which ones, in which order, and what they write.

Law: every statement of the scenario's own workload is taken through TiDB's rules (keys held are not
locked again, the primary's request first, groups of one region and 16 KiB, async commit, 1PC) on
the real region layout, and its records are measured by the real encodings. Nobody else is there:
no conflict, no wait, no retry.

Source: as ``sim.client`` (session, locker, committer), whose order this module follows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from sim.client.region_groups import keys_by_region, mutations_by_region
from sim.client.two_phase_commit import ASYNC_COMMIT_KEY_BYTES, ASYNC_COMMIT_KEYS
from sim.estimate.dry_transaction import DryRequest, DryTransaction, Written
from sim.protocol.encoding import LockFormat, prewrite_base_bytes, secondaries_bytes
from sim.protocol.mvcc import LOCK_ONLY
from sim.protocol.percolator import Mutation
from sim.workload.statement import ROLLBACK, ReadKind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sim.client.region_groups import RegionGroup
    from sim.estimate.dry_transaction import RequestKind
    from sim.protocol.encoding import RecordSizes
    from sim.protocol.region import RegionMap
    from sim.scenario.resolved import Tidb
    from sim.workload.statement import Payloads, Read, Statement, Transaction

_READS: Final[dict[ReadKind, RequestKind]] = {
    ReadKind.GET: "get",
    ReadKind.BATCH_GET: "batch_get",
    ReadKind.COP: "cop",
}


class DryClient:
    """Carries out transactions on paper, and remembers what they wrote as far as others read it."""

    def __init__(self, regions: RegionMap, tidb: Tidb, records: LockFormat) -> None:
        self._regions = regions
        self._tidb = tidb
        self._records = records
        self._values: dict[bytes, object] = {}
        self.locate = regions.locate

    def carry_out(self, transaction: Transaction) -> DryTransaction:
        """Returns what ``transaction`` asks for; its effects are there for the next one."""
        return _DrySession(self, transaction).run()

    def payload(self, key: bytes) -> object | None:
        """Returns what the newest version of a key carries."""
        return self._values.get(key)

    def remember(self, mutations: Sequence[Mutation]) -> None:
        """Takes committed mutations."""
        for mutation in mutations:
            if mutation.value is not None:
                self._values[mutation.key] = mutation.value

    @property
    def tidb(self) -> Tidb:
        """TiDB's settings."""
        return self._tidb

    @property
    def records(self) -> LockFormat:
        """Sizes of lock records."""
        return self._records


class _DrySession:
    """One transaction on its way."""

    def __init__(self, client: DryClient, transaction: Transaction) -> None:
        self._client = client
        self._transaction = transaction
        self._made = DryTransaction(transaction.name)
        self._primary = b""
        self._locked: dict[bytes, None] = {}
        self._buffer: dict[bytes, Mutation] = {}

    def run(self) -> DryTransaction:
        made, transaction = self._made, self._transaction
        explicit = not transaction.autocommit
        made.timestamps += 1
        made.statements += 2 * explicit  # BEGIN and COMMIT
        if not self._execute_all(transaction):
            self._roll_back()
            return made
        for key in made.statements_after_lock:
            made.statements_after_lock[key] += 1
        if self._buffer or self._locked:
            self._commit(explicit=explicit)
        transaction.committed()
        return made

    def _execute_all(self, transaction: Transaction) -> bool:
        """Returns whether the client goes on to COMMIT."""
        statements = transaction.statements()
        payloads: Payloads | None = None
        while True:
            try:
                statement = statements.send(payloads)  # type: ignore[arg-type]
            except StopIteration:
                return True
            self._begin_statement(statement)
            if statement is ROLLBACK:
                return False
            payloads = self._execute(statement)

    def _begin_statement(self, statement: Statement) -> None:
        made = self._made
        made.statements += 1
        made.pause_ns += statement.pause_ns
        for key in made.statements_after_lock:
            made.statements_after_lock[key] += 1
            made.pause_after_lock_ns[key] += statement.pause_ns

    def _execute(self, statement: Statement) -> Payloads:
        if statement.fresh_ts:
            self._made.timestamps += 1
        for read in statement.reads:
            self._read(read)
        keys: tuple[bytes, ...] = ()
        if not self._transaction.autocommit:
            keys = statement.lock_keys if statement.select is None else statement.select()
        wanted = tuple([key for key in keys if key not in self._locked])
        if wanted:
            self._lock(statement, wanted)
        for mutation in statement.writes:
            self._buffer[mutation.key] = mutation
        return tuple(map(self._newest, keys)) if statement.returns_values else ()

    def _newest(self, key: bytes) -> object | None:
        own = self._buffer.get(key)
        return own.value if own is not None else self._client.payload(key)

    def _read(self, read: Read) -> None:
        groups = keys_by_region(self._client, read.keys)
        kind = _READS[read.kind]
        rows = read.rows // len(groups) if kind == "cop" else 0
        self._made.rounds.append(
            [DryRequest(kind, route.region, tuple(keys), rows) for route, keys in groups]
        )

    def _lock(self, statement: Statement, keys: tuple[bytes, ...]) -> None:
        first = not self._primary
        if first:
            self._primary = keys[0]
        requests = [
            DryRequest(
                "lock", route.region, tuple(group), 0, statement.insert, self._lock_records(group)
            )
            for route, group in keys_by_region(self._client, keys)
        ]
        together = [requests[:1], requests[1:]] if first else [requests]
        self._made.rounds += [requests for requests in together if requests]
        for key in keys:
            self._locked[key] = None
            self._made.statements_after_lock[key] = 0
            self._made.pause_after_lock_ns[key] = 0

    def _lock_records(self, keys: Sequence[bytes]) -> Written:
        sizes = [self._client.records.pessimistic(len(key), len(self._primary)) for key in keys]
        return Written(
            len(keys),
            sum(size.put_raft_bytes for size in sizes),
            sum(size.put_wal_bytes for size in sizes),
            0,
            0,
            sum(size.memory_bytes for size in sizes),
        )

    def _roll_back(self) -> None:
        self._made.commits = False
        requests = []
        for route, keys in (
            keys_by_region(self._client, tuple(self._locked)) if self._locked else ()
        ):
            sizes = [self._client.records.pessimistic(len(key), len(self._primary)) for key in keys]
            freed = Written(
                len(keys),
                sum(size.delete_raft_bytes for size in sizes),
                sum(size.delete_wal_bytes for size in sizes),
                0,
                sum(size.tombstone_bytes for size in sizes),
            )
            requests.append(DryRequest("rollback", route.region, tuple(keys), written=freed))
        if requests:
            self._made.rounds.append(requests)

    def _commit(self, *, explicit: bool) -> None:
        client, made = self._client, self._made
        for key in self._locked:
            if key not in self._buffer:
                self._buffer[key] = Mutation(key, LOCK_ONLY)
        mutations = list(self._buffer.values())
        self._primary = self._primary or mutations[0].key
        groups = mutations_by_region(client, mutations)
        one_pc = client.tidb.one_pc and len(groups) == 1
        use_async = client.tidb.async_commit and _may_commit_async(mutations)
        if client.tidb.guarantee_linearizability and explicit and (use_async or one_pc):
            made.timestamps += 1
        if one_pc:
            made.rounds.append([self._in_one_phase(groups[0])])
        else:
            made.rounds.append([self._prewrite(group, use_async=use_async) for group in groups])
            self._second_phase(groups, use_async=use_async)
        client.remember(mutations)

    def _second_phase(self, groups: Sequence[RegionGroup], *, use_async: bool) -> None:
        made = self._made
        for group in groups:
            request = self._second(group, use_async=use_async)
            if not use_async and self._primary in group.keys:
                made.timestamps += 1
                made.rounds.append([request])
            else:
                made.background.append(request)

    def _prewrite(self, group: RegionGroup, *, use_async: bool) -> DryRequest:
        sizes = [self._sizes(mutation, use_async=use_async) for mutation in group.mutations]
        written = Written(
            len(sizes),
            sum(size.prewrite_raft_bytes for size in sizes),
            sum(size.prewrite_wal_bytes for size in sizes),
            sum(size.default_cf_bytes for size in sizes),
            0,
        )
        return DryRequest("prewrite", group.route.region, tuple(group.keys), written=written)

    def _second(self, group: RegionGroup, *, use_async: bool) -> DryRequest:
        sizes = [self._sizes(mutation, use_async=use_async) for mutation in group.mutations]
        written = Written(
            len(sizes),
            sum(size.commit_raft_bytes for size in sizes),
            sum(size.commit_wal_bytes for size in sizes),
            sum(size.write_cf_bytes for size in sizes),
            sum(size.tombstone_bytes for size in sizes),
        )
        return DryRequest("commit", group.route.region, tuple(group.keys), written=written)

    def _in_one_phase(self, group: RegionGroup) -> DryRequest:
        raft = wal = data = tombstones = records = 0
        for mutation in group.mutations:
            sizes = self._sizes(mutation, use_async=False)
            held = mutation.key in self._locked
            raft += sizes.prewrite_raft_bytes - sizes.put_raft_bytes
            raft += sizes.commit_raft_bytes - (0 if held else sizes.delete_raft_bytes)
            wal += sizes.prewrite_wal_bytes - sizes.put_wal_bytes
            wal += sizes.commit_wal_bytes - (0 if held else sizes.delete_wal_bytes)
            data += sizes.default_cf_bytes + sizes.write_cf_bytes
            tombstones += sizes.tombstone_bytes if held else 0
            records += 1 + held
        written = Written(records, raft, wal, data, tombstones)
        return DryRequest("prewrite", group.route.region, tuple(group.keys), written=written)

    def _sizes(self, mutation: Mutation, *, use_async: bool) -> RecordSizes:
        base = prewrite_base_bytes(len(self._primary), use_async)
        if use_async and mutation.key == self._primary:
            others = tuple([key for key in self._buffer if key != self._primary])
            base += secondaries_bytes(others)
        return self._client.records.prewrite(base, len(mutation.key), mutation.value_bytes)


def _may_commit_async(mutations: Sequence[Mutation]) -> bool:
    return (
        len(mutations) <= ASYNC_COMMIT_KEYS
        and sum(len(mutation.key) for mutation in mutations) <= ASYNC_COMMIT_KEY_BYTES
    )
