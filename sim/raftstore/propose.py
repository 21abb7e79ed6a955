"""Proposing what is no request: admin commands, and locks on the move.

Source: tikv/tikv components/raftstore/src/store/peer.rs (propose_raft_command, CmdEpochChecker).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sim.protocol.admin import ChangePeer
from sim.protocol.encoding import ENTRY_OVERHEAD_BYTES
from sim.protocol.percolator import lock_batch
from sim.protocol.write_batch import MIGRATION
from sim.raftstore.in_flight import InFlight
from sim.raftstore.proposal import AdminProposal, Migration

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sim.protocol.admin import AdminCommand
    from sim.protocol.raft.log import Entry
    from sim.protocol.records import Lock
    from sim.protocol.write_batch import WriteBatch
    from sim.raftstore.peer import Peer


def conflict(peer: Peer, admin: AdminCommand) -> bool:
    """Returns whether something that is under way would make ``admin`` fail."""
    return any(admin.conflicts_with(earlier.admin) for earlier in peer.in_flight)


def propose_admin(peer: Peer, admin: AdminCommand) -> Entry:
    """Proposes an admin command; writes that it would make fail wait for it from now on."""
    proposal = AdminProposal(peer, admin)
    size = ENTRY_OVERHEAD_BYTES + admin.size_bytes
    if isinstance(admin, ChangePeer):
        entry = peer.raft.propose_conf_change([proposal], size)
    else:
        entry = peer.raft.propose([proposal], size)
    if admin.changes_version or admin.changes_conf_ver:
        peer.urgent_index = entry.index
        peer.in_flight.append(InFlight(admin, entry.index, entry.term))
        peer.unusual = True
    return entry


def migration_batch(locks: Sequence[tuple[bytes, Lock]]) -> WriteBatch:
    """Returns the one command that makes locks in memory persistent."""
    return lock_batch(list(locks), MIGRATION)


def propose_locks(peer: Peer, batch: WriteBatch) -> Entry:
    """Proposes locks of the table, in one entry of their own."""
    size = ENTRY_OVERHEAD_BYTES + batch.raft_bytes
    return peer.raft.propose([Migration(peer, batch)], size)
