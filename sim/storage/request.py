"""One KV request, as one object that travels from TiDB through a store and back.

It is re-armed as the argument of one call after the other instead of being wrapped in a process or
an event at each hop. Its time stamps are all that a station leaves on it; who reads them, and why,
is not the stations' business.

Source of the request kinds: kvproto ``kvrpcpb.proto``.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum
from typing import Final, Protocol

from sim.protocol.lock_waiting import LockWaitEntry
from sim.protocol.percolator import Mutation
from sim.protocol.region import Route
from sim.raftstore.peer import RaftCommand
from sim.workload.statement import ROW_BYTES


class Kind(IntEnum):
    """What a request asks for."""

    GET = 0
    BATCH_GET = 1
    COP = 2
    SCAN_LOCK = 3
    LOCK = 4
    PREWRITE = 5
    COMMIT = 6
    PESSIMISTIC_ROLLBACK = 7
    ROLLBACK = 8
    HEARTBEAT = 9
    CHECK_TXN_STATUS = 10
    RESOLVE_LOCK = 11
    CHECK_SECONDARY_LOCKS = 12
    CLEANUP = 13


LAST_READ = Kind.SCAN_LOCK
"""Kinds up to this one only read and go to the read pool."""


class LockPath(IntEnum):
    """How a pessimistic lock came to be."""

    IN_MEMORY = 0
    PIPELINED = 1
    SYNC = 2
    FALLBACK = 3


_SYNC: LockPath = LockPath.SYNC
"""A global of its own: reading a member of an enum takes 70 ns."""


_NOBODY: list[LockWaitEntry] = []
"""Shared by all requests that wake nobody; never written to."""


NO_WAIT: Final = -1
"""``wait_timeout_ns`` of a lock request that is answered at once if it meets a lock."""


class Caller(Protocol):
    """Who sent a request."""

    def replied(self, request: KvRequest) -> None:
        """Takes the request back, with its ``result``, when the reply has arrived."""


class KvRequest(RaftCommand):
    """One request to the leader of one region. Times are in ns; 0 means "never there".

    Who writes what: the client all that it asks, ``sent_ns`` and ``done_ns``; the storage layer
    the fields under *storage*; the raftstore those of ``RaftCommand``.

    Attributes:
        region: as its client believes it to be; ``store`` is where it is sent.
        tidb: number of the TiDB node that sent it.
        for_update_ts: of a lock or prewrite; of CHECK_TXN_STATUS, ``caller_start_ts``.
        pessimistic: a prewrite's transaction has locks; of CHECK_TXN_STATUS,
            ``resolving_pessimistic_lock``.
        row_bytes: of each row in the answer.
        rows: that a read touches; of SCAN_LOCK, the limit.
        wait_timeout_ns: how long it may wait for a lock; 0: as long as the store lets it; or
            ``NO_WAIT``.
        max_commit_ts: a prewrite that had to commit later becomes an ordinary one; 0: no limit.
        expected_for_update_ts: by key, what the lock that prewrite finds must have been taken at.
        is_retry: it may have been carried out before: it was sent once, and met a region error.
        bypass: transactions whose locks a read ignores: rolled back, or committed after it.
        access: transactions whose locks a read looks through at what they have committed.
        opens_message: whether its gRPC message began with it, and its answer's; others joined one.
        waited_ns: time spent waiting for another transaction's lock.
        woken: waiters that get its latches when it is written (fair locking).
    """

    __slots__ = (
        "access", "allow_lock_with_conflict", "arrived_ns", "bypass", "caller", "cid", "commit_ts",
        "connection", "current_ts", "done_ns", "executed_ns", "expected_for_update_ts", "fallback",
        "for_update_ts", "force_sync_commit", "insert", "is_retry", "keys", "kind", "latched_ns",
        "lock_ttl_ms", "max_commit_ts", "min_commit_ts", "mutations", "one_pc", "opens_message",
        "path", "pessimistic", "primary", "replied_ns", "request_bytes", "result",
        "rollback_if_not_exist", "row_bytes", "rows", "secondaries", "sent_ns", "slots", "start_ts",
        "store", "tidb", "use_async_commit", "wait_timeout_ns", "waited_ns", "wants_values",
        "woken",
    )  # fmt: skip

    def __init__(self, kind: Kind, route: Route, caller: Caller, tidb: int, start_ts: int) -> None:
        region, self.store = route
        RaftCommand.__init__(self, region)
        # The client's.
        self.kind = kind
        self.caller = caller
        self.tidb = tidb
        self.connection = tidb
        self.opens_message = True
        self.start_ts = start_ts
        self.keys: tuple[bytes, ...] = ()
        self.mutations: tuple[Mutation, ...] = ()
        self.primary = b""
        self.for_update_ts = 0
        self.lock_ttl_ms = 0
        self.min_commit_ts = 0
        self.commit_ts = self.current_ts = 0
        self.insert = False
        self.pessimistic = True
        self.allow_lock_with_conflict = False
        self.wants_values = False
        self.wait_timeout_ns = 0
        self.use_async_commit = False
        self.one_pc = False
        self.rollback_if_not_exist = False
        self.force_sync_commit = False
        self.max_commit_ts = 0
        self.expected_for_update_ts: Mapping[bytes, int] | None = None
        self.secondaries: tuple[bytes, ...] | None = None
        self.rows, self.row_bytes, self.request_bytes = 0, ROW_BYTES, 0
        self.is_retry = False
        self.bypass: tuple[int, ...] = ()
        self.access: tuple[int, ...] = ()
        self.sent_ns = self.done_ns = 0
        # Storage's: the scheduler's, the lock paths', the lock manager's.
        self.cid = 0
        self.slots: tuple[int, ...] = ()
        self.result: object = None
        self.path = _SYNC
        self.fallback: str | None = None
        self.waited_ns = 0
        self.woken: list[LockWaitEntry] = _NOBODY
        self.arrived_ns = self.latched_ns = self.executed_ns = self.replied_ns = 0

    def __str__(self) -> str:
        return f"{self.kind.name} start_ts={self.start_ts} {self.region} keys={list(self.keys)}"


def hand_over(request: KvRequest) -> None:
    """Gives a reply to whoever waits for it when it arrives: perhaps nobody any more."""
    request.caller.replied(request)
