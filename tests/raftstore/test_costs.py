"""Each cost of CPU is paid by what it is named after, once, and by nothing else."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from sim.storage.request import Kind, KvRequest
from sim.units import GIB, MIB, NS_PER_MS, NS_PER_US
from tests.scenes import (
    FSYNC_NS,
    IN_MEMORY,
    ONE_WAY_NS,
    PIPELINED,
    REQUEST_NS,
    SYNC,
    Scene,
    constant_scenario,
    script,
    update,
)

US = NS_PER_US
TXN = 10 << 18
IDLE_LOCK_NS = 2 * ONE_WAY_NS + REQUEST_NS


def scene_with(tikv: dict[str, Any], **cpu: float) -> Scene:
    return Scene(constant_scenario(tikv=tikv, cpu=cpu))


def locked(tikv: dict[str, Any], **cpu: float) -> KvRequest:
    scene = scene_with(tikv, **cpu)
    lock = scene.lock(b"k", TXN)
    scene.run(20 * NS_PER_MS)
    assert not scene.violations()
    return lock


def near(time_ns: float) -> object:
    return pytest.approx(time_ns, abs=40)


@pytest.mark.parametrize(
    ("cost", "more_ns"),
    [
        ({"tidb_request_ns": 7 * US}, 7 * US),
        ({"grpc_request_ns": 10 * US}, 10 * US),  # half on the way there, half on the way back
        ({"tikv_key_ns": 9 * US}, 9 * US),
        ({"tikv_load_lock_ns": 9 * US, "tikv_record_ns": 9 * US}, 0),
        ({"thread_hop_ns": 30 * US}, 30 * US),  # of the scheduler's thread
        ({"tikv_read_ns": 0}, 0),
        ({"store_visit_ns": 50 * US, "raftdb_record_ns": 50 * US, "kvdb_record_ns": 50 * US}, 0),
    ],
)
def test_a_lock_in_memory_pays_for_its_request_and_nothing_of_the_raftstore(
    cost: dict[str, float], more_ns: int
) -> None:
    assert locked(IN_MEMORY, **cost).done_ns == near(IDLE_LOCK_NS + more_ns)


def test_the_time_inside_the_store_is_that_of_its_threads() -> None:
    scene = scene_with(SYNC)
    scene.begin(script(update(b"k")))
    scene.run(20 * NS_PER_MS)
    way_ns = scene.counted("request_ns", "lock") - scene.counted("request_service_ns", "lock")
    assert way_ns == near(2 * ONE_WAY_NS)
    assert scene.counted("request_service_ns", "lock") > REQUEST_NS + FSYNC_NS


def test_a_pipelined_lock_waits_for_two_threads_to_wake() -> None:
    # The scheduler's and a poller's.
    proposed_ns = IDLE_LOCK_NS + 10 * US
    assert locked(PIPELINED).done_ns == near(proposed_ns)
    assert locked(PIPELINED, thread_hop_ns=30 * US).done_ns == near(proposed_ns + 60 * US)


def test_a_written_command_ends_on_a_thread_of_the_scheduler() -> None:
    plain, dear = (locked(SYNC, tikv_finish_ns=cost) for cost in (0, 9 * US))
    assert (dear.applied_ns, dear.replied_ns) == (plain.applied_ns, near(plain.replied_ns + 9 * US))
    woken = locked(SYNC, thread_hop_ns=30 * US)
    assert woken.replied_ns - woken.applied_ns == near(30 * US)
    for unwritten in (IN_MEMORY, PIPELINED):
        assert locked(unwritten, tikv_finish_ns=9 * US).done_ns == locked(unwritten).done_ns


def executed_ns(**cpu: float) -> dict[str, int]:
    """Returns how long commands of one key took until they had run, by what they are."""
    scene = scene_with(SYNC, **cpu)
    first, second = TXN, TXN + (1 << 18)
    requests = {
        "lock": scene.lock(b"k", first),
        "pessimistic prewrite": scene.prewrite(b"k", first, 20 * NS_PER_MS),
        "commit": scene.send(Kind.COMMIT, b"k", first, 40 * NS_PER_MS, commit_ts=first + 1),
        "optimistic prewrite": scene.prewrite(
            b"k", second, 60 * NS_PER_MS, pessimistic=False, for_update_ts=0
        ),
    }
    scene.run(80 * NS_PER_MS)
    assert not scene.violations()
    return {name: each.executed_ns - each.latched_ns for name, each in requests.items()}


def test_who_knows_its_lock_looks_for_no_versions() -> None:
    # tikv/tikv prewrite.rs, commit.rs: load_lock is all that they read.
    plain = executed_ns()
    dear = executed_ns(tikv_key_ns=9 * US, tikv_load_lock_ns=2 * US)
    assert {name: dear[name] - plain[name] for name in plain} == {
        "lock": near(9 * US),
        "pessimistic prewrite": near(2 * US),
        "commit": near(2 * US),
        "optimistic prewrite": near(9 * US),
    }


def test_a_record_is_made_by_the_scheduler_and_read_by_apply() -> None:
    plain, dear = executed_ns(), executed_ns(tikv_record_ns=9 * US)
    assert {name: dear[name] - plain[name] for name in plain} == {
        "lock": near(9 * US),
        "pessimistic prewrite": near(9 * US),
        "commit": near(2 * 9 * US),  # A commit record, and the deletion of a lock.
        "optimistic prewrite": near(9 * US),
    }
    # Into RocksDB goes the region's apply state, too.
    for cost, records in (("apply_record_ns", 1), ("kvdb_record_ns", 2)):
        quick, slow = locked(SYNC), locked(SYNC, **{cost: 9 * US})
        assert slow.applied_ns - quick.applied_ns == near(records * 9 * US)
        assert slow.committed_ns == quick.committed_ns


def test_a_command_keeps_its_latches_until_it_has_ended() -> None:
    scene = scene_with(SYNC, tikv_finish_ns=500 * US)
    first, second = scene.lock(b"k", TXN), scene.lock(b"k", TXN)
    scene.run(20 * NS_PER_MS)
    assert second.latched_ns == first.replied_ns == near(first.applied_ns + 500 * US)


def test_a_visit_costs_once_however_much_mail_there_is() -> None:
    # On its leader, on a follower, on the leader again with its answer.
    plain, dear = (locked(SYNC, store_visit_ns=cost).committed_ns for cost in (0, 8 * US))
    assert dear - plain == near(3 * 8 * US)
    scene = scene_with(SYNC, store_visit_ns=500 * US)
    requests = [scene.lock(key, TXN + n) for n, key in enumerate((b"a", b"b", b"c"))]
    scene.run(50 * NS_PER_MS)
    first, second, third = (request.proposed_ns for request in requests)
    # They wait for the round of the first, which ends with its sync, and are visited together.
    assert second == third == near(first + FSYNC_NS + 500 * US + 2 * 10 * US)


def test_bytes_cost_the_leader_and_its_followers() -> None:
    plain, dear = (locked(SYNC, log_byte_ns=cost) for cost in (0.0, 100.0))
    assert plain.batch is not None
    entry_ns = (plain.batch.raft_bytes + 40) * 100
    assert dear.proposed_ns == plain.proposed_ns
    assert dear.committed_ns - plain.committed_ns == near(2 * entry_ns)


def test_raftdb_takes_an_entry_and_a_state_from_each_poller_and_raft_engine_neither() -> None:
    plain, dear = (locked(SYNC, raftdb_record_ns=cost) for cost in (0, 40 * US))
    assert dear.proposed_ns == plain.proposed_ns
    assert dear.committed_ns - plain.committed_ns == near(2 * 2 * 40 * US)  # leader, follower
    raft_engine = SYNC | {"raft_engine_enable": True}
    plain, dear = (locked(raft_engine, raftdb_record_ns=cost) for cost in (0, 40 * US))
    assert dear.committed_ns == plain.committed_ns


def test_messages_between_stores_and_both_pools_wake_a_thread() -> None:
    plain, slow = (locked(SYNC, thread_hop_ns=hop) for hop in (0, 30 * US))
    # Scheduler, leader's poller; message, follower's poller; message, leader's poller; apply.
    assert slow.applied_ns - plain.applied_ns == near(7 * 30 * US)
    assert FSYNC_NS > 30 * US  # The leader's own sync is over before the quorum's.


def test_reads_and_commands_have_costs_of_their_own() -> None:
    scene = scene_with(IN_MEMORY, tikv_read_ns=40 * US, tikv_command_ns=60 * US, tikv_key_ns=US)
    read = scene.send(Kind.GET, b"k", TXN)
    scene.run(NS_PER_MS)
    assert read.done_ns == near(2 * ONE_WAY_NS + 41 * US)


@pytest.mark.parametrize(("kind", "wants"), [(Kind.GET, False), (Kind.LOCK, True)])
def test_an_answer_with_rows_takes_their_transfer(kind: Kind, *, wants: bool) -> None:
    took_ns = []
    for row_bytes in (0, GIB):  # Of a port that carries 1,000 GiB a second.
        scene = scene_with(IN_MEMORY)
        read = scene.send(kind, b"k", TXN, wants_values=wants, row_bytes=row_bytes)
        scene.run(10 * NS_PER_MS)
        took_ns.append(read.done_ns)
    assert took_ns[1] - took_ns[0] == near(NS_PER_MS)


def test_a_range_scan_seeks_once_and_steps_over_its_rows() -> None:
    scene = scene_with(IN_MEMORY, tikv_read_ns=40 * US, tikv_key_ns=9 * US, tikv_row_ns=US)
    scan = scene.send(Kind.COP, b"a", TXN, keys=(b"a", b"b"), rows=100)
    scene.run(NS_PER_MS)
    assert scan.done_ns == near(2 * ONE_WAY_NS + (40 + 9 + 100) * US)


def test_a_grpc_thread_serves_one_message_after_the_other() -> None:
    scene = scene_with(IN_MEMORY, grpc_request_ns=200 * US)
    # The second to fifth go over other connections, to other threads; the sixth is behind the
    # second, whose connection it shares.
    locks = [scene.lock(bytes([n]), TXN + n) for n in range(6)]
    scene.run(10 * NS_PER_MS)
    arrived = [lock.arrived_ns - ONE_WAY_NS for lock in locks]
    assert arrived == [near(100 * US)] * 4 + [near(200 * US)] * 2
    grpc = scene.cluster.stores[1].grpc
    assert grpc.busy_until(scene.env.now_ns) == near(6 * 200 * US)


def test_requests_share_a_message_that_is_still_open() -> None:
    scene = scene_with(IN_MEMORY, grpc_message_ns=100 * US)
    # Four connections; the fifth and the sixth request find the messages of the first two open.
    locks = [scene.lock(bytes([n]), TXN + n) for n in range(6)]
    scene.run(10 * NS_PER_MS)
    assert [lock.opens_message for lock in locks] == [True] * 4 + [False] * 2
    assert scene.node.busy_until(scene.env.now_ns) == near(4 * 2 * 100 * US)  # with the answer's
    assert scene.cluster.stores[1].grpc.busy_until(scene.env.now_ns) == near(4 * 2 * 100 * US)
    sent = [lock.arrived_ns - ONE_WAY_NS for lock in locks]
    assert sent == [near(300 * US)] * 6


def test_a_statement_pays_by_its_rows_and_for_writing() -> None:
    def busy_ns(**cpu: float) -> int:
        scene = scene_with(IN_MEMORY, **cpu)
        scene.begin(script(update(b"a", b"b")))
        scene.run()
        return scene.node.busy_until(scene.env.now_ns)

    plain = busy_ns()
    assert busy_ns(tidb_row_ns=7 * US) - plain == near(2 * 7 * US)
    assert busy_ns(tidb_write_ns=7 * US) - plain == near(7 * US)  # not BEGIN, not COMMIT
    # A request with both locks, and a prewrite that commits in one phase.
    assert busy_ns(tidb_request_ns=7 * US) - plain == near(2 * 7 * US)


@pytest.mark.parametrize("raft_engine", [True, False])
def test_flush_and_compaction_are_background_work_by_byte(*, raft_engine: bool) -> None:
    def written(cost: float) -> tuple[Scene, int]:
        scene = scene_with(SYNC | {"raft_engine_enable": raft_engine}, compaction_byte_ns=cost)
        for n in range(40):
            scene.begin(script(update(b"a", value_bytes=100_000)), at_ns=n * 20 * NS_PER_MS)
        scene.run()
        assert scene.counted("txns", "t") == 40
        return scene, sum(s.machine.cores.busy_ns for s in scene.cluster.stores.values())

    scene, plain_ns = written(0.0)
    _, dear_ns = written(10.0)
    bytes_by_place = Counter[str]()
    for counter in scene.recorder.counters():
        if counter.metric == "disk_write_bytes":
            bytes_by_place[counter.class_.partition("/")[0]] += counter.value
    flushed: float = bytes_by_place["flush"] + bytes_by_place["compaction"]
    assert flushed > 0
    if not raft_engine:  # A half of what the log's disk gets is raftdb's flush.
        flushed += bytes_by_place["raft_log"] / 2
    slices = 10.0 * 3 * MIB  # Of what each store's raftdb flushes, the last is not full.
    assert dear_ns - plain_ns == pytest.approx(10.0 * flushed, rel=0.02, abs=slices)
