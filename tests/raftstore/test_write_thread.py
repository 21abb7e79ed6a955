"""The turns of writes to RocksDB: against a twin, a formula, and what more threads bring."""

from __future__ import annotations

from bisect import bisect_left
from itertools import accumulate
from math import log

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim.engine import Cores, LeanEnv
from sim.queueing.formulas import mean_wait
from sim.raftstore.write_thread import SPIN_NS, WriteThread, WriteTurn
from sim.record.facts import NoSink
from sim.simulation import SimulatedUnit
from sim.streams import Streams
from sim.units import NS_PER_S, NS_PER_US
from tests.scenes import PIPELINED, scenario

US = NS_PER_US
HOP_NS = 20 * US


def write_thread(*, hop_ns: int = HOP_NS) -> tuple[LeanEnv, WriteThread]:
    env = LeanEnv()
    return env, WriteThread(env, Cores(8, hop_ns=hop_ns))


def test_a_write_waits_for_those_before_it() -> None:
    env, writes = write_thread()
    assert writes.in_turn(30 * US) == WriteTurn(0, 30 * US)
    assert writes.in_turn(20 * US) == WriteTurn(30 * US, 20 * US)
    env.run_until(40 * US)
    assert writes.in_turn(5 * US) == WriteTurn(10 * US, 5 * US)
    env.run_until(200 * US)
    assert writes.in_turn(5 * US) == WriteTurn(0, 5 * US)


def test_who_has_waited_for_long_has_to_be_woken_and_the_engine_waits_for_it() -> None:
    _, writes = write_thread()
    writes.in_turn(SPIN_NS)
    assert writes.in_turn(50 * US) == WriteTurn(SPIN_NS, 50 * US)
    assert writes.in_turn(US) == WriteTurn(SPIN_NS + 50 * US + HOP_NS, US)
    assert writes.in_turn(US) == WriteTurn(SPIN_NS + 51 * US + 2 * HOP_NS, US)


def test_since_the_commit_pipeline_a_write_waits_for_the_end_of_those_before_it_only() -> None:
    env, writes = write_thread()
    writes.side_by_side(0, 30 * US)
    writes.side_by_side(10 * US, 20 * US)
    env.run_until(20 * US)
    assert writes.order_ns(10 * US) == 10 * US + HOP_NS
    env.run_until(30 * US)
    assert writes.order_ns(0) == 0


def test_what_counts_is_who_began_to_insert_first_not_who_is_known_first() -> None:
    env, writes = write_thread()
    writes.side_by_side(15 * US, 25 * US)
    env.run_until(5 * US)
    writes.side_by_side(10 * US, 40 * US)
    env.run_until(25 * US)
    assert writes.order_ns(15 * US) == 15 * US + HOP_NS
    env.run_until(40 * US)
    assert writes.order_ns(10 * US) == 0


WRITES = st.lists(st.tuples(st.integers(0, 300 * US), st.integers(0, 300 * US)), max_size=30)


@given(WRITES)
def test_writes_end_in_their_order_and_insert_as_if_alone(
    writes_after: list[tuple[int, int]],
) -> None:
    env, writes = write_thread(hop_ns=0)
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
            writes.side_by_side(at_ns, inserted_ns[number])
    before_ns = [
        max(inserted_ns[: bisect_left(begins_ns, begin)], default=0) for begin in begins_ns
    ]
    assert ends_ns == [max(pair) for pair in zip(inserted_ns, before_ns, strict=True)]


@given(WRITES)
def test_the_engine_is_held_as_a_dumb_twin_says(writes_after: list[tuple[int, int]]) -> None:
    env, writes = write_thread()
    held: set[int] = set()
    free_ns = at_ns = 0
    for after_ns, work_ns in writes_after:
        at_ns += after_ns
        env.run_until(at_ns)
        begins_ns = max(at_ns, free_ns)
        if begins_ns - at_ns > SPIN_NS:
            held.update(range(begins_ns // US, (begins_ns + HOP_NS) // US))
            begins_ns += HOP_NS
        assert writes.in_turn(work_ns) == WriteTurn(begins_ns - at_ns, work_ns)
        held.update(range(begins_ns // US, (begins_ns + work_ns) // US))
        free_ns = begins_ns + work_ns
    if writes_after:
        last_ns = free_ns // 2 + at_ns // 2
        env.run_until(max(last_ns, at_ns))
        until_us = env.now_ns // US
        rounding_us = 2 * len(writes_after)
        assert writes.held_until(env.now_ns) // US == pytest.approx(
            sum(us < until_us for us in held), abs=rounding_us
        )


@pytest.mark.parametrize("used", [0.5, 0.8])
def test_poisson_writes_wait_as_in_m_m_1(used: float) -> None:
    env, writes = write_thread(hop_ns=0)
    uniform, waits, at_ns, mean_ns = Streams(1, 0).stream("writes"), [], 0.0, 100 * US
    for _ in range(100_000):
        at_ns -= log(1 - uniform.random()) * mean_ns / used
        env.run_until(round(at_ns))
        waits.append(writes.in_turn(round(-log(1 - uniform.random()) * mean_ns))[0])
    expected_ns = mean_wait(1, used / mean_ns, mean_ns)
    assert sum(waits) / len(waits) == pytest.approx(expected_ns, rel=0.05)


def committed(version: str, threads: int) -> int:
    """Returns what a cluster commits in which records are dear, in 0.4 s."""
    tikv = PIPELINED | {"apply_pool_size": threads}
    of = scenario("sysbench_write_only", tikv=tikv, cpu={"apply_key_ns": 100 * US},
                  cluster={"store_versions": (version,) * 3}, workload={"threads": 64})  # fmt: skip
    unit = SimulatedUnit(of, 0, NoSink())
    unit.env.run_until(NS_PER_S * 2 // 5)
    return unit.stats.total_committed()


def test_more_apply_threads_help_since_the_commit_pipeline_only() -> None:
    assert committed("5.4.0", 6) == pytest.approx(committed("5.4.0", 2), rel=0.1)
    assert committed("6.0.0", 6) > 1.6 * committed("6.0.0", 2)
