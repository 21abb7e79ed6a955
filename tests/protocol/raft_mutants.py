"""Replicas with one mistake each, which ``RaftChecks`` must find."""

from __future__ import annotations

from typing import Any

from sim.protocol.raft import LEADER, Append, RaftPeer, Ready, RequestVote, VoteResponse
from sim.protocol.raft.log import Entry, RaftLog
from sim.protocol.raft.peer import PendingRead
from sim.protocol.raft.quorum import committed_index
from sim.protocol.raft.ready import EventfulReady


class VotesTwice(RaftPeer):
    """Gives its vote to whoever asks."""

    def _is_free_for(self, message: RequestVote) -> bool:
        return True


class VotesForShorterLogs(RaftPeer):
    """Does not compare logs (Raft 5.4.1)."""

    def _is_not_behind(self, message: RequestVote) -> bool:
        return True


class ForgetsVotes(RaftPeer):
    """Sends its votes before they are durable."""

    def ready(self) -> Ready:
        ready = super().ready()
        early = [*ready.appends, *ready.messages]
        ready.appends = early  # type: ignore[assignment]
        ready.messages.clear()
        return ready


class AnswersEarly(RaftPeer):
    """Says that entries are persisted before they are."""

    def ready(self) -> Ready:
        ready = super().ready()
        if ready.response is not None:
            early = [*ready.appends, (self.leader, ready.response)]
            ready.appends = early  # type: ignore[assignment]
            ready.response = None
        return ready


class CountsItselfEarly(RaftPeer):
    """As leader counts its own entries before they are durable."""

    def propose(self, payload: object, size_bytes: int) -> Entry:
        entry = super().propose(payload, size_bytes)
        self.matched[self.store] = entry.index
        return entry


class CommitsOlderTerms(RaftPeer):
    """Commits by counting whatever the term is (Raft 5.4.2, figure 8)."""

    def _advance_commit(self) -> None:
        index = committed_index(self.matched.values())
        self.log.committed = max(self.log.committed, index)


class CommitsUnconfirmed(RaftPeer):
    """Takes the leader's commit index for entries that the leader has not confirmed."""

    def step_append(self, message: Append) -> None:
        super().step_append(message)
        if self.leader == message.store:
            self.log.commit_to(message.commit)


class TakesRefusalsForVotes(RaftPeer):
    """Counts every answer as a vote."""

    def _step_vote_response(self, message: VoteResponse) -> None:
        if message.term <= self.term:
            message = VoteResponse(
                message.region_id,
                message.store,
                self.term + message.pre,
                granted=True,
                pre=message.pre,
            )
        super()._step_vote_response(message)


class KeepingLog(RaftLog):
    """Appends what lies behind its end, and lets a conflicting tail stand (Raft 5.3)."""

    def accept(self, prev_index: int, prev_term: int, entries: list[Entry]) -> bool:
        last = self.last_index
        if prev_index > last:
            return False
        self.entries += [entry for entry in entries if entry.index > last]
        return True


class KeepsConflicts(RaftPeer):
    """Does not cut off entries that conflict with its leader's."""

    def __init__(self, *args: Any, **settings: Any) -> None:
        super().__init__(*args, **settings)
        self.log = KeepingLog()


class ReadsAlone(RaftPeer):
    """Answers reads without asking a majority."""

    def _confirm_reads(self, read: PendingRead) -> None:
        events: EventfulReady = self._eventful()
        events.read_states.append(read.context)
        self._reads = ()


class ReadsTooSoon(RaftPeer):
    """Answers reads before it knows what was committed in earlier terms (Raft 8)."""

    def read_index(self, context: int) -> bool:
        if self.role is not LEADER:
            return False
        self._reads = (*self._reads, PendingRead(context, {self.store}))
        self._confirm_reads(self._reads[-1])
        self.broadcast_heartbeat()
        return True


class ChangesVotersAtWill(RaftPeer):
    """Changes voters before the last change is applied, and leads with voters of the past."""

    def may_change_voters(self) -> bool:
        return self.role is LEADER

    def _may_lead(self) -> bool:
        return self.store in self.voters
