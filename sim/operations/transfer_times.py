"""How long PD's orders to move a leader take, and how many come to nothing.

Law: an order begins when PD gives it and ends when PD hears from the leader that it wanted: what PD
logs as ``operator finish`` with ``takes``. One that has not ended after ten seconds has failed
(``timeout``), and so has one that another order for its region replaces (``replaced``). Leaders
that move by an election are nobody's order.

Nothing is put into the event queue: what has run out of time is found at the next look.

Source: tikv/pd server/schedule/operator (RunningTime, FastOperatorWaitTime), operator_controller.go
(Dispatch: a heartbeat of the region ends its operator).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sim.operations.transfers import OPERATOR_TIMEOUT_NS
from sim.storage.probe import Probe

if TYPE_CHECKING:
    from sim.engine import LeanEnv
    from sim.protocol.region import Region
    from sim.raftstore.peer import Peer
    from sim.record.recorder import Recorder


class _Order:
    """One order that has not ended."""

    __slots__ = ("ordered_ns", "to_store", "way")

    def __init__(self, to_store: int, ordered_ns: int) -> None:
        self.to_store = to_store
        self.ordered_ns = ordered_ns
        self.way = "direct"
        """``command``, if the old leader has proposed a TransferLeader command before it went."""


class TransferTimes(Probe):
    """Feeds the series ``leader_transfer`` and the counter ``leader_transfers_failed``."""

    def __init__(self, env: LeanEnv, recorder: Recorder) -> None:
        self._env = env
        self._recorder = recorder
        self._orders: dict[int, _Order] = {}

    def transfer_ordered(self, region_id: int, to_store: int) -> None:
        """Begins an order; one that its region had is replaced, unless its time is over."""
        self.look()
        if region_id in self._orders:
            self._fail(region_id, "replaced")
        self._orders[region_id] = _Order(to_store, self._env.now_ns)

    def transfer_proposed(self, peer: Peer) -> None:
        """Notes that a leader goes the way through the log."""
        order = self._orders.get(peer.region.region_id)
        if order is not None:
            order.way = "command"

    def leader_reported(self, region: Region, leader_store: int) -> None:
        """Ends an order if PD hears from the leader that it wanted."""
        order = self._orders.get(region.region_id)
        if order is None or order.to_store != leader_store:
            return
        took_ns = self._env.now_ns - order.ordered_ns
        if took_ns >= OPERATOR_TIMEOUT_NS:
            self._fail(region.region_id, "timeout")
        else:
            del self._orders[region.region_id]
            self._recorder.series("leader_transfer", order.way).add(took_ns)

    def look(self) -> None:
        """Gives up the orders that have not ended in time; once a window, and before an order."""
        begun_ns = self._env.now_ns - OPERATOR_TIMEOUT_NS
        for region_id in [
            each for each, order in self._orders.items() if order.ordered_ns <= begun_ns
        ]:
            self._fail(region_id, "timeout")

    def _fail(self, region_id: int, why: str) -> None:
        del self._orders[region_id]
        self._recorder.counter("leader_transfers_failed", why).value += 1
