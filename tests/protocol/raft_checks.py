"""What Raft promises (figure 3 of the paper), looked at from outside after every step.

- Election safety: one leader a term, and one vote a voter and term.
- Log matching: an index and a term stand for one entry, and for one log up to there.
- Leader completeness: a leader holds whatever was committed in earlier terms.
- State machine safety: nobody applies another entry at an index, or leaves one out.
- An entry is committed only if a majority of the voters has it on disk.
- A read index is not below what was committed when it was asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sim.protocol.raft import LEADER, RaftMessage, RaftPeer, VoteResponse
from sim.protocol.raft.log import Entry

if TYPE_CHECKING:
    from tests.protocol.raft_network import Replica


class RaftChecks:
    """Remembers what has been seen of one region."""

    def __init__(self) -> None:
        self._leaders: dict[int, int] = {}
        self._votes: dict[tuple[int, int], int] = {}
        self._entries: dict[tuple[int, int], Entry] = {}
        self._terms_before: dict[tuple[int, int], int] = {}
        self._committed: dict[int, Entry] = {}
        self._last_committed = 5
        self._applied: dict[int, Entry] = {}
        self._reads: dict[int, tuple[int, int]] = {}

    def leaders_seen(self) -> int:
        """Returns how many elections have been won."""
        return len(self._leaders)

    def sent(self, message: RaftMessage, receiver: int) -> None:
        """A message leaves a store."""
        if isinstance(message, VoteResponse) and message.granted and not message.pre:
            first = self._votes.setdefault((message.store, message.term), receiver)
            assert first == receiver, f"store {message.store} voted twice in term {message.term}"

    def look_at(self, replica: Replica, replicas: dict[int, Replica]) -> None:
        """A replica has just been visited."""
        raft = replica.raft
        log = raft.log
        assert log.applying <= min(log.committed, log.persisted), str(raft)
        assert max(log.committed, log.persisted) <= log.last_index, str(raft)
        assert log.persisted <= log.writing <= log.last_index, str(raft)
        self._log_matches(raft)
        if raft.role is LEADER:
            self._leads(raft)
        if log.committed > self._last_committed:
            self._commits(raft, replicas)

    def applied(self, entry: Entry) -> None:
        """A replica applies an entry."""
        first = self._applied.setdefault(entry.index, entry)
        assert first is entry, f"another entry was applied at {entry.index}"
        assert self._committed.get(entry.index) is entry, f"{entry.index} was not committed"

    def read_asked(self, raft: RaftPeer, context: int) -> None:
        """A replica has taken a read."""
        self._reads[context] = (raft.log.committed, self._last_committed)

    def read_confirmed(self, raft: RaftPeer, context: int) -> None:
        """A replica answers a read."""
        noted, committed = self._reads.pop(context)
        assert noted >= committed, f"read {context} misses {noted + 1} to {committed}: {raft}"

    def _leads(self, raft: RaftPeer) -> None:
        if raft.term in self._leaders:
            assert self._leaders[raft.term] == raft.store, f"two leaders in term {raft.term}"
            return
        self._leaders[raft.term] = raft.store
        log = raft.log
        for index, entry in self._committed.items():
            if index >= log.first_index and entry.term < raft.term:
                held = log.last_index >= index and log.entries[index - log.first_index] is entry
                assert held, f"committed entry {index} is lost: {raft}"

    def _log_matches(self, raft: RaftPeer) -> None:
        log = raft.log
        before = log.first_term
        for entry in log.entries[max(0, log.committed - log.first_index) :]:
            at = (entry.index, entry.term)
            same = self._entries.setdefault(at, entry) is entry
            assert same, f"two entries at index {entry.index} of term {entry.term}"
            if entry.index > log.first_index:
                before = log.term_of(entry.index - 1)
            assert self._terms_before.setdefault(at, before) == before, "logs differ before"

    def _commits(self, raft: RaftPeer, replicas: dict[int, Replica]) -> None:
        log = raft.log
        for index in range(self._last_committed + 1, log.committed + 1):
            if index < log.first_index:
                continue
            entry = log.entries[index - log.first_index]
            assert self._committed.setdefault(index, entry) is entry
        self._last_committed = log.committed
        newest = log.entries[log.committed - log.first_index]
        holders = [
            store
            for store in raft.voters
            if store in replicas
            and (
                replicas[store].disk.entries.get(newest.index) is newest
                or replicas[store].disk.snapshot_index >= newest.index
            )
        ]
        assert 2 * len(holders) > len(raft.voters), f"{newest.index} lacks a majority: {raft}"
