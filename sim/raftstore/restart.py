"""A store's process dies, and comes back with what was on its disks.

Law: memory is gone: lock tables, latches, waiters, commands under way. Raft's entries and votes
that were durable come back, and so do the records that were applied: RocksDB's WAL is not synced,
but what is missing of it is replayed from the raft log to the same end. While the process is down
nothing is heard, sent, persisted or applied.

Source: tikv/tikv components/raftstore/src/store/{fsm/store.rs (init), peer_storage.rs}.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sim.protocol.latches import Latches
from sim.protocol.mvcc import Mvcc
from sim.raftstore.letting_go import drop_table
from sim.raftstore.peer import NO_LEASE, AppliedState, Peer, make_peer
from sim.raftstore.split import cut_to_region

if TYPE_CHECKING:
    from sim.server.store import Store


def crash(store: Store) -> None:
    """Kills the process; its replicas wait on disk for ``restart``."""
    store.up = False
    store.transport.mute = True
    survivors = [survivor for peer in store.peers.values() for survivor in _bury(store, peer)]
    store.peers.clear()
    for peer in store.departed:
        peer.died = True
    store.departed.clear()
    store.instance.used_bytes = 0
    store.latches = Latches(store.latches.size)
    store.scheduler.reset(store.latches)
    store.scheduler.waits = store.make_lock_manager()
    store.apply.forget()
    store.raft_pool.forget()
    store.early_mail.clear()
    store.resting = survivors


def restart(store: Store) -> None:
    """Starts the process again; its replicas follow whoever leads now, or stand for election."""
    store.up = True
    store.transport.mute = False
    resting, store.resting = store.resting, []
    for peer in resting:
        store.adopt(peer)
        store.wake(peer)
        log = peer.raft.log
        if log.committed > log.applying:
            store.raft_pool.commit(peer, peer.raft.take_committed())
        store.admission.refresh(peer)
        if peer.state.merging:
            store.region_life.merge.resume(peer)


def _bury(store: Store, peer: Peer) -> list[Peer]:
    """Marks a replica as dead; returns its successor, with what was durable.

    Replicas that a split had made come into the world now; one that had been removed does not
    come back.
    """
    if drop_table(store, peer, "crash"):
        store.probe.mark("crash.locks_dropped")
    for notice in peer.notices:
        # Durable and acknowledged; only the poller had not heard of it yet.
        peer.raft.on_persisted(notice.index, notice.term)
    peer.gone = peer.died = True
    peer.lease_until_ns = NO_LEASE
    store.ticker.remove(peer)
    state = peer.state
    # Whatever still runs for the dead replica writes into nothing.
    peer.state = AppliedState(state.region, Mvcc(state.mvcc.lock_format), 0, 0)
    if state.region.stores and store.store_id not in state.region.stores:
        return []
    cut_to_region(state)
    children = [store.region_life.split.child(store.store_id, unborn) for unborn in state.unborn]
    state.unborn = ()
    successor = make_peer(
        state.region,
        peer.store,
        state,
        peer.raft.crashed(),
        store.instance,
        peer_limit_bytes=store.peer_limit_bytes,
    )
    return [*children, successor]
