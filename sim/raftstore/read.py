"""Taking a snapshot: may this replica serve this request now?

Invariant: a leader serves by its lease, or after a quorum has confirmed it; one that has not
applied what was committed before its term waits until it has, and one that does not know what was
committed (no entry of its term is) says so at once. Without a lease a leader serves
nothing while a split is committed that it has not applied, or while its region is being merged:
others may serve its range already. The snapshot's term and region
version stay with the command, and what it reads or writes later is refused if they are over by
then. A command that is run again brings the term of its first snapshot, which may be one behind.

Source: tikv/tikv components/raftstore/src/store/worker/read.rs (LocalReader), peer.rs (read_index,
pre_read_index, ready_to_handle_read, can_amend_read, apply_reads), util.rs (check_term,
check_region_epoch); etcd-io/raft read_only.go; src/storage/mvcc/reader/reader.rs (the lock table's
term and version).
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
from sim.raftstore.peer import Peer, RaftCommand, ReadIndexRequest


class LocalReader:
    """The snapshots of one store."""

    def __init__(self, ctx: StoreContext) -> None:
        self._ctx = ctx

    def may_serve(self, command: RaftCommand, peer: Peer) -> bool:
        """Takes the snapshot; if that cannot be now, the command is answered or waits."""
        current = command.region.epoch.version == peer.locks.version and not command.term
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
        error = self.refusal(command, peer)
        if error is not None:
            self._ctx.callbacks.on_no_snapshot(command, error)
            return False
        if self._ctx.now_ns > peer.lease.until_ns:
            self._ctx.router.deliver(peer, ReadIndex(command))
            return False
        return self._take_snapshot(command, peer)

    def serve(self, command: RaftCommand, peer: Peer) -> None:
        """Gives a command its snapshot that had to wait for it."""
        error = self.refusal(command, peer)
        if error is not None:
            self._ctx.callbacks.on_no_snapshot(command, error)
        elif self._take_snapshot(command, peer):
            self._ctx.callbacks.on_snapshot(command)

    def refusal(self, command: RaftCommand, peer: Peer) -> RegionError | None:
        """Returns why ``peer`` cannot serve ``command`` at all; the lease is another question."""
        region_id = command.region.region_id
        probe = self._ctx.probe
        if peer.gone:
            return RegionNotFound(region_id)
        if peer.raft.role is not LEADER:
            probe.mark("snapshot.not_leader")
            return NotLeader(region_id, peer.raft.leader)
        if command.term and peer.raft.term > command.term + 1:
            probe.mark("snapshot.stale_term")
            return StaleCommand(region_id)
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


class ReadIndexes:
    """Leaders of one store that ask a quorum whether they still lead."""

    def __init__(self, ctx: StoreContext, reader: LocalReader) -> None:
        self._ctx = ctx
        self._reader = reader
        self._lease_ns = ctx.tikv.raft_store_max_leader_lease_ns
        self._last = 0

    def ask(self, peer: Peer, mail: ReadIndex) -> None:
        """Asks the replicas whether this is still the leader, unless that is known or useless."""
        command, now_ns = mail.command, self._ctx.now_ns
        error = self._reader.refusal(command, peer) or self._not_ready(peer)
        if error is not None:
            self._ctx.callbacks.on_no_snapshot(command, error)
        elif now_ns <= peer.lease.until_ns:
            self._reader.serve(command, peer)
        elif self._may_join(peer):
            peer.pending_reads[-1].commands.append(command)
        else:
            self._ctx.ticks.wake_up(peer)
            self._last += 1
            if peer.raft.read_index(self._last):
                self._ctx.probe.mark("snapshot.read_index")
                peer.pending_reads.append(ReadIndexRequest(self._last, now_ns, [command]))
            else:
                stale = StaleCommand(peer.region.region_id)
                self._ctx.callbacks.on_no_snapshot(command, stale)

    def confirmed(self, peer: Peer, contexts: list[int]) -> None:
        """Renews the lease and serves what was pending.

        Whether the lease is renewed is another matter: while leadership is handed over it is not,
        and still what was confirmed is served.
        """
        for read in peer.pending_reads:
            if read.context in contexts:
                read.is_confirmed = True
                if not peer.raft.lead_transferee and peer.may_hold_lease:
                    peer.lease.renew(read.asked_ns, self._lease_ns)
        self.serve_confirmed(peer)

    def serve_confirmed(self, peer: Peer) -> None:
        """Serves what a quorum has confirmed, as soon as the leader has applied enough."""
        if not peer.has_applied_to_current_term or _reason_not_ready(peer):
            return
        pending = peer.pending_reads
        while pending and pending[0].is_confirmed:
            for command in pending.pop(0).commands:
                self._reader.serve(command, peer)

    def _may_join(self, peer: Peer) -> bool:
        """Returns whether the answer to the latest question will do for another request.

        That was asked before the request came, so it says nothing of a leader that hands over, or
        whose lease would be over by now.
        """
        if not peer.pending_reads or peer.raft.lead_transferee:
            return False
        return self._ctx.now_ns < peer.pending_reads[-1].asked_ns + self._lease_ns

    def _not_ready(self, peer: Peer) -> RegionError | None:
        reason = _reason_not_ready(peer)
        if not reason:
            return None
        self._ctx.probe.mark("snapshot.not_ready")
        return ReadIndexNotReady(peer.region.region_id, reason)


def _reason_not_ready(peer: Peer) -> str:
    """Returns why a leader must not ask a quorum, nor serve what one has confirmed; or nothing."""
    if peer.is_splitting:
        return "can not read index due to split"
    return "can not read index due to merge" if peer.is_merging else ""
