"""Elections: who leads next, and when.

Law: a majority votes for a leader, each voter once in a term and only for a log that is not
behind its own (Raft 5.2, 5.4.1); a vote is durable before it is sent, and a candidate's vote for
itself before it is counted. A pre-vote asks without beginning a term, and a voter that has heard
from its leader within an election timeout gives neither, unless the leader itself wants to be
followed by the candidate.

::

    follower ──timeout──► pre-candidate ──majority would──► candidate ──majority did──► leader
        ▲  ▲                   │                               │  ▲                       │
        │  └──── refused ──────┴───────────────────────────────┘  └─ TimeoutNow (follower)│
        └──────── a higher term, or no majority within an election timeout ───────────────┘

Source: etcd-io/raft ``raft.go`` (campaign, Step, tickElection); Ongaro, Consensus: Bridging
Theory and Practice, 6.4 (leases), 9.6 (pre-vote).
"""

from __future__ import annotations

from sim.protocol.quorum import VoteResult, vote_result
from sim.protocol.raft_log import NOOP, NOOP_BYTES
from sim.protocol.raft_messages import RequestVote, TimeoutNow, VoteResponse
from sim.protocol.raft_progress import Progress
from sim.protocol.raft_ready import HardState
from sim.protocol.raft_replication import Replication
from sim.protocol.raft_state import LEADER, Role


class Election(Replication):
    """The part of a replica that campaigns and votes."""

    __slots__ = ()

    def campaign(self, *, forced: bool = False) -> None:
        """Tries to become leader: asks first (pre-vote), or at once if ``forced``.

        Nothing happens on a leader and on a replica that may not lead: one that does not vote,
        or whose voters may not be the present ones.
        """
        if self.role is LEADER or not self._may_lead():
            return
        if forced:
            self._become_candidate(forced=True)
        else:
            self._become_pre_candidate()

    def on_hard_state_persisted(self, state: HardState) -> None:
        """Notes that ``state`` is durable here; call ``ready`` afterwards.

        A candidate's vote for itself counts from now on.
        """
        self._durable_state = max(self._durable_state, state)
        if self.role is Role.CANDIDATE and state == HardState(self.term, self.store):
            self._count_vote(self.store, granted=True)

    def _may_lead(self) -> bool:
        if self.store not in self.voters or self._installing is not None:
            return False
        log = self.log
        first = max(self.applied_index + 1, log.first_index)
        unapplied = log.entries[first - log.first_index : log.committed + 1 - log.first_index]
        return not any(entry.changes_voters for entry in unapplied)

    def _tick_election(self) -> None:
        """Campaigns when nothing was heard of a leader for a randomized time."""
        self.election_elapsed += 1
        if not self._timeout:
            draw = self.draw_timeout
            self._timeout = self.election_ticks if draw is None else draw()
        if self.election_elapsed >= self._timeout:
            self.campaign()  # Who may not lead lets the time go on: its leader's lease is over.

    def _become_pre_candidate(self) -> None:
        self._reset(Role.PRE_CANDIDATE, 0)
        self._request_votes(self.term + 1, pre=True)
        self._count_vote(self.store, granted=True)

    def _become_candidate(self, *, forced: bool = False) -> None:
        self._enter_term(self.term + 1)
        self.vote = self.store
        self._reset(Role.CANDIDATE, 0)
        self._request_votes(self.term, forced=forced)

    def _become_leader(self) -> None:
        """Leads: knows of nobody's log but its own, and begins its term with an empty entry."""
        assert self.role is Role.CANDIDATE, "only a candidate can win"
        log = self.log
        self._reset(LEADER, self.store)
        next_index = log.last_index + 1
        self.matched = dict.fromkeys(self.voters, 0)
        self.matched[self.store] = log.persisted
        self.progress = {
            voter: Progress(voter, next_index) for voter in self.voters if voter != self.store
        }
        self._unsent = next_index
        self.pending_conf_index = log.last_index
        self.noop_index = self.propose(NOOP, NOOP_BYTES).index

    def _request_votes(self, term: int, *, pre: bool = False, forced: bool = False) -> None:
        log = self.log
        request = RequestVote(
            self.region_id, self.store, term, log.last_index, log.last_term, pre, forced
        )
        for voter in self.voters:
            if voter != self.store:
                self._send(voter, request)

    def _step_request_vote(self, message: RequestVote) -> None:
        """Gives or refuses a vote; within the leader's lease the request is not even answered."""
        in_lease = self.leader and self.election_elapsed < self.election_ticks
        if message.term > self.term and in_lease and not message.forced:
            return
        if message.term < self.term:
            if message.pre:
                self._answer_vote(message, granted=False)
            return
        if message.term > self.term and not message.pre:
            self.become_follower(message.term, 0)
        granted = self._is_free_for(message) and self._is_not_behind(message)
        if granted and not message.pre:
            self.vote = message.store
            self.election_elapsed = 0
        self._answer_vote(message, granted=granted)

    def _is_free_for(self, message: RequestVote) -> bool:
        """Returns whether no other promise of this term stands against a vote."""
        if message.pre and message.term > self.term:
            return True
        return self.vote == message.store or not (self.vote or self.leader)

    def _is_not_behind(self, message: RequestVote) -> bool:
        """Returns whether the candidate's log holds all that this one may have helped commit."""
        log = self.log
        return (message.last_term, message.last_index) >= (log.last_term, log.last_index)

    def _answer_vote(self, message: RequestVote, *, granted: bool) -> None:
        term = message.term if granted else self.term
        answer = VoteResponse(self.region_id, self.store, term, granted, message.pre)
        self._send(message.store, answer)

    def _step_vote_response(self, message: VoteResponse) -> None:
        promised = message.pre and message.granted
        if message.term > self.term and not promised:
            self.become_follower(message.term, 0)
            return
        role = Role.PRE_CANDIDATE if message.pre else Role.CANDIDATE
        if self.role is role and message.term == self.term + promised:
            self._count_vote(message.store, granted=message.granted)

    def _count_vote(self, store: int, *, granted: bool) -> None:
        """Counts the first answer of each voter and takes what follows from it."""
        self.votes = {store: granted, **self.votes}
        result = vote_result(self.votes, self.voters)
        if result is VoteResult.LOST:
            self.become_follower(self.term, 0)
        elif result is VoteResult.WON:
            if self.role is Role.PRE_CANDIDATE:
                self._become_candidate()
            else:
                self._become_leader()

    def _step_timeout_now(self, message: TimeoutNow) -> None:
        """Campaigns without asking first: the leader wants it."""
        if message.term > self.term:
            self.become_follower(message.term, 0)
        if message.term == self.term:
            self.campaign(forced=True)
