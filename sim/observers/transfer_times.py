"""How long PD's operators that transfer a leader take, and how many fail.

An operator begins when PD adds it and ends when PD hears from the leader that it wanted: what PD
logs as ``operator finish`` with ``takes``. One that has not ended after ten seconds has failed
(``timeout``), and so has one that another operator for its region replaces (``replaced``). Leaders
that move by an election are not counted.

Nothing is put into the event queue: timeouts are found by the next call of ``look``.

Source: tikv/pd server/schedule/operator (RunningTime, FastOperatorWaitTime), operator_controller.go
(Dispatch: a heartbeat of the region ends its operator).
"""

from dataclasses import dataclass

from sim.engine import LeanEnv
from sim.operations.pd.operator_controller import OPERATOR_TIMEOUT_NS
from sim.protocol.region import Region
from sim.raftstore.peer import Peer
from sim.record.recorder import Recorder
from sim.storage.probe import Probe


@dataclass
class _Operator:
    """One operator that has not ended."""

    to_store: int
    begun_ns: int
    way: str = "direct"
    """``command``, if the old leader has proposed a TransferLeader command before it went."""


class TransferTimes(Probe):
    """Feeds the series ``leader_transfer`` and the counter ``leader_transfers_failed``."""

    def __init__(self, env: LeanEnv, recorder: Recorder) -> None:
        self._env = env
        self._recorder = recorder
        self._operators: dict[int, _Operator] = {}

    def transfer_ordered(self, region_id: int, to_store: int) -> None:
        """Begins an operator; one that its region had is replaced, unless its time is over."""
        self.look()
        if region_id in self._operators:
            self._fail(region_id, "replaced")
        self._operators[region_id] = _Operator(to_store, self._env.now_ns)

    def transfer_proposed(self, peer: Peer) -> None:
        """Notes that a leader goes the way through the log."""
        operator = self._operators.get(peer.region.region_id)
        if operator is not None:
            operator.way = "command"

    def leader_reported(self, region: Region, leader_store: int) -> None:
        """Ends an operator if PD hears from the leader that it wanted."""
        operator = self._operators.get(region.region_id)
        if operator is None or operator.to_store != leader_store:
            return
        took_ns = self._env.now_ns - operator.begun_ns
        if took_ns >= OPERATOR_TIMEOUT_NS:
            self._fail(region.region_id, "timeout")
        else:
            del self._operators[region.region_id]
            self._recorder.series("leader_transfer", operator.way).add(took_ns)

    def look(self) -> None:
        """Fails the operators that have not ended in time; called once a window."""
        latest_ns = self._env.now_ns - OPERATOR_TIMEOUT_NS
        overdue = [each for each, found in self._operators.items() if found.begun_ns <= latest_ns]
        for region_id in overdue:
            self._fail(region_id, "timeout")

    def _fail(self, region_id: int, why: str) -> None:
        del self._operators[region_id]
        self._recorder.counter("leader_transfers_failed", why).value += 1
