"""What replicas of a region say to each other, and what one of them asks of its driver.

Plain records: who builds one does not change it afterwards, so one message may go to several.

Source: etcd-io/raft ``raftpb/raft.proto``, ``node.go`` (Ready).
"""

from __future__ import annotations

from typing import Final

from sim.protocol.raft_log import NO_ENTRIES, Entry


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


NO_APPENDS: Final[list[tuple[int, Append]]] = []
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


NOTHING_READY: Final = Ready(NO_APPENDS, NO_ENTRIES, 0, None, NO_ENTRIES)
"""What most answers of followers lead to: a majority had agreed before."""
