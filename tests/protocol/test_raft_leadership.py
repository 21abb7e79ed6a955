"""What a leader does besides replicating, by the paper: check-quorum, transfer, read index.

Sections are those of Ongaro and Ousterhout, In Search of an Understandable Consensus Algorithm
(Raft), and of Ongaro's thesis.
"""

from __future__ import annotations

import pytest

from sim.protocol.raft import (
    Append,
    AppendResponse,
    Heartbeat,
    RaftPeer,
    RequestVote,
    Role,
    TimeoutNow,
    VoteResponse,
)
from tests.protocol.raft_network import RaftNetwork


def elected() -> RaftNetwork:
    """Returns a network in which store 1 has just been elected in term 7."""
    network = RaftNetwork(leader=0)
    network.tick(1, 10)
    network.settle()
    return network


def role(network: RaftNetwork, store: int) -> Role:
    return network.replicas[store].raft.role


def test_a_leader_without_a_majority_steps_down() -> None:
    # Thesis 6.2.
    network = RaftNetwork()
    network.cut_off.add(1)
    network.tick(1, 9)
    assert role(network, 1) is Role.LEADER
    network.tick(1)
    assert role(network, 1) is Role.FOLLOWER
    assert network.replicas[1].raft.leader == 0


def test_a_leader_that_is_answered_stays() -> None:
    network = RaftNetwork()
    network.cut_off.add(3)
    for _ in range(50):
        network.tick(1)
        network.settle()
    assert network.leader.store == 1


def test_messages_of_a_later_term_depose_a_leader() -> None:
    # Raft 5.1: "If a candidate or leader discovers that its term is out of date".
    for message in (
        AppendResponse(7, 2, 9, 0, reject=False),
        Append(7, 9, 5, 5, [], 5, 2),
        Heartbeat(7, 2, 9, 5),
        VoteResponse(7, 2, 9, granted=False),
        RequestVote(7, 2, 9, 5, 5, forced=True),
    ):
        raft = RaftPeer(7, 1, (1, 2, 3), 1)
        raft.step(message)
        assert (raft.role, raft.term) == (Role.FOLLOWER, 9)
        assert raft.ready().role_changed


def test_two_leaders_in_a_term_are_a_mistake_that_is_not_borne() -> None:
    raft = RaftPeer(7, 1, (1, 2, 3), 1)
    with pytest.raises(AssertionError, match="stores 1 and 2 both lead region 7 in term 6"):
        raft.step(Heartbeat(7, 2, 6, 5))


def test_a_transfer_goes_at_once_to_a_store_that_holds_everything() -> None:
    # Thesis 3.10.
    network = RaftNetwork()
    network.leader.transfer_leader(2)
    network.visit(1)
    assert network.leader.lead_transferee == 2
    network.settle()
    assert (network.leader.store, network.leader.term) == (2, 7)


def test_a_transfer_waits_until_the_target_holds_everything() -> None:
    network = RaftNetwork()
    network.propose()
    one = network.leader
    one.transfer_leader(3)
    network.visit(1)
    network.persist(1)
    assert not [m for m in network.wires[1, 3] if isinstance(m, TimeoutNow)]
    network.settle()
    assert network.leader.store == 3


def test_a_transfer_that_does_not_happen_is_given_up_after_an_election_timeout() -> None:
    network = RaftNetwork()
    network.cut_off.add(3)
    network.leader.transfer_leader(3)
    for _ in range(9):
        network.tick(1)
        network.settle()
    assert network.leader.lead_transferee == 3
    network.tick(1)
    assert network.leader.lead_transferee == 0


def test_who_is_no_voter_is_no_target() -> None:
    network = RaftNetwork()
    network.leader.transfer_leader(9)
    assert network.leader.lead_transferee == 0


def test_a_read_is_answered_when_a_majority_has_confirmed_the_leader() -> None:
    # Thesis 6.4.
    network = elected()
    assert network.read(1, 1)
    assert network.read(1, 2)
    network.cut_off.add(3)
    assert network.read_states == []
    network.settle()
    assert network.read_states == [1, 2]


def test_a_leader_that_was_replaced_answers_no_read() -> None:
    network = elected()
    network.cut_off.add(1)
    assert network.read(1, 1)
    network.settle()
    assert network.read_states == []
    network.tick(1, 20)
    assert role(network, 1) is Role.FOLLOWER
    assert not network.read(1, 2)


def test_no_read_before_an_entry_of_the_leaders_own_term_is_committed() -> None:
    # Raft 8: "it may not know which those are".
    network = elected()
    network.leader.transfer_leader(2)
    network.visit(1)
    network.persist(1)
    for wire in [(1, 2), (2, 1), (2, 3), (3, 2)]:
        if network.wires.get(wire):
            network.deliver(wire, len(network.wires[wire]) - 1)
            network.persist_all()
    assert network.leader.store == 2
    assert not network.read(2, 1)
    network.settle()
    assert network.read(2, 2)
