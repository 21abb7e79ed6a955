"""Where the transaction layer and its clients say what happens, and several observers as one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from sim.protocol.region_errors import RegionError
from sim.raftstore.peer import Peer
from sim.raftstore.probe import RaftstoreProbe
from sim.storage.request import KvRequest


class Probe(RaftstoreProbe):
    """What can be observed; each method does nothing here."""

    watches_reads = False
    """Whether anybody overrides ``snapshot_read``."""

    def snapshot_read(self, peer: Peer, request: KvRequest) -> None:
        """A request has been carried out on the records of ``peer``; it has its result.

        Called at the instant of its reading, only if ``watches_reads``: writes have not been
        proposed, and nothing is answered yet.
        """

    def granted(self, peer: Peer, request: KvRequest) -> None:
        """A lock request is answered with ``Acquired``, on whichever path."""

    def proposal_lost(self, request: KvRequest, error: RegionError) -> None:
        """A lock whose client has been answered already was not carried through."""

    def latch_passed_on(self, holder: KvRequest, waiter: KvRequest) -> None:
        """A command runs after waiting for latches; ``holder`` has freed the last of them."""

    def prewrite_ran(self, request: KvRequest) -> None:
        """A prewrite has read its snapshot, and what it writes is about to be proposed."""

    def transaction_ended(self, start_ts: int, outcome: str, reason: str) -> None:
        """A client knows the end: ``committed``, ``aborted`` or ``undetermined``."""


_EVENTS: Final = tuple(
    name
    for owner in (RaftstoreProbe, Probe)
    for name, member in vars(owner).items()
    if callable(member) and not name.startswith("_")
)


class Probes(Probe):
    """Several probes as one; each hears only of what it overrides."""

    def __init__(self) -> None:
        self._observers: dict[str, list[Callable[..., None]]] = {}
        self.watches_replicas = self.watches_reads = False

    def add(self, probe: RaftstoreProbe) -> None:
        """Adds an observer."""
        for name in _EVENTS:
            if getattr(type(probe), name, None) in _IGNORING:
                continue
            calls = self._observers.setdefault(name, [])
            calls.append(getattr(probe, name))
            setattr(self, name, calls[0] if len(calls) == 1 else _each_of(calls))
            if name == "applied":
                self.watches_replicas = True
            elif name == "snapshot_read":
                self.watches_reads = True


_IGNORING: Final = [None, *(getattr(Probe, name) for name in _EVENTS)]
"""Methods that do nothing: of an observer that does not override them."""


def _each_of(calls: list[Callable[..., None]]) -> Callable[..., None]:
    def call_all(*args: Any) -> None:
        for call in calls:
            call(*args)

    return call_all
