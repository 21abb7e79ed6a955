"""A disk: a latency for everybody, a budget for all together."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim.distributions import Constant, Lognormal, mean_ns
from sim.hardware import Disk, DiskSpec
from sim.streams import Streams
from sim.units import KIB, MIB, NS_PER_MS, NS_PER_S, NS_PER_US

APPEND_NS = 100 * NS_PER_US
NVME = DiskSpec("nvme", 1000 * MIB, 100_000, Constant(APPEND_NS))
EBS = DiskSpec("gp3", 125 * MIB, 3000, Constant(600 * NS_PER_US), throttled=True, burst_ns=0)


def disk(spec: DiskSpec) -> Disk:
    return Disk(spec, Streams(1, 0).stream("disk"))


def mib_ns(size_bytes: int, spec: DiskSpec) -> int:
    return size_bytes * NS_PER_S // spec.write_bytes_per_s


def test_a_page_on_an_idle_disk_takes_the_published_latency() -> None:
    assert disk(NVME).sync_write(5, 4 * KIB) == 5 + APPEND_NS


def test_a_large_append_takes_its_transfer_longer() -> None:
    more_ns = disk(NVME).sync_write(0, 4 * MIB) - APPEND_NS
    # One page takes 10 us of the device here, since its 100,000 IOPS are the tighter limit.
    assert more_ns == mib_ns(4 * MIB, NVME) - 10 * NS_PER_US


def test_latencies_overlap_and_the_budget_does_not() -> None:
    device = disk(NVME)
    finishes = [device.sync_write(0, 4 * KIB) for _ in range(3)]
    assert finishes == [APPEND_NS + i * 10 * NS_PER_US for i in range(3)]
    assert (device.fsyncs, device.ios, device.written_bytes) == (3, 3, 12 * KIB)
    assert [device.busy_until(us * NS_PER_US) // NS_PER_US for us in (5, 30, 40)] == [5, 30, 30]


@pytest.mark.parametrize("spec", [NVME, EBS], ids=["device", "tokens"])
@given(
    st.lists(
        st.tuples(st.integers(0, 30), st.booleans(), st.integers(1, 2000)), min_size=1, max_size=40
    )
)
def test_no_disk_is_busier_than_time(spec: DiskSpec, writes: list[tuple[int, bool, int]]) -> None:
    """Also between two calls: what it writes in the background goes on."""
    device = disk(spec)
    now_ns = busy_ns = 0
    for gap_ms, in_background, size_kib in writes:
        for _ in range(3):
            now_ns += gap_ms * NS_PER_MS // 3
            before_ns, busy_ns = busy_ns, device.busy_until(now_ns)
            assert before_ns <= busy_ns + 1 <= before_ns + gap_ms * NS_PER_MS // 3 + 2
        if in_background:
            device.background_write(now_ns, size_kib * KIB)
        else:
            device.sync_write(now_ns, size_kib * KIB)


def test_reads_and_writes_share_a_device_each_by_its_own_figures() -> None:
    device = disk(replace(NVME, read_bytes_per_s=2000 * MIB, read_iops=400_000))
    size_bytes, reads = 64 * KIB, 100
    held_ns = size_bytes * NS_PER_S // (2000 * MIB)
    for read in range(reads):  # Latencies overlap; what holds the device does not.
        assert device.fetch_ns(0, 1, size_bytes) == APPEND_NS + read * held_ns
    assert device.fetch_ns(0, 1, KIB) == APPEND_NS + reads * held_ns, "its IOPS are the tighter"
    busy_ns = reads * held_ns + NS_PER_S // 400_000
    assert device.busy_until(NS_PER_S) == busy_ns
    assert device.sync_write(0, 4 * KIB) == busy_ns + APPEND_NS
    assert device.written_bytes == 4 * KIB


def test_reads_do_not_use_up_a_device_without_figures() -> None:
    device = disk(NVME)
    assert [device.fetch_ns(0, 1, 64 * KIB) for _ in range(3)] == [APPEND_NS] * 3
    assert device.busy_until(NS_PER_S) == 0


def test_a_write_waits_for_one_background_io_not_for_the_backlog() -> None:
    device = disk(NVME)
    device.background_write(0, 64 * MIB)
    one_io_ns = mib_ns(256 * KIB, NVME)
    # At 1 us the first I/O has begun; its rest is waited for.
    assert device.sync_write(1000, 4 * KIB) == one_io_ns + APPEND_NS
    # The next in line is met by one I/O more: the two queues take turns.
    assert device.sync_write(1000, 4 * KIB) == 2 * one_io_ns + 10 * NS_PER_US + APPEND_NS


@pytest.mark.parametrize("spec", [NVME, EBS], ids=lambda spec: spec.name)
def test_the_backlog_drains_at_the_disk_s_bandwidth(spec: DiskSpec) -> None:
    device = disk(spec)
    device.background_write(0, 64 * MIB)
    whole_ns = mib_ns(64 * MIB, spec)
    one_io_ns = mib_ns(256 * KIB, spec)
    assert abs(device.backlog_ns(whole_ns // 2) - whole_ns // 2) <= one_io_ns
    assert device.backlog_ns(whole_ns + 1) == 0
    # The server answers at once again.
    later_ns = 2 * whole_ns
    assert device.sync_write(later_ns, 4 * KIB) == later_ns + mean_ns(spec.append)
    assert device.written_bytes == 64 * MIB + 4 * KIB
    assert device.ios == 256 + 1


@pytest.mark.parametrize("spec", [NVME, EBS], ids=lambda spec: spec.name)
def test_a_backlog_moves_even_when_the_disk_never_idles(spec: DiskSpec) -> None:
    device = disk(spec)
    device.background_write(0, 4 * MIB)
    for _ in range(16):
        device.sync_write(0, 4 * KIB)
    assert device.backlog_ns(0) <= mib_ns(MIB // 4, spec)


@pytest.mark.parametrize("spec", [NVME, EBS], ids=lambda spec: spec.name)
def test_many_small_slices_are_one_large_write(spec: DiskSpec) -> None:
    at_once, sliced = disk(spec), disk(spec)
    at_once.background_write(0, 16 * MIB)
    for _ in range(1024):
        sliced.background_write(0, 16 * KIB)
    assert sliced.backlog_ns(0) == at_once.backlog_ns(0)
    assert sliced.ios == at_once.ios == 64
    now_ns = 3 * NS_PER_MS
    assert sliced.sync_write(now_ns, 4 * KIB) == at_once.sync_write(now_ns, 4 * KIB)


def test_a_throttled_disk_lets_in_no_more_ios_than_it_may() -> None:
    device = disk(EBS)
    finishes = [device.sync_write(0, 4 * KIB) for _ in range(3001)]
    assert finishes[0] == 600 * NS_PER_US
    assert finishes[-1] - finishes[0] == pytest.approx(NS_PER_S, abs=3)


def test_a_throttled_disk_has_two_ceilings() -> None:
    # Bytes alone would allow 500 of these a second, I/Os 3,000.
    device = disk(EBS)
    finishes = [device.sync_write(0, 256 * KIB) for _ in range(501)]
    assert finishes[-1] - finishes[0] == pytest.approx(NS_PER_S, abs=3)
    # Small writes use the ceiling that large ones leave alone: both fit together.
    mixed = disk(EBS)
    last_ns = 0
    for _ in range(250):
        mixed.sync_write(0, 256 * KIB)
        last_ns = max(mixed.sync_write(0, 4 * KIB) for _ in range(10))
    assert last_ns < NS_PER_S


def test_a_bucket_saves_up_its_idle_time() -> None:
    spec = DiskSpec("gp3", 125 * MIB, 3000, Constant(0), throttled=True, burst_ns=10 * NS_PER_MS)
    device = disk(spec)
    finishes = [device.sync_write(NS_PER_S, 4 * KIB) - NS_PER_S for _ in range(40)]
    # 10 ms are 30 I/Os; the one that empties the bucket is let in as well.
    assert finishes[:31] == [0] * 31
    assert finishes[31] == pytest.approx(NS_PER_S / 3000, abs=2)


def test_a_write_of_several_ios_ends_with_its_last() -> None:
    device = disk(EBS)
    four_ios_ns = device.sync_write(0, MIB)
    assert four_ios_ns == pytest.approx(600 * NS_PER_US + 3 * NS_PER_S / 500, abs=3)
    assert device.ios == 4


def test_draws_come_from_the_spec_s_distribution() -> None:
    device = disk(DiskSpec("gp3", 125 * MIB, 3000, Lognormal(662_000, 1_438_000), throttled=True))
    waits = sorted(device.sync_write(t * NS_PER_S, 4 * KIB) - t * NS_PER_S for t in range(4001))
    assert waits[2000] == pytest.approx(662_000, rel=0.03)
