"""What the parts of one store's raftstore share.

It knows who is here and how to reach them, and decides nothing. Each part takes it instead of the
store, so that no part needs to know the whole.

Source: tikv/tikv components/raftstore/src/store/fsm/store.rs (StoreMeta, PollContext).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from sim.engine import LeanEnv
from sim.pd.client import PdClient
from sim.protocol.ablations import Ablations
from sim.protocol.concurrency_manager import ConcurrencyManager
from sim.protocol.lock_table import InstanceMemory
from sim.protocol.raft import RaftPeer
from sim.protocol.region import Region
from sim.protocol.region_errors import RegionError
from sim.raftstore.bootstrap import ReplicaFactory
from sim.raftstore.failpoints import FailPoints
from sim.raftstore.peer import AppliedState, Peer, RaftCommand, make_peer
from sim.raftstore.probe import RaftstoreProbe
from sim.raftstore.router import Router
from sim.raftstore.ticks import Ticks
from sim.scenario.schema.tikv import Tikv
from sim.scenario.versions import Version
from sim.transport.messages import DiskUsage, RaftMessage
from sim.transport.transport import Transport


class Callbacks(Protocol):
    """How the layer above hears what becomes of its commands (msg.rs: Callback), and replicas."""

    def on_proposed(self, command: RaftCommand, at_ns: int) -> None:
        """The command is proposed; that is known at ``at_ns``."""

    def on_applied(self, command: RaftCommand) -> None:
        """The command is applied on the replica that proposed it."""

    def on_refused(self, command: RaftCommand, error: RegionError) -> None:
        """The command is not proposed, or will never be applied."""

    def on_role_or_region_changed(self, peer: Peer) -> None:
        """A replica on this store has another role, or another region (RoleChangeNotifier)."""

    def on_snapshot(self, command: RaftCommand) -> None:
        """A command that waited for a quorum has its snapshot."""

    def on_no_snapshot(self, command: RaftCommand, error: RegionError) -> None:
        """A command gets no snapshot."""


class StoreContext:
    """One store's peers, and what their handlers need."""

    callbacks: Callbacks
    """Set once the storage layer stands."""

    def __init__(  # noqa: PLR0913 - what PollContext holds, named
        self,
        env: LeanEnv,
        store_id: int,
        *,
        tikv: Tikv,
        version: Version,
        probe: RaftstoreProbe,
        failpoints: FailPoints,
        transport: Transport,
        pd: PdClient,
        replicas: ReplicaFactory,
        concurrency: ConcurrencyManager,
        create_replicas: Callable[[int], object],
        tombstones: dict[int, dict[int, Region]],
    ) -> None:
        self.env = env
        self.store_id = store_id
        self.tikv = tikv
        self.ablations = Ablations.of(tikv.ablations)
        self.version = version
        """The version of TiKV that the process runs."""
        self.probe = probe
        self.failpoints = failpoints
        self.transport = transport
        self.pd = pd
        self.replicas = replicas
        self.concurrency = concurrency
        self.create_replicas = create_replicas
        """Makes the replicas of a region that nobody has touched yet."""
        self.up = True
        """Whether the process runs."""
        self.disk_usage = DiskUsage.NORMAL
        """How full this store's disk is."""
        self.store_disk_usages: dict[int, DiskUsage] = {}
        """Other stores whose disks are full, as they have said."""
        self.router = Router(env)
        self.ticks = Ticks(env, tikv, self.router)
        self.peers: dict[int, Peer] = {}
        self.ever_here: set[int] = set()
        """Regions of which there is or was a replica: what a restart finds on the disk."""
        self.departed: list[Peer] = []
        """Replicas that have left; commands under way may still come back to them."""
        self.pending_messages: dict[int, list[RaftMessage]] = {}
        """By region: messages for a replica that is not here yet (StoreMeta.pending_msgs)."""
        self.tombstones = tombstones
        self.merged_into = tombstones.setdefault(store_id, {})
        """By store, and here: regions that are no more, and the region that came of their merge."""
        self.peer_limit_bytes = tikv.in_memory_peer_size_limit_bytes
        self.instance = InstanceMemory(tikv.in_memory_instance_size_limit_bytes)

    @property
    def now_ns(self) -> int:
        """The simulated time."""
        return self.env.now_ns

    def regions_over(self, region: Region) -> tuple[Region, ...]:
        """Returns the regions on this store that have keys of ``region``, by key."""
        here = [peer.region for peer in self.peers.values() if peer.region.overlaps(region)]
        return tuple(sorted(here, key=lambda each: each.start_key))

    def make_peer(self, state: AppliedState, raft: RaftPeer) -> Peer:
        """Returns a replica for this store, which ``add`` takes in."""
        return make_peer(
            self.store_id, state, raft, self.instance, peer_limit_bytes=self.peer_limit_bytes
        )

    def add(self, peer: Peer) -> None:
        """Takes a replica in."""
        self.peers[peer.region.region_id] = peer
        self.ever_here.add(peer.region.region_id)
        self.ticks.add(peer)

    def deliver_pending(self, peer: Peer) -> None:
        """Gives a new replica the messages that came before it was here."""
        messages: Sequence[RaftMessage] = self.pending_messages.pop(peer.region.region_id, ())
        for message in messages:
            self.router.deliver(peer, message)
