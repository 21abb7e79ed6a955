"""One replica of a region as a pure Raft state machine: messages in, a ``Ready`` out.

Time, disks and networks are the driver's; this class only says what must happen in which order,
and the fields of ``Ready`` carry that order. A driver hands in messages (``step``, or directly
``step_append`` and ``step_append_response``, the frequent ones), ticks, proposals, what has become
durable (``on_hard_state_persisted``, then ``on_persisted``) and what has been applied
(``set_voters`` for a change of voters, then ``note_applied``); after each it calls ``ready``.

::

    follower ──timeout──► pre-candidate ──majority would──► candidate ──majority did──► leader
        ▲  ▲                   │                               │  ▲                       │
        │  └──── refused ──────┴───────────────────────────────┘  └─ TimeoutNow (follower)│
        └──────── a higher term, or no majority within an election timeout ───────────────┘

Source: etcd-io/raft ``raft.go``, ``read_only.go``; tikv/raft-rs ``raft.rs``, ``raw_node.rs``; Raft:
Ongaro and Ousterhout, In Search of an Understandable Consensus Algorithm; Ongaro: Consensus,
Bridging Theory and Practice.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import IntEnum
from typing import Any, Final, NamedTuple

from sim.protocol.raft.log import NO_ENTRIES, NOOP, NOOP_BYTES, ConfEntry, Entry, RaftLog
from sim.protocol.raft.messages import (
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
from sim.protocol.raft.progress import PROBE, SNAPSHOT, Progress
from sim.protocol.raft.quorum import VoteResult, committed_index, is_majority, vote_result
from sim.protocol.raft.ready import NO_APPENDS, NOTHING_READY, EventfulReady, HardState, Ready


class Role(IntEnum):
    """The role a replica has in its present term."""

    FOLLOWER = 0
    CANDIDATE = 1
    LEADER = 2
    PRE_CANDIDATE = 3


FOLLOWER: Final = Role.FOLLOWER
LEADER: Final = Role.LEADER
"""For hot code: reaching for a member through its enum takes 70 ns."""

NO_VOTES: Final[Mapping[int, bool]] = {}

_COMPACT_EVERY = 4
"""Entries that gather before the log forgets the applied ones. ASSUMED: TiKV keeps 50
(raft-log-gc-threshold); nobody can see the difference here, and 50 entries of 6,000 regions would
be most of a unit's memory."""


class PendingRead(NamedTuple):
    """A read index that waits until a majority has confirmed the leader."""

    context: int
    acks: set[int]


class RaftPeer:
    """One replica of a region; ``store`` is the id of the store that it is on.

    Invariants:

    - The term never falls, and within a term the vote is given once. Both are *written* when a
      ready hands them out and *durable* when the driver says so; only what is durable survives a
      crash.
    - A vote is durable before it is sent, and a candidate's vote for itself before it is counted.
    - An entry is committed when a majority of voters has persisted it and it is of the leader's
      own term (Raft 5.4.2); a leader counts itself like the others, by what it has persisted.
    - A leader that no majority has answered for an election timeout steps down (check-quorum).

    As in TiKV the commit index travels with the next append or heartbeat (``skip_bcast_commit``),
    and appends are pipelined: the leader does not wait for an answer before it sends more. Whatever
    is unusual is noted in one ``EventfulReady``, so that ``ready`` checks for all of it at once.
    """

    __slots__ = (
        "_ahead_from",
        "_answer",
        "_durable_state",
        "_events",
        "_installing",
        "_reads",
        "_timeout",
        "_unsent",
        "_written_state",
        "applied_index",
        "compactable",
        "draw_timeout",
        "election_elapsed",
        "election_ticks",
        "heartbeat_elapsed",
        "heartbeat_ticks",
        "inflight_limits",
        "lead_transferee",
        "leader",
        "log",
        "matched",
        "max_apply_unpersisted",
        "max_inflight",
        "noop_index",
        "pending_conf_index",
        "progress",
        "region_id",
        "role",
        "store",
        "term",
        "vote",
        "voters",
        "votes",
    )

    def __init__(  # noqa: PLR0913 raft's own settings, all by name
        self,
        region_id: int,
        store: int,
        voters: tuple[int, ...],
        leader: int,
        *,
        term: int = 6,
        max_inflight: int = 256,
        max_apply_unpersisted: int = 0,
        election_ticks: int = 10,
        heartbeat_ticks: int = 2,
        draw_timeout: Callable[[], int] | None = None,
    ) -> None:
        """Begins as a bootstrapped region does: log at index 5, ``leader`` elected.

        Args:
            region_id: the region of which this is a replica.
            store: the id of the store that it is on.
            voters: the stores of all replicas that vote.
            leader: the store that leads in ``term``; 0: unknown, an election will decide.
            term: the present term.
            max_inflight: unanswered appends to one follower.
            max_apply_unpersisted: committed entries that a leader may apply before they are
                durable here.
            election_ticks: ticks without a leader until its lease is over; a leader checks as
                often whether a majority answers it.
            heartbeat_ticks: ticks from one heartbeat to the next.
            draw_timeout: returns the ticks until a follower campaigns, in
                [``election_ticks``, 2 ``election_ticks``); None: always ``election_ticks``.
        """
        self.region_id = region_id
        self.store = store
        self.voters = voters
        self.leader = leader
        self.role = LEADER if store == leader else FOLLOWER
        self.term = term
        self.vote = leader
        self.log = RaftLog()
        self.max_inflight = max_inflight
        self.max_apply_unpersisted = max_apply_unpersisted
        self.election_ticks = election_ticks
        self.heartbeat_ticks = heartbeat_ticks
        self.draw_timeout = draw_timeout
        self._durable_state = self._written_state = HardState(term, leader)
        self._begin_at(self.log.last_index)
        self._begin_volatile()

    def _begin_at(self, start: int) -> None:
        """Begins with a log that every voter holds, and has applied, up to ``start``."""
        voters = self.voters if self.role is LEADER else ()
        self.matched = dict.fromkeys(voters, start)
        """By voter: up to where it is known to have persisted this log. A leader's only."""
        followers = [voter for voter in voters if voter != self.store]
        self.progress = {
            voter: Progress(voter, start + 1, self.max_inflight) for voter in followers
        }
        """By follower; a leader's only."""
        self.inflight_limits: dict[int, int] = {}
        """By follower: unanswered appends, where the driver allows fewer than ``max_inflight``."""
        self._ahead_from = start
        """A leader that has applied this index may apply what is not durable here yet."""
        self.applied_index = start
        """Up to where the driver has applied."""
        self.compactable = start
        """Up to where every voter is known to hold the log, as the leader told this follower."""
        self.noop_index = start
        """The empty entry that began this leader's term: once it is committed, everything before
        it is known to be committed. A bootstrapped leader's is behind the log's beginning."""
        self.pending_conf_index = 0
        """No change of voters may be proposed before this index is applied."""
        self._unsent = start + 1
        """No follower needs to be sent anything below this index."""

    def _begin_volatile(self) -> None:
        """Begins with fresh timers and without votes, reads, or anything for the driver."""
        self.election_elapsed = self.heartbeat_elapsed = 0
        self._timeout = 0
        self.votes = NO_VOTES
        self.lead_transferee = 0
        """The store that a leader is handing over to; 0: none. Meanwhile nothing is proposed."""
        self._answer: AppendResponse | None = None
        self._events: EventfulReady | None = None
        self._installing: Snapshot | None = None
        self._reads: tuple[PendingRead, ...] = ()

    @classmethod
    def uninitialized(cls, region_id: int, store: int, **settings: Any) -> RaftPeer:
        """Returns a replica that a change of voters has created: it waits for a snapshot."""
        peer = cls(region_id, store, (), 0, term=0, **settings)
        peer.log = RaftLog(first_index=1, first_term=0)
        peer.applied_index = peer.compactable = 0
        return peer

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
            max_apply_unpersisted=self.max_apply_unpersisted,
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

    # What comes in, and what goes out.

    def step(self, message: RaftMessage) -> None:  # noqa: C901 one case a message
        """Takes any message; the answer comes with the next ``ready``."""
        match message:
            case Append():
                self.step_append(message)
            case AppendResponse():
                self.step_append_response(message)
            case Heartbeat():
                self._step_heartbeat(message)
            case HeartbeatResponse():
                self._step_heartbeat_response(message)
            case RequestVote():
                self._step_request_vote(message)
            case VoteResponse():
                self._step_vote_response(message)
            case TimeoutNow():
                self._step_timeout_now(message)
            case Snapshot():
                self._step_snapshot(message)

    def tick(self) -> None:
        """Advances the timers by one base tick (``raftstore.raft-base-tick-interval``)."""
        if self.role is LEADER:
            self._tick_leader()
        else:
            self._tick_election()

    def ready(self) -> Ready:
        """Returns what has to be done since the last call; answers are handed out once."""
        log = self.log
        last = log.last_index
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
        if self._events is not None:
            events = self._take_events()
            Ready.__init__(events, appends, entries, persist_to, answer, committed)
            return events
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

    def take_truncated(self) -> list[Entry]:
        """Returns this replica's entries that were cut off since the last call."""
        return self.log.take_truncated()

    def on_hard_state_persisted(self, state: HardState) -> None:
        """Notes that ``state`` is durable here; call ``ready`` afterwards.

        A candidate's vote for itself counts from now on.
        """
        self._durable_state = max(self._durable_state, state)
        if self.role is Role.CANDIDATE and state == HardState(self.term, self.store):
            self._count_vote(self.store, granted=True)

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

    def note_applied(self, index: int) -> None:
        """Notes that the driver has applied everything up to ``index``."""
        if index > self.applied_index:
            self.applied_index = index
            if self.role is LEADER and index >= self._ahead_from:
                self.log.apply_ahead = self.max_apply_unpersisted

    def apply_only_persisted(self, until: int) -> None:
        """Applies only what is durable here until ``until`` is applied.

        Source: tikv/tikv components/raftstore/src/store/peer.rs (disable_apply_unpersisted_log).
        """
        self.log.apply_ahead = 0
        self._ahead_from = max(self._ahead_from, until)

    def limit_inflight(self, store: int, count: int) -> None:
        """Lets ``store`` be sent ``count`` appends without an answer; 0: it is sent no entries.

        Source: tikv/raft-rs src/raft.rs (adjust_max_inflight_msgs).
        """
        self.inflight_limits[store] = count
        if count == self.max_inflight:
            del self.inflight_limits[store]
        progress = self.progress.get(store)
        if progress is not None and not progress.state:
            progress.window = count

    @property
    def is_eventful(self) -> bool:
        """Whether the next ready will carry more than replication."""
        return self._events is not None

    def _eventful(self) -> EventfulReady:
        """Returns the next ready's part beside replication, for the caller to add to."""
        events = self._events
        if events is None:
            events = self._events = EventfulReady()
        return events

    def _take_events(self) -> EventfulReady:
        events = self._eventful()
        events.hard_state = self._hard_state_to_write()
        self._events = None
        return events

    def _hard_state_to_write(self) -> HardState | None:
        state = HardState(self.term, self.vote)
        if state == self._written_state:
            return None
        self._written_state = state
        return state

    def _send(self, store: int, message: RaftMessage) -> None:
        self._eventful().messages.append((store, message))

    # Terms and roles.

    def become_follower(self, term: int, leader: int) -> None:
        """Follows ``leader`` (0: unknown) in ``term``."""
        assert self.role is not LEADER or term > self.term or not leader, (
            f"stores {self.store} and {leader} both lead region {self.region_id} in term {term}"
        )
        self._enter_term(term)
        self._reset(FOLLOWER, leader)

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
        """Leads: it knows only its own log, and begins its term with an empty entry."""
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

    def _enter_term(self, term: int) -> None:
        assert term >= self.term, "terms never fall"
        if term > self.term:
            self.term = term
            self.vote = 0

    def _reset(self, role: Role, leader: int) -> None:
        """Takes a role and forgets what belonged to the former one."""
        self.role = role
        self.leader = leader
        self.election_elapsed = 0
        self.heartbeat_elapsed = 0
        self._timeout = 0
        self.votes = NO_VOTES
        self.lead_transferee = 0
        self._reads = ()
        self.matched = {}
        self.progress = {}
        self.apply_only_persisted(self.log.last_index)
        self._answer = None
        self._eventful().role_changed = True

    def _follow_sender(self, message: Append | Heartbeat | Snapshot) -> bool:
        """Follows a message's sender, which leads; False if its term is over."""
        if message.term < self.term:
            self._send_term(message.store)
            return False
        if message.term > self.term or message.store != self.leader:
            self.become_follower(message.term, message.store)
        return True

    def _send_term(self, store: int) -> None:
        """Sends a leader of an earlier term the present term, so that it steps down.

        With pre-votes and leases no other message would: its own term may stay the lower one.
        """
        # All logs agree up to index 0: should the receiver lead this term, it learns nothing.
        self._send(store, AppendResponse(self.region_id, self.store, self.term, 0, reject=False))

    # Elections: who leads next, and when (Raft 5.2, 5.4.1; Ongaro 6.4, 9.6). A pre-vote asks
    # without beginning a term. A voter that has heard from its leader within an election timeout
    # grants neither, unless the leader itself has asked the candidate to take over.

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

    def _may_lead(self) -> bool:
        if self.store not in self.voters or self._installing is not None:
            return False
        log = self.log
        first = max(self.applied_index + 1, log.first_index)
        unapplied = log.entries[first - log.first_index : log.committed + 1 - log.first_index]
        return not any(entry.changes_voters for entry in unapplied)

    def _tick_election(self) -> None:
        """Campaigns when no leader has been heard from for a randomized time."""
        self.election_elapsed += 1
        if not self._timeout:
            draw = self.draw_timeout
            self._timeout = self.election_ticks if draw is None else draw()
        if self.election_elapsed >= self._timeout:
            # The timer is not reset if this replica may not lead: its leader's lease is over.
            self.campaign()

    def _request_votes(self, term: int, *, pre: bool = False, forced: bool = False) -> None:
        log = self.log
        request = RequestVote(
            self.region_id, self.store, term, log.last_index, log.last_term, pre, forced
        )
        for voter in self.voters:
            if voter != self.store:
                self._send(voter, request)

    def _step_request_vote(self, message: RequestVote) -> None:
        """Grants or refuses a vote; within the leader's lease the request is ignored."""
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
        """Returns whether neither a vote nor a leader of this term forbids granting one."""
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
        """Counts the first answer of each voter, and changes the role once it is decided."""
        self.votes = {store: granted, **self.votes}
        result = vote_result(self.votes, self.voters)
        if result is VoteResult.LOST:
            self.become_follower(self.term, 0)
        elif result is VoteResult.WON:
            if self.role is Role.PRE_CANDIDATE:
                self._become_candidate()
            else:
                self._become_leader()

    # Replication: from a proposal to an entry that a majority holds (Raft 5.3, 5.4.2).

    def propose(self, payload: object, size_bytes: int) -> Entry:
        """Appends a new entry to the leader's log and returns it.

        While ``lead_transferee`` is set the driver refuses proposals; this does not.
        """
        assert self.role is LEADER, f"store {self.store} does not lead {self.region_id}"
        log = self.log
        entry = Entry(self.term, log.last_index + 1, payload, size_bytes)
        log.append(entry)
        return entry

    def step_append(self, message: Append) -> None:
        """Takes a leader's append; the answer comes with the next ``ready``."""
        if (message.term != self.term or message.store != self.leader) and not self._follow_sender(
            message
        ):
            return
        self.election_elapsed = 0
        self.compactable = message.compact
        log = self.log
        if not log.accept(message.prev_index, message.prev_term, message.entries):
            self._reject(message)
            return
        if log.truncated:  # Whoever has proposed that is to be told.
            self._eventful()
        agreed = message.prev_index
        if message.entries:
            agreed = message.entries[-1].index
            self._answer = AppendResponse(
                self.region_id, self.store, self.term, agreed, reject=False
            )
        # Only entries up to here agree with the leader's; later ones may still be cut off.
        commit = message.commit if message.commit < agreed else agreed
        if commit > log.committed:
            log.committed = commit

    def step_append_response(self, message: AppendResponse) -> None:
        """Takes a follower's answer and moves the commit index if a majority agrees."""
        if message.reject or message.term != self.term or self.role is not LEADER:
            self._step_rejection(message)
            return
        store = message.store
        try:
            progress = self.progress[store]
        except KeyError:  # The voter has been removed since.
            return
        progress.active = True
        index = message.index
        inflight = progress.inflight
        # One answer may stand for several appends that the follower handled together.
        while inflight and inflight[0] <= index:
            del inflight[0]
        if index > self.matched[store]:
            self.matched[store] = index
            if index >= progress.next_index:
                progress.next_index = index + 1
            if index > self.log.committed:  # Otherwise a majority had agreed before.
                self._advance_commit()
        if progress.state or self.lead_transferee:
            self._catch_up(progress, index)

    def answer_append(self) -> None:
        """Answers an append without entries as well: etcd's followers do, TiKV's do not."""
        if self._answer is None and self.leader and self.role is not LEADER:
            self._acknowledge_commit()

    def empty_appends(self) -> list[tuple[int, Append]]:
        """Returns (store, append without entries) for each follower that has been sent everything.

        It follows all that was sent before, so it lets the follower commit as far as this leader.
        """
        next_index = self.log.last_index + 1
        return [
            (progress.store, self._append_from(next_index))
            for progress in self.progress.values()
            if progress.next_index == next_index
        ]

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
            if len(inflight) >= progress.window:
                if self._may_probe(progress):
                    appends.append((progress.store, self._append_from(next_index)))
                elif not progress.state:
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
        compact = log.first_index - 1
        offset = next_index - compact - 1
        assert offset >= 0, f"index {next_index} is compacted"
        prev_term = log.entries[offset - 1].term if offset else log.first_term
        return Append(
            self.region_id,
            self.term,
            next_index - 1,
            prev_term,
            log.entries[offset:],
            log.committed,
            self.store,
            compact,
        )

    def _advance_commit(self) -> None:
        log = self.log
        if log.committed == log.last_index:
            return
        index = committed_index(self.matched.values())
        if index > log.committed and log.entries[index - log.first_index].term == self.term:
            log.committed = index

    def _reject(self, message: Append) -> None:
        if self._installing is None:  # Otherwise the answer to the snapshot will say more.
            hint = self.log.may_agree_up_to(message.prev_index - 1, message.prev_term)
            self._answer = AppendResponse(self.region_id, self.store, self.term, hint, reject=True)

    def _acknowledge_commit(self) -> None:
        index = self.log.committed
        self._answer = AppendResponse(self.region_id, self.store, self.term, index, reject=False)

    def _step_rejection(self, message: AppendResponse) -> None:
        """Takes an answer after which replication cannot simply continue.

        The logs differ, or this replica's term or leadership is over.
        """
        if message.term > self.term:
            self.become_follower(message.term, 0)
        elif message.reject and message.term == self.term and self.role is LEADER:
            progress = self.progress.get(message.store)
            if progress is not None:
                progress.active = True
                self._step_back(progress, message.index)

    def _step_back(self, progress: Progress, hint: int) -> None:
        """Probes from where the logs may agree: up to ``hint``."""
        next_index = progress.next_index
        late = hint < self.matched[progress.store]
        # Appends behind the rejected one are rejected as well; one of these answers is enough.
        repeated = progress.state is PROBE and hint + 1 >= next_index
        if progress.state is not SNAPSHOT and not late and not repeated:
            self._probe(progress, min(hint + 1, next_index))

    def _probe(self, progress: Progress, next_index: int) -> None:
        progress.probe(next_index)
        self._unsent = min(self._unsent, next_index)

    def _may_probe(self, progress: Progress) -> bool:
        """Returns whether a follower without a window is to be sent one append nevertheless."""
        if progress.state is not PROBE or progress.paused:
            return False
        if progress.next_index < self.log.first_index:
            progress.await_snapshot()
            self._eventful().needs_snapshot.append(progress.store)
            return False
        progress.paused = True
        return True

    def _catch_up(self, progress: Progress, index: int) -> None:
        """Handles an answer of a follower that is in probe or snapshot, or that is to lead."""
        matched = self.matched[progress.store]
        if progress.state and index == matched and matched >= self.log.first_index - 1:
            window = self.inflight_limits.get(progress.store, self.max_inflight)
            progress.replicate(matched + 1, window)
            self._unsent = min(self._unsent, matched + 1)
        if self.lead_transferee == progress.store:
            self._hand_over()

    def _resend_lost(self, progress: Progress) -> None:
        """Sends again what seems lost: the follower answers heartbeats, but not what came before.

        A snapshot counts as lost after an election timeout; a follower that is still installing
        it does not answer the probe.
        """
        matched = self.matched[progress.store]
        if progress.state is SNAPSHOT and progress.snapshot_ticks >= self.election_ticks:
            self.snapshot_failed(progress.store)
        elif progress.has_lost_something(matched):
            self._probe(progress, matched + 1)
        elif progress.state is PROBE:
            self._probe(progress, progress.next_index)

    # Compaction and snapshots. A leader forgets what every voter holds and it has applied; each
    # append says how far that is, and followers forget no more. So a lagging voter finds its
    # entries at whoever leads next, and only new voters need snapshots.

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

    def snapshot_failed(self, store: int) -> None:
        """Notes that a snapshot did not reach ``store``: it is probed again."""
        progress = self.progress.get(store)
        if progress is not None and progress.state is SNAPSHOT:
            self._probe(progress, max(self.log.first_index, self.log.last_index))

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

    def _compact(self) -> None:
        """Forgets entries; the newest stays, for a new voter to be probed with."""
        log = self.log
        index = self.compactable
        if self.role is LEADER:
            index = min(log.last_index - 1, *self.matched.values())
        if self.applied_index < index:
            index = self.applied_index
        if log.persisted < index:  # What is applied may not be durable yet.
            index = log.persisted
        if index - log.first_index >= _COMPACT_EVERY // 2:
            log.compact_to(index)

    # Leadership: heartbeats, check-quorum (Ongaro 6.2), read index (6.4).

    def broadcast_heartbeat(self) -> None:
        """Sends every follower a heartbeat, with the context of the youngest read that waits."""
        context = self._reads[-1].context if self._reads else 0
        committed = self.log.committed
        for store in self.progress:
            commit = min(self.matched[store], committed)
            self._send(store, Heartbeat(self.region_id, self.store, self.term, commit, context))

    @property
    def knows_commits(self) -> bool:
        """Whether an entry of this leader's term is committed, and with it all that was before."""
        return self.log.committed >= self.noop_index

    def read_index(self, context: int) -> bool:
        """Asks a majority whether this replica still leads; ``read_states`` has the answer.

        The caller notes ``log.committed`` now: it is the index to wait for. Reads that have not
        been confirmed are forgotten when the role changes.

        Args:
            context: not 0, greater than any before on this replica.

        Returns:
            Whether it was asked: only a leader can, and only after an entry of its own term is
            committed, since before it does not know what is (Raft 8).
        """
        if self.role is not LEADER or not self.knows_commits:
            return False
        self._reads = (*self._reads, PendingRead(context, {self.store}))
        self._confirm_reads(self._reads[-1])
        self.broadcast_heartbeat()
        return True

    def _tick_leader(self) -> None:
        self.heartbeat_elapsed += 1
        self.election_elapsed += 1
        if self.election_elapsed >= self.election_ticks:
            self.election_elapsed = 0
            self.lead_transferee = 0
            if not self._has_active_majority():
                self.become_follower(self.term, 0)
                return
        for progress in self.progress.values():
            progress.snapshot_ticks += 1
        if self.heartbeat_elapsed >= self.heartbeat_ticks:
            self.heartbeat_elapsed = 0
            for progress in self.progress.values():
                progress.on_heartbeat_sent()
            self.broadcast_heartbeat()

    def _has_active_majority(self) -> bool:
        """Check-quorum: returns whether a majority has answered since the last call."""
        active = [self.store]
        for progress in self.progress.values():
            if progress.active:
                active.append(progress.store)
            progress.active = False
        return is_majority(active, self.voters)

    def _step_heartbeat(self, message: Heartbeat) -> None:
        if not self._follow_sender(message):
            return
        self.election_elapsed = 0
        self.log.commit_to(message.commit)
        answer = HeartbeatResponse(self.region_id, self.store, self.term, message.context)
        self._send(message.store, answer)

    def _step_heartbeat_response(self, message: HeartbeatResponse) -> None:
        if message.term > self.term:
            self.become_follower(message.term, 0)
        progress = self.progress.get(message.store)
        if progress is None or message.term < self.term:
            return
        progress.active = True
        self._resend_lost(progress)
        for read in self._reads:
            if read.context == message.context:
                read.acks.add(message.store)
                self._confirm_reads(read)
                break

    def _confirm_reads(self, read: PendingRead) -> None:
        """Answers ``read`` and all that were asked before it, if a majority has confirmed it."""
        if is_majority(read.acks, self.voters):
            upto = self._reads.index(read) + 1
            self._eventful().read_states += [done.context for done in self._reads[:upto]]
            self._reads = self._reads[upto:]

    # Leader transfer (Ongaro 3.10).

    def transfer_leader(self, store: int) -> None:
        """Begins to hand leadership over to ``store``; to itself: gives a transfer up.

        ``store`` is asked to campaign once it holds the whole log. A store that is no follower of
        this leader is ignored. A transfer that has not happened within an election timeout is
        given up.
        """
        assert self.role is LEADER, f"store {self.store} does not lead {self.region_id}"
        if store == self.store:
            self.lead_transferee = 0
        elif store in self.progress and store != self.lead_transferee:
            self.lead_transferee = store
            self.election_elapsed = 0
            self._hand_over()

    def _hand_over(self) -> None:
        """Asks the transferee to campaign as soon as it holds the whole log."""
        store = self.lead_transferee
        if self.matched[store] == self.log.last_index:
            self._send(store, TimeoutNow(self.region_id, self.store, self.term))

    def _step_timeout_now(self, message: TimeoutNow) -> None:
        """Campaigns without a pre-vote: the leader has asked for it."""
        if message.term > self.term:
            self.become_follower(message.term, 0)
        if message.term == self.term:
            self.campaign(forced=True)

    # Changes of voters, one voter at a time (Ongaro 4.1).

    def may_change_voters(self) -> bool:
        """Returns whether this leader has applied the last change, and all it was elected with."""
        return self.role is LEADER and self.applied_index >= self.pending_conf_index

    def propose_conf_change(self, payload: object, size_bytes: int) -> Entry:
        """Appends an entry whose applying will call ``set_voters``; see ``may_change_voters``."""
        assert self.may_change_voters(), "one change of voters at a time"
        log = self.log
        entry = ConfEntry(self.term, log.last_index + 1, payload, size_bytes)
        log.append(entry)
        self.pending_conf_index = entry.index
        return entry

    def set_voters(self, voters: tuple[int, ...]) -> None:
        """Takes the voters of an applied change; a leader that is not among them steps down.

        A new one counts as active until the next check of the quorum: it had no chance to answer.

        Source: tikv/raft-rs src/tracker.rs (ProgressTracker::apply_conf).
        """
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
            voter: self.progress.get(voter) or _progress_of_new(voter, newest)
            for voter in voters
            if voter != self.store
        }
        self._unsent = min(self._unsent, newest)
        if self.lead_transferee not in voters:
            self.lead_transferee = 0
        self._advance_commit()

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


def _progress_of_new(voter: int, newest: int) -> Progress:
    progress = Progress(voter, newest)
    progress.active = True
    return progress
