"""Raft under random faults keeps its promises, and a replica that breaks one is found out."""

from __future__ import annotations

import re

import pytest

from sim.protocol.raft import RaftPeer
from tests.protocol import raft_mutants
from tests.protocol.raft_swarm import Swarm

STEPS = 2000
SEEDS = 400
"""Seeds within which every mutant must be found out."""


@pytest.mark.parametrize("first", range(0, SEEDS, 50))
def test_promises_hold_and_a_leader_is_found_when_faults_end(first: int) -> None:
    for seed in range(first, first + 50):
        swarm = Swarm(seed)
        try:
            swarm.disturb(STEPS)
            swarm.calm()
        except AssertionError as error:
            raise AssertionError(f"seed {seed}: {error}\n{swarm.describe()}") from error


def test_faults_are_met() -> None:
    terms = leaders = commits = snapshots = 0
    for seed in range(50):
        swarm = Swarm(seed)
        swarm.disturb(STEPS)
        swarm.calm()
        leader = swarm.network.leader
        terms += leader.term - 6
        commits += leader.log.committed - 5
        leaders += swarm.network.checks.leaders_seen()
        snapshots += sum(r.disk.snapshot_index > 0 for r in swarm.network.replicas.values())
    assert terms > 100
    assert leaders > 100
    assert commits > 700
    assert snapshots > 10


@pytest.mark.parametrize(
    ("mutant", "finding"),
    [
        (raft_mutants.VotesTwice, "voted twice in term"),
        (raft_mutants.TakesRefusalsForVotes, "two leaders in term"),
        (raft_mutants.VotesForShorterLogs, "committed entry .* is lost"),
        (raft_mutants.ForgetsVotes, "two entries at index|voted twice|two leaders"),
        (raft_mutants.AnswersEarly, "lacks a majority"),
        (raft_mutants.CountsItselfEarly, "lacks a majority"),
        (raft_mutants.CommitsUnconfirmed, "another entry was applied"),
        (raft_mutants.KeepsConflicts, "logs differ before"),
        (raft_mutants.ReadsAlone, "read .* misses"),
        (raft_mutants.ReadsTooSoon, "read .* misses"),
        (raft_mutants.ChangesVotersAtWill, "two leaders in term|lacks a majority"),
    ],
    ids=lambda value: value.__name__ if isinstance(value, type) else "",
)
def test_a_mistake_is_found_out(mutant: type[RaftPeer], finding: str) -> None:
    for seed in range(SEEDS):
        try:
            Swarm(seed, mutant).disturb(STEPS)
        except AssertionError as error:
            if re.search(finding, str(error)):
                return
        except (KeyError, IndexError):
            continue
    pytest.fail("the planted mistake went unnoticed")
