"""One replica of a region as a pure Raft state machine: messages in, a ``Ready`` out.

Law: time, disks and networks are the driver's; this class only says what must happen in which
order. The fields of ``Ready`` carry that order: a leader's appends may leave at once, while a
follower's answers wait until its entries are durable. An entry is committed when a majority of
voters has persisted it and it is of the leader's own term (Raft 5.4.2).

Like TiKV, the commit index travels with the next append or heartbeat (``skip_bcast_commit``),
and appends are pipelined: the leader does not wait for an answer before it sends more.
Elections are not held yet; roles and terms are kept for them.

Source: etcd-io/raft ``raft.go``; tikv/tikv ``components/raftstore/src/store/peer.rs``.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Final

from sim.protocol.quorum import committed_index
from sim.protocol.raft_log import NO_ENTRIES, Entry, RaftLog
from sim.protocol.raft_messages import (
    NO_APPENDS,
    NOTHING_READY,
    Append,
    AppendResponse,
    Ready,
)

__all__ = [
    "LEADER",
    "NOTHING_READY",
    "Append",
    "AppendResponse",
    "RaftPeer",
    "Ready",
    "Role",
]

_COMPACT_EVERY = 4
"""Entries that gather before the log forgets the applied ones. TiKV keeps 50
(raft-log-gc-threshold); nobody can see the difference here, and 50 entries of 6,000 regions would
be most of a unit's memory."""


class Role(IntEnum):
    """What a replica is at the moment."""

    FOLLOWER = 0
    CANDIDATE = 1
    LEADER = 2


LEADER: Final = Role.LEADER
"""For hot code: reaching for a member through its enum takes 70 ns."""


class Progress:
    """What a leader has sent to one follower.

    Source: etcd-io/raft ``tracker/progress.go`` (StateReplicate).
    """

    __slots__ = ("inflight", "next_index", "store")

    def __init__(self, store: int, next_index: int) -> None:
        self.store = store
        self.next_index = next_index
        """First index that it has not been sent."""
        self.inflight: list[int] = []
        """Last index of each append that it has not answered yet."""


class RaftPeer:
    """One replica. ``store`` is the id of the store that it lives on."""

    __slots__ = (
        "_answer",
        "_unsent",
        "leader",
        "log",
        "matched",
        "max_inflight",
        "progress",
        "region_id",
        "role",
        "store",
        "term",
        "voters",
    )

    def __init__(
        self,
        region_id: int,
        store: int,
        voters: tuple[int, ...],
        leader: int,
        *,
        term: int = 6,
        max_inflight: int = 256,
    ) -> None:
        self.region_id = region_id
        self.store = store
        self.voters = voters
        self.leader = leader
        self.role = Role.LEADER if store == leader else Role.FOLLOWER
        self.term = term
        self.log = RaftLog()
        self.max_inflight = max_inflight
        start = self.log.last_index
        self.matched = dict.fromkeys(voters, start)
        self.progress: dict[int, Progress] = {}
        """By follower; a leader's only."""
        if self.role is LEADER:
            followers = [voter for voter in voters if voter != store]
            self.progress = {voter: Progress(voter, start + 1) for voter in followers}
        self._unsent = start + 1
        """No follower needs to be sent anything below this index."""
        self._answer: AppendResponse | None = None

    def propose(self, payload: object, size_bytes: int) -> Entry:
        """Appends a new entry to the leader's log and returns it."""
        assert self.role is LEADER, f"store {self.store} does not lead {self.region_id}"
        log = self.log
        entry = Entry(self.term, log.first_index + len(log.entries), payload, size_bytes)
        log.entries.append(entry)
        return entry

    def step_append(self, message: Append) -> None:
        """Takes a leader's append or heartbeat; the answer comes with the next ``ready``."""
        if message.term < self.term:
            return
        self.term = message.term
        log = self.log
        accepted = log.accept(message.prev_index, message.prev_term, message.entries)
        if not accepted:
            hint = min(message.prev_index - 1, log.last_index)
            self._answer = AppendResponse(self.region_id, self.store, self.term, hint, reject=True)
            return
        agreed = message.prev_index
        if message.entries:
            agreed = message.entries[-1].index
            self._answer = AppendResponse(
                self.region_id, self.store, self.term, agreed, reject=False
            )
        # What lies behind may still be cut off by the leader.
        log.commit_to(message.commit if message.commit < agreed else agreed)

    def step_append_response(self, message: AppendResponse) -> None:
        """Takes a follower's answer and moves the commit index if a majority agrees."""
        if message.term < self.term or self.role is not LEADER:
            return
        store = message.store
        progress = self.progress[store]
        inflight = progress.inflight
        if message.reject:
            hinted = min(message.index + 1, progress.next_index)
            progress.next_index = max(hinted, self.matched[store] + 1)
            self._unsent = min(self._unsent, progress.next_index)
            inflight.clear()
            return
        # One answer may stand for several appends that the follower took in one visit.
        while inflight and inflight[0] <= message.index:
            del inflight[0]
        if message.index > self.matched[store]:
            self.matched[store] = message.index
            if message.index > self.log.committed:  # Otherwise a majority had agreed before.
                self._advance_commit()

    def on_persisted(self, index: int, term: int) -> None:
        """Notes that the entries up to ``index``, of ``term``, are durable on this replica.

        An entry that was cut off meanwhile does not count.
        """
        log = self.log
        if not log.persisted < index <= log.writing:
            return
        if log.entries[index - log.first_index].term == term:
            log.persisted = index
            if self.role is LEADER:
                self.matched[self.store] = index
                self._advance_commit()

    def ready(self) -> Ready:
        """Returns what has to be done since the last call; answers are handed out once."""
        log = self.log
        last = log.first_index + len(log.entries) - 1
        entries = NO_ENTRIES
        appends = NO_APPENDS
        persist_to = 0
        answer = self._answer
        if answer is not None:
            self._answer = None
        if last > log.writing:
            entries = log.entries[log.writing + 1 - log.first_index :]
            log.writing = persist_to = last
        if self.role is LEADER and last >= self._unsent:
            appends = self._collect_appends(last)
        committed = NO_ENTRIES
        if log.committed > log.applying:
            committed = self.take_committed()
        if not persist_to and answer is None and not committed and not appends:
            return NOTHING_READY
        return Ready(appends, entries, persist_to, answer, committed)

    def take_committed(self) -> list[Entry]:
        """Returns entries that became applicable, and compacts the log now and then."""
        log = self.log
        entries = log.take_committed()
        if len(log.entries) > _COMPACT_EVERY:
            self._compact()
        return entries

    def heartbeat(self, store: int) -> Append:
        """Returns a heartbeat: ``store`` may commit as much of what it is known to hold."""
        index = self.matched[store]
        return Append(
            self.region_id, self.term, index, self.log.term_of(index), [], self.log.committed
        )

    def _collect_appends(self, last: int) -> list[tuple[int, Append]]:
        """Returns what each follower misses; followers that miss the same get the same message."""
        appends = []
        unsent = last + 1
        message: Append | None = None
        for progress in self.progress.values():
            next_index = progress.next_index
            if next_index > last:
                continue
            inflight = progress.inflight
            if len(inflight) >= self.max_inflight:
                unsent = min(unsent, next_index)
                continue
            if message is None or message.prev_index != next_index - 1:
                message = self._append_from(next_index)
            appends.append((progress.store, message))
            progress.next_index = last + 1
            inflight.append(last)
        self._unsent = unsent
        return appends

    def _append_from(self, next_index: int) -> Append:
        log = self.log
        offset = next_index - log.first_index
        assert offset >= 0, f"index {next_index} is compacted"
        prev_term = log.entries[offset - 1].term if offset else log.first_term
        return Append(
            self.region_id,
            self.term,
            next_index - 1,
            prev_term,
            log.entries[offset:],
            log.committed,
        )

    def _advance_commit(self) -> None:
        log = self.log
        if log.committed == log.first_index + len(log.entries) - 1:
            return
        index = committed_index(self.matched.values())
        if index > log.committed and log.entries[index - log.first_index].term == self.term:
            log.committed = index

    def _compact(self) -> None:
        log = self.log
        index = log.applying
        if self.role is LEADER:
            index = min(index, *self.matched.values())
        if index - log.first_index >= _COMPACT_EVERY // 2:
            log.compact_to(index)

    def __str__(self) -> str:
        return (
            f"region {self.region_id} on store {self.store}: {self.role.name.lower()} "
            f"term {self.term} {self.log}"
        )
