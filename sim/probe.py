"""Where the model says what happens, for whoever wants to watch.

Law: the model calls a probe and never asks it anything; with nobody watching, nothing changes. A
probe must not touch what it is shown.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sim.protocol.raft.log import Entry
    from sim.protocol.records import Lock
    from sim.protocol.region import Region
    from sim.protocol.region_errors import RegionError
    from sim.raftstore.peer import Peer
    from sim.storage.request import KvRequest


class Probe:
    """What can be watched; each method does nothing here."""

    def granted(self, peer: Peer, request: KvRequest) -> None:
        """A lock request is answered with ``Acquired``, whatever way it went."""

    def proposal_lost(self, request: KvRequest, error: RegionError) -> None:
        """A lock whose client has been answered already was not carried through."""

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
        """PD has heard from a region's leader."""

    def table_dropped(
        self, peer: Peer, locks: Sequence[tuple[bytes, Lock, bool]], cause: str
    ) -> None:
        """Locks in memory are gone: (key, lock, marked deleted); cause ``step_down``, ``crash``."""

    def locks_proposed(self, peer: Peer, locks: Sequence[tuple[bytes, Lock]], cause: str) -> None:
        """Locks in memory have been proposed; cause ``transfer`` or ``merge``."""

    def locks_moved(self, peer: Peer, new_peer: Peer, keys: Sequence[bytes]) -> None:
        """A split has moved locks in memory to a new region's table on the same store."""

    def region_changed(self, peer: Peer, what: str) -> None:
        """A replica has applied a split, a merge or a change of replicas."""

    def latch_passed_on(self, holder: KvRequest, waiter: KvRequest) -> None:
        """A command runs after waiting for latches; ``holder`` has freed the last of them."""

    def prewrite_ran(self, request: KvRequest) -> None:
        """A prewrite has read its snapshot, and what it writes is about to be proposed."""

    def store_crashed(self, store_id: int) -> None:
        """A store's process has died."""

    def transaction_ended(self, start_ts: int, outcome: str, reason: str) -> None:
        """A client knows the end: ``committed``, ``aborted`` or ``undetermined``."""

    def mark(self, name: str) -> None:
        """A branch named in ``sim.protocol.marks`` has been taken."""


class Probes(Probe):
    """Several probes as one; each is told only what it overrides."""

    watches_replicas = False
    """Whether anybody watches ``applied``, the event that happens most often."""

    def __init__(self) -> None:
        self._watchers: dict[str, list[Probe]] = {}

    def add(self, probe: Probe) -> None:
        """Lets ``probe`` watch from now on."""
        for name in _EVENTS:
            if getattr(type(probe), name) is getattr(Probe, name):
                continue
            watchers = self._watchers.setdefault(name, [])
            watchers.append(probe)
            if name == "applied":
                self.watches_replicas = True
            if len(watchers) == 1:
                setattr(self, name, getattr(probe, name))
            else:
                setattr(self, name, _Fan([getattr(each, name) for each in watchers]))


class _Fan:
    """Calls several methods in turn."""

    __slots__ = ("_calls",)

    def __init__(self, calls: list[object]) -> None:
        self._calls = calls

    def __call__(self, *args: object) -> None:
        for call in self._calls:
            call(*args)  # type: ignore[operator]


_EVENTS = tuple(name for name in vars(Probe) if not name.startswith("_"))
