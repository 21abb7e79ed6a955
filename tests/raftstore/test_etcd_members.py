"""etcd's members: latencies by hand, the quorum, a lost leader, and the same facts every time."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from analysis.study.load import load_study
from sim.distributions import Constant
from sim.etcd.checks import broken_puts
from sim.etcd.unit import EtcdUnit
from sim.hardware import DiskSpec, NetworkSpec
from sim.record.facts import COUNTER, EVENT, MOMENTS, MemorySink
from sim.scenario import Scenario
from sim.scenario.schema.etcd import EtcdCosts
from sim.scenario.schema.operations import CrashStore, Partition, TransferLeader
from sim.scenario.targets import RegionTarget, StoreTarget
from sim.units import GIB, NS_PER_MS, NS_PER_S, NS_PER_US

SCENARIOS = Path(__file__).resolve().parents[2] / "scenarios"
FSYNC_NS = 1_000 * NS_PER_US
ONE_WAY_NS = 50 * NS_PER_US
COSTS = EtcdCosts(
    burst_ns=5_000,
    request_ns=20_000,
    client_ns=40_000,
    round_ns=7_000,
    entry_ns=6_000,
    sync_ns=100_000,
    backend_commit_ns=0,
    process_share=0,
    watch_ns=1,
    kernel_share=0,
    time_slice_ns=NS_PER_S,
    wake_ns=0,
    relay_ns=0,
    byte_ns=0,
)


@cache
def _shipped() -> Scenario:
    return load_study(SCENARIOS / "etcd_loopback.yaml").scenario({}, "one_machine")


def _lab(threads: int = 8, *, timeout_ns: int = 300 * NS_PER_MS) -> Scenario:
    """Returns the shipped scenario, shortened."""
    shipped = _shipped()
    return replace(
        shipped,
        run=replace(shipped.run, warmup_ns=0, measure_ns=NS_PER_S),
        workload=replace(shipped.workload, threads=threads, timeout_ns=timeout_ns),
    )


def _constant(threads: int = 1) -> Scenario:
    """Returns a cluster without chance, a machine with eight cores each."""
    scenario = _lab(threads)
    hardware = scenario.hardware
    return replace(
        scenario,
        hardware=replace(
            hardware,
            shared=False,
            store_cores=8,
            tidb_cores=8,
            raft_disk=DiskSpec("constant", 1000 * GIB, 1_000_000_000, Constant(FSYNC_NS)),
            network=NetworkSpec(Constant(2 * ONE_WAY_NS), None, 1000 * GIB),
            etcd=replace(COSTS, cv=0),
        ),
    )


def _run(scenario: Scenario, seconds: float = 0.09) -> tuple[EtcdUnit, MemorySink]:
    sink = MemorySink()
    unit = EtcdUnit(scenario, 0, sink)
    unit.env.run_until(int(seconds * NS_PER_S))
    unit.recorder.close(unit.env.now_ns)
    return unit, sink


def _latencies(sink: MemorySink) -> list[tuple[int, int, int]]:
    return [row[3:] for row in sink.rows(MOMENTS) if row[1] == "txn_latency"]  # type: ignore[misc]


def test_one_put_takes_the_sum_of_its_way() -> None:
    _, sink = _run(_constant())
    way_ns = (
        2 * (COSTS.burst_ns + COSTS.client_ns // 2)  # the client writes, and reads
        + 2 * (COSTS.burst_ns + COSTS.request_ns // 2)  # the leader reads, and writes
        + 2 * ONE_WAY_NS
        + COSTS.round_ns
        + COSTS.entry_ns // 2  # the leader proposes; its own log is done before the others'
        + 2 * (2 * COSTS.burst_ns + ONE_WAY_NS)  # to a follower and back
        + COSTS.round_ns
        + COSTS.entry_ns // 2
        + FSYNC_NS  # the system call's CPU is in it
        + COSTS.round_ns  # the leader takes the answer
        + COSTS.entry_ns // 2  # and applies
    )
    moments = _latencies(sink)
    assert moments
    for count, total_ns, longest_ns in moments:
        assert longest_ns == pytest.approx(way_ns, abs=30)
        assert total_ns == pytest.approx(count * way_ns, rel=1e-4)


@pytest.mark.parametrize(("slow", "waits"), [((2,), False), ((3,), False), ((2, 3), True)])
def test_a_put_waits_for_the_leader_and_the_faster_follower(
    slow: tuple[int, ...], waits: bool
) -> None:
    """Order statistics of a quorum: max(leader, min of both followers)."""
    scenario = _constant()
    _, undisturbed = _run(scenario)
    sink = MemorySink()
    unit = EtcdUnit(scenario, 0, sink)
    for store in slow:
        unit.cluster.slow_disk(store, 4)
    unit.env.run_until(90 * NS_PER_MS)
    unit.recorder.close(unit.env.now_ns)
    usual_ns = max(row[2] for row in _latencies(undisturbed))
    longer_ns = max(row[2] for row in _latencies(sink)) - usual_ns
    assert longer_ns == pytest.approx(3 * FSYNC_NS if waits else 0, abs=60)


def test_puts_that_come_during_a_sync_share_the_next() -> None:
    one, _ = _run(_constant(1), 0.3)
    many, _ = _run(_constant(32), 0.3)
    puts = [unit.stats.done.value for unit in (one, many)]
    syncs = [unit.cluster.members[1].log.fsyncs for unit in (one, many)]
    assert syncs[0] == pytest.approx(puts[0], abs=2)
    assert puts[1] > 8 * syncs[1]
    assert puts[1] > 10 * puts[0]


def test_members_have_their_machine_to_themselves_or_share_one() -> None:
    shared = _lab()
    apart = replace(shared, hardware=replace(shared.hardware, shared=False))
    together, _ = _run(shared, 0.3)
    alone, _ = _run(apart, 0.3)
    assert together.cluster.machines.core_count() == 2
    assert alone.cluster.machines.core_count() == 8
    assert alone.stats.done.value > 1.5 * together.stats.done.value
    disks = {id(member.disk) for member in together.cluster.members.values()}
    assert len(disks) == 1


def test_two_runs_leave_the_same_facts() -> None:
    first, one = _run(_lab(), 0.3)
    second, other = _run(_lab(), 0.3)
    assert one.tables == other.tables
    assert first.env.events == second.env.events


def test_a_transfer_hardly_stops_anybody() -> None:
    unit = EtcdUnit(_lab(), 0, MemorySink())
    unit.env.run_until(300 * NS_PER_MS)
    unit.cluster.transfer_leader(2)
    moments = _completions(unit, 1_000)
    leader = unit.cluster.leader()
    assert leader is not None
    assert leader.store == 2
    assert _longest_gap_ns(moments) < 30 * NS_PER_MS
    assert unit.clients.member == 1, "clients stay where they are; their member forwards"
    assert not unit.result().violations


def test_a_killed_leader_is_missed_for_an_election_timeout() -> None:
    unit = EtcdUnit(_lab(), 0, MemorySink())
    unit.env.run_until(300 * NS_PER_MS)
    unit.cluster.crash(1)
    moments = _completions(unit, 3_500)
    gap_ns = _longest_gap_ns(moments)
    # An election timeout of 1 to 2 s, and a forgotten put's 300 ms.
    assert 1_000 * NS_PER_MS < gap_ns < 2_500 * NS_PER_MS
    assert moments[-1] > 3_400 * NS_PER_MS
    assert unit.clients.member != 1
    assert not unit.result().violations


def test_a_member_that_comes_back_catches_up() -> None:
    unit = EtcdUnit(_lab(), 0, MemorySink())
    unit.env.run_until(300 * NS_PER_MS)
    unit.cluster.crash(2)
    unit.env.run_until(700 * NS_PER_MS)
    members = unit.cluster.members
    assert members[2].raft.applied_index < members[1].raft.applied_index - 500
    unit.cluster.restart(2)
    unit.env.run_until(1_500 * NS_PER_MS)
    assert members[1].raft.applied_index - members[2].raft.applied_index < 50
    assert unit.cluster.leader_store() == 1
    assert not unit.result().violations


def test_operations_are_carried_out_and_written_down() -> None:
    at: dict[str, Any] = {
        "every_ns": None,
        "rate_per_s": None,
        "from_ns": None,
        "until_ns": None,
        "count": None,
    }
    everyone = RegionTarget(by="random")
    operations = (
        TransferLeader(name="moves", at_ns=100 * NS_PER_MS, region=everyone, to=_store(2), **at),
        CrashStore(name="dies", at_ns=300 * NS_PER_MS, store=_store(3), for_ns=NS_PER_MS, **at),
        Partition(
            name="cut", at_ns=500 * NS_PER_MS, groups=None, isolate=_store(2), for_ns=None, **at
        ),
    )
    sink = MemorySink()
    unit = EtcdUnit(replace(_lab(), operations=operations), 0, sink)
    unit.env.run_until(400 * NS_PER_MS)
    assert unit.cluster.leader_store() == 2
    unit.env.run_until(3 * NS_PER_S)
    unit.recorder.close(unit.env.now_ns)
    assert unit.cluster.leader_store() != 2, "a leader that is cut off is replaced"
    assert [row[1:] for row in sink.rows(EVENT)] == [
        ("transfer_leader", "store 2"),
        ("crash_store", "store 3"),
        ("crash_store_end", "store 3"),
        ("partition", "store 2"),
    ]
    moved = {row[1:3] for row in sink.rows(COUNTER)}
    assert ("leaders_gained", "store-2") in moved
    assert ("leaders_lost", "store-1") in moved
    assert not unit.result().violations


def _store(number: int) -> StoreTarget:
    return StoreTarget(by="id", store=number)


def test_a_lost_put_is_found() -> None:
    unit, _ = _run(_lab(), 0.2)
    told = unit.clients.acknowledged
    assert not list(broken_puts(unit.cluster, told))
    key = next(iter(told))
    for member in unit.cluster.members.values():
        del member.backend.versions[key]
    (line,) = broken_puts(unit.cluster, told)
    assert "1 acknowledged puts are lost" in line


def _completions(unit: EtcdUnit, until_ms: int) -> list[int]:
    """Returns now, and then when puts were answered, to the millisecond."""
    moments = [unit.env.now_ns]
    before = unit.stats.done.value
    for now_ms in range(unit.env.now_ns // NS_PER_MS, until_ms):
        unit.env.run_until((now_ms + 1) * NS_PER_MS)
        if unit.stats.done.value > before:
            before = unit.stats.done.value
            moments.append(unit.env.now_ns)
    return moments


def _longest_gap_ns(moments: list[int]) -> int:
    return max(after - before for before, after in pairwise(moments))
