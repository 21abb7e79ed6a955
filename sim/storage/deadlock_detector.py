"""The cluster's deadlock detector: where it is, and how to reach it.

It lives on the leader of the region that holds the first key. The rule that finds a cycle is in
``sim.protocol.detect_table``.

Source: tikv/tikv src/server/lock_manager/deadlock.rs.
"""

from sim.hardware.network import Link, Network
from sim.protocol.detect_table import DetectTable
from sim.raftstore.peer import Peer
from sim.raftstore.probe import RaftstoreProbe
from sim.transport.nodes import store_name


class Detector:
    """The one deadlock detector, on the store that leads the first region, and the ways to it.

    Its table is emptied whenever that region gets a leader, loses it, or changes. Other stores know
    at once where it is; TiKV's ask PD when their connection to it breaks.

    Attributes:
        store: where it is; 0 while the first region has no leader, and requests are lost.

    Source: tikv/tikv src/server/lock_manager/deadlock.rs (RoleChangeNotifier, change_role).
    """

    def __init__(
        self, store: int, timeout_ns: int, network: Network, probe: RaftstoreProbe
    ) -> None:
        self._timeout_ns = timeout_ns
        self._network = network
        self._probe = probe
        self.store = store
        self.table = DetectTable(timeout_ns)

    def role_or_region_changed(self, peer: Peer) -> None:
        """Follows the first region's leader; other regions have nothing to do with it."""
        if not peer.region.start_key:
            stays = peer.store in peer.region.stores
            self._change_role(peer.store, leads=peer.is_leader and stays)

    def store_crashed(self, store: int) -> None:
        """Loses the table if it was on that store."""
        self._change_role(store, leads=False)

    def _change_role(self, store: int, *, leads: bool) -> None:
        if leads or store == self.store:
            self.store = store if leads else 0
            if not self.table.is_empty:
                self._probe.mark("detector.forgets")
            self.table = DetectTable(self._timeout_ns)

    def link_from(self, store: int) -> Link | None:
        """Returns the way to the detector; None: it is on this store."""
        if store == self.store:
            return None
        return self._network.link(store_name(store), store_name(self.store))

    def link_to(self, store: int) -> Link | None:
        """Returns the way back; None: it is on this store."""
        if store == self.store:
            return None
        return self._network.link(store_name(self.store), store_name(store))
