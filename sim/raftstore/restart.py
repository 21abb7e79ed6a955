"""A store's process dies, and comes back with what was on its disks.

Invariant: memory is lost: lock tables and commands under way. Raft's entries and votes that were
durable come back, and so do the records that were applied: RocksDB's WAL is not synced, but what is
missing of it is replayed from the raft log to the same end. While the process is down nothing is
received, sent, persisted or applied.

Source: tikv/tikv components/raftstore/src/store/{fsm/store.rs (init), peer_storage.rs}.
"""

from __future__ import annotations

from sim.protocol.mvcc import Mvcc
from sim.raftstore.context import StoreContext
from sim.raftstore.destroy import drop_table
from sim.raftstore.peer import AppliedState, Peer
from sim.raftstore.split import SplitRegion


def crash(ctx: StoreContext, split: SplitRegion) -> list[Peer]:
    """Kills the process; returns the replicas on its disk, which come back with it."""
    ctx.up = False
    ctx.transport.mute = True
    ctx.pd.crash()
    survivors = [survivor for peer in ctx.peers.values() for survivor in _die(ctx, split, peer)]
    ctx.peers.clear()
    for peer in ctx.departed:
        peer.died = True
    ctx.departed.clear()
    ctx.instance.used_bytes = 0
    ctx.pending_messages.clear()
    ctx.store_disk_usages.clear()
    return survivors


def _die(ctx: StoreContext, split: SplitRegion, peer: Peer) -> list[Peer]:
    """Ends a replica; returns its successor, with what was durable.

    Regions that it had split off come back as well; a replica that had been removed does not.
    """
    if drop_table(ctx, peer, "crash"):
        ctx.probe.mark("crash.locks_dropped")
    for notice in peer.notices:
        # Durable and acknowledged; only the poller had not heard of it yet.
        peer.raft.on_persisted(notice.index, notice.term)
    peer.gone = peer.died = True
    peer.lease.expire()
    ctx.ticks.remove(peer)
    state = peer.state
    # What still runs for the dead replica writes to records that nobody reads.
    peer.state = AppliedState(state.region, Mvcc(state.mvcc.lock_format), 0, 0)
    if state.region.stores and ctx.store_id not in state.region.stores:
        return []
    state.cut_to_region()
    children = [split.child(unannounced) for unannounced in state.unannounced]
    state.unannounced = ()
    return [*children, ctx.make_peer(state, peer.raft.crashed())]
