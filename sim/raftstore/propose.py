"""What may be proposed, and proposing it.

Invariant: checks are made in TiKV's order, and the first that fails decides what the sender hears.
A leader to whom nothing unusual happens (``needs_check`` is false) makes none of them.

Source: tikv/tikv components/raftstore/src/store/peer.rs (pre_propose, propose_normal,
check_proposal_in_merging, CmdEpochChecker), util.rs (check_term: a term one behind is accepted;
check_flashback_state),
fsm/peer.rs (pre_propose_raft_command, BatchRaftCmdRequestBuilder).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from sim.protocol.admin import AdminCommand, ChangePeer
from sim.protocol.encoding import ENTRY_OVERHEAD_BYTES
from sim.protocol.percolator import lock_batch
from sim.protocol.raft import LEADER
from sim.protocol.raft.log import Entry
from sim.protocol.records import Lock
from sim.protocol.region_errors import (
    EpochNotMatch,
    FlashbackInProgress,
    NotLeader,
    ProposalInMergingMode,
    RaftEntryTooLarge,
    RegionError,
    StaleCommand,
)
from sim.protocol.write_batch import MIGRATION, WriteBatch
from sim.raftstore.context import StoreContext
from sim.raftstore.disk_full import refusal
from sim.raftstore.msg import Applied, Skipped
from sim.raftstore.peer import AdminProposal, MigratedLocks, Peer, ProposedAdmin, RaftCommand
from sim.transport.messages import DiskUsage

_FULL_SHARE: Final = 0.4
"""Of ``raft-entry-max-size``: an entry with more takes no further command."""


class Proposals:
    """The way into one store's raft logs."""

    def __init__(self, ctx: StoreContext) -> None:
        self._ctx = ctx
        self._merges_commands = ctx.tikv.cmd_batch
        self._entry_max_bytes = ctx.tikv.raft_entry_max_size_bytes
        self._full_entry_bytes = _FULL_SHARE * self._entry_max_bytes

    def refresh(self, peer: Peer) -> None:
        """Finds out whether proposals of ``peer`` are to be checked."""
        raft = peer.raft
        peer.needs_check = (
            raft.role is not LEADER
            or raft.lead_transferee != 0
            or not peer.has_applied_to_current_term
            or peer.merge is not None
            or peer.state.in_flashback
            or self._ctx.disk_usage is not DiskUsage.NORMAL
            or (peer.disk_full is not None and bool(peer.disk_full.usages))
            or any(earlier.admin.changes_version for earlier in peer.proposed_admin)
        )

    def are_ordinary(self, peer: Peer, commands: list[RaftCommand]) -> bool:
        """Returns whether all commands are of the peer's term and version, and none too large."""
        term, region, max_bytes = peer.raft.term, peer.region, self._entry_max_bytes
        for command in commands:
            if command.term != term or command.batch.raft_bytes > max_bytes:  # type: ignore[union-attr]
                return False
            other = command.region  # Nearly always the same object.
            if other is not region and other.epoch.version != region.epoch.version:
                return False
        return True

    def admit(self, peer: Peer, commands: list[RaftCommand]) -> list[RaftCommand]:
        """Returns the commands that may be proposed; the others are answered, or wait to fail."""
        admitted = []
        for command in commands:
            error = self._refusal(peer, command)
            if error is not None:
                self._ctx.callbacks.on_refused(command, error)
            elif not self._waits_to_fail(peer, command):
                if not peer.has_applied_to_current_term:
                    command.reply_at_proposed = False  # Nobody promises that it will commit.
                admitted.append(command)
        return admitted

    def append(self, peer: Peer, commands: list[RaftCommand]) -> None:
        """Puts commands into the leader's log, in one entry if they may share it."""
        if self._merges_commands and sum(map(_raft_bytes, commands)) <= self._full_entry_bytes:
            self._append_entry(peer, commands)
        else:
            for batch in self._batches(commands):
                self._append_entry(peer, batch)

    def _batches(self, commands: list[RaftCommand]) -> Iterator[list[RaftCommand]]:
        """Yields the commands entry by entry: large ones alone, small ones until one is full.

        Source: tikv/tikv store/fsm/peer.rs (can_batch, should_finish).
        """
        batch: list[RaftCommand] = []
        batch_bytes = 0
        for command in commands:
            size_bytes = _raft_bytes(command)
            alone = not self._merges_commands or size_bytes > self._full_entry_bytes / 2
            if batch and (alone or batch_bytes > self._full_entry_bytes):
                yield batch
                batch, batch_bytes = [], 0
            if alone:
                yield [command]
            else:
                batch.append(command)
                batch_bytes += size_bytes
        if batch:
            yield batch

    def append_held(self, peer: Peer) -> None:
        """Proposes at once what the batch builder holds back."""
        held, peer.held = peer.held, ()
        if held:
            self.append(peer, list(held))

    def propose_admin(self, peer: Peer, admin: AdminCommand) -> Entry:
        """Proposes an admin command; writes that it would make fail wait for it from now on.

        What the batch builder holds back has been promised before, and goes first.
        """
        self.append_held(peer)
        proposal = AdminProposal(peer, admin)
        size = ENTRY_OVERHEAD_BYTES + admin.size_bytes
        if isinstance(admin, ChangePeer):
            entry = peer.raft.propose_conf_change([proposal], size)
        else:
            entry = peer.raft.propose([proposal], size)
        if admin.changes_version or admin.changes_conf_ver:
            peer.urgent_index = entry.index
            peer.proposed_admin += (ProposedAdmin(admin, entry.index),)
            peer.needs_check = True
        return entry

    def admin_applied(self, peer: Peer, applied: Applied | Skipped) -> None:
        """Answers the writes that an admin command, applied by now, makes fail."""
        index = applied.log_index
        over = [earlier for earlier in peer.proposed_admin if earlier.index <= index]
        peer.proposed_admin = tuple(
            earlier for earlier in peer.proposed_admin if earlier.index > index
        )
        refuse = self._ctx.callbacks.on_refused
        for earlier in over:
            for command in earlier.waiting:
                if earlier.index == index:
                    refuse(command, EpochNotMatch(self._ctx.regions_over(command.region)))
                else:
                    refuse(command, StaleCommand(peer.region.region_id))
        self.refresh(peer)

    def _append_entry(self, peer: Peer, commands: list[RaftCommand]) -> None:
        size = ENTRY_OVERHEAD_BYTES
        for command in commands:
            size += command.batch.raft_bytes  # type: ignore[union-attr]
        peer.raft.propose(commands, size).proposed_ns = self._ctx.env.now_ns

    def _refusal(self, peer: Peer, command: RaftCommand) -> RegionError | None:
        error = self._region_error(peer, command)
        if error is not None:
            return error
        if _raft_bytes(command) > self._entry_max_bytes:
            return RaftEntryTooLarge(peer.region.region_id, _raft_bytes(command))
        return None

    def _region_error(self, peer: Peer, command: RaftCommand) -> RegionError | None:
        raft, region_id, probe = peer.raft, peer.region.region_id, self._ctx.probe
        if raft.role is not LEADER:
            return NotLeader(region_id, raft.leader)
        if raft.term > command.term + 1:
            probe.mark("propose.stale_term")
            return StaleCommand(region_id)
        if command.region.epoch.version != peer.region.epoch.version:
            probe.mark("propose.epoch")
            return EpochNotMatch(self._ctx.regions_over(command.region))
        if peer.state.in_flashback:
            return FlashbackInProgress(region_id)
        full = refusal(self._ctx, peer, allowed_on_almost_full=command.allowed_on_almost_full)
        if full is not None:
            return full
        if peer.merge is not None:  # Merging, it has given no snapshot for its present version.
            probe.mark("propose.fence")
            return ProposalInMergingMode(region_id)
        if raft.lead_transferee:
            probe.mark("propose.transferring")
            return NotLeader(region_id)
        return None

    def _waits_to_fail(self, peer: Peer, command: RaftCommand) -> bool:
        """Puts a write behind the split or merge under way that will make it fail."""
        for earlier in peer.proposed_admin:
            if earlier.admin.changes_version:
                self._ctx.probe.mark("propose.conflict")
                earlier.waiting.append(command)
                return True
        return False


def _raft_bytes(command: RaftCommand) -> int:
    assert command.batch is not None, "only writes are proposed"
    return command.batch.raft_bytes


def conflicts(peer: Peer, admin: AdminCommand) -> bool:
    """Returns whether a flashback, or an admin command under way, would make ``admin`` fail.

    A leader that has not applied all of its predecessors' entries does not know what is under way.
    """
    if peer.state.in_flashback and not admin.is_flashback:
        return True
    if not (peer.has_applied_to_current_term or isinstance(admin, ChangePeer)):
        return True
    return any(admin.conflicts_with(earlier.admin) for earlier in peer.proposed_admin)


def migration_batch(locks: Sequence[tuple[bytes, Lock]]) -> WriteBatch:
    """Returns the one command that makes locks in memory persistent."""
    return lock_batch(list(locks), MIGRATION)


def propose_locks(peer: Peer, batch: WriteBatch) -> Entry:
    """Proposes locks of the table, in one entry of their own."""
    size = ENTRY_OVERHEAD_BYTES + batch.raft_bytes
    return peer.raft.propose([MigratedLocks(peer, batch)], size)
