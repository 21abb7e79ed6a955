"""An admin command that has been proposed and not yet applied, and who waits to fail with it.

Source: tikv/tikv components/raftstore/src/store/peer.rs (CmdEpochChecker).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sim.protocol.admin import AdminCommand
    from sim.storage.request import KvRequest


class InFlight:
    """One such command."""

    __slots__ = ("admin", "index", "term", "waiting")

    def __init__(self, admin: AdminCommand, index: int, term: int) -> None:
        self.admin = admin
        self.index = index
        self.term = term
        self.waiting: list[KvRequest] = []
        """Writes that were refused because of it; they get EpochNotMatch when it is applied."""
