"""What an entry's payload may hold besides requests: locks on the move, and admin commands.

Law: every command of an entry has a ``batch``, the ``region`` it was proposed for and the ``peer``
that proposed it, so that log, engines and apply threads treat all alike.

Source: tikv/tikv components/raftstore/src/store/peer.rs (propose_locks_before_transfer_leader,
propose_locks_before_prepare_merge), kvproto ``raft_cmdpb.proto`` (AdminRequest).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sim.protocol.write_batch import ADMIN, WriteBatch

if TYPE_CHECKING:
    from sim.protocol.admin import AdminCommand
    from sim.protocol.region import Region
    from sim.raftstore.peer import Peer


class Migration:
    """Locks of a table, written to the lock CF of every replica."""

    __slots__ = ("batch", "peer", "region")

    def __init__(self, peer: Peer, batch: WriteBatch) -> None:
        self.peer = peer
        self.region: Region = peer.region
        self.batch = batch


class AdminProposal:
    """An admin command on its way through Raft; it is alone in its entry."""

    __slots__ = ("admin", "batch", "peer", "region")

    def __init__(self, peer: Peer, admin: AdminCommand) -> None:
        self.peer = peer
        self.region: Region = peer.region
        self.admin = admin
        self.batch = WriteBatch(ADMIN)
        self.batch.raft_bytes = admin.size_bytes
        self.batch.wal_bytes = admin.size_bytes
