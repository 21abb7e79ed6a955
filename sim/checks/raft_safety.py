"""Raft's safety, as seen by replicas that apply.

Invariant: at most one leader a term (election safety); replicas apply the same entry at the same
index (state machine safety, and by it log matching); a new leader's log holds every entry that was
ever applied (leader completeness). Replicas that have applied equally far hold equal records.

Source: Ongaro and Ousterhout, In Search of an Understandable Consensus Algorithm, figure 3.
"""

from dataclasses import dataclass, field
from typing import Final, Protocol

from sim.checks.report import Report
from sim.protocol.raft import LEADER, RaftPeer
from sim.protocol.raft.log import Entry
from sim.raftstore.probe import RaftstoreProbe

ONE_LEADER: Final = "one leader a term"
SAME_ENTRIES: Final = "log matching"
COMPLETE: Final = "committed entries survive"

_REMEMBERED: Final = 1024
"""Entries of a region that are kept for replicas that lag, before the oldest half is forgotten."""


class Replica(Protocol):
    """Whoever drives a replica."""

    raft: RaftPeer


@dataclass(slots=True)
class _Applied:
    """What has been applied of one region."""

    entries: dict[int, tuple[Entry, int]] = field(default_factory=dict)
    """By index, an entry and how many replicas have still to apply it."""
    index: int = 0
    term: int = 0


class RaftSafety(RaftstoreProbe):
    """Watches roles and applied entries."""

    def __init__(self, report: Report) -> None:
        self._report = report
        self._regions: dict[int, _Applied] = {}
        self._leaders: dict[tuple[int, int], int] = {}

    def applied(self, peer: Replica, entry: Entry) -> None:
        """Compares an entry that a replica has applied with what the first one did there."""
        region_id = peer.raft.region_id
        region = self._regions.get(region_id)
        if region is None:
            region = self._regions[region_id] = _Applied()
        index = entry.index
        if index > region.index:
            region.index = index
            region.term = entry.term
            others = len(peer.raft.voters) - 1
            if others:
                region.entries[index] = (entry, others)
                if len(region.entries) > _REMEMBERED:
                    for old in list(region.entries)[: _REMEMBERED // 2]:
                        del region.entries[old]
            return
        known = region.entries.get(index)
        if known is not None:
            first, others = known
            self._compare(peer, entry, first)
            if others == 1:
                del region.entries[index]
            else:
                region.entries[index] = (first, others - 1)

    def _compare(self, peer: Replica, entry: Entry, first: Entry) -> None:
        if first is entry or (first.term == entry.term and first.payload is entry.payload):
            return
        self._report.add(
            SAME_ENTRIES,
            f"{peer.raft} has applied another entry at {entry.index}, of term {entry.term}, "
            f"than the first replica did, of term {first.term}",
        )

    def role_changed(self, peer: Replica) -> None:
        """Looks at a new leader."""
        raft = peer.raft
        if raft.role is not LEADER:
            return
        region_id = peer.raft.region_id
        other = self._leaders.setdefault((region_id, raft.term), peer.raft.store)
        if other != peer.raft.store:
            self._report.add(
                ONE_LEADER,
                f"stores {other} and {peer.raft.store} lead region {region_id} in term {raft.term}",
            )
        region = self._regions.get(region_id)
        if region is None:
            return
        log, index = raft.log, region.index
        if log.last_index < index:
            self._report.add(COMPLETE, f"the new leader lacks applied index {index}: {raft}")
        elif index >= log.first_index and log.term_of(index) != region.term:
            self._report.add(
                COMPLETE, f"the new leader has another entry at applied index {index}: {raft}"
            )
