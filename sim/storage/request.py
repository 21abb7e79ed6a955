"""One KV request, as one object that travels from TiDB through a store and back.

It is re-armed as the argument of one call after the other instead of being wrapped in a process
or an event at each hop. Its time stamps are all that a station leaves on it; who reads them, and
why, is not the stations' business.

Source of the request kinds: kvproto ``kvrpcpb.proto``.
"""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sim.protocol.percolator import Mutation
    from sim.protocol.region import Route
    from sim.protocol.write_batch import WriteBatch
    from sim.raftstore.peer import Peer


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
"""Said once: reaching for a member through its enum takes 70 ns."""


class Caller(Protocol):
    """Who sent a request."""

    def replied(self, request: KvRequest) -> None:
        """Takes the request back, with its ``result``, when the reply has arrived."""


class KvRequest:
    """One request to the leader of one region. Times are in ns; 0 means "never there".

    Attributes:
        region: as its client believes it to be; ``store`` is where it is sent.
        tidb: number of the TiDB node that sent it.
        wait_timeout_ns: how long it may wait for a lock; 0: as long as the store lets it, -1: not
            at all.
        max_commit_ts: a prewrite that had to commit later becomes an ordinary one; 0: no limit.
        expected_for_update_ts: by key, what the lock that prewrite finds must have been taken at.
        is_retry: it may have been carried out before: it was sent once and got no answer.
        term: the leader's term when the command took its snapshot.
        bypass: transactions that a read may ignore: their commit has been pushed past it.
        marked: keys whose memory locks this command has marked deleted.
        waited_ns: time spent waiting for another transaction's lock.
    """

    __slots__ = (
        "allow_lock_with_conflict",
        "applied_ns",
        "arrived_ns",
        "batch",
        "bypass",
        "caller",
        "cid",
        "commit_ts",
        "committed_ns",
        "current_ts",
        "done_ns",
        "executed_ns",
        "expected_for_update_ts",
        "fallback",
        "for_update_ts",
        "force_sync_commit",
        "insert",
        "is_retry",
        "keys",
        "kind",
        "latched_ns",
        "lock_ttl_ms",
        "marked",
        "max_commit_ts",
        "min_commit_ts",
        "mutations",
        "one_pc",
        "path",
        "peer",
        "pessimistic",
        "primary",
        "proposed_ns",
        "region",
        "replied_ns",
        "reply_at_proposed",
        "request_bytes",
        "result",
        "rollback_if_not_exist",
        "rows",
        "secondaries",
        "sent_ns",
        "slots",
        "start_ts",
        "store",
        "term",
        "tidb",
        "use_async_commit",
        "wait_timeout_ns",
        "waited_ns",
        "wants_values",
    )

    def __init__(  # noqa: PLR0915 - one flat record, filled in as it travels
        self, kind: Kind, route: Route, caller: Caller, tidb: int, start_ts: int
    ) -> None:
        self.kind = kind
        self.region, self.store = route
        self.caller = caller
        self.tidb = tidb
        self.start_ts = start_ts
        self.keys: tuple[bytes, ...] = ()
        self.mutations: tuple[Mutation, ...] = ()
        self.primary = b""
        self.for_update_ts = 0
        self.lock_ttl_ms = 0
        self.min_commit_ts = 0
        self.commit_ts = 0
        self.current_ts = 0
        self.rows = 0
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
        self.request_bytes = 0
        self.is_retry = False
        self.term = 0
        self.bypass: tuple[int, ...] = ()
        self.result: object = None
        self.cid = 0
        self.peer: Peer | None = None
        self.slots: tuple[int, ...] = ()
        self.batch: WriteBatch | None = None
        self.marked: list[bytes] = []
        self.path = _SYNC
        self.fallback: str | None = None
        self.reply_at_proposed = False
        self.waited_ns = 0
        self.sent_ns = self.arrived_ns = self.latched_ns = self.executed_ns = 0
        self.proposed_ns = self.committed_ns = self.applied_ns = 0
        self.replied_ns = self.done_ns = 0

    def __str__(self) -> str:
        return f"{self.kind.name} start_ts={self.start_ts} {self.region} keys={list(self.keys)}"


def hand_over(request: KvRequest) -> None:
    """Gives a reply to whoever waits for it when it arrives: perhaps nobody any more."""
    request.caller.replied(request)
