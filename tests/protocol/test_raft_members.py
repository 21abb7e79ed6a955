"""New and former voters, snapshots, restarts, and what is lost on the way."""

from __future__ import annotations

import pytest

from sim.protocol.raft import NOTHING_READY, Heartbeat, RaftPeer, Role, Snapshot
from sim.protocol.raft.log import Entry
from tests.protocol.raft_network import RaftNetwork


def run_for(network: RaftNetwork, ticks: int) -> None:
    """Lets time pass everywhere, and everything arrive."""
    for _ in range(ticks):
        for store in sorted(network.replicas):
            network.tick(store)
        network.settle()


def with_a_short_log(stores: int = 3) -> RaftNetwork:
    """Returns a network whose leader has forgotten what everybody holds."""
    network = RaftNetwork(stores)
    for _ in range(12):
        network.propose()
        network.settle()
    assert network.leader.log.first_index > 8
    return network


def test_a_new_voter_gets_a_snapshot_and_then_entries() -> None:
    network = with_a_short_log()
    network.change_voters(1, 2, 3, 4)
    network.settle()
    network.propose()
    network.settle()
    new = network.replicas[4]
    assert new.disk.snapshot_index == 18
    assert new.applied == network.replicas[1].applied[:-1]
    assert new.raft.voters == (1, 2, 3, 4)


def test_followers_forget_no_more_than_everybody_holds() -> None:
    # So that whoever leads next need not send a snapshot to a store that only lags.
    network = with_a_short_log()
    network.cut_off.add(3)
    for _ in range(12):
        network.propose()
        network.settle()
    assert network.replicas[2].raft.log.first_index <= 18
    network.leader.transfer_leader(2)
    network.visit(1)
    network.settle()
    network.cut_off.clear()
    run_for(network, 4)
    assert network.leader.store == 2
    assert network.replicas[3].disk.snapshot_index == 0
    assert network.replicas[3].applied == network.replicas[2].applied


def test_a_leader_that_is_removed_steps_down() -> None:
    network = RaftNetwork()
    network.change_voters(2, 3)
    network.persist_all()
    network.settle()
    assert network.replicas[1].raft.role is Role.FOLLOWER
    run_for(network, 30)
    assert network.leader.voters == (2, 3)
    network.replicas[1].raft.campaign()
    assert network.replicas[1].raft.role is Role.FOLLOWER


def test_voters_change_one_at_a_time() -> None:
    network = RaftNetwork()
    network.change_voters(1, 2)
    assert not network.leader.may_change_voters()
    with pytest.raises(AssertionError, match="one change of voters at a time"):
        network.change_voters(1, 2, 3, 4)
    network.settle()
    assert network.leader.may_change_voters()


def test_fewer_voters_may_commit_what_the_many_did_not() -> None:
    network = RaftNetwork(5)
    network.change_voters(1, 2, 3, 4)
    network.settle()
    network.cut_off.update({3, 4})
    network.leader.set_voters((1, 2, 3))
    network.propose()
    network.settle()
    assert network.leader.log.committed == 7
    network.leader.set_voters((1, 2))
    assert network.leader.log.committed == 7


def test_a_new_voter_counts_as_active_until_it_had_time_to_answer() -> None:
    leader = RaftNetwork(1).leader
    while leader.election_elapsed < leader.election_ticks - 1:
        leader.tick()
    leader.set_voters((1, 2))
    leader.tick()
    roles = [leader.role]
    for _ in range(leader.election_ticks):
        leader.tick()
    assert [*roles, leader.role] == [Role.LEADER, Role.FOLLOWER]


def test_a_target_of_a_transfer_that_is_removed_is_none_any_more() -> None:
    network = RaftNetwork()
    leader = network.leader
    leader.transfer_leader(3)
    leader.set_voters((1, 2))
    assert leader.lead_transferee == 0
    leader.transfer_leader(2)
    leader.transfer_leader(1)
    assert leader.lead_transferee == 0


def test_who_has_not_applied_a_change_of_voters_does_not_campaign() -> None:
    network = RaftNetwork(lazy_apply=True)
    network.change_voters(1, 2, 3, 4)
    network.persist(1)
    network.deliver((1, 2))
    network.persist(2)
    network.deliver((2, 1))
    network.heartbeats()
    network.deliver((1, 2))
    two = network.replicas[2].raft
    two.campaign(forced=True)
    assert "follower term 6" in str(two)
    network.apply(2)
    two.campaign(forced=True)
    assert "candidate term 7" in str(two)


def snapshot(index: int, term: int = 6) -> Snapshot:
    return Snapshot(7, 1, 6, index, term, (1, 2, 3), "state")


def test_a_snapshot_that_brings_nothing_new_is_answered_and_dropped() -> None:
    follower = RaftPeer(7, 2, (1, 2, 3), 1)
    follower.log.append(Entry(6, 6, "x", 10))
    follower.step(snapshot(6))
    ready = follower.ready()
    assert ready.snapshot is None
    assert str(ready.response) == "AppendResponse term 6 holds 6"
    assert not follower.install_snapshot(snapshot(6))


def test_a_snapshot_replaces_the_log_once_it_is_installed() -> None:
    follower = RaftPeer(7, 2, (1, 2, 3), 1)
    follower.log.append(Entry(5, 6, "old", 10))
    follower.step(snapshot(9))
    assert follower.ready().snapshot is not None
    assert follower.log.last_index == 6
    follower.campaign()
    assert follower.role is Role.FOLLOWER
    assert follower.install_snapshot(snapshot(9))
    assert str(follower.log) == "[10..9] persisted 9 committed 9 applying 9"
    assert [entry.payload for entry in follower.take_truncated()] == ["old"]
    assert str(follower.ready().response) == "AppendResponse term 6 holds 9"


def test_a_snapshot_of_a_past_leader_is_not_taken() -> None:
    follower = RaftPeer(7, 2, (1, 2, 3), 3, term=8)
    follower.step(snapshot(9))
    ready = follower.ready()
    assert ready.snapshot is None
    assert [str(message) for _, message in ready.messages] == ["AppendResponse term 8 holds 0"]


def test_a_snapshot_that_does_not_arrive_is_sent_again() -> None:
    network = with_a_short_log()
    network.change_voters(1, 2, 3, 4)
    lost = 0
    for _ in range(30):
        network.tick(1)
        while wires := [wire for wire, messages in network.wires.items() if messages]:
            for wire in wires:
                if isinstance(network.wires[wire][0], Snapshot) and not lost:
                    lost += 1
                    network.wires[wire].pop(0)
                else:
                    network.deliver(wire)
            network.persist_all()
        network.persist_all()
    assert lost == 1
    assert network.replicas[4].applied == network.replicas[1].applied


def test_a_driver_may_say_that_a_snapshot_failed() -> None:
    network = with_a_short_log()
    leader = network.leader
    leader.set_voters((1, 2, 3, 4))
    leader.progress[4].await_snapshot()
    leader.snapshot_failed(4)
    leader.snapshot_failed(9)
    assert "probe" in str(leader.progress[4])


def test_lost_appends_are_sent_again_after_a_heartbeat() -> None:
    network = RaftNetwork()
    network.propose()
    network.wires[1, 3].clear()
    for _ in range(6):
        network.tick(1)
        network.settle()
    assert network.leader.matched[3] == 6


def test_lost_answers_are_asked_for_again() -> None:
    network = RaftNetwork()
    network.propose()
    network.deliver((1, 3))
    network.persist(3)
    network.wires[3, 1].clear()
    for _ in range(6):
        network.tick(1)
        network.settle()
    assert network.leader.matched[3] == 6


def test_entries_that_were_cut_off_are_told_once() -> None:
    network = RaftNetwork()
    network.cut_off.add(1)
    network.propose()
    network.propose()
    network.persist_all()
    network.settle()
    network.replicas[2].raft.campaign(forced=True)
    network.visit(2)
    network.settle()
    network.cut_off.clear()
    for _ in range(4):
        network.tick(2)
        network.settle()
    one = network.replicas[1].raft
    assert [entry.payload for entry in one.take_truncated()] == [1, 2]
    assert one.take_truncated() == []


def test_a_restarted_store_applies_again_only_what_it_had_not() -> None:
    network = RaftNetwork(lazy_apply=True)
    network.propose()
    network.propose()
    network.settle()
    network.propose()
    network.persist(1)
    network.deliver((1, 2))
    network.persist_all()
    network.deliver((2, 1))
    one = network.replicas[1]
    assert [entry.index for entry in one.to_apply] == [8]
    network.crash(1)
    network.restart(1)
    assert [entry.index for entry in one.to_apply] == [8]
    assert (one.raft.applied_index, one.raft.leader) == (7, 0)


def test_answers_of_a_removed_follower_are_ignored() -> None:
    network = RaftNetwork()
    network.propose()
    network.deliver((1, 3))
    network.persist(3)
    network.leader.broadcast_heartbeat()
    network.visit(1)
    network.persist_all()
    network.deliver((1, 3))
    network.persist_all()
    network.leader.set_voters((1, 2))
    network.deliver((3, 1))
    network.deliver((3, 1))
    assert network.leader.log.committed == 5
    assert set(network.leader.matched) == {1, 2}


def test_a_bootstrapped_leader_may_read_at_once() -> None:
    leader = RaftPeer(7, 1, (1,), 1)
    assert leader.read_index(1)
    assert leader.ready().read_states == [1]
    assert leader.ready() is NOTHING_READY


def test_one_leader_speaks_for_a_term_and_later_ones_replace_it() -> None:
    follower = RaftPeer(7, 2, (1, 2, 3), 1)
    follower.step(Heartbeat(7, 3, 7, 5))
    assert (follower.leader, follower.term) == (3, 7)
    assert follower.ready().role_changed
