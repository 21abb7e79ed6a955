"""Planted mistakes about Raft and replicas: each must be seen."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from sim.checks import raft_safety, replicas
from sim.protocol.raft import RaftPeer
from sim.protocol.raft.log import Entry
from sim.simulation import SimulatedUnit
from sim.swarm.recipe import Fault, Recipe
from sim.swarm.unit import outcome_of
from sim.units import NS_PER_MS
from tests.checks.planted import busy_unit, laws_broken
from tests.scenes import IN_MEMORY


def test_a_follower_whose_entries_are_others(monkeypatch: pytest.MonkeyPatch) -> None:
    sound = RaftPeer.step_append

    def forged(peer: RaftPeer, message: Any) -> None:
        if peer.store == 3 and message.entries:
            message.entries = [
                Entry(e.term, e.index, list(e.payload)[:-1], e.size_bytes) for e in message.entries
            ]
        sound(peer, message)

    monkeypatch.setattr(RaftPeer, "step_append", forged)
    unit = busy_unit(IN_MEMORY, measure_ms=200)
    assert raft_safety.SAME_ENTRIES in laws_broken(unit)


def compare_forgetful(unit: SimulatedUnit, forget: Any) -> set[str]:
    """Returns what is said when one of two replicas that have applied equally far is changed."""
    for store in unit.cluster.stores.values():
        for region_id, peer in store.peers.items():
            equals = [
                other
                for twin in unit.cluster.stores.values()
                if (other := twin.peers[region_id]).state.applied == peer.state.applied
            ]
            if len(equals) > 1 and forget(peer):
                return laws_broken(unit)
    raise AssertionError("no replica fits")


def test_a_replica_that_forgets_a_version() -> None:
    def forget(peer: Any) -> bool:
        mvcc = peer.state.mvcc
        young = [key for key, head in mvcc.writes.items() if head.commit_ts >= safe_ts]
        for key in young[:1]:
            del mvcc.writes[key]
        return bool(young)

    unit = busy_unit(IN_MEMORY)
    safe_ts = unit.cluster.tso.safe_ts()
    assert replicas.LAW in compare_forgetful(unit, forget)


def test_a_replica_that_forgets_a_lock() -> None:
    def forget(peer: Any) -> bool:
        locks = peer.state.mvcc.locks
        return bool(locks) and locks.pop(min(locks)) is not None

    assert replicas.LAW in compare_forgetful(busy_unit({"pipelined": False}), forget)


def laws_in(recipe: Recipe) -> set[str]:
    return {line.partition(":")[0] for line in outcome_of(recipe).violations}


def fault(at_ms: int, verb: str, which: int = 0, where: int = 0, value: int = 0) -> Fault:
    return Fault(at_ns=at_ms * NS_PER_MS, verb=verb, which=which, where=where, value=value)


QUIET = Recipe(seed=1, busy_ns=700 * NS_PER_MS)

RIVALS = replace(
    QUIET,
    faults=(
        fault(100, "crash", 0, 0, 500),
        fault(310, "campaign", 0, 1),
        fault(310, "campaign", 0, 2),
    ),
)
"""The leader is gone, and both others stand for election at once."""

LATECOMER = replace(
    QUIET,
    faults=(
        fault(100, "isolate", 2, 0, 500),
        fault(350, "crash", 0, 0, 500),
        fault(601, "campaign", 0, 2),
    ),
)
"""A store that has missed much stands for election when the leader is gone."""


@pytest.mark.parametrize("recipe", [RIVALS, LATECOMER], ids=["rivals", "latecomer"])
def test_a_sound_election_breaks_nothing(recipe: Recipe) -> None:
    assert laws_in(recipe) == set()


def test_a_voter_that_votes_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(RaftPeer, "_is_free_for", lambda *_: True)
    assert raft_safety.ONE_LEADER in laws_in(RIVALS)


def test_a_voter_that_compares_no_logs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(RaftPeer, "_is_not_behind", lambda *_: True)
    assert raft_safety.COMPLETE in laws_in(LATECOMER)
