"""Windows: what was added comes out once, in its window, whatever the batches."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim.record import MemorySink, Recorder, bucket_of
from sim.record import recorder as recorder_module
from sim.record.facts import COUNTER, HISTOGRAM, MOMENTS

WINDOW_NS = 100


def test_a_window_holds_count_sum_and_max() -> None:
    sink = MemorySink()
    recorder = Recorder(WINDOW_NS, sink)
    latency = recorder.series("lock_latency", "sync")
    latency.add(10)
    latency.add(30)
    recorder.roll(100)
    latency.add(5)
    recorder.close(200)
    assert sink.rows(MOMENTS) == [
        (0, "lock_latency", "sync", 2, 40, 30),
        (1, "lock_latency", "sync", 1, 5, 5),
    ]
    assert sink.rows(HISTOGRAM) == [
        (0, "lock_latency", "sync", bucket_of(10), 1),
        (0, "lock_latency", "sync", bucket_of(30), 1),
        (1, "lock_latency", "sync", bucket_of(5), 1),
    ]


def test_a_counter_leaves_differences_and_nothing_when_it_stood_still() -> None:
    sink = MemorySink()
    recorder = Recorder(WINDOW_NS, sink)
    fsyncs = recorder.counter("fsyncs", "raft")
    fsyncs.value += 3
    recorder.roll(100)
    recorder.roll(200)
    fsyncs.value += 2
    recorder.close(300)
    assert sink.rows(COUNTER) == [(0, "fsyncs", "raft", 3), (2, "fsyncs", "raft", 2)]


def test_a_name_gives_the_same_series_and_counter_each_time() -> None:
    recorder = Recorder(WINDOW_NS, MemorySink())
    assert recorder.series("a", "b") is recorder.series("a", "b")
    assert recorder.counter("a", "b") is recorder.counter("a", "b")
    assert recorder.series("a") is not recorder.series("a", "b")


def test_a_window_needs_a_length() -> None:
    with pytest.raises(ValueError, match="window"):
        Recorder(0, MemorySink())


@given(st.lists(st.lists(st.integers(0, 10**12), max_size=8), max_size=12), st.integers(1, 7))
def test_totals_are_those_of_the_values_for_any_batch_size(
    windows: list[list[int]], rows_per_batch: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(recorder_module, "ROWS_PER_BATCH", rows_per_batch)
        sink = MemorySink()
        recorder = Recorder(WINDOW_NS, sink)
        series, counter = recorder.series("m"), recorder.counter("n")
        for index, values in enumerate(windows):
            for value in values:
                series.add(value)
                counter.value += value
            recorder.roll((index + 1) * WINDOW_NS)
        recorder.close(len(windows) * WINDOW_NS)
    assert sink.rows(MOMENTS) == [
        (index, "m", "all", len(values), sum(values), max(values))
        for index, values in enumerate(windows)
        if values
    ]
    counted = sum(int(row[4]) for row in sink.rows(HISTOGRAM))
    assert counted == sum(len(values) for values in windows)
    assert sum(int(row[3]) for row in sink.rows(COUNTER)) == sum(map(sum, windows))
