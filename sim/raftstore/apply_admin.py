"""Admin commands in the apply thread: what they change in one replica's records and region.

Law: an admin command whose epoch is over when it is applied changes nothing. Each result goes to
the raftstore as mail; until that is read, the raftstore believes the old region.

Source: tikv/tikv components/raftstore/src/store/fsm/apply.rs (exec_admin_cmd).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sim.protocol.admin import (
    ChangePeer,
    CommitMerge,
    FinishFlashback,
    PrepareFlashback,
    PrepareMerge,
    RollbackMerge,
    Split,
    TransferLeaderCommand,
)
from sim.protocol.region import Region, RegionEpoch
from sim.raftstore.membership import Replicas
from sim.raftstore.msg import Applied, Skipped
from sim.raftstore.split import SplitRegion, cut_to_region

if TYPE_CHECKING:
    from sim.protocol.admin import AdminCommand
    from sim.protocol.raft.log import Entry
    from sim.raftstore.peer import Peer
    from sim.raftstore.proposal import AdminProposal
    from sim.server.cluster import Cluster
    from sim.server.store import Store


class ApplyAdmin:
    """Carries out admin commands on the replicas of one store."""

    __slots__ = ("_cluster", "_store")

    def __init__(self, cluster: Cluster, store: Store) -> None:
        self._cluster = cluster
        self._store = store

    def apply(self, peer: Peer, proposal: AdminProposal, entry: Entry) -> None:
        """Applies one command, or skips it, and lets the raftstore know."""
        state = peer.state
        if self._is_over(proposal, state.region):
            self._store.raft_pool.deliver(peer, Skipped(entry.index))
        else:
            self._store.raft_pool.deliver(peer, self._execute(peer, proposal.admin, entry.index))

    @staticmethod
    def _is_over(proposal: AdminProposal, region: Region) -> bool:
        admin, proposed = proposal.admin, proposal.region.epoch
        if isinstance(admin, TransferLeaderCommand):
            return admin.checks_epoch and proposed != region.epoch
        return (admin.checks_version and proposed.version != region.epoch.version) or (
            admin.checks_conf_ver and proposed.conf_ver != region.epoch.conf_ver
        )

    def _execute(self, peer: Peer, admin: AdminCommand, index: int) -> Applied:
        state = peer.state
        if isinstance(admin, Split):
            return SplitRegion.apply(peer, admin, index)
        if isinstance(admin, ChangePeer):
            return Replicas.apply(peer, admin, index)
        if isinstance(admin, PrepareMerge):
            epoch = RegionEpoch(state.region.epoch.conf_ver + 1, state.region.epoch.version + 1)
            region = state.region
            state.region = Region(
                region.region_id, region.start_key, region.end_key, region.stores, epoch
            )
            state.merging, state.merge_command = index, admin
        elif isinstance(admin, RollbackMerge):
            if state.merging == admin.commit:
                state.region = state.region.with_version(state.region.epoch.version + 1)
                state.merging, state.merge_command = 0, None
        elif isinstance(admin, PrepareFlashback | FinishFlashback):
            state.in_flashback = isinstance(admin, PrepareFlashback)
        elif isinstance(admin, CommitMerge):
            self._take_over(peer, admin)
        return Applied(admin, index, state.region)

    def _take_over(self, peer: Peer, command: CommitMerge) -> None:
        """Brings the source's replica on this store up to date, and takes its records."""
        source = self._store.peers[command.source.region_id]
        self._catch_up(source, command)
        cut_to_region(source.state)
        state, region = peer.state, peer.state.region
        state.mvcc.absorb(source.state.mvcc)
        left, right = sorted([region, command.source], key=lambda each: each.start_key)
        version = max(region.epoch.version, command.source.epoch.version) + 1
        state.region = region.with_range(left.start_key, right.end_key, version)
        self._store.merged_into[source.region.region_id] = region.region_id
        self._store.destroy(source, "merged")

    def _catch_up(self, source: Peer, command: CommitMerge) -> None:
        """Applies what the source's replica has not, from its own log and from the command."""
        applied = source.state.applied
        if applied >= command.commit:
            return
        self._cluster.probe.mark("merge.catch_up")
        first = command.entries[0].index if command.entries else command.commit + 1
        own = [entry for entry in source.raft.log.since(applied + 1) if entry.index < first]
        missing = [entry for entry in command.entries if entry.index > applied]
        source.apply_queue = []
        self._store.apply.catch_up(source, [*own, *missing])
