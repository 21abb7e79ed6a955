"""Raft's ticks on one store, and hibernation.

Invariant: every replica ticks once a ``raft-base-tick-interval``, each at a phase of its own, and
each tick is a visit of a store poller. A replica that has nothing to replicate hibernates: its
leader sends no heartbeats and its followers do not miss them. It wakes up for a while when its
leader's store cannot be reached, when it is asked for a vote, and every few minutes: nobody may
have told it that it has been removed.

Source: tikv/tikv components/raftstore/src/store/{hibernate_state.rs, fsm/peer.rs
(on_raft_base_tick, check_group_state, on StoreUnreachable, on_check_peer_stale_state_tick)}.
"""

from __future__ import annotations

from typing import Final

from sim.engine import LeanEnv, Story
from sim.protocol.raft import LEADER
from sim.raftstore.peer import Peer
from sim.raftstore.router import Router
from sim.scenario.schema.tikv import Tikv
from sim.units import NS_PER_S

PHASES: Final = 64
"""Groups of regions that tick one after the other: each region's ticks began when it did."""

_STALE_CHECK_NS: Final = 300 * NS_PER_S
"""``peer-stale-state-check-interval``."""

_STORES_APART: Final = 5
"""Phases between a region's ticks on neighbouring stores: longer than a vote takes."""


class Ticks:
    """The ticks of one store."""

    def __init__(self, env: LeanEnv, tikv: Tikv, router: Router) -> None:
        self._router = router
        self._interval_ns = tikv.raft_base_tick_interval_ns
        self._stale_check_rounds = max(1, _STALE_CHECK_NS // self._interval_ns)
        self._hibernate = tikv.hibernate_regions
        self._wake_ticks = 3 * tikv.raft_election_timeout_ticks
        self._phases: list[dict[int, Peer]] = [{} for _ in range(PHASES)]
        env.process(self._run())

    def add(self, peer: Peer) -> None:
        """Makes a replica tick."""
        peer.stirred = True
        self._phases[_phase_of(peer)][peer.region.region_id] = peer

    def remove(self, peer: Peer) -> None:
        """Ends the ticks of a replica that is gone."""
        self._phases[_phase_of(peer)].pop(peer.region.region_id, None)

    def wake_up(self, peer: Peer) -> None:
        """Makes a replica's ticks count for a while, even if it has nothing to replicate."""
        peer.awake_ticks = self._wake_ticks
        peer.stirred = True

    def hibernates(self, peer: Peer) -> bool:
        """Returns whether time stands still for a replica."""
        return self._hibernate and not _is_awake(peer)

    def _run(self) -> Story:
        """Ticks for ever, one phase after the other; phases without replicas are passed over."""
        step_ns = self._interval_ns // PHASES
        phase = rounds = 0
        while True:
            steps = self._steps_to_next(phase)
            yield steps * step_ns
            more_rounds, phase = divmod(phase + steps, PHASES)
            rounds += more_rounds
            looks = rounds > 0 and rounds % self._stale_check_rounds == 0
            for peer in list(self._phases[phase].values()):
                if looks:
                    self.wake_up(peer)
                if self._hibernate and peer.stirred:
                    peer.stirred = _is_awake(peer)
                if peer.stirred:
                    self._tick(peer)

    def _steps_to_next(self, phase: int) -> int:
        """Returns how many phases ahead the next one with replicas is; 1 if there is none yet."""
        for steps in range(1, PHASES + 1):
            if self._phases[(phase + steps) % PHASES]:
                return steps
        return 1

    def _tick(self, peer: Peer) -> None:
        raft = peer.raft
        if peer.awake_ticks:
            peer.awake_ticks -= 1
        raft.tick()
        sends = raft.is_eventful and raft.role is LEADER
        self._router.visit(peer)
        if sends and min(raft.matched.values()) >= raft.log.committed:
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
        if peer.disk_full is not None and peer.disk_full.usages:
            return True  # It would not hear that there is room again.
        if peer.commit_told < log.committed or raft.lead_transferee != 0:
            return True
        return min(raft.matched.values()) < log.last_index  # Somebody lags, or is not there yet.
    return raft.leader == 0
