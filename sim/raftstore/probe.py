"""Where the raftstore says what happens, for whoever wants to observe it.

Invariant: the model calls a probe and never asks it anything; with nobody observing, nothing
changes. A probe must not touch what it is shown.
"""

from __future__ import annotations

from collections.abc import Sequence

from sim.protocol.raft.log import Entry
from sim.protocol.records import Lock
from sim.protocol.region import Region
from sim.raftstore.peer import Peer


class RaftstoreProbe:
    """What can be observed of regions; each method does nothing here."""

    watches_replicas = False
    """Whether anybody overrides ``applied``, the event that happens most often."""

    def applied(self, peer: Peer, entry: Entry) -> None:
        """A replica has applied an entry; before ``first_applied``."""

    def first_applied(self, peer: Peer, entry: Entry) -> None:
        """A replica has applied an entry, and none has before."""

    def role_changed(self, peer: Peer) -> None:
        """A replica has won or lost leadership, or stands for election."""

    def transfer_ordered(self, region_id: int, to_store: int) -> None:
        """PD, or an operator through it, has ordered a region's leader to move."""

    def transfer_proposed(self, peer: Peer) -> None:
        """A leader has proposed a TransferLeader command: its target shall apply all before it."""

    def leader_reported(self, region: Region, leader_store: int) -> None:
        """PD has received a heartbeat of a region's leader."""

    def table_dropped(
        self, peer: Peer, locks: Sequence[tuple[bytes, Lock, bool]], cause: str
    ) -> None:
        """Locks in memory are gone: (key, lock, marked deleted); cause ``step_down``, ``crash``."""

    def locks_proposed(self, peer: Peer, locks: Sequence[tuple[bytes, Lock]], cause: str) -> None:
        """Locks in memory have been proposed; cause ``transfer`` or ``merge``."""

    def migration_ignored(self, peer: Peer, locks: Sequence[tuple[bytes, Lock]]) -> None:
        """A replica is too old to read the locks that its leader has proposed (RFC 77)."""

    def locks_moved(self, peer: Peer, new_peer: Peer, keys: Sequence[bytes]) -> None:
        """A split has moved locks in memory to a new region's table on the same store."""

    def region_changed(self, peer: Peer, what: str) -> None:
        """A replica has applied a split, a merge or a change of replicas."""

    def store_crashed(self, store_id: int) -> None:
        """A store's process has died."""

    def mark(self, name: str) -> None:
        """A branch named in ``sim.protocol.marks`` has been taken."""
