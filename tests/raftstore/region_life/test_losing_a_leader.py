"""Crash, partition, restart, changes of replicas: who leads, and what is left of the locks."""

from sim.protocol.percolator import Acquired
from sim.protocol.region_errors import NotLeader, StaleCommand
from sim.units import NS_PER_MS, NS_PER_S
from tests.raftstore.region_life.stage import TICK_NS, Stage

APART = [["store-1"], ["store-2", "store-3"]]
"""Store 1 reaches clients, but no other store."""


def test_a_crash_loses_the_table_and_an_election_takes_ten_to_twenty_ticks() -> None:
    stage = Stage()
    stage.lock(b"k", 100)
    stage.order(5, lambda: stage.control.crash_store(1))
    early = stage.at(5 * NS_PER_MS + 9 * TICK_NS, lambda: stage.lead(1))
    late = stage.at(5 * NS_PER_MS + 22 * TICK_NS, lambda: stage.lead(1))
    stage.run(3 * NS_PER_S)
    assert early == [0]
    assert late[0] in {2, 3}
    assert stage.diary.dropped == [("crash", [b"k"])]


def test_a_store_that_comes_back_has_what_was_durable_and_follows() -> None:
    stage = Stage()
    stage.prewrite(b"k", 100)
    stage.order(5, lambda: stage.control.crash_store(1))
    stage.order(3_000, lambda: stage.control.restart_store(1))
    stage.run(6 * NS_PER_S)
    back = stage.cluster.peers_of(1)[1]
    leader = stage.cluster.peers_of(1)[stage.lead(1)]
    assert back is not leader
    assert stage.lock_cf(1, 1) == [b"k"]
    assert (back.raft.term, back.state.applied) == (leader.raft.term, leader.state.applied)


def test_nothing_is_answered_by_a_process_that_has_died() -> None:
    stage = Stage()
    stage.prewrite(b"k", 100)
    stage.order(0.5, lambda: stage.control.crash_store(1))
    stage.run(300 * NS_PER_MS)
    assert stage.replies == []


def test_an_isolated_leader_grants_locks_in_memory_as_long_as_its_lease_lasts() -> None:
    stage = Stage(tikv={"raft_store_max_leader_lease_ns": 9 * TICK_NS})
    stage.prewrite(b"w", 50)  # Renews the lease.
    stage.order(20, lambda: stage.control.partition(APART))
    within = stage.lock(b"a", 100, at_ns=100 * NS_PER_MS)
    after = stage.lock(b"b", 101, at_ns=600 * NS_PER_MS)
    stage.run(2 * NS_PER_S)
    assert isinstance(within.result, Acquired)
    assert after.result is None or isinstance(after.result, NotLeader | StaleCommand)


def test_a_leader_that_reaches_no_majority_steps_down_and_its_locks_are_gone() -> None:
    stage = Stage()
    stage.lock(b"k", 100)
    stage.order(5, lambda: stage.control.partition(APART))
    stage.prewrite(b"x", 101, at_ns=10 * NS_PER_MS)  # Keeps it awake.
    leader = stage.leader(b"k")
    stage.run(4 * NS_PER_S)
    assert not leader.is_leader
    assert leader.lease.until_ns < 0
    assert ("step_down", [b"k"]) in stage.diary.dropped


def test_a_new_replica_gets_a_snapshot_and_a_removed_one_goes() -> None:
    stage = Stage(cluster={"stores": 4, "store_versions": ("6.0.0",) * 4})
    stage.prewrite(b"q", 90)
    stage.lock(b"k", 100)
    stage.order(5, lambda: stage.control.change_peer(1, add=4))
    stage.order(2_000, lambda: stage.control.change_peer(1, remove=2))
    stage.run(8 * NS_PER_S)
    assert sorted(stage.cluster.peers_of(1)) == [1, 3, 4]
    assert stage.lock_cf(1, 4) == [b"q"]
    assert stage.memory(1, 1) == [b"k"]  # A change of replicas leaves the table alone.
    known = stage.cluster.pd.routes.by_id(1)
    assert known is not None
    assert known.region.stores == (1, 3, 4)
