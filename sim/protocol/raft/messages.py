"""The messages between the replicas of a region.

Each names its region, its sender's store and the sender's term; a pre-vote, and a granted answer to
one, names the term that the candidate would begin. A message is not changed after it was built, so
the same one may go to several receivers.

Source: etcd-io/raft ``raftpb/raft.proto``; Ongaro, Consensus: Bridging Theory and Practice,
chapters 3 (RPCs), 3.10 (TimeoutNow), 5 (InstallSnapshot), 9.6 (pre-vote).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sim.protocol.raft.log import Entry


class Append:
    """Leader to follower: entries after (``prev_index``, ``prev_term``), and the commit index.

    Without entries it only carries the commit index, and is answered only if the logs differ.
    ``compact`` is the index up to which every voter is known to hold the log.
    """

    __slots__ = (
        "commit",
        "compact",
        "entries",
        "prev_index",
        "prev_term",
        "region_id",
        "store",
        "term",
    )

    def __init__(  # noqa: PLR0913, PLR0917 - the fields of raftpb's
        self,
        region_id: int,
        term: int,
        prev_index: int,
        prev_term: int,
        entries: list[Entry],
        commit: int,
        store: int,
        compact: int = 0,
    ) -> None:
        self.region_id = region_id
        self.term = term
        self.prev_index = prev_index
        self.prev_term = prev_term
        self.entries = entries
        self.commit = commit
        self.store = store
        self.compact = compact

    def __str__(self) -> str:
        entries = f" entries {spans(self.entries)}" if self.entries else ""
        prev = f"{self.prev_index}/{self.prev_term}"
        return f"Append term {self.term} prev {prev}{entries} commit {self.commit}"


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

    def __str__(self) -> str:
        what = "rejects, may agree up to" if self.reject else "holds"
        return f"AppendResponse term {self.term} {what} {self.index}"


@dataclass(slots=True, eq=False)
class Heartbeat:
    """Leader to follower: its term, and what to commit. ``context`` 0: no read waits for it."""

    region_id: int
    store: int
    term: int
    commit: int
    context: int = 0

    def __str__(self) -> str:
        return f"Heartbeat term {self.term} commit {self.commit} context {self.context}"


@dataclass(slots=True, eq=False)
class HeartbeatResponse:
    """Follower to leader: it followed when the heartbeat with ``context`` arrived."""

    region_id: int
    store: int
    term: int
    context: int = 0

    def __str__(self) -> str:
        return f"HeartbeatResponse term {self.term} context {self.context}"


@dataclass(slots=True, eq=False)
class RequestVote:
    """Candidate to voter; the candidate's log ends at (``last_index``, ``last_term``).

    ``pre``: a pre-vote, which only asks. ``forced``: the leader itself has asked the candidate to
    take over, so the voter's lease does not count.
    """

    region_id: int
    store: int
    term: int
    last_index: int
    last_term: int
    pre: bool = False
    forced: bool = False

    def __str__(self) -> str:
        name = "RequestPreVote" if self.pre else "RequestVote"
        forced = " forced" if self.forced else ""
        return f"{name} term {self.term} last {self.last_index}/{self.last_term}{forced}"


@dataclass(slots=True, eq=False)
class VoteResponse:
    """Voter to candidate."""

    region_id: int
    store: int
    term: int
    granted: bool
    pre: bool = False

    def __str__(self) -> str:
        name = "PreVoteResponse" if self.pre else "VoteResponse"
        return f"{name} term {self.term} {'granted' if self.granted else 'refused'}"


@dataclass(slots=True, eq=False)
class TimeoutNow:
    """Leader to the replica that is to lead next and holds the whole log: campaign at once."""

    region_id: int
    store: int
    term: int

    def __str__(self) -> str:
        return f"TimeoutNow term {self.term}"


@dataclass(slots=True, eq=False)
class Snapshot:
    """Leader to a follower that lacks entries which the leader has compacted.

    ``payload`` is the driver's: the state after everything up to ``index`` has been applied.
    """

    region_id: int
    store: int
    term: int
    index: int
    index_term: int
    voters: tuple[int, ...]
    payload: Any

    def __str__(self) -> str:
        at = f"{self.index}/{self.index_term}"
        return f"Snapshot term {self.term} at {at} voters {list(self.voters)}"


RaftMessage = (
    Append
    | AppendResponse
    | Heartbeat
    | HeartbeatResponse
    | RequestVote
    | VoteResponse
    | TimeoutNow
    | Snapshot
)


def spans(entries: list[Entry]) -> str:
    """Returns indexes and terms of entries, such as ``6..8/6 9/7``."""
    words = []
    start = 0
    for at, entry in enumerate(entries):
        if at + 1 == len(entries) or entries[at + 1].term != entry.term:
            first = entries[start].index
            until = f"..{entry.index}" if entry.index > first else ""
            words.append(f"{first}{until}/{entry.term}")
            start = at + 1
    return " ".join(words)
