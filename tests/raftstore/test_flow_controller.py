"""Writes wait for flush and compaction, and no longer than they have to."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from sim.distributions import Constant
from sim.engine import Cores, LeanEnv
from sim.estimate import estimate
from sim.hardware import Disk, DiskSpec
from sim.raftstore.disk_bytes import DiskBytes
from sim.raftstore.kv_engine import Amplification, KvEngine
from sim.record.facts import NoSink
from sim.record.recorder import Recorder
from sim.simulation import SimulatedUnit
from sim.storage.flow_controller import FlowController
from sim.streams import Streams
from sim.units import KIB, MIB, NS_PER_MS, NS_PER_S
from tests.scenes import IN_MEMORY, scenario

BYTES_PER_S = 64 * MIB
DEBT_NS = 250 * NS_PER_MS
SLICE = SimpleNamespace(
    cause=0, wal_bytes=0, write_cf_bytes=512 * KIB, default_cf_bytes=0, lock_tombstone_bytes=0
)
"""Half a mebibyte of records, which are written four times: 31 ms of the disk."""


class Store:
    """A data disk, its engine, and writes that note when they may pass."""

    def __init__(self) -> None:
        self.env = LeanEnv()
        spec = DiskSpec("kv", BYTES_PER_S, 10**6, Constant(NS_PER_MS))
        self.disk = Disk(spec, Streams(1, 0).stream("kv"))
        self.engine = KvEngine(
            self.env,
            self.disk,
            Cores(1),
            Amplification(data=4.0, lock=1.0),
            DiskBytes(Recorder(NS_PER_S, NoSink())),
            byte_ns=0.0,
            slice_phase=0.0,
        )
        self.passed: list[tuple[object, int]] = []
        self.flow = FlowController(self.env, self.engine, self._note)  # type: ignore[arg-type]
        self.env.run_until(1)

    def apply(self, slices: int) -> None:
        for _ in range(slices):
            self.engine.apply(SLICE)  # type: ignore[arg-type]
            self.engine.end_of_round(0)

    def write(self, name: str) -> None:
        self.flow.delay(SimpleNamespace(name=name, batch=SLICE))  # type: ignore[arg-type]

    def run_until(self, at_ns: int) -> None:
        self.env.run_until(at_ns)

    def _note(self, request: SimpleNamespace) -> None:
        self.passed.append((request.name, self.env.now_ns))


@pytest.fixture
def store() -> Store:
    return Store()


def test_nothing_waits_while_the_disk_keeps_up(store: Store) -> None:
    for step in range(1, 40):
        store.apply(1)
        store.run_until(step * 32 * NS_PER_MS)  # A slice is written four times: 31.25 ms.
        assert not store.flow.throttles


def test_writes_wait_until_the_debt_is_at_its_limit_and_then_go_as_the_disk_does(
    store: Store,
) -> None:
    store.apply(16)  # 500 ms of the disk.
    assert store.flow.throttles
    for name in "abc":
        store.write(name)
    store.run_until(NS_PER_S)
    names, times = zip(*store.passed, strict=True)
    assert names == ("a", "b", "c")
    first_ns = times[0]
    assert first_ns == pytest.approx(250 * NS_PER_MS, abs=5 * NS_PER_MS)  # A whole I/O more.
    slice_ns = 4 * 512 * KIB * NS_PER_S // BYTES_PER_S
    assert [at_ns - first_ns for at_ns in times] == pytest.approx(
        [0, slice_ns, 2 * slice_ns], rel=0.001
    )


def test_who_comes_when_others_wait_waits_behind_them(store: Store) -> None:
    store.apply(16)
    store.write("first")
    store.run_until(260 * NS_PER_MS)
    store.apply(1)  # What the first one wrote; nothing is owed above the limit any more.
    assert [name for name, _ in store.passed] == ["first"]
    assert store.flow.throttles, "its bytes are still to be written"
    store.run_until(NS_PER_S)
    store.apply(1)
    assert not store.flow.throttles


def test_a_crash_forgets_who_waits(store: Store) -> None:
    store.apply(16)
    store.write("of the process that dies")
    store.flow.crash()
    store.run_until(300 * NS_PER_MS)
    store.apply(16)
    store.write("of the next one")
    store.run_until(2 * NS_PER_S)
    assert [name for name, _ in store.passed] == ["of the next one"]


def test_a_cluster_commits_what_flush_and_compaction_can_write() -> None:
    """Proves it: the data disks are full, not more, and the formula for that gives this rate."""
    kv_disk = DiskSpec("weak", 6 * MIB, 10**6, Constant(NS_PER_MS))
    of = scenario(
        "sysbench_write_only",
        tikv=IN_MEMORY,
        hardware={"kv_disk": kv_disk},
        workload={"threads": 64},
    )
    unit = SimulatedUnit(of, 0, NoSink())
    disks = [store.machine.kv_disk for store in unit.cluster.stores.values()]
    unit.env.run_until(NS_PER_S)
    committed, given_bytes = unit.stats.total_committed(), sum(each.written_bytes for each in disks)
    owed_ns = list[int]()
    for tenth in range(11, 41):
        unit.env.run_until(tenth * NS_PER_S // 10)
        owed_ns += [disk.backlog_ns(unit.env.now_ns) for disk in disks]
    committed = unit.stats.total_committed() - committed
    given_bytes = sum(each.written_bytes for each in disks) - given_bytes
    assert given_bytes / len(disks) == pytest.approx(3 * kv_disk.write_bytes_per_s, rel=0.03)
    slice_ns = 512 * KIB * NS_PER_S // kv_disk.write_bytes_per_s
    assert max(owed_ns) <= DEBT_NS + 3 * slice_ns  # of WAL, memtables, and that of locks
    assert sum(owed_ns) / len(owed_ns) < DEBT_NS + slice_ns
    expected = estimate(of)
    assert expected.bottleneck == "kv_disk"
    assert committed / 3 == pytest.approx(expected.txn_per_s, rel=0.1)
    assert not unit.result().violations
