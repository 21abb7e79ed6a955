"""One replica of a region as a pure Raft state machine: messages in, a ``Ready`` out.

Law: time, disks and networks are the driver's; this class only says what must happen in which
order. The fields of ``Ready`` carry that order: a leader's appends may leave at once, while
everything else waits until what it speaks of is durable.

::

    raft_messages, raft_ready      what goes to others, and to the driver
    raft_log, raft_progress        one replica's log; what a leader knows of a follower
    raft_state ◄ raft_replication ◄ raft_election ◄ raft_leadership ◄ RaftPeer (here)

A driver hands in messages (``step``, and ``step_append`` and ``step_append_response`` for those
in a hurry), ticks, proposals, and what has become durable (``on_hard_state_persisted``, then
``on_persisted``) and applied (``set_voters`` for a change of voters, then ``note_applied``); after
each it asks for ``ready``.

Source: etcd-io/raft ``raft.go``; tikv/raft-rs ``raw_node.rs``; tikv/tikv
``components/raftstore/src/store/peer.rs``.
"""

from __future__ import annotations

from typing import Any, Final

from sim.protocol.raft_leadership import Leadership
from sim.protocol.raft_log import NOOP, ConfEntry, Entry, RaftLog
from sim.protocol.raft_messages import (
    Append,
    AppendResponse,
    Heartbeat,
    HeartbeatResponse,
    RaftMessage,
    RequestVote,
    Snapshot,
    TimeoutNow,
    VoteResponse,
)
from sim.protocol.raft_progress import Progress
from sim.protocol.raft_ready import NOTHING_READY, HardState, Ready
from sim.protocol.raft_state import LEADER, Role

__all__ = [
    "LEADER",
    "NOOP",
    "NOTHING_READY",
    "Append",
    "AppendResponse",
    "HardState",
    "Heartbeat",
    "HeartbeatResponse",
    "RaftMessage",
    "RaftPeer",
    "Ready",
    "RequestVote",
    "Role",
    "Snapshot",
    "TimeoutNow",
    "VoteResponse",
]


_STEPS: Final[dict[type, str]] = {
    Append: "step_append",
    AppendResponse: "step_append_response",
    Heartbeat: "_step_heartbeat",
    HeartbeatResponse: "_step_heartbeat_response",
    RequestVote: "_step_request_vote",
    VoteResponse: "_step_vote_response",
    TimeoutNow: "_step_timeout_now",
    Snapshot: "_step_snapshot",
}


class RaftPeer(Leadership):
    """One replica. ``store`` is the id of the store that it lives on."""

    __slots__ = ()

    @classmethod
    def uninitialized(cls, region_id: int, store: int, **settings: Any) -> RaftPeer:
        """Returns a replica that a change of voters has created: it waits for a snapshot."""
        peer = cls(region_id, store, (), 0, term=0, **settings)
        peer.log = RaftLog(first_index=1, first_term=0)
        peer.applied_index = peer.compactable = 0
        return peer

    def step(self, message: RaftMessage) -> None:
        """Takes any message; the answer comes with the next ``ready``."""
        getattr(self, _STEPS[message.__class__])(message)

    def propose_conf_change(self, payload: object, size_bytes: int) -> Entry:
        """Appends an entry whose applying will call ``set_voters``; see ``may_change_voters``."""
        assert self.may_change_voters(), "one change of voters at a time"
        log = self.log
        entry = ConfEntry(self.term, log.last_index + 1, payload, size_bytes)
        log.append(entry)
        self.pending_conf_index = entry.index
        return entry

    def may_change_voters(self) -> bool:
        """Returns whether this leader has applied the last change, and all it was elected with."""
        return self.role is LEADER and self.applied_index >= self.pending_conf_index

    def set_voters(self, voters: tuple[int, ...]) -> None:
        """Takes the voters of an applied change; a leader that is not among them steps down."""
        self.voters = voters
        if self.role is not LEADER:
            return
        if self.store not in voters:
            self.become_follower(self.term, 0)
            return
        log = self.log
        self.matched = {voter: self.matched.get(voter, 0) for voter in voters}
        newest = max(log.first_index, log.last_index)
        self.progress = {
            voter: self.progress.get(voter) or Progress(voter, newest)
            for voter in voters
            if voter != self.store
        }
        self._unsent = min(self._unsent, newest)
        if self.lead_transferee not in voters:
            self.lead_transferee = 0
        self._advance_commit()

    def has_applied_to_current_term(self) -> bool:
        """Returns whether an entry of the present term is applied here."""
        if self.role is LEADER:
            return self.applied_index >= self.noop_index
        return self.log.term_of(self.applied_index) == self.term

    def take_truncated(self) -> list[Entry]:
        """Returns this replica's entries that were cut off since the last call."""
        return self.log.take_truncated()

    def make_snapshot(self, payload: object) -> Snapshot:
        """Returns a snapshot at ``applied_index``, which ``payload`` must stand for."""
        index = self.applied_index
        term = self.log.term_of(index)
        return Snapshot(self.region_id, self.store, self.term, index, term, self.voters, payload)

    def install_snapshot(self, message: Snapshot) -> bool:
        """Takes a snapshot whose payload is durable here.

        Returns:
            Whether it was newer than this replica: then the driver's state must become its
            payload at once. If not, nothing has changed.
        """
        self._installing = None
        newer = message.index > self.log.committed
        if newer:
            self.log.restore(message.index, message.index_term)
            self.applied_index = self.compactable = message.index
            self.voters = message.voters
        if self.leader and self.role is not LEADER:
            self._acknowledge_commit()
        return newer

    def crashed(self) -> RaftPeer:
        """Returns the replica as it restarts after a crash: with what was durable, leaderless."""
        term, vote = self._durable_state
        peer = self.__class__(
            self.region_id,
            self.store,
            self.voters,
            0,
            term=term,
            max_inflight=self.max_inflight,
            election_ticks=self.election_ticks,
            heartbeat_ticks=self.heartbeat_ticks,
            draw_timeout=self.draw_timeout,
        )
        peer.vote = vote
        peer._durable_state = peer._written_state = self._durable_state
        peer.log = self.log.after_crash(self.applied_index)
        peer.applied_index = self.applied_index
        peer.compactable = self.compactable
        return peer

    def _step_snapshot(self, message: Snapshot) -> None:
        if not self._follow_sender(message):
            return
        self.election_elapsed = 0
        log = self.log
        if message.index <= log.committed or log.holds(message.index, message.index_term):
            log.commit_to(message.index)
            self._acknowledge_commit()
        else:
            self._installing = message
            self._eventful().snapshot = message

    def answer_append(self) -> None:
        """Answers an append without entries as well: etcd's followers do, TiKV's do not."""
        if self._answer is None and self.leader and self.role is not LEADER:
            self._acknowledge_commit()

    def _acknowledge_commit(self) -> None:
        index = self.log.committed
        self._answer = AppendResponse(self.region_id, self.store, self.term, index, reject=False)

    def __str__(self) -> str:
        led = f" leader {self.leader}" if self.leader and self.role is not LEADER else ""
        vote = f" vote {self.vote}" if self.vote and self.role is not LEADER else ""
        transfer = f" to {self.lead_transferee}" if self.lead_transferee else ""
        followers = "".join(
            f" | {store}: match {self.matched[store]} {progress}"
            for store, progress in self.progress.items()
        )
        role = self.role.name.lower().replace("_", "-")
        return (
            f"region {self.region_id} on store {self.store}: {role}{transfer} "
            f"term {self.term}{led}{vote} {self.log}{followers}"
        )
