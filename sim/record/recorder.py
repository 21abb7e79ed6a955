"""Series and counters of the current window, written out as rows when it closes.

``Series.add`` and ``counter.value += n`` are the hot path. ``Recorder.roll`` turns a window's
values into rows; a full buffer goes to the sink, so memory does not grow with simulated time.
Nothing is dropped here: the warm-up is cut off when facts are read.
"""

from __future__ import annotations

from typing import Final

from sim.record.facts import COUNTER, EVENT, HISTOGRAM, MOMENTS, TABLES, FactSink
from sim.record.histogram import bucket_of

ROWS_PER_BATCH: Final = 65_536


class Series:
    """Values of one metric and class; create it through ``Recorder.series``."""

    def __init__(self, metric: str, class_: str) -> None:
        self.metric = metric
        self.class_ = class_
        self.count = 0
        self.sum = 0
        self.max = 0
        self.buckets: dict[int, int] = {}

    def add(self, value: int) -> None:
        """Adds one value, in the unit of the metric (ns or bytes), >= 0."""
        self.count += 1
        self.sum += value
        if value > self.max:
            self.max = value
        bucket = bucket_of(value)
        buckets = self.buckets
        buckets[bucket] = buckets.get(bucket, 0) + 1

    def clear(self) -> None:
        """Begins the next window."""
        self.count = 0
        self.sum = 0
        self.max = 0
        self.buckets.clear()


class Counter:
    """A total that only grows; hot code writes ``counter.value += n``."""

    def __init__(self, metric: str, class_: str) -> None:
        self.metric = metric
        self.class_ = class_
        self.value = 0
        self.reported = 0


class Recorder:
    """All series and counters of one unit, by window of ``window_ns``."""

    def __init__(self, window_ns: int, sink: FactSink) -> None:
        if window_ns <= 0:
            raise ValueError(f"a window must be longer than {window_ns} ns")
        self.window_ns = window_ns
        self.window = 0
        self._sink = sink
        self._series: dict[tuple[str, str], Series] = {}
        self._counters: dict[tuple[str, str], Counter] = {}
        self._moments = _Rows(MOMENTS, sink)
        self._histogram = _Rows(HISTOGRAM, sink)
        self._deltas = _Rows(COUNTER, sink)
        self._events = _Rows(EVENT, sink)

    def series(self, metric: str, class_: str = "all") -> Series:
        """Returns the series of that name; always the same object."""
        found = self._series.get((metric, class_))
        if found is None:
            found = self._series[metric, class_] = Series(metric, class_)
        return found

    def counter(self, metric: str, class_: str = "all") -> Counter:
        """Returns the counter of that name; always the same object."""
        found = self._counters.get((metric, class_))
        if found is None:
            found = self._counters[metric, class_] = Counter(metric, class_)
        return found

    def counters(self) -> list[Counter]:
        """Returns every counter, by metric and class."""
        return [self._counters[name] for name in sorted(self._counters)]

    def event(self, at_ns: int, kind: str, detail: str) -> None:
        """Records something that was done to the cluster; for rare things only."""
        self._events.add((at_ns, kind, detail))

    def roll(self, now_ns: int) -> None:
        """Closes the current window at its end, ``now_ns``, and begins the next."""
        for series in self._series.values():
            if series.count:
                self._take_series(series)
        for counter in self._counters.values():
            if counter.value != counter.reported:
                delta = counter.value - counter.reported
                self._deltas.add((self.window, counter.metric, counter.class_, delta))
                counter.reported = counter.value
        self.window = now_ns // self.window_ns
        self._sink.reached(now_ns)

    def close(self, now_ns: int) -> None:
        """Closes the last window, complete or not, and writes everything to the sink."""
        self.roll(now_ns)
        for rows in (self._moments, self._histogram, self._deltas, self._events):
            rows.flush()

    def _take_series(self, series: Series) -> None:
        head = (self.window, series.metric, series.class_)
        self._moments.add((*head, series.count, series.sum, series.max))
        for bucket in sorted(series.buckets):
            self._histogram.add((*head, bucket, series.buckets[bucket]))
        series.clear()


class _Rows:
    """Rows of one table that have not been written to the sink."""

    def __init__(self, table: str, sink: FactSink) -> None:
        self._table = table
        self._sink = sink
        self._rows: list[tuple[int | str, ...]] = []

    def add(self, row: tuple[int | str, ...]) -> None:
        self._rows.append(row)
        if len(self._rows) >= ROWS_PER_BATCH:
            self.flush()

    def flush(self) -> None:
        if self._rows:
            columns = zip(*self._rows, strict=True)
            self._sink.write(self._table, dict(zip(TABLES[self._table], columns, strict=True)))
            self._rows = []
