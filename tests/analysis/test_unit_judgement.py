"""A finished unit is judged from its facts, on the worker."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from analysis.pipeline.unit_judgement import JudgedUnit, judged_unit
from analysis.statistics.saturation import Verdict
from analysis.study.parquet_sink import ParquetSink
from analysis.study.run import first_fixed_ns
from benchmarks.queue_units import QueueRun, QueueScenario, run_unit
from sim.record import Recorder
from sim.scenario.schema.operations import BalanceLeader, Operation, ShuffleLeader
from sim.units import NS_PER_S
from tests.stub_model import quickstart, run_settings

WINDOW_NS = 100_000_000


def shuffled(at_ns: int | None) -> ShuffleLeader:
    """Returns an operation at a time, or now and then."""
    rate_per_s = 1.0 if at_ns is None else None
    return ShuffleLeader(
        name="0", at_ns=at_ns, every_ns=None, rate_per_s=rate_per_s, from_ns=None, until_ns=None,
        count=None,
    )  # fmt: skip


def judged(
    folder: Path,
    served: float,
    warmup_ns: int | None = None,
    *operations: Operation,
    slow: float = 8.0,
) -> JudgedUnit:
    """Judges a unit that begins 50 a window, ends ``served`` of them, and is slow at first.

    With ``slow`` 0 it becomes slower all the time instead.
    """
    windows = 60
    rng = np.random.Generator(np.random.PCG64(4))
    with ParquetSink(folder) as sink:
        recorder = Recorder(WINDOW_NS, sink)
        for window in range(windows):
            begun = int(rng.poisson(50))
            recorder.counter("txns_started").value += begun
            recorder.counter("txns", "payment").value += int(begun * served) - 1
            recorder.counter("txn_aborts", "WriteConflict").value += 1
            recorder.counter("busy_ns", "disk").value += 96 if window >= 10 else 0
            recorder.counter("capacity_ns", "disk").value += 100
            pace = 1 + window / windows if not slow else slow if window < 10 else 1.0
            for value in rng.exponential(1e6, 50) * pace:
                recorder.series("lock_latency", "pipelined").add(int(value))
            recorder.roll((window + 1) * WINDOW_NS)
        recorder.close(windows * WINDOW_NS)
    run = run_settings(warmup_ns=warmup_ns, window_ns=WINDOW_NS)
    scenario = replace(quickstart(), run=run, operations=operations)
    return judged_unit(folder, scenario, windows * WINDOW_NS)


def test_the_later_cut_holds_and_stations_count_after_it(tmp_path: Path) -> None:
    found = judged(tmp_path, served=1.0)
    assert 10 <= found.warmup_windows <= 15
    assert (found.verdict, found.reason) == (Verdict.NEAR_SATURATION, "disk 96 % busy")


def test_aborted_transactions_have_ended_too(tmp_path: Path) -> None:
    assert judged(tmp_path, served=0.7).verdict is Verdict.OVERLOADED


def test_the_time_of_those_that_gave_up_is_not_missing(tmp_path: Path) -> None:
    """Of 20 a window, half are committed at once, and half give up after nine windows."""
    windows = 60
    with ParquetSink(tmp_path) as sink:
        recorder = Recorder(WINDOW_NS, sink)
        for window in range(windows):
            recorder.counter("txns_started").value += 20
            recorder.counter("txns", "t").value += 10
            for _ in range(10):
                recorder.series("txn_latency", "t").add(20_000_000)
                recorder.series("lock_latency", "pipelined").add(1_000_000)
            if window >= 9:
                recorder.counter("txn_aborts", "lock_wait_timeout").value += 10
                recorder.counter("txn_aborted_ns", "lock_wait_timeout").value += 90 * WINDOW_NS
            recorder.roll((window + 1) * WINDOW_NS)
        for age in range(90):
            recorder.series("txn_unfinished", "t").add((age // 10) * WINDOW_NS + WINDOW_NS // 2)
        recorder.close(windows * WINDOW_NS)
    run = run_settings(warmup_ns=10 * WINDOW_NS, window_ns=WINDOW_NS)
    found = judged_unit(tmp_path, replace(quickstart(), run=run), windows * WINDOW_NS)
    assert found.verdict is Verdict.STABLE


def test_a_warmup_that_is_given_is_believed(tmp_path: Path) -> None:
    assert judged(tmp_path, 1.0, 15 * WINDOW_NS + 1).warmup_windows == 16
    (tmp_path / "long").mkdir()
    assert judged(tmp_path / "long", 1.0, 900 * WINDOW_NS).warmup_windows == 59


def test_what_a_given_warmup_leaves_is_looked_at(tmp_path: Path) -> None:
    found = judged(tmp_path, 1.0, 0, slow=0.0)
    assert found.verdict is Verdict.UNSETTLED
    assert found.reason.startswith("lock latency still rises by 6")


def test_an_average_over_a_fixed_course_of_events_is_not_judged(tmp_path: Path) -> None:
    found = judged(tmp_path, 1.0, None, shuffled(4_000_000_000))
    assert found.verdict is Verdict.NOT_JUDGED
    assert found.reason == (
        "averages are over what happens at fixed times, from 4 s: "
        "throughput did not fall by 20 %, nor did transactions take 3 times as long on average, as "
        "far as can be told"
    )
    assert found.warmup_windows <= 20


def test_that_no_fall_was_found_is_not_said_where_none_could_be(tmp_path: Path) -> None:
    late = judged(tmp_path, 1.0, None, shuffled(60 * WINDOW_NS - 1_000_000))
    assert late.verdict is Verdict.NOT_JUDGED
    assert late.reason.endswith(
        ": too little time after it to find a fall of throughput; lengthen run.measure"
    )


def test_what_piles_up_is_said_whatever_happens_at_fixed_times(tmp_path: Path) -> None:
    found = judged(tmp_path, 0.5, None, shuffled(4_000_000_000))
    assert found.verdict is Verdict.OVERLOADED


@pytest.mark.parametrize(
    ("times", "first"),
    [([], None), ([None], None), ([7, None, 5], 5), ([0], 0), ([9], None), ([9, 7], 7)],
)
def test_the_first_fixed_time_before_the_end_counts(
    times: list[int | None], first: int | None
) -> None:
    scheduler = BalanceLeader(
        name="1", every_ns=3, from_ns=0, until_ns=None, tolerance=5, leader_schedule_limit=4
    )
    assert first_fixed_ns([*map(shuffled, times), scheduler], 9) == first


@pytest.mark.parametrize(("load", "verdict"), [(0.5, Verdict.STABLE), (1.2, Verdict.OVERLOADED)])
def test_a_queue_with_known_answers_is_judged(
    load: float, verdict: Verdict, tmp_path: Path
) -> None:
    queue: Any = QueueScenario(QueueRun(1, NS_PER_S, NS_PER_S // 5), servers=1, load=load)
    with ParquetSink(tmp_path) as sink:
        result = run_unit(queue, 0, sink)
    assert judged_unit(tmp_path, queue, result.simulated_ns).verdict is verdict


def test_a_unit_in_which_no_transaction_begins_is_not_called_stable(tmp_path: Path) -> None:
    with ParquetSink(tmp_path) as sink:
        recorder = Recorder(WINDOW_NS, sink)
        for window in range(20):
            recorder.counter("txns_started").value += 0
            recorder.roll((window + 1) * WINDOW_NS)
        recorder.close(20 * WINDOW_NS)
    run = run_settings(warmup_ns=3 * WINDOW_NS, window_ns=WINDOW_NS)
    found = judged_unit(tmp_path, replace(quickstart(), run=run), 20 * WINDOW_NS)
    assert found.verdict is Verdict.NOT_JUDGED
    assert found.reason.startswith("no transaction began in the time measured; ")
