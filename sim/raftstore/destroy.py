"""What ends when a replica no longer leads, or leaves the store.

Invariant: each waiting command is answered once, and locks in memory are gone with a named cause.

Source: tikv/tikv components/raftstore/src/store/fsm/peer.rs (destroy_peer), peer.rs
(clear_in_memory_pessimistic_locks, notify_pending), read_queue.rs
(clear_uncommitted_on_role_change, clear_all).
"""

from __future__ import annotations

from sim.protocol.raft.log import Entry
from sim.protocol.region_errors import RegionError, RegionNotFound, StaleCommand
from sim.raftstore.context import StoreContext
from sim.raftstore.msg import ReadIndex
from sim.raftstore.peer import Peer, RaftCommand


def destroy(ctx: StoreContext, peer: Peer, cause: str) -> None:
    """Removes a replica whose region has left this store."""
    peer.gone = True
    ctx.departed.append(peer)
    ctx.peers.pop(peer.region.region_id, None)
    ctx.router.withdraw(peer)
    ctx.ticks.remove(peer)
    drop_table(ctx, peer, cause)
    error = RegionNotFound(peer.region.region_id)
    refuse_waiting(ctx, peer, error, waiting=error)
    mailbox, peer.mailbox = peer.mailbox, []
    for message in mailbox:
        if isinstance(message, RaftCommand):
            ctx.callbacks.on_refused(message, error)
        elif isinstance(message, ReadIndex):
            ctx.callbacks.on_no_snapshot(message.command, error)
    for entry in peer.raft.log.since(peer.raft.log.first_index):
        if entry.index > peer.state.applied:
            refuse_lost_entry(ctx, peer, entry)


def drop_table(ctx: StoreContext, peer: Peer, cause: str) -> bool:
    """Empties and closes a replica's lock table; returns whether there was anything in it."""
    locks = peer.locks.all_locks()
    if locks:
        ctx.probe.table_dropped(peer, locks, cause)
    peer.locks.deactivate(peer.raft.term, peer.region.epoch.version)
    return bool(locks)


def refuse_waiting(
    ctx: StoreContext, peer: Peer, error: RegionError, *, waiting: RegionError
) -> None:
    """Answers what is held back or waits for something.

    Args:
        ctx: the replica's store.
        peer: the replica.
        error: for commands of the batch builder.
        waiting: for reads that wait for a quorum, and writes that wait for a split or merge.
    """
    refuse = ctx.callbacks.on_refused
    held, peer.held = peer.held, ()
    for command in held:
        refuse(command, error)
    pending, peer.pending_reads = peer.pending_reads, []
    for read in pending:
        for command in read.commands:
            ctx.callbacks.on_no_snapshot(command, waiting)
    under_way, peer.proposed_admin = peer.proposed_admin, ()
    for earlier in under_way:
        for command in earlier.waiting:
            refuse(command, waiting)


def refuse_lost_entry(ctx: StoreContext, peer: Peer, entry: Entry) -> None:
    """Tells the senders of an entry's commands that it will never be applied."""
    for command in commands_proposed_by(peer, entry):
        ctx.probe.mark("log.truncated")
        ctx.callbacks.on_refused(command, StaleCommand(peer.region.region_id))


def commands_proposed_by(peer: Peer, entry: Entry) -> list[RaftCommand]:
    """Returns the commands of an entry that ``peer`` has proposed for others."""
    payload: list[RaftCommand] = entry.payload
    return [command for command in payload if command.peer is peer and command.is_write]
