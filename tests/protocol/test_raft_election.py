"""Elections, leases, transfer, reads, new voters and restarts: what the paper says, sentence by
sentence.

Sections are those of Ongaro and Ousterhout, In Search of an Understandable Consensus Algorithm
(Raft), and of Ongaro's thesis.
"""

from __future__ import annotations

import pytest

from sim.protocol.raft import (
    NOOP,
    Append,
    HardState,
    RaftPeer,
    RequestVote,
    Role,
)
from sim.protocol.raft.log import Entry
from tests.protocol import raft_mutants
from tests.protocol.raft_network import RaftNetwork


def elected(store: int = 1, stores: int = 3) -> RaftNetwork:
    """Returns a network in which ``store`` has just been elected in term 7."""
    network = RaftNetwork(stores, leader=0)
    network.tick(store, 10)
    network.settle()
    assert network.leader.store == store
    return network


def role(network: RaftNetwork, store: int) -> Role:
    return network.replicas[store].raft.role


def voter(*, last: tuple[int, int] = (5, 5), vote: int = 0) -> RaftPeer:
    """Returns store 2 in term 7, with a log that ends at ``last`` = (index, term)."""
    raft = RaftPeer(7, 2, (1, 2, 3), 0, term=7)
    raft.vote = vote
    for index in range(6, last[0] + 1):
        raft.log.append(Entry(last[1], index, "x", 10))
    return raft


def answers(raft: RaftPeer) -> list[str]:
    return [str(message) for _, message in raft.ready().messages]


def request(store: int, term: int, last: tuple[int, int] = (5, 5)) -> RequestVote:
    return RequestVote(7, store, term, *last)


def test_a_follower_without_a_leader_begins_an_election() -> None:
    # Raft 5.2: "If a follower receives no communication over a period of time".
    network = RaftNetwork(leader=0)
    network.tick(1, 9)
    assert role(network, 1) is Role.FOLLOWER
    network.tick(1)
    assert role(network, 1) is Role.PRE_CANDIDATE
    network.settle()
    assert network.leader.store == 1
    assert network.leader.term == 7


def test_the_time_until_an_election_is_drawn_anew_each_time() -> None:
    # Raft 5.2: "election timeouts are chosen randomly from a fixed interval".
    draws = iter([10, 13, 17, 11])
    raft = RaftPeer(7, 1, (1, 2, 3), 0, draw_timeout=lambda: next(draws))
    campaigns = []
    for tick in range(1, 50):
        raft.tick()
        if raft.ready().messages:
            campaigns.append(tick)
    assert campaigns == [10, 23, 40]


def test_a_leader_begins_its_term_with_an_empty_entry() -> None:
    # Raft 8: "each leader commit a blank no-op entry at the start of its term".
    network = elected()
    entry = network.replicas[1].applied[-1]
    assert (entry.index, entry.term, entry.payload) == (6, 7, NOOP)


@pytest.mark.parametrize(
    ("vote", "candidate", "granted"), [(0, 1, True), (1, 1, True), (3, 1, False), (1, 3, False)]
)
def test_a_voter_votes_once_in_a_term_first_come_first_served(
    vote: int, candidate: int, granted: bool
) -> None:
    # Raft 5.2.
    raft = voter(vote=vote)
    raft.step(request(candidate, 7))
    assert answers(raft) == [f"VoteResponse term 7 {'granted' if granted else 'refused'}"]


@pytest.mark.parametrize(
    ("own", "candidates", "granted"),
    [
        ((6, 6), (6, 6), True),
        ((6, 6), (7, 6), True),
        ((7, 6), (6, 6), False),
        ((9, 6), (6, 7), True),
        ((6, 7), (9, 6), False),
    ],
)
def test_the_later_last_term_wins_then_the_longer_log(
    own: tuple[int, int], candidates: tuple[int, int], granted: bool
) -> None:
    # Raft 5.4.1.
    raft = voter(last=own)
    raft.step(request(1, 8, candidates))
    assert answers(raft) == [f"VoteResponse term 8 {'granted' if granted else 'refused'}"]
    assert raft.vote == (1 if granted else 0)


def test_a_vote_is_in_the_same_ready_as_the_state_that_must_be_durable_before() -> None:
    # Raft, figure 2: "updated on stable storage before responding to RPCs".
    raft = voter()
    raft.step(request(1, 8))
    ready = raft.ready()
    assert ready.hard_state == HardState(8, 1)
    assert [str(message) for _, message in ready.messages] == ["VoteResponse term 8 granted"]
    assert raft.crashed().vote == 0
    raft.on_hard_state_persisted(HardState(8, 1))
    assert (raft.crashed().term, raft.crashed().vote) == (8, 1)


def test_a_candidates_own_vote_counts_when_it_is_durable() -> None:
    raft = RaftPeer(7, 1, (1,), 0)
    raft.campaign()
    state = raft.ready().hard_state
    assert state == HardState(7, 1)
    assert "candidate term 7" in str(raft)
    raft.on_hard_state_persisted(state)
    assert "leader term 7" in str(raft)


def test_a_candidate_steps_back_for_a_leader_of_its_term() -> None:
    # Raft 5.2: "If the leader's term is at least as large as the candidate's current term".
    raft = RaftPeer(7, 1, (1, 2, 3), 0)
    raft.campaign(forced=True)
    raft.step(Append(7, 7, 5, 5, [], 5, 2))
    assert (raft.role, raft.leader, raft.vote) == (Role.FOLLOWER, 2, 1)


def test_split_votes_end_in_a_new_election() -> None:
    # Raft 5.2: "each candidate will time out and start a new election".
    network = RaftNetwork(4, leader=0)
    for store in (1, 2):
        network.replicas[store].raft.campaign(forced=True)
        network.visit(store)
    network.persist_all()
    for wire in [(1, 3), (2, 4), (1, 4), (2, 3), (1, 2), (2, 1)]:
        network.deliver(wire)
    network.settle()
    assert not network.has_leader()
    network.tick(1, 10)
    network.settle()
    assert network.leader.term == 8


def test_a_pre_vote_begins_no_term() -> None:
    # Thesis 9.6: "a candidate only increments its term if it first learns that it could win".
    network = RaftNetwork()
    network.cut_off.add(3)
    network.tick(3, 100)
    assert network.replicas[3].raft.term == 6
    network.cut_off.clear()
    network.tick(3, 10)
    network.settle()
    assert (network.leader.store, network.leader.term) == (1, 6)


def test_a_voter_with_a_live_leader_ignores_candidates() -> None:
    # Thesis 4.2.3: "within the minimum election timeout of hearing from a current leader".
    raft = RaftPeer(7, 2, (1, 2, 3), 1)
    for _ in range(9):
        raft.tick()
    raft.step(request(3, 7))
    assert (raft.term, answers(raft)) == (6, [])
    raft.step(RequestVote(7, 3, 7, 5, 5, forced=True))
    assert answers(raft) == ["VoteResponse term 7 granted"]


def elect(network: RaftNetwork, store: int, voters: list[int], *, term: int) -> None:
    """Lets ``store`` campaign until ``term``, heard by ``voters`` only."""
    raft = network.replicas[store].raft
    network.wires.clear()
    while raft.term < term:
        raft.campaign(forced=True)
        network.visit(store)
    network.wires.clear()
    while network.replicas[store].writes:
        network.persist(store)
    for other in voters:
        network.deliver((store, other), -1)
        network.persist(other)
        network.deliver((other, store), -1)


def figure_8(peer: type[RaftPeer]) -> RaftNetwork:
    """Plays figure 8 up to (c): an entry of an old term is on a majority of the disks."""
    network = RaftNetwork(5, peer=peer)
    network.propose()
    network.persist(1)
    network.deliver((1, 2))
    network.persist(2)
    network.crash(1)
    elect(network, 5, [3, 4], term=7)
    network.persist(5)
    network.crash(5)
    network.restart(1)
    elect(network, 1, [2, 3], term=8)
    # The third store refuses the first append; the first store's own disk is slow.
    for wire in [(1, 2), (2, 1), (1, 3), (3, 1), (1, 3), (3, 1)]:
        network.deliver(wire, -1)
        if wire[0] == 1:
            network.persist(wire[1])
    return network


def lead_without_the_majority(network: RaftNetwork) -> None:
    """Plays figure 8 (d): the fifth store is elected and overwrites the entry."""
    network.crash(1)
    network.restart(5)
    network.restart(1)
    elect(network, 5, [1, 4], term=9)


def test_entries_of_older_terms_are_not_committed_by_counting() -> None:
    # Raft 5.4.2, figure 8 (c) and (d).
    network = figure_8(RaftPeer)
    assert network.leader.matched == {1: 6, 2: 7, 3: 7, 4: 0, 5: 0}
    assert network.leader.log.committed == 5
    lead_without_the_majority(network)
    assert (network.leader.store, network.leader.term) == (5, 9)


def test_who_commits_by_counting_loses_an_entry() -> None:
    network = figure_8(raft_mutants.CommitsOlderTerms)
    assert network.leader.log.committed == 6
    with pytest.raises(AssertionError, match="committed entry 6 is lost"):
        lead_without_the_majority(network)
