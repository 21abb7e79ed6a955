"""Full disks: what a region still takes when the disks of its leader or followers are full.

A store's disk is almost full (its reserved space is touched) or already full. It says so in every
raft message; leaders keep what they have heard. While the disk of a leader is almost full it
refuses prewrites and pessimistic locks, and takes commits, rollbacks and admin commands; while it
is already full it takes only changes of replicas. Each refusal asks a follower with room to take
over. Followers without room are sent no entries, unless a majority has none: then those with most
room and most entries complete the quorum, one append at a time.

Source: tikv/tikv components/raftstore/src/store/peer.rs (check_normal_proposal_with_disk_full_opt,
refill_disk_full_peers, clear_disk_full_peers), fsm/peer.rs (handle_reported_disk_usage).
"""

from __future__ import annotations

from sim.protocol.admin import AdminCommand, PrepareMerge, RollbackMerge
from sim.protocol.raft import LEADER
from sim.protocol.raft.quorum import is_majority
from sim.protocol.region_errors import DiskFull
from sim.raftstore.context import StoreContext
from sim.raftstore.msg import StartTransfer
from sim.raftstore.peer import DiskFullPeers, Peer
from sim.transport.messages import DiskUsage, DiskUsageReport


def report_received(ctx: StoreContext, report: DiskUsageReport) -> None:
    """Notes what another store says of its disk, for every region that it has written about."""
    full = report.usage is not DiskUsage.NORMAL
    if full:
        ctx.store_disk_usages[report.store] = report.usage
    else:
        ctx.store_disk_usages.pop(report.store, None)
    for region_id in report.region_ids:
        peer = ctx.peers.get(region_id)
        if peer is None or peer.raft.role is not LEADER:
            continue
        known = peer.disk_full
        before = known.usages.get(report.store) if known is not None else None
        if before is not (report.usage if full else None) or (known and known.merge_index):
            refill(ctx, peer)


def refill(ctx: StoreContext, peer: Peer) -> None:
    """Finds out again which followers are full, and which of them are sent entries."""
    clear(peer)
    raft = peer.raft
    stores = [store for store in peer.region.stores if store in raft.matched]
    usages: dict[int, DiskUsage] = {
        store: ctx.store_disk_usages[store] for store in stores if store in ctx.store_disk_usages
    }
    known = peer.disk_full
    if known is None:
        if not usages:
            return
        known = peer.disk_full = DiskFullPeers()
    next_index = {store: progress.next_index for store, progress in raft.progress.items()}
    next_index[peer.store] = raft.log.last_index + 1
    if min(next_index.values()) > known.merge_index:
        known.merge_index = 0
    known.usages = usages
    if usages:
        known.majority = not is_majority(set(stores) - set(usages), raft.voters)
        known.helpful = _needed(known, next_index)
        for store in usages:
            limit = raft.max_inflight if known.merge_index else 1
            raft.limit_inflight(store, limit if store in known.helpful else 0)
    peer.needs_check = True
    ctx.router.visit(peer)  # There may be something to send now.


def clear(peer: Peer) -> None:
    """Forgets which followers are full; they are sent everything again."""
    known = peer.disk_full
    if known is not None:
        for store in known.usages:
            peer.raft.limit_inflight(store, peer.raft.max_inflight)
        known.usages, known.helpful, known.majority = {}, set(), False


def _needed(known: DiskFullPeers, next_index: dict[int, int]) -> set[int]:
    """Returns the full followers that are sent entries; finds out whether that is dangerous."""
    usages = known.usages
    needed = set()
    if known.merge_index:
        needed = {store for store in usages if usages[store] is DiskUsage.ALMOST_FULL}
    if not known.majority:
        return needed
    best = sorted(
        next_index,
        key=lambda store: (usages.get(store, DiskUsage.NORMAL), -next_index[store]),
    )
    quorum = set(best[: len(next_index) // 2 + 1])
    known.dangerous = any(usages.get(store) is DiskUsage.ALREADY_FULL for store in quorum)
    return needed | (quorum & set(usages))


def refusal(ctx: StoreContext, peer: Peer, *, allowed_on_almost_full: bool) -> DiskFull | None:
    """Returns why something may not be proposed now, None if it may.

    A leader whose own disk is in the way asks a follower with room to take over.
    """
    usage, known = ctx.disk_usage, peer.disk_full
    if usage is DiskUsage.ALREADY_FULL or (
        usage is DiskUsage.ALMOST_FULL and not allowed_on_almost_full
    ):
        ctx.probe.mark("propose.disk_full")
        if known is None or not known.majority:
            _ask_to_take_over(ctx, peer)
        return DiskFull((ctx.store_id,))
    if known is None or not known.usages:
        return None
    if not known.dangerous and (not known.majority or (allowed_on_almost_full and known.helpful)):
        return None
    ctx.probe.mark("propose.majority_full")
    return DiskFull(tuple(store for store in peer.region.stores if store in known.usages))


def admits_admin(ctx: StoreContext, peer: Peer) -> bool:
    """Returns whether an admin command, or the locks of a table, may be proposed."""
    return refusal(ctx, peer, allowed_on_almost_full=True) is None


def merge_step_proposed(ctx: StoreContext, peer: Peer, admin: AdminCommand, index: int) -> None:
    """Sends a step of a merge to all followers whose disks are not already full."""
    known = peer.disk_full
    full = ctx.disk_usage is not DiskUsage.NORMAL or (known is not None and known.usages)
    if full and isinstance(admin, PrepareMerge | RollbackMerge):
        if known is None:
            known = peer.disk_full = DiskFullPeers()
        known.merge_index = index
        for store, usage in known.usages.items():
            if usage is DiskUsage.ALMOST_FULL:
                known.helpful.add(store)
                peer.raft.limit_inflight(store, peer.raft.max_inflight)


def _ask_to_take_over(ctx: StoreContext, peer: Peer) -> None:
    full = peer.disk_full.usages if peer.disk_full is not None else {}
    for store in peer.region.stores:
        if store not in full and store != peer.store:
            ctx.probe.mark("transfer.disk_full")
            ctx.router.deliver(peer, StartTransfer(store))
            return
