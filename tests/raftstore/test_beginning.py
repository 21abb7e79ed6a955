"""A unit begins near its stationary state: nothing that comes in cycles begins everywhere at once.

Proves: slices of background writes are whole from the first, at their own phase; leaders send
heartbeats in the first interval as often as in later ones.
"""

from types import SimpleNamespace

import pytest

from sim.distributions import Constant
from sim.engine import Cores, LeanEnv
from sim.hardware import Disk, DiskSpec
from sim.protocol.region import Region, RegionId, StoreId
from sim.raftstore.bootstrap import ReplicaFactory
from sim.raftstore.disk_bytes import DiskBytes
from sim.raftstore.kv_engine import Amplification, KvEngine
from sim.raftstore.ticks import PHASES, Ticks
from sim.record.facts import MemorySink
from sim.record.recorder import Recorder
from sim.scenario.schema.tikv import Tikv
from sim.streams import Streams
from sim.units import KIB, NS_PER_MS, NS_PER_S

SLICE_BYTES = 512 * KIB
BATCH = SimpleNamespace(
    cause=0, wal_bytes=0, write_cf_bytes=64 * KIB, default_cf_bytes=0, lock_tombstone_bytes=0
)


@pytest.mark.parametrize(("phase", "rounds"), [(0.0, 8), (0.25, 6), (0.875, 1)])
def test_the_first_slice_is_whole_and_leaves_at_its_phase(phase: float, rounds: int) -> None:
    env = LeanEnv()
    disk = Disk(DiskSpec("kv", 10**9, 10**5, Constant(NS_PER_MS)), Streams(1, 0).stream("kv"))
    ledger = DiskBytes(Recorder(NS_PER_S, MemorySink()))
    engine = KvEngine(
        env,
        disk,
        Cores(1),
        Amplification(data=1.0, lock=1.0),
        ledger,
        byte_ns=0.0,
        slice_phase=phase,
    )
    env.run_until(1)
    written = []
    for step in range(2, 2 + rounds + 8):
        engine.apply(BATCH)  # type: ignore[arg-type]
        engine.end_of_round(0)
        env.run_until(step)
        written.append(ledger.total())
    expected = [SLICE_BYTES * (done >= rounds) for done in range(1, rounds + 8)]
    assert written[:-1] == expected
    assert written[-1] == 2 * SLICE_BYTES


def test_leaders_begin_at_all_points_of_their_heartbeat_cycle() -> None:
    tikv = Tikv(raft_heartbeat_ticks=3)
    factory = ReplicaFactory(tikv, Streams(1, 0).stream("timeouts"))
    stores = (StoreId(1), StoreId(2), StoreId(3))
    regions = [Region(RegionId(n * PHASES), b"", b"", stores) for n in range(1, 7)]
    elapsed = [factory.raft(region, 1, 1).heartbeat_elapsed for region in regions]
    assert elapsed == [1, 2, 0, 1, 2, 0]
    assert all(factory.raft(region, 2, 1).heartbeat_elapsed == 0 for region in regions)


def test_a_replica_ticks_within_an_interval_also_when_it_comes_later() -> None:
    env = LeanEnv()
    ticked = []
    tikv = Tikv(raft_base_tick_interval_ns=NS_PER_S, hibernate_regions=False)
    visited: list[object] = []
    router = SimpleNamespace(visit=visited.append)
    ticks = Ticks(env, tikv, router)  # type: ignore[arg-type]
    raft = SimpleNamespace(tick=lambda: ticked.append(env.now_ns), is_eventful=False)
    peer = SimpleNamespace(
        region=SimpleNamespace(region_id=40), store=1, raft=raft, stirred=False, awake_ticks=0
    )
    env.run_until(100 * NS_PER_MS)
    ticks.add(peer)  # type: ignore[arg-type]
    env.run_until(2 * NS_PER_S)
    assert len(ticked) == 2
    assert ticked[0] <= 1100 * NS_PER_MS
    assert ticked[1] - ticked[0] == NS_PER_S
    assert visited == [peer, peer], "a poller handles each tick"
