"""Pollers, log groups and write workers: what shares a sync, and what has to wait for one."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim.raftstore.disk_bytes import spread
from sim.raftstore.log_engine import LogEngine
from sim.units import KIB, NS_PER_MS, NS_PER_US
from tests.scenes import FSYNC_NS, IN_MEMORY, PIPELINED, SYNC, Scene, constant_scenario

TXN = 10 << 18
REGIONS = [b"", *(bytes([letter]) for letter in range(1, 90))]
ASYNC = {"store_io_pool_size": 1, "raft_engine_enable": True}


def load(scene: Scene, *, every_ns: int, commands: int) -> LogEngine:
    """Locks keys in regions that store 1 leads, one ``every_ns``; returns that store's log."""
    for number in range(commands):
        key = REGIONS[3 * (number % 30)] + b"k%d" % number
        scene.lock(key, TXN + number, number * every_ns)
    scene.run(commands * every_ns + 20 * NS_PER_MS)
    return scene.cluster.stores[1].raftstore.log


def entries_per_sync(every_ns: int) -> float:
    log = load(Scene(constant_scenario(tikv=SYNC), REGIONS), every_ns=every_ns, commands=300)
    return log.entries / log.fsyncs


def test_the_size_of_a_group_follows_from_the_load() -> None:
    # Nobody sets it: what comes while a poller waits for its fsync is written with the next one.
    sizes = [entries_per_sync(every_us * NS_PER_US) for every_us in (2000, 200, 50)]
    assert sizes == sorted(sizes)
    assert sizes[0] == 1
    assert sizes[-1] > 10


@pytest.mark.parametrize("pollers", [1, 2])
def test_a_poller_waits_for_its_own_sync_and_another_one_goes_on(pollers: int) -> None:
    of = constant_scenario(tikv=SYNC | {"store_pool_size": pollers})
    scene = Scene(of, REGIONS)
    first = scene.lock(b"", TXN)
    second = scene.lock(REGIONS[3], TXN + 1, 100 * NS_PER_US)
    scene.run(10 * NS_PER_MS)
    waited_ns = second.proposed_ns - second.executed_ns
    assert second.executed_ns < first.proposed_ns + FSYNC_NS
    assert (waited_ns > FSYNC_NS // 2) is (pollers == 1)


def test_async_io_answers_a_proposal_that_is_held_back_and_proposes_it_after_the_last() -> None:
    scene = Scene(constant_scenario(tikv=PIPELINED | ASYNC))
    locks = [scene.lock(b"k%d" % n, TXN + n, n * 200 * NS_PER_US) for n in range(3)]
    leader = scene.leader(b"k")

    def look() -> tuple[int, int]:
        return leader.raft.log.last_index, len(leader.held)

    before_the_sync_ends = scene.at(1_100 * NS_PER_US, look)
    scene.run(1_600 * NS_PER_US)
    after = look()
    held_entry = leader.raft.log.entries[-1]
    scene.run(10 * NS_PER_MS)
    assert before_the_sync_ends == [(6, 2)]
    assert after == (7, 0)
    assert held_entry.payload == locks[1:]
    assert all(lock.done_ns < lock.sent_ns + NS_PER_MS for lock in locks)
    assert locks[1].applied_ns == locks[2].applied_ns > locks[0].applied_ns


def test_more_unpersisted_readies_may_be_allowed() -> None:
    many = {"cmd_batch_concurrent_ready_max_count": 8}
    scene = Scene(constant_scenario(tikv=PIPELINED | ASYNC | many))
    for n in range(3):
        scene.lock(b"k%d" % n, TXN + n, n * 200 * NS_PER_US)
    scene.run(NS_PER_MS)
    assert scene.leader(b"k").raft.log.last_index == 8


def test_with_async_io_a_poller_does_not_wait_for_the_sync() -> None:
    of = constant_scenario(tikv=SYNC | ASYNC | {"store_pool_size": 1})
    scene = Scene(of, REGIONS)
    scene.lock(b"", TXN)
    second = scene.lock(REGIONS[3], TXN + 1, 100 * NS_PER_US)
    scene.run(10 * NS_PER_MS)
    assert second.proposed_ns - second.executed_ns < 50 * NS_PER_US


@pytest.mark.parametrize("merge", [True, False])
def test_commands_of_one_visit_share_an_entry_with_cmd_batch(merge: bool) -> None:
    of = constant_scenario(tikv=SYNC | {"store_pool_size": 1, "cmd_batch": merge})
    scene = Scene(of)
    for n in range(5):
        scene.lock(b"k%d" % n, TXN + n, n * 10 * NS_PER_US)
    scene.run(10 * NS_PER_MS)
    leader = scene.leader(b"k")
    payloads: list[Any] = [entry.payload for entry in leader.raft.log.entries]
    assert [len(commands) for commands in payloads] == ([1, 4] if merge else [1] * 5)


def test_a_hot_region_does_not_use_up_its_followers_window() -> None:
    scene = Scene(constant_scenario(tikv=SYNC | {"raft_max_inflight_msgs": 4}))
    locks = [scene.lock(b"k%d" % n, TXN + n, n * 50 * NS_PER_US) for n in range(400)]
    scene.run(100 * NS_PER_MS)
    assert all(lock.applied_ns for lock in locks)


def test_pollers_hear_of_what_comes_what_has_been_applied_and_every_tick() -> None:
    scene = Scene(constant_scenario(tikv=SYNC))
    scene.lock(b"k", TXN)
    stores = scene.cluster.stores.values()
    scene.run(3 * NS_PER_MS)
    # The command, two answers and its being applied; an append, not known to be committed.
    assert [store.raftstore.pool.messages for store in stores] == [4, 1, 1]
    scene.run(2_100 * NS_PER_MS)
    # The leader's two ticks, the second with a heartbeat, and the answers; a follower's tick, the
    # heartbeat, which says what is committed, and its being applied. Then the region hibernates.
    assert [store.raftstore.pool.messages for store in stores] == [4 + 4, 1 + 3, 1 + 3]
    scene.run(20_000 * NS_PER_MS)
    assert [store.raftstore.pool.messages for store in stores] == [4 + 4, 1 + 3, 1 + 3]


def test_followers_of_an_idle_region_learn_of_the_commit_by_a_heartbeat() -> None:
    scene = Scene(constant_scenario(tikv=SYNC))
    scene.lock(b"k", TXN)
    follower = scene.cluster.stores[2].peers
    link = scene.cluster.network.links()["store-1", "store-2"]
    scene.run(3 * NS_PER_MS)
    assert follower[1].raft.log.persisted == 6
    assert follower[1].raft.log.committed == 5
    scene.run(2_100 * NS_PER_MS)
    assert follower[1].raft.log.applying == 6
    scene.run(20_000 * NS_PER_MS)
    assert link.messages == 2  # the append and one heartbeat: then the region hibernates


@pytest.mark.parametrize("io", [{}, ASYNC])
def test_syncs_write_whole_pages_and_every_byte_has_a_place_and_a_cause(
    io: dict[str, object], monkeypatch: pytest.MonkeyPatch
) -> None:
    scene = Scene(constant_scenario(tikv=SYNC | io), REGIONS)
    disk = scene.cluster.stores[1].machine.raft_disk
    write, in_background = disk.background_write, []

    def noted(now_ns: int, size_bytes: int) -> None:
        in_background.append(size_bytes)
        write(now_ns, size_bytes)

    monkeypatch.setattr(disk, "background_write", noted)
    log = load(scene, every_ns=50 * NS_PER_US, commands=300)
    synced = disk.written_bytes - sum(in_background)
    assert synced % disk.spec.page_bytes == 0
    assert synced >= log.fsyncs * disk.spec.page_bytes
    assert scene.violations() == []


RAFT_ENGINE = {"raft_engine_enable": True}


@pytest.mark.parametrize(
    ("tikv", "metadata_bytes"),
    [
        pytest.param({}, 10 * 12 * KIB, id="raftdb's log grows with each"),
        pytest.param(RAFT_ENGINE, 12 * KIB, id="one page of ten is new to a preallocated file"),
        pytest.param(RAFT_ENGINE | {"raft_engine_enable_log_recycle": True}, 0, id="recycled"),
    ],
)
def test_an_idle_cluster_pays_a_page_for_each_small_entry(
    tikv: dict[str, object], metadata_bytes: int
) -> None:
    scene = Scene(constant_scenario(tikv=SYNC | tikv))
    for n in range(10):
        scene.lock(b"k%d" % n, TXN + n, n * 5 * NS_PER_MS)
    scene.run(100 * NS_PER_MS)
    disk, log = scene.cluster.stores[1].machine.raft_disk, scene.cluster.stores[1].raftstore.log
    assert log.fsyncs == 10
    assert disk.written_bytes == 10 * disk.spec.page_bytes + metadata_bytes
    disks = [store.machine.raft_disk for store in scene.cluster.stores.values()]
    assert sum(each.written_bytes for each in disks) == scene.cluster.ledger.total()


def test_in_memory_locks_write_nothing_at_all() -> None:
    log = load(Scene(constant_scenario(tikv=IN_MEMORY), REGIONS), every_ns=50_000, commands=300)
    assert log.fsyncs == log.entries == 0


@given(st.integers(0, 10**12), st.lists(st.integers(0, 10**9), min_size=1, max_size=8))
def test_spread_is_exact_and_in_proportion(total: int, weights: list[int]) -> None:
    if not sum(weights):
        weights[0] = 1
    parts = spread(total, weights)
    assert sum(parts) == total
    for part, weight in zip(parts, weights, strict=True):
        assert abs(part - total * weight / sum(weights)) < len(weights)
        assert weight or not part


def test_bytes_without_a_cause_are_a_mistake() -> None:
    with pytest.raises(AssertionError, match="caused these bytes"):
        spread(100, [0, 0])
