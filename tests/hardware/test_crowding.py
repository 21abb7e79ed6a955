"""Latencies that depend on how many accesses are in flight, and on their size."""

from heapq import heapify, heappop, heappush

import pytest

from sim.distributions import Constant, Empirical
from sim.hardware import Crowd, Crowding, Disk, DiskSpec, Longer
from sim.streams import Streams
from sim.units import KIB, MIB, NS_PER_US

ALONE_NS, TWO_NS, FOUR_NS = 100_000, 160_000, 200_000
THINK_NS = 5 * NS_PER_US
BLOCK_BYTES = 32 * KIB


def always(value_ns: int) -> Empirical:
    return Empirical(((0.0, value_ns), (1.0, value_ns)))


CROWDING = Crowding((Crowd(2, always(TWO_NS)), Crowd(4, always(FOUR_NS))), further=always(20_000))
SPEC = DiskSpec("lab", 1000 * MIB, 100_000, always(ALONE_NS), crowding=CROWDING)


def disk(spec: DiskSpec) -> Disk:
    return Disk(spec, Streams(1, 0).stream("disk"))


def mean_ns(device: Disk, jobs: int, *, size_bytes: int = 4 * KIB, writes: int = 2000) -> float:
    """Returns the mean latency of so many jobs in a closed loop, once all are under way."""
    ready = [(job * NS_PER_US, job) for job in range(jobs)]
    heapify(ready)
    latencies = []
    for _ in range(writes):
        now_ns, job = heappop(ready)
        finish_ns = device.sync_write(now_ns, size_bytes)
        latencies.append(finish_ns - now_ns)
        heappush(ready, (finish_ns + THINK_NS, job))
    kept = latencies[writes // 10 :]
    return sum(kept) / len(kept)


@pytest.mark.parametrize(
    ("jobs", "expected_ns"),
    [(1, ALONE_NS), (2, TWO_NS), (3, 180_000), (4, FOUR_NS), (6, 240_000), (8, 280_000)],
)
def test_a_closed_loop_has_the_latency_of_its_number(jobs: int, expected_ns: int) -> None:
    # Shared bandwidth adds a few microseconds from four on.
    assert mean_ns(disk(SPEC), jobs) == pytest.approx(expected_ns, rel=0.04)


@pytest.mark.parametrize(("jobs", "expected_ns"), [(2, 150_000), (3, 166_667), (4, 175_000)])
def test_the_first_company_is_met_by_the_chance_that_somebody_is_there(
    jobs: int, expected_ns: int
) -> None:
    crowding = Crowding((Crowd(4, always(175_000)),))
    spec = DiskSpec("lab", 10**12, 10**8, always(ALONE_NS), crowding=crowding)
    assert mean_ns(disk(spec), jobs) == pytest.approx(expected_ns, rel=0.02)


def test_without_crowding_writes_do_not_disturb_each_other() -> None:
    spec = DiskSpec("lab", 1000 * MIB, 10**8, always(ALONE_NS))
    assert mean_ns(disk(spec), 8) == pytest.approx(ALONE_NS, rel=0.01)


def test_a_write_finds_those_in_flight_and_forgets_them() -> None:
    device = disk(SPEC)
    assert device.sync_write(0, 4 * KIB) == ALONE_NS
    assert device.sync_write(50_000, 4 * KIB) - 50_000 == pytest.approx(TWO_NS, rel=0.01)
    late_ns = 10**9
    assert device.sync_write(late_ns, 4 * KIB) - late_ns == ALONE_NS


def test_company_that_stays_away_is_forgotten() -> None:
    device = disk(SPEC)
    mean_ns(device, 2)
    resumed_ns = 2 * 10**9
    for _ in range(40):
        resumed_ns = device.sync_write(resumed_ns, 4 * KIB)
    before_ns = resumed_ns
    assert device.sync_write(before_ns, 4 * KIB) - before_ns == pytest.approx(ALONE_NS, rel=0.01)


def test_longer_writes_lie_between_the_sizes_that_were_measured() -> None:
    longer = (Longer(16 * KIB, always(150_000)), Longer(64 * KIB, always(350_000)))
    device = disk(DiskSpec("lab", 1000 * MIB, 10**6, always(ALONE_NS), longer=longer))
    sizes = {4: 100_000, 10: 125_000, 16: 150_000, 40: 250_000, 64: 350_000}
    for at, (kib, expected_ns) in enumerate(sizes.items()):
        now_ns = (at + 1) * 10**9
        assert device.sync_write(now_ns, kib * KIB) - now_ns == pytest.approx(expected_ns, rel=0.01)


def test_beyond_the_longest_that_was_measured_bandwidth_counts() -> None:
    longer = (Longer(16 * KIB, always(150_000)),)
    device = disk(DiskSpec("lab", 1000 * MIB, 10**6, always(ALONE_NS), longer=longer))
    expected_ns = 150_000 + (1 * MIB - 16 * KIB) / (1000 * MIB) * 10**9
    assert device.sync_write(0, 1 * MIB) == pytest.approx(expected_ns, rel=0.01)


def test_company_stretches_a_longer_write_as_it_does_a_short_one() -> None:
    spec = DiskSpec(
        "lab", 1000 * MIB, 10**6, always(ALONE_NS),
        longer=(Longer(16 * KIB, always(150_000)),), crowding=CROWDING,
    )  # fmt: skip
    assert mean_ns(disk(spec), 2, size_bytes=16 * KIB) == pytest.approx(TWO_NS * 1.5, rel=0.04)


def test_an_ill_disk_is_slower_by_its_factor() -> None:
    device = disk(SPEC)
    device.slowdown = 3.0
    assert device.sync_write(0, 4 * KIB) == pytest.approx(3 * ALONE_NS, rel=0.01)


def test_reads_have_a_latency_and_company_of_their_own() -> None:
    spec = DiskSpec(
        "lab", 1000 * MIB, 10**6, always(ALONE_NS),
        fetch=always(30_000), fetch_crowding=Crowding((Crowd(8, always(115_000)),)),
    )  # fmt: skip
    streams = Streams(1, 0)
    device = Disk(spec, streams.stream("appends"), streams.stream("reads"))
    assert device.fetch_ns(0, 1, BLOCK_BYTES) == 30_000
    assert 30_000 < device.fetch_ns(1_000, 1, BLOCK_BYTES) < 115_000
    assert device.fetch_ns(10**9, 2, BLOCK_BYTES) == 60_000


def test_a_fetch_of_its_own_needs_no_company() -> None:
    spec = DiskSpec("lab", 1000 * MIB, 10**6, always(ALONE_NS), fetch=Constant(30_000))
    assert disk(spec).fetch_ns(0, 3, BLOCK_BYTES) == 90_000


@pytest.mark.parametrize(
    "levels", [(), (Crowd(1, always(1)),), (Crowd(4, always(1)), Crowd(2, always(1)))]
)
def test_levels_ascend_from_two(levels: tuple[Crowd, ...]) -> None:
    with pytest.raises(ValueError, match="ascend from 2"):
        Crowding(levels)


def test_crowding_needs_quantiles_to_build_on() -> None:
    with pytest.raises(ValueError, match="append of quantiles"):
        DiskSpec("lab", 1000 * MIB, 10**6, Constant(ALONE_NS), crowding=CROWDING)
