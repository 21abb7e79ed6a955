"""Taking a snapshot: may this replica serve this request now?

Invariant: a leader serves by its lease, or after a quorum has confirmed it; one that has not
applied what was committed before its term waits until it has. Without a lease a leader serves
nothing while a split is committed that it has not applied, or while its region is being merged:
others may serve its range already. The snapshot's term and region
version stay with the command, and what it reads or writes later is refused if they are over by
then.

Source: tikv/tikv components/raftstore/src/store/worker/read.rs (LocalReader), peer.rs (read_index,
pre_read_index, ready_to_handle_read, pending_reads), util.rs (check_region_epoch);
src/storage/mvcc/reader/reader.rs (the lock table's term and version); etcd-io/raft read_only.go.
"""

from __future__ import annotations

from sim.protocol.raft import LEADER
from sim.protocol.region_errors import (
    EpochNotMatch,
    FlashbackInProgress,
    NotLeader,
    ReadIndexNotReady,
    RegionError,
    RegionNotFound,
    StaleCommand,
)
from sim.raftstore.context import StoreContext
from sim.raftstore.msg import ReadIndex
from sim.raftstore.peer import Peer, RaftCommand


class LocalReader:
    """The snapshots of one store."""

    def __init__(self, ctx: StoreContext) -> None:
        self._ctx = ctx

    def may_serve(self, command: RaftCommand, peer: Peer) -> bool:
        """Takes the snapshot; if that cannot be now, the command is answered or waits."""
        current = command.region.epoch.version == peer.locks.version
        if current and self._ctx.env.now_ns <= peer.lease.until_ns and peer.merge is None:
            command.term = peer.raft.term
            return True
        return self._check_all(command, peer)

    def changed_since(self, command: RaftCommand, peer: Peer) -> RegionError | None:
        """Returns what a command finds when it reads the lock table after its snapshot."""
        locks, ablations = peer.locks, self._ctx.ablations
        if peer.gone:
            return RegionNotFound(command.region.region_id)
        if command.term != locks.term and not ablations.no_term_check:
            return StaleCommand(peer.region.region_id)
        if command.region.epoch.version != locks.version and not ablations.no_version_check:
            return EpochNotMatch(self._ctx.regions_over(command.region))
        return None

    def _check_all(self, command: RaftCommand, peer: Peer) -> bool:
        if peer.died:
            return False
        error = self._refusal(command, peer)
        if error is not None:
            self._ctx.callbacks.on_no_snapshot(command, error)
            return False
        if self._ctx.now_ns > peer.lease.until_ns:
            reason = _not_ready(peer)
            if reason:
                self._ctx.probe.mark("snapshot.not_ready")
                error = ReadIndexNotReady(command.region.region_id, reason)
                self._ctx.callbacks.on_no_snapshot(command, error)
                return False
            peer.pending_reads.append(command)
            if len(peer.pending_reads) == 1 and peer.has_applied_to_current_term:
                self._ctx.router.deliver(peer, ReadIndex())
            return False
        return self._take_snapshot(command, peer)

    def serve_pending(self, peer: Peer) -> None:
        """Serves what waited for a quorum, which has confirmed the leader.

        Whether that renews the lease is another matter: while leadership is handed over it does
        not, and still what was confirmed is served. A leader that is not ready asks again when it
        is.
        """
        if _not_ready(peer):
            return
        pending, peer.pending_reads = peer.pending_reads, []
        for command in pending:
            error = self._refusal(command, peer)
            if error is not None:
                self._ctx.callbacks.on_no_snapshot(command, error)
            elif self._take_snapshot(command, peer):
                self._ctx.callbacks.on_snapshot(command)

    def _refusal(self, command: RaftCommand, peer: Peer) -> RegionError | None:
        """Returns why ``peer`` cannot serve ``command`` at all; the lease is another question."""
        region_id = command.region.region_id
        probe = self._ctx.probe
        if peer.gone:
            return RegionNotFound(region_id)
        if peer.raft.role is not LEADER:
            probe.mark("snapshot.not_leader")
            return NotLeader(region_id, peer.raft.leader)
        if command.region.epoch.version != peer.region.epoch.version:
            probe.mark("snapshot.epoch")
            return EpochNotMatch(self._ctx.regions_over(command.region))
        if peer.state.in_flashback:
            return FlashbackInProgress(region_id)
        return None

    def _take_snapshot(self, command: RaftCommand, peer: Peer) -> bool:
        """Gives a command its snapshot, unless the lock table is of another version by now."""
        command.term = peer.raft.term
        error = self.changed_since(command, peer)
        if error is not None:
            self._ctx.callbacks.on_no_snapshot(command, error)
        return error is None


def _not_ready(peer: Peer) -> str:
    """Returns why a leader must not ask a quorum, nor serve what one has confirmed; or nothing."""
    if peer.is_splitting:
        return "can not read index due to split"
    return "can not read index due to merge" if peer.is_merging else ""


class ReadIndexes:
    """Leaders of one store that ask a quorum whether they still lead."""

    def __init__(self, ctx: StoreContext, reader: LocalReader) -> None:
        self._ctx = ctx
        self._reader = reader
        self._lease_ns = ctx.tikv.raft_store_max_leader_lease_ns
        self._last = 0
        self._asked_ns: dict[int, tuple[int, int]] = {}
        """By context: when it was asked, and in which term."""

    def ask(self, peer: Peer, _: ReadIndex) -> None:
        """Asks the replicas whether this is still the leader, for all requests pending so far."""
        if peer.raft.role is not LEADER or not peer.has_applied_to_current_term:
            return
        self._last += 1
        self._asked_ns[self._last] = (self._ctx.now_ns, peer.raft.term)
        self._ctx.probe.mark("snapshot.read_index")
        self._ctx.ticks.wake_up(peer)
        peer.raft.read_index(self._last)

    def confirmed(self, peer: Peer, contexts: list[int]) -> None:
        """Renews the lease and serves what was pending."""
        for context in contexts:
            asked_ns, term = self._asked_ns.pop(context, (0, 0))
            if term == peer.raft.term and not peer.raft.lead_transferee and peer.may_hold_lease:
                peer.lease.renew(asked_ns, self._lease_ns)
        self._reader.serve_pending(peer)
