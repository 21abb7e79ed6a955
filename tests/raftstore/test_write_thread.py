"""Writes to RocksDB: groups against a twin, orders against a law, and what more threads bring."""

from __future__ import annotations

from bisect import bisect_left
from itertools import accumulate
from math import inf
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from sim.engine import UNTIL_WOKEN, Cores, LeanEnv, Story
from sim.raftstore.write_thread import CONTENTION, PIECE_KEYS, CommitPipeline, WriteGroups
from sim.record.facts import NoSink
from sim.simulation import SimulatedUnit
from sim.units import NS_PER_S, NS_PER_US
from tests.scenes import PIPELINED, scenario

US = NS_PER_US
HOP_NS = 20 * US

PAIR, THREE = 2 / (1 + CONTENTION), 3 / (1 + 2 * CONTENTION)
"""What so many threads insert, as a multiple of what one does."""

Begun = tuple[int, int, int]
"""When a write comes, how long it takes one thread, and its records."""


def about(ends: list[float]) -> Any:
    """Returns what equals ends in microseconds that differ by a nanosecond or two."""
    return pytest.approx(ends, abs=0.002)


def ends_us(*writes: Begun) -> list[float]:
    """Returns when writes before v6.0 end, in microseconds."""
    env, ends = LeanEnv(), [0.0] * len(writes)
    groups = WriteGroups(env)

    def write(number: int, begun: Begun) -> Story:
        process = env.this_process
        yield begun[0] * US
        groups.insert(process, begun[1] * US, begun[2])
        yield UNTIL_WOKEN
        ends[number] = env.now_ns / US

    for number, begun in enumerate(writes):
        env.process(write(number, begun))
    env.run_until(NS_PER_S)
    return ends


def test_a_write_alone_takes_as_long_as_one_thread() -> None:
    assert ends_us((0, 30, 9), (40, 20, 200)) == [30, 60]


def test_who_waits_helps_once_a_piece_is_inserted() -> None:
    # 16 of the 32 records of 1 us, then both the others, and likewise for the second write.
    first = 16 + 16 / PAIR
    assert ends_us((0, 32, 32), (10, 32, 32)) == about([first, first + 32])
    ends = ends_us((0, 32, 32), (10, 32, 32), (30, 32, 32))
    assert ends == about([first, 2 * first, 2 * first + 32])


def test_a_write_of_one_piece_is_inserted_by_its_own_thread() -> None:
    assert ends_us((0, 30, PIECE_KEYS), (10, 20, PIECE_KEYS)) == [30, 50]


def test_those_that_have_waited_are_one_group_and_end_together() -> None:
    # A fifth of 80 us alone, then all three; then 16 of 32 us alone, and two the others.
    first = 16 + 64 / THREE
    both = first + 16 + 16 / PAIR
    assert ends_us((0, 80, 80), (10, 24, 24), (10, 8, 8)) == about([first, both, both])


@pytest.mark.parametrize(("records", "measured"), [(27, 1.19), (81, 1.58), (243, 1.71)])
def test_two_threads_insert_as_much_more_as_was_measured(records: int, measured: float) -> None:
    env = LeanEnv()
    groups, done = WriteGroups(env), 0

    def write() -> Story:
        nonlocal done
        process = env.this_process
        while True:
            groups.insert(process, records * US, records)
            yield UNTIL_WOKEN
            done += records

    for _ in range(2):
        env.process(write())
    env.run_until(100_000 * US)
    assert done / 100_000 == pytest.approx(measured, rel=0.03)


@given(
    st.lists(
        st.tuples(st.integers(0, 200), st.integers(1, 100), st.integers(0, 260)),
        max_size=12,
        unique_by=lambda write: write[0],
    )
)
def test_groups_end_as_a_dumb_twin_says(writes: list[Begun]) -> None:
    ends = _twin(writes)
    assume(all(abs(end - at) > 0.1 for end in ends for at, _, _ in writes))
    assert ends_us(*writes) == pytest.approx(ends, abs=0.1)


def _twin(writes: list[Begun]) -> list[float]:
    """Goes from one arrival or end to the next."""
    ends, now = dict[int, float](), 0.0
    group: list[int] = []
    left = helped = 0.0
    while len(ends) < len(writes):
        here = [n for n, (at, _, _) in enumerate(writes) if at <= now and n not in ends]
        if not group:
            group = here
            left = float(sum(writes[n][1] for n in group))
            records = sum(writes[n][2] for n in group)
            helped = left * max(0, records - PIECE_KEYS) / max(1, records)
        coming = min((at for at, _, _ in writes if at > now), default=inf)
        speed = 1.0 if left > helped else len(here) / (1 + CONTENTION * (len(here) - 1))
        until = helped if left > helped else 0.0
        end = now + (left - until) / speed if group else inf
        left = until if end <= coming else left - speed * (coming - now)
        now = min(coming, end)
        if now == end and not until:
            ends |= dict.fromkeys(group, end)
            group = []
    return [ends[n] for n in range(len(writes))]


def test_since_the_commit_pipeline_a_write_waits_for_the_end_of_those_before_it_only() -> None:
    env, writes = pipeline()
    writes.insert(0, 30 * US)
    writes.insert(10 * US, 20 * US)
    env.run_until(20 * US)
    assert writes.order_ns(10 * US) == 10 * US + HOP_NS
    env.run_until(30 * US)
    assert writes.order_ns(0) == 0


def test_what_counts_is_who_began_to_insert_first_not_who_is_known_first() -> None:
    env, writes = pipeline()
    writes.insert(15 * US, 25 * US)
    env.run_until(5 * US)
    writes.insert(10 * US, 40 * US)
    env.run_until(25 * US)
    assert writes.order_ns(15 * US) == 15 * US + HOP_NS
    env.run_until(40 * US)
    assert writes.order_ns(10 * US) == 0


def test_since_the_commit_pipeline_a_write_is_slowed_down_by_those_that_insert_then() -> None:
    _, writes = pipeline()
    writes.insert(0, 30 * US)
    writes.insert(5 * US, 20 * US)
    slowness = [writes.slowness(at_us * US) for at_us in (10, 25, 30)]
    assert slowness == pytest.approx([1 + 2 * CONTENTION, 1 + CONTENTION, 1])


def pipeline(*, hop_ns: int = HOP_NS) -> tuple[LeanEnv, CommitPipeline]:
    env = LeanEnv()
    return env, CommitPipeline(env, Cores(8, hop_ns=hop_ns))


@given(st.lists(st.tuples(st.integers(0, 300 * US), st.integers(0, 300 * US)), max_size=30))
def test_writes_end_in_their_order_and_insert_as_if_alone(
    writes_after: list[tuple[int, int]],
) -> None:
    env, writes = pipeline(hop_ns=0)
    begins_ns = list(accumulate(after_ns for after_ns, _ in writes_after))
    inserted_ns = [
        begin_ns + work_ns for begin_ns, (_, work_ns) in zip(begins_ns, writes_after, strict=True)
    ]
    steps = [(at_ns, 0, number) for number, at_ns in enumerate(begins_ns)]
    steps += [(at_ns, 1, number) for number, at_ns in enumerate(inserted_ns)]
    ends_ns = list(inserted_ns)
    for at_ns, is_end, number in sorted(steps):
        env.run_until(at_ns)
        if is_end:
            ends_ns[number] += writes.order_ns(begins_ns[number])
        else:
            writes.insert(at_ns, inserted_ns[number])
    before_ns = [
        max(inserted_ns[: bisect_left(begins_ns, begin)], default=0) for begin in begins_ns
    ]
    assert ends_ns == [max(pair) for pair in zip(inserted_ns, before_ns, strict=True)]


def committed(version: str, threads: int) -> int:
    """Returns what a cluster commits in which records are dear, in 0.4 s."""
    tikv = PIPELINED | {"apply_pool_size": threads}
    of = scenario("sysbench_write_only", tikv=tikv, cpu={"kvdb_record_ns": 100 * US},
                  cluster={"store_versions": (version,) * 3}, workload={"threads": 64})  # fmt: skip
    unit = SimulatedUnit(of, 0, NoSink())
    unit.env.run_until(NS_PER_S * 2 // 5)
    return unit.stats.total_committed()


def test_more_apply_threads_help_before_the_commit_pipeline_and_since() -> None:
    assert committed("5.4.0", 6) > 1.4 * committed("5.4.0", 2)
    assert committed("6.0.0", 6) > 1.6 * committed("6.0.0", 2)
