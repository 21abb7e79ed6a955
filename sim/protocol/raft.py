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

from collections import deque
from enum import IntEnum

from sim.protocol.quorum import committed_index
from sim.protocol.raft_log import NO_ENTRIES, Entry, RaftLog

_COMPACT_EVERY = 64
"""Applied entries that gather before the log forgets them (TiKV's raft-log-gc-threshold is 50)."""


class Role(IntEnum):
    """What a replica is at the moment."""

    FOLLOWER = 0
    CANDIDATE = 1
    LEADER = 2


class Append:
    """Leader to follower: entries behind (``prev_index``, ``prev_term``), and the commit index.

    Without entries it is a heartbeat that carries the commit index.
    """

    __slots__ = ("commit", "entries", "prev_index", "prev_term", "region_id", "term")

    def __init__(
        self,
        region_id: int,
        term: int,
        prev_index: int,
        prev_term: int,
        entries: list[Entry],
        commit: int,
    ) -> None:
        self.region_id = region_id
        self.term = term
        self.prev_index = prev_index
        self.prev_term = prev_term
        self.entries = entries
        self.commit = commit


class AppendResponse:
    """Follower to leader: everything up to ``index`` is persisted here.

    In a rejection ``index`` is the last entry that may still agree with the leader's log.
    """

    __slots__ = ("index", "region_id", "reject", "store", "term")

    def __init__(self, region_id: int, store: int, term: int, index: int, *, reject: bool) -> None:
        self.region_id = region_id
        self.store = store
        self.term = term
        self.index = index
        self.reject = reject


NO_APPENDS: list[tuple[int, Append]] = []
"""Stands for "nothing to send"; never filled."""


class Ready:
    """What one visit to a replica asks its driver to do, in the order of the fields."""

    __slots__ = ("appends", "committed", "entries", "last_index", "response")

    def __init__(
        self,
        appends: list[tuple[int, Append]],
        entries: list[Entry],
        last_index: int,
        response: AppendResponse | None,
        committed: list[Entry],
    ) -> None:
        self.appends = appends
        """(store, message) that may be sent before anything is persisted."""
        self.entries = entries
        """Entries to persist."""
        self.last_index = last_index
        """What to report by ``on_persisted`` once ``entries`` are durable; 0: there are none."""
        self.response = response
        """To be sent to the leader after ``entries`` are durable."""
        self.committed = committed
        """Entries to apply."""


NOTHING_READY = Ready(NO_APPENDS, NO_ENTRIES, 0, None, NO_ENTRIES)
"""What most answers of followers lead to: a majority had agreed before."""


class RaftPeer:
    """One replica. ``store`` is the id of the store that it lives on."""

    __slots__ = (
        "_answer",
        "_unsent",
        "inflight",
        "leader",
        "log",
        "matched",
        "max_inflight",
        "next_index",
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
        self.next_index = dict.fromkeys(voters, start + 1)
        self.inflight: dict[int, deque[int]] = {voter: deque() for voter in voters}
        """By follower, the last index of each append that it has not answered yet."""
        self._unsent = start + 1
        """No follower needs to be sent anything below this index."""
        self._answer: AppendResponse | None = None

    def propose(self, payload: object, size_bytes: int) -> Entry:
        """Appends a new entry to the leader's log and returns it."""
        assert self.role is Role.LEADER, f"store {self.store} does not lead {self.region_id}"
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
        if message.term < self.term or self.role is not Role.LEADER:
            return
        store = message.store
        inflight = self.inflight[store]
        if message.reject:
            hinted = min(message.index + 1, self.next_index[store])
            self.next_index[store] = max(hinted, self.matched[store] + 1)
            self._unsent = min(self._unsent, self.next_index[store])
            inflight.clear()
            return
        # One answer may stand for several appends that the follower took in one visit.
        while inflight and inflight[0] <= message.index:
            inflight.popleft()
        if message.index > self.matched[store]:
            self.matched[store] = message.index
            self._advance_commit()

    def on_persisted(self, index: int, term: int) -> None:
        """Notes that the entries up to ``index``, of ``term``, are durable on this replica.

        An entry that was cut off meanwhile does not count.
        """
        log = self.log
        if log.persisted < index <= log.writing and log.term_of(index) == term:
            log.persisted = index
            if self.role is Role.LEADER:
                self.matched[self.store] = index
                self._advance_commit()

    def ready(self) -> Ready:
        """Returns what has to be done since the last call; answers are handed out once."""
        log = self.log
        last = log.first_index + len(log.entries) - 1
        entries = NO_ENTRIES
        appends = NO_APPENDS
        persist_to = 0
        answer, self._answer = self._answer, None
        if last > log.writing:
            entries = log.entries[log.writing + 1 - log.first_index :]
            log.writing = persist_to = last
        if self.role is Role.LEADER and last >= self._unsent:
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
        log = self.log
        appends = []
        unsent = last + 1
        for store in self.voters:
            next_index = self.next_index[store]
            if store == self.store or next_index > last:
                continue
            if len(self.inflight[store]) >= self.max_inflight:
                unsent = min(unsent, next_index)
                continue
            prev = next_index - 1
            message = Append(
                self.region_id,
                self.term,
                prev,
                log.term_of(prev),
                log.entries[next_index - log.first_index :],
                log.committed,
            )
            appends.append((store, message))
            self.next_index[store] = last + 1
            self.inflight[store].append(last)
        self._unsent = unsent
        return appends

    def _advance_commit(self) -> None:
        log = self.log
        if log.committed == log.first_index + len(log.entries) - 1:
            return
        index = committed_index(self.matched.values())
        if index > log.committed and log.term_of(index) == self.term:
            log.committed = index

    def _compact(self) -> None:
        log = self.log
        index = log.applying
        if self.role is Role.LEADER:
            index = min(index, *self.matched.values())
        if index - log.first_index >= _COMPACT_EVERY // 2:
            log.compact_to(index)

    def __str__(self) -> str:
        return (
            f"region {self.region_id} on store {self.store}: {self.role.name.lower()} "
            f"term {self.term} {self.log}"
        )
