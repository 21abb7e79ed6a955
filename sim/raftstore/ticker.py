"""Raft's ticks on one store, for the replicas whose time counts.

Law: every replica ticks once a ``raft-base-tick-interval``, each at a phase of its own. A replica
that has nothing to replicate hibernates: its leader sends no heartbeats and its followers do not
miss them. Who hears that its leader's store has gone, or is asked for a vote, wakes up for a while.

Source: tikv/tikv components/raftstore/src/store/{hibernate_state.rs, fsm/peer.rs
(on_raft_base_tick, check_group_state, on StoreUnreachable)}.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from sim.protocol.raft import LEADER
from sim.raftstore.msg import Tick

if TYPE_CHECKING:
    from collections.abc import Generator

    from simpy import Event

    from sim.engine import LeanEnv
    from sim.raftstore.peer import Peer
    from sim.raftstore.store_pool import StorePool
    from sim.scenario.resolved_tikv import Tikv

PHASES: Final = 64
"""Groups of regions that tick one after the other: each region's ticks began when it did."""

_STORES_APART: Final = 5
"""Phases between a region's ticks on neighbouring stores: longer than a vote takes."""


class Ticker:
    """The ticks of one store."""

    __slots__ = ("_env", "_hibernate", "_interval_ns", "_phases", "_pool", "_wake_ticks")

    def __init__(self, env: LeanEnv, tikv: Tikv, pool: StorePool) -> None:
        self._env = env
        self._pool = pool
        self._interval_ns = tikv.raft_base_tick_interval_ns
        self._hibernate = tikv.hibernate_regions
        self._wake_ticks = 3 * tikv.raft_election_timeout_ticks
        self._phases: list[dict[int, Peer]] = [{} for _ in range(PHASES)]

    def add(self, peer: Peer) -> None:
        """Lets a replica tick."""
        peer.stirred = True
        self._phases[_phase_of(peer)][peer.region.region_id] = peer

    def remove(self, peer: Peer) -> None:
        """Forgets a replica that is gone."""
        self._phases[_phase_of(peer)].pop(peer.region.region_id, None)

    def wake(self, peer: Peer) -> None:
        """Lets a replica's ticks count for a while, whatever it has to do."""
        peer.awake_ticks = self._wake_ticks
        peer.stirred = True

    def counts(self, peer: Peer) -> bool:
        """Returns whether time passes for a replica: it does not hibernate."""
        return not self._hibernate or _is_awake(peer)

    def run(self) -> Generator[Event, Any, None]:
        """Ticks for ever, one phase after the other; phases without replicas are passed over."""
        step_ns = self._interval_ns // PHASES
        phase = 0
        while True:
            steps = self._steps_to_next(phase)
            yield self._env.timeout(steps * step_ns)
            phase = (phase + steps) % PHASES
            for peer in list(self._phases[phase].values()):
                if self._hibernate and peer.stirred:
                    peer.stirred = _is_awake(peer)
                if peer.stirred:
                    self._tick(peer)

    def _steps_to_next(self, phase: int) -> int:
        """Returns how many phases ahead the next one with replicas is, at most a round."""
        for steps in range(1, PHASES):
            if self._phases[(phase + steps) % PHASES]:
                return steps
        return PHASES

    def _tick(self, peer: Peer) -> None:
        raft = peer.raft
        if peer.awake_ticks:
            peer.awake_ticks -= 1
        raft.tick()
        if not raft.is_eventful:
            return
        self._pool.deliver(peer, Tick())
        if raft.role is LEADER and min(raft.matched.values()) >= raft.log.committed:
            peer.commit_told = raft.log.committed


def _phase_of(peer: Peer) -> int:
    """Returns when a replica ticks: the replicas of a region began at different times.

    Were they to tick together, equal timeouts would split the vote: one election in ten.
    """
    return (peer.region.region_id + _STORES_APART * peer.store) % PHASES


def _is_awake(peer: Peer) -> bool:
    raft, log = peer.raft, peer.raft.log
    if peer.awake_ticks or log.committed < log.last_index:
        return True
    if raft.role is LEADER:
        if peer.commit_told < log.committed or raft.lead_transferee != 0:
            return True
        return min(raft.matched.values()) < log.last_index  # Somebody lags, or is not there yet.
    return raft.leader == 0
