"""Whether a command may be proposed: the questions that a peer asks when something is unusual.

Law: they are asked in TiKV's order, and the first that fails decides what the client hears. A
leader to whom nothing unusual happens asks none of them.

Source: tikv/tikv components/raftstore/src/store/peer.rs (pre_propose, propose_normal,
check_proposal_in_merging), util.rs (check_term: one term behind is no matter), fsm/peer.rs
(pre_propose_raft_command).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sim.protocol.raft import LEADER
from sim.protocol.region_errors import (
    DiskFull,
    EpochNotMatch,
    FlashbackInProgress,
    NotLeader,
    ProposalInMergingMode,
    RaftEntryTooLarge,
    RegionError,
    StaleCommand,
)
from sim.storage.request import KvRequest

if TYPE_CHECKING:
    from sim.raftstore.peer import Peer
    from sim.server.cluster import Cluster
    from sim.server.store import Store


class Admission:
    """The door to one store's raft logs."""

    __slots__ = ("_entry_max_bytes", "_probe", "_store")

    def __init__(self, cluster: Cluster, store: Store, entry_max_bytes: int) -> None:
        self._probe = cluster.probe
        self._store = store
        self._entry_max_bytes = entry_max_bytes

    def refresh(self, peer: Peer) -> None:
        """Finds out whether anything is unusual about ``peer``."""
        raft = peer.raft
        peer.unusual = (
            raft.role is not LEADER
            or raft.lead_transferee != 0
            or not peer.has_applied_to_current_term
            or peer.merge is not None
            or peer.state.in_flashback
            or self._store.disk_full
            or any(earlier.admin.changes_version for earlier in peer.in_flight)
        )

    def admit(self, peer: Peer, commands: list[KvRequest]) -> list[KvRequest]:
        """Returns the commands that may be proposed; the others are answered, or wait to fail."""
        admitted = []
        for command in commands:
            error = self._refusal(peer, command)
            if error is not None:
                self._store.writes.refuse(command, error)
            elif not self._parks_behind_admin(peer, command):
                if not peer.has_applied_to_current_term:
                    command.reply_at_proposed = False  # Nobody promises that it will commit.
                admitted.append(command)
        return admitted

    def _refusal(self, peer: Peer, command: KvRequest) -> RegionError | None:
        error = self._region_error(peer, command)
        if error is not None:
            return error
        if self._store.disk_full:
            return DiskFull(self._store.store_id)
        assert command.batch is not None, "only writes are proposed"
        if command.batch.raft_bytes > self._entry_max_bytes:
            return RaftEntryTooLarge(peer.region.region_id, command.batch.raft_bytes)
        return None

    def _region_error(self, peer: Peer, command: KvRequest) -> RegionError | None:
        raft, region_id = peer.raft, peer.region.region_id
        if raft.role is not LEADER:
            return NotLeader(region_id, raft.leader)
        if raft.term > command.term + 1:
            self._probe.mark("propose.stale_term")
            return StaleCommand(region_id)
        if command.region.epoch.version != peer.region.epoch.version:
            self._probe.mark("propose.epoch")
            return EpochNotMatch(self._store.regions_over(command.region))
        if peer.state.in_flashback:
            return FlashbackInProgress(region_id)
        if peer.merge is not None:
            self._probe.mark("propose.fence" if peer.merge.fence else "propose.merging")
            return ProposalInMergingMode(region_id)
        if raft.lead_transferee:
            self._probe.mark("propose.transferring")
            return NotLeader(region_id)
        return None

    def _parks_behind_admin(self, peer: Peer, command: KvRequest) -> bool:
        """Lets a write wait for the split or merge that will make it fail."""
        for earlier in peer.in_flight:
            if earlier.admin.changes_version:
                self._probe.mark("propose.conflict")
                earlier.waiting.append(command)
                return True
        return False
