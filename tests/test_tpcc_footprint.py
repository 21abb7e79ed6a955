"""What TPC-C asks of the stores, counted where it arrives, against arithmetic on its statements.

The workload's own test holds its transactions to the same figures; here they have gone through
sessions, regions, latches and retries. A short run has its own mix of types, and Delivery locks
130 rows, so that what is expected follows from the mix that was run, and from the lines of its new
orders. The lines that it delivers are left to luck; the test of the standard error says how small
that is beside the tolerance. What differs in one setting has the same draws, so the same luck.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from math import sqrt
from statistics import fmean

import pytest

from sim.record.facts import MemorySink
from sim.simulation import SimulatedUnit
from sim.units import NS_PER_MS
from sim.workload.statement import Statement, Transaction
from sim.workload.tpcc import TpccWorkload
from sim.workload.tpcc.new_order import NewOrder
from tests.scenes import PIPELINED, scenario, script

pytestmark = pytest.mark.slow

Figures = Mapping[str, float]

REPLICAS = 3
TOLERANCE = 0.015
SAME_LUCK = 0.005
"""Of two runs with the same draws, in which other transactions are the last to end."""
WEIGHTS = {"new_order": 0.45, "payment": 0.43, "delivery": 0.04}
OF_LINES = 20 / 23
"""Share of a NewOrder's keys that are of its ten lines: two each, of equal size or nearly so."""

PER_TRANSACTION: dict[str, Figures] = {
    "lock_rpcs": {"new_order": 5.39, "payment": 4.00, "delivery": 22.45},
    "locked_keys": {"new_order": 23, "payment": 4, "delivery": 130},
    "mutations": {"new_order": 24, "payment": 6, "delivery": 130},
    "prewrite_rpcs": {"new_order": 6.39, "payment": 6.00, "delivery": 4.65},
}
PER_AVERAGE = {"lock_rpcs": 5.04, "locked_keys": 17.3, "mutations": 18.6, "prewrite_rpcs": 5.64}

ENTRY_BYTES: dict[tuple[str, str], Figures] = {
    ("v6.0", "lock"): {"new_order": 3_022, "payment": 603, "delivery": 19_058},
    ("v8.5", "lock"): {"new_order": 3_264, "payment": 644, "delivery": 20_388},
    ("v6.0", "prewrite"): {"new_order": 9_132, "payment": 2_128, "delivery": 33_553},
    ("v6.0", "commit"): {"new_order": 4_456, "payment": 1_294, "delivery": 27_535},
}
"""Protobuf sizes of all requests of a transaction, with 40 B for header and entry of each."""

CAUSES = ("lock", "prewrite", "commit")
SHORT_MS = 400


@dataclass(frozen=True)
class Counts:
    """What is asked of a unit that has run: to keep it whole is to keep millions of objects."""

    counters: Mapping[tuple[str, str], int]
    log_entries: int
    lines: float
    """Of a NewOrder, on average."""
    violations: tuple[str, ...]


@cache
def run() -> Counts:
    """Returns the run that all checkers watch."""
    return run_unit("v6.0", 1_200, checks=True)


@cache
def short_run() -> Counts:
    """Returns a run that others are compared with which have the same draws."""
    return run_unit("v6.0", SHORT_MS)


def run_unit(behaviour: str, begin_ms: int, merge: bool = False, checks: bool = False) -> Counts:
    """Runs TPC-C on 5,000 warehouses with pipelined locks, and ends what was begun in a time."""
    of = scenario(
        "rfc77",
        run={"warmup_ns": 0, "measure_ns": (begin_ms + 300) * NS_PER_MS, "checks": checks},
        tikv=PIPELINED | {"behaviour": behaviour, "cmd_batch": merge},
    )
    unit = SimulatedUnit(of, 0, MemorySink())
    draw, insert = TpccWorkload.transaction, NewOrder._insert_lines
    lines = []

    def draw_or_idle(workload: TpccWorkload, client: int) -> Transaction:
        if unit.env.now_ns < begin_ms * NS_PER_MS:
            return draw(workload, client)
        return script(Statement("SELECT SLEEP"), name="idle")

    def insert_and_count(order: NewOrder, w_d_o: bytes, count: int) -> Statement:
        lines.append(count)
        return insert(order, w_d_o, count)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(TpccWorkload, "transaction", draw_or_idle)
        patch.setattr(NewOrder, "_insert_lines", insert_and_count)
        unit.run()
    return Counts(
        counters={(each.metric, each.class_): each.value for each in unit.recorder.counters()},
        log_entries=sum(store.raftstore.log.entries for store in unit.cluster.stores.values()),
        lines=fmean(lines),
        violations=unit.result().violations,
    )


def counted(unit: Counts, metric: str, class_: str = "all") -> int:
    return unit.counters[metric, class_]


def ran_with(unit: Counts, figures: Figures) -> float:
    """Returns what a run's transactions come to, at so much for each of a type; ten lines each."""
    total = sum(counted(unit, "txns", name) * figure for name, figure in figures.items())
    more_lines = counted(unit, "txns", "new_order") * (unit.lines / 10 - 1)
    return total + more_lines * figures.get("new_order", 0.0) * OF_LINES


def on_average(unit: Counts, metric: str, class_: str, figures: Figures) -> float:
    """Returns a counter per transaction of the nominal mix, without the luck of the run's own."""
    nominal = sum(WEIGHTS[name] * figure for name, figure in figures.items())
    return counted(unit, metric, class_) / ran_with(unit, figures) * nominal


def test_the_luck_of_the_delivered_lines_is_a_quarter_of_the_tolerance() -> None:
    # Uniform on 5..15, a variance of 10; a line is one locked key of a Delivery's ten orders.
    unit = run()
    variance = counted(unit, "txns", "delivery") * 10 * 10
    standard_error = sqrt(variance) / ran_with(unit, PER_TRANSACTION["locked_keys"])
    assert 4 * standard_error < TOLERANCE


@pytest.mark.parametrize("metric", PER_TRANSACTION)
def test_requests_keys_and_mutations(metric: str) -> None:
    unit, figures = run(), PER_TRANSACTION[metric]
    assert counted(unit, metric) == pytest.approx(ran_with(unit, figures), rel=TOLERANCE)
    assert on_average(unit, metric, "all", figures) == pytest.approx(PER_AVERAGE[metric], rel=0.02)


def test_locks_are_31_percent_of_the_proposals() -> None:
    unit = run()
    locks = on_average(unit, "proposals", "lock", PER_TRANSACTION["lock_rpcs"])
    two_phases = sum(
        on_average(unit, "proposals", cause, PER_TRANSACTION["prewrite_rpcs"])
        for cause in ("prewrite", "commit")
    )
    assert locks / (locks + two_phases) == pytest.approx(0.309, rel=0.01)


def entry_bytes(behaviour: str, cause: str) -> Figures:
    return ENTRY_BYTES.get((behaviour, cause), ENTRY_BYTES["v6.0", cause])


def bytes_over_expected(unit: Counts, behaviour: str, cause: str) -> float:
    expected = ran_with(unit, entry_bytes(behaviour, cause))
    return counted(unit, "raft_entry_bytes", cause) / REPLICAS / expected


def nominal_lock_share(unit: Counts, behaviour: str) -> float:
    written = [
        on_average(unit, "raft_entry_bytes", cause, entry_bytes(behaviour, cause))
        for cause in CAUSES
    ]
    return written[0] / sum(written)


def test_locks_are_a_fifth_of_the_raft_log() -> None:
    unit = run()
    for cause in CAUSES:
        assert bytes_over_expected(unit, "v6.0", cause) == pytest.approx(1, rel=TOLERANCE)
    assert nominal_lock_share(unit, "v6.0") == pytest.approx(0.192, rel=0.01)


def test_last_change_makes_each_lock_10_bytes_longer_and_nothing_else() -> None:
    # Since v6.5.
    before, since = short_run(), run_unit("v8.5", SHORT_MS)
    for cause in CAUSES:
        assert bytes_over_expected(since, "v8.5", cause) == pytest.approx(
            bytes_over_expected(before, "v6.0", cause), rel=SAME_LUCK
        )
    assert nominal_lock_share(since, "v8.5") == pytest.approx(0.203, rel=0.01)


def lock_share(unit: Counts) -> float:
    written = [counted(unit, "raft_entry_bytes", cause) for cause in CAUSES]
    return written[0] / sum(written)


def test_merged_commands_share_a_header_which_makes_the_share_of_locks_a_little_smaller() -> None:
    # Of the three kinds of command, a lock's is the one in which the header weighs most.
    alone, merged = short_run(), run_unit("v6.0", SHORT_MS, merge=True)
    assert merged.log_entries < 0.85 * alone.log_entries
    assert 0.98 * lock_share(alone) < lock_share(merged) < lock_share(alone)


def test_every_disk_byte_is_explained_and_all_transactions_are_accounted_for() -> None:
    assert run().violations == ()
