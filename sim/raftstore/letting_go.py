"""What a replica lets go when it leads no more, or is here no more.

Law: whoever waits is answered once, and locks in memory are gone with a named cause.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sim.protocol.region_errors import RegionError
    from sim.raftstore.peer import Peer
    from sim.server.store import Store


def drop_table(store: Store, peer: Peer, cause: str) -> bool:
    """Empties and closes a replica's lock table; returns whether there was anything in it."""
    locks = peer.locks.all_locks()
    if locks:
        store.probe.table_dropped(peer, locks, cause)
    peer.locks.deactivate(peer.raft.term, peer.region.epoch.version)
    return bool(locks)


def refuse_waiting(
    store: Store, peer: Peer, error: RegionError, *, behind_admin: RegionError
) -> None:
    """Answers what is held back or parked with ``error``, and what waits to fail likewise.

    Args:
        store: where the replica is.
        peer: the replica.
        error: for commands of the batch builder, and requests that wait for a quorum.
        behind_admin: for writes that wait for a split or merge under way.
    """
    held, peer.held = peer.held, []
    for command in held:
        store.writes.refuse(command, error)
    store.serving.answer_parked(peer, error)
    in_flight, peer.in_flight = peer.in_flight, []
    for earlier in in_flight:
        for command in earlier.waiting:
            store.writes.refuse(command, behind_admin)
