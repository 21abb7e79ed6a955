"""What one replica of a region is and remembers: term, vote, role, log, timers.

Law: the term never falls, and within a term the vote is given once. Both are *written* when a
ready hands them out and *durable* when the driver says so; a crash keeps the durable ones only.
Whatever is unusual is noted in one ``EventfulReady``, so that the usual way through a replica
checks for all of it at once.

Source: etcd-io/raft ``raft.go`` (struct raft, reset, becomeFollower).
"""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING, Final, NamedTuple

from sim.protocol.raft_log import RaftLog
from sim.protocol.raft_messages import Append, AppendResponse, Heartbeat, RaftMessage, Snapshot
from sim.protocol.raft_progress import Progress
from sim.protocol.raft_ready import EventfulReady, HardState

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


class Role(IntEnum):
    """What a replica is at the moment."""

    FOLLOWER = 0
    CANDIDATE = 1
    LEADER = 2
    PRE_CANDIDATE = 3


FOLLOWER: Final = Role.FOLLOWER
LEADER: Final = Role.LEADER
"""For hot code: reaching for a member through its enum takes 70 ns."""

NO_VOTES: Final[Mapping[int, bool]] = {}


class PendingRead(NamedTuple):
    """A read index that waits until a majority has confirmed the leader."""

    context: int
    acks: set[int]


class ReplicaState:
    """The fields of a replica and the changes of role that need nothing else."""

    __slots__ = (
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
        "lead_transferee",
        "leader",
        "log",
        "matched",
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
        election_ticks: int = 10,
        heartbeat_ticks: int = 2,
        draw_timeout: Callable[[], int] | None = None,
    ) -> None:
        """Begins as a bootstrapped region does: log at index 5, ``leader`` elected.

        Args:
            region_id: of which region this is a replica.
            store: the id of the store that it lives on.
            voters: the stores of all replicas that vote.
            leader: the store that leads in ``term``; 0: unknown, an election is to come.
            term: the present term.
            max_inflight: unanswered appends to one follower.
            election_ticks: ticks without a leader until its lease is over; a leader looks as
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
        self.election_ticks = election_ticks
        self.heartbeat_ticks = heartbeat_ticks
        self.draw_timeout = draw_timeout
        self._durable_state = self._written_state = HardState(term, leader)
        self._begin_at(self.log.last_index)
        self._begin_volatile()

    def _begin_at(self, start: int) -> None:
        """Begins with a log that everybody holds, and has applied, up to ``start``."""
        voters = self.voters if self.role is LEADER else ()
        self.matched = dict.fromkeys(voters, start)
        """By voter: up to where it is known to have persisted this log. A leader's only."""
        followers = [voter for voter in voters if voter != self.store]
        self.progress = {
            voter: Progress(voter, start + 1, self.max_inflight) for voter in followers
        }
        """By follower; a leader's only."""
        self.applied_index = start
        """Up to where the driver has applied."""
        self.compactable = start
        """Up to where every voter is known to hold the log (a follower's knowledge)."""
        self.noop_index = start
        """The empty entry that began this leader's term: once committed, all before it is known
        to be. That of a bootstrapped leader is among what the log begins behind."""
        self.pending_conf_index = 0
        """No change of voters may be proposed before this index is applied."""
        self._unsent = start + 1
        """No follower needs to be sent anything below this index."""

    def _begin_volatile(self) -> None:
        """Begins without timers run, votes, reads, or anything to tell the driver."""
        self.election_elapsed = self.heartbeat_elapsed = 0
        self._timeout = 0
        self.votes = NO_VOTES
        self.lead_transferee = 0
        """The store that a leader is handing over to; 0: none. Meanwhile nothing is proposed."""
        self._answer: AppendResponse | None = None
        self._events: EventfulReady | None = None
        self._installing: Snapshot | None = None
        self._reads: tuple[PendingRead, ...] = ()

    def become_follower(self, term: int, leader: int) -> None:
        """Follows ``leader`` (0: unknown) in ``term``."""
        assert self.role is not LEADER or term > self.term or not leader, (
            f"stores {self.store} and {leader} both lead region {self.region_id} in term {term}"
        )
        self._enter_term(term)
        self._reset(FOLLOWER, leader)

    def _follow_sender(self, message: Append | Heartbeat | Snapshot) -> bool:
        """Follows who speaks as a leader; tells one of an earlier term that it is over."""
        if message.term < self.term:
            self._tell_term(message.store)
            return False
        if message.term > self.term or message.store != self.leader:
            self.become_follower(message.term, message.store)
        return True

    def _tell_term(self, store: int) -> None:
        """Lets a leader of an earlier term know of the present one, without disturbing it.

        With pre-votes and leases nobody else would: its own term may be the lower one for ever.
        """
        # Everybody agrees up to index 0: should the receiver lead this term, it learns nothing.
        self._send(store, AppendResponse(self.region_id, self.store, self.term, 0, reject=False))

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
        self._answer = None
        self._eventful().role_changed = True

    @property
    def is_eventful(self) -> bool:
        """Whether the next ready will carry more than replication."""
        return self._events is not None

    def _eventful(self) -> EventfulReady:
        """Returns what the next ready will carry beside replication."""
        events = self._events
        if events is None:
            events = self._events = EventfulReady()
        return events

    def _take_events(self) -> EventfulReady:
        events = self._eventful()
        events.hard_state = self._hard_state_to_write()
        self._events = None
        return events

    def _send(self, store: int, message: RaftMessage) -> None:
        self._eventful().messages.append((store, message))

    def _hard_state_to_write(self) -> HardState | None:
        state = HardState(self.term, self.vote)
        if state == self._written_state:
            return None
        self._written_state = state
        return state
