"""Raft: scripts in tests/testdata/raft, then any order of deliveries and disk writes."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sim.protocol.raft import Append, AppendResponse, RaftPeer
from sim.protocol.raft.log import Entry
from tests import datadriven
from tests.protocol.raft_network import RaftNetwork
from tests.protocol.raft_script import ScriptedRaft

CHOICES = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 100)), max_size=80)


@pytest.mark.parametrize("path", datadriven.files("raft"), ids=lambda path: path.stem)
def test_raft_scripts(path: Path, rewrite: bool) -> None:
    datadriven.run(path, ScriptedRaft().execute, rewrite=rewrite)


def act(network: RaftNetwork, choice: tuple[int, int], *, in_order: bool) -> None:
    """Does one of: propose, deliver a message, make a write durable."""
    what, which = choice
    wires = [wire for wire, messages in network.wires.items() if messages]
    writers = [store for store, replica in network.replicas.items() if replica.writes]
    if what == 1 and wires:
        wire = wires[which % len(wires)]
        network.deliver(wire, 0 if in_order else which % len(network.wires[wire]))
    elif what == 2 and writers:
        network.persist(writers[which % len(writers)])
    else:
        network.propose()


def assert_all_agree(network: RaftNetwork) -> None:
    network.persist_all()
    network.settle()
    network.heartbeats()
    network.settle()
    for replica in network.replicas.values():
        assert [entry.payload for entry in replica.applied] == [*range(1, network.proposed + 1)]


@settings(max_examples=150)
@given(st.sampled_from([1, 3, 5]), CHOICES, st.booleans(), st.sampled_from([1, 2, 256]))
def test_replicas_agree_whatever_the_order(
    stores: int, choices: list[tuple[int, int]], in_order: bool, max_inflight: int
) -> None:
    network = RaftNetwork(stores, max_inflight=max_inflight)
    for choice in choices:
        act(network, choice, in_order=in_order)
    assert_all_agree(network)


def test_logs_are_compacted_once_all_have_applied() -> None:
    network = RaftNetwork()
    for _ in range(300):
        network.propose()
        network.persist_all()
        network.settle()
    assert_all_agree(network)
    assert all(len(r.raft.log.entries) < 100 for r in network.replicas.values())


def test_followers_that_answer_two_appends_at_once_use_up_no_window() -> None:
    network = RaftNetwork(max_inflight=8)
    for _ in range(40):
        network.propose()
        network.propose()
        for wire in [(1, 2), (1, 3)]:
            network.deliver(wire, visit=False)
            network.deliver(wire)
        network.persist_all()
        network.settle()
    assert_all_agree(network)


def test_a_full_window_holds_entries_back_until_an_answer_comes() -> None:
    network = RaftNetwork(max_inflight=2)
    for _ in range(5):
        network.propose()
    assert [len(network.wires[1, store]) for store in (2, 3)] == [2, 2]
    assert_all_agree(network)


def test_nothing_is_committed_by_the_leader_alone() -> None:
    network = RaftNetwork()
    network.propose()
    network.persist(1)
    assert network.leader.log.committed == 5


def test_followers_may_commit_before_the_leaders_own_disk() -> None:
    # Ongaro's thesis, 10.2.1: the leader may write to its disk in parallel.
    network = RaftNetwork()
    network.propose()
    for store in (2, 3):
        network.deliver((1, store))
        network.persist(store)
        network.deliver((store, 1))
    assert network.leader.log.committed == 6
    assert network.replicas[1].applied == []
    network.persist(1)
    assert [entry.index for entry in network.replicas[1].applied] == [6]


def test_leader_commits_only_entries_of_its_own_term() -> None:
    # Raft 5.4.2, figure 8.
    network = RaftNetwork(term=7)
    leader = network.leader
    leader.log.append(Entry(6, 6, "of term 6", 10))
    network.visit(1)
    network.persist_all()
    network.settle()
    assert leader.matched == {1: 6, 2: 6, 3: 6}
    assert leader.log.committed == 5
    network.propose()
    network.persist_all()
    network.settle()
    assert leader.log.committed == 7


def append(
    prev: tuple[int, int], entries: list[Entry], *, term: int = 7, commit: int = 5
) -> Append:
    return Append(7, term, *prev, entries, commit, store=1)


def follower_with_a_tail_of_term_6(last: int = 8) -> RaftPeer:
    """Returns a follower of term 7 that holds entries 6 to ``last`` of a leader that is gone."""
    follower = RaftPeer(7, 2, (1, 2, 3), 1, term=6)
    tail = [Entry(6, index, "old", 10) for index in range(6, last + 1)]
    follower.step_append(append((5, 5), tail, term=6))
    ready = follower.ready()
    follower.on_persisted(ready.last_index, 6)
    return follower


def answer_of(follower: RaftPeer) -> tuple[int, bool]:
    response = follower.ready().response
    assert response is not None
    return response.index, response.reject


def test_a_conflicting_tail_is_cut_off_and_written_anew() -> None:
    # Raft 5.3: "delete the existing entry and all that follow it".
    follower = follower_with_a_tail_of_term_6()
    follower.step_append(append((5, 5), [Entry(7, 6, "new", 10)]))
    assert str(follower.log) == "[6..6] persisted 5 committed 5 applying 5"
    ready = follower.ready()
    assert [entry.payload for entry in ready.entries] == ["new"]
    assert ready.last_index == 6
    follower.on_persisted(6, 7)
    assert follower.log.persisted == 6


def test_a_write_that_was_overtaken_by_a_new_leader_does_not_count() -> None:
    follower = RaftPeer(7, 2, (1, 2, 3), 1, term=6)
    follower.step_append(append((5, 5), [Entry(6, i, "old", 10) for i in (6, 7)], term=6))
    follower.ready()
    follower.step_append(append((5, 5), [Entry(7, i, "new", 10) for i in (6, 7)]))
    follower.ready()
    follower.on_persisted(7, 6)
    assert follower.log.persisted == 5
    follower.on_persisted(7, 7)
    assert follower.log.persisted == 7


def test_an_append_that_does_not_fit_is_refused_and_changes_nothing() -> None:
    follower = follower_with_a_tail_of_term_6(last=8)
    before = str(follower.log)
    follower.step_append(append((10, 7), [Entry(7, 11, "new", 10)]))
    assert answer_of(follower) == (8, True)
    follower.step_append(append((7, 7), [Entry(7, 8, "new", 10)]))
    assert answer_of(follower) == (6, True)
    assert str(follower.log) == before


def test_leader_steps_back_until_logs_agree_and_replaces_the_tail() -> None:
    network = RaftNetwork(term=7)
    follower = follower_with_a_tail_of_term_6(last=9)
    replica = network.replicas[2]
    replica.raft = follower
    for index in range(6, 10):
        replica.disk.entries[index] = follower.log.entries[index - 6]
    for _ in range(4):
        network.propose()
    # The last append comes first: the follower has to refuse, the leader to go back.
    network.deliver((1, 2), 3)
    network.wires[1, 2].clear()
    assert_all_agree(network)
    assert {entry.term for entry in follower.log.entries} == {7}


def test_a_heartbeat_commits_no_entry_that_the_leader_has_not_confirmed() -> None:
    # Raft, figure 2: min(leaderCommit, index of last new entry).
    follower = follower_with_a_tail_of_term_6(last=8)
    follower.step_append(append((5, 5), [], commit=8))
    assert follower.log.committed == 5


def test_messages_of_an_earlier_term_are_ignored() -> None:
    network = RaftNetwork(term=7)
    network.propose()
    network.leader.step_append_response(AppendResponse(7, 2, 6, 6, reject=False))
    assert network.leader.matched[2] == 5
    follower = network.replicas[2].raft
    follower.step_append(append((5, 5), [Entry(6, 6, "old", 10)], term=6))
    ready = follower.ready()
    assert (ready.entries, ready.response) == ([], None)
    assert [str(message) for _, message in ready.messages] == ["AppendResponse term 7 holds 0"]
