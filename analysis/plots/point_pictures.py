"""The pictures of one point of a study, as far as there are facts for them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from analysis.metrics.catalogue import MetricKey
from analysis.plots import (
    convergence,
    course,
    distribution,
    latency_heat,
    lock_memory,
    stacks,
    store_timeline,
    timeline,
    utilisation,
    warmup,
    waterfall,
    words,
)
from analysis.plots.drawn import Picture
from analysis.plots.style import Look
from analysis.study.run import Target


@dataclass(frozen=True, slots=True, kw_only=True)
class PointTables:
    """What the pictures of one point are made of.

    Attributes:
        rows: of ``summary.json``, as columns.
        units: one row a unit.
        batches: one row a batch.
        sums: of facts, a row a batch.
        tails: from ``plot_tables.tails``; so on for ``heat``, ``moves``, ``courses``,
            ``happenings`` and ``warmups``.
        limits: of the lock table.
        targets: figures and ratios that replications are added for.
    """

    rows: pd.DataFrame
    units: pd.DataFrame
    batches: pd.DataFrame
    sums: pd.DataFrame
    tails: pd.DataFrame
    heat: pd.DataFrame
    moves: pd.DataFrame
    courses: pd.DataFrame
    happenings: pd.DataFrame
    warmups: pd.DataFrame
    limits: lock_memory.TableLimits
    targets: Sequence[Target]

    @property
    def span_s(self) -> float:
        """Simulated time of the longest replication."""
        return float(self.units["simulated_s"].max())

    def of_metric(self, metric: str) -> pd.DataFrame:
        """Returns the rows of one metric that have a value."""
        rows = self.rows[self.rows["metric"] == metric]
        return rows.dropna(subset=["value"])


def point_pictures(
    tables: PointTables, looks: Mapping[str, Look], subtitle: str
) -> Iterator[Picture]:
    """Yields pictures in the order of a report.

    Args:
        tables: of the point.
        looks: by variant, in order.
        subtitle: the point; empty if there is only one.
    """
    yield from _latencies(tables, looks, subtitle)
    if not tables.courses.empty:
        yield from _over_time(tables, looks, subtitle)
    yield from _parts(tables, looks, subtitle)
    yield from _convergence(tables, looks, subtitle)


def _latencies(tables: PointTables, looks: Mapping[str, Look], subtitle: str) -> Iterator[Picture]:
    for tail in distribution.TAILS:
        rows = tables.tails[tables.tails["metric"] == tail.metric]
        if not rows.empty:
            figure = distribution.latency_ccdf(rows, tail, looks, subtitle)
            said = words.latencies(tables.rows, list(looks), f"{tail.metric}_ms")
            alt = f"Share of {tail.what} slower than a latency: {said}."
            yield Picture(tail.metric, "latency", figure, alt)
    if not tables.heat.empty:
        figure = latency_heat.latency_heat(
            tables.heat, tables.happenings, looks, tables.span_s, subtitle
        )
        alt = latency_heat.latency_heat_words(tables.heat, looks)
        yield Picture("latency_heat", "time", figure, alt)


def _over_time(tables: PointTables, looks: Mapping[str, Look], subtitle: str) -> Iterator[Picture]:
    over = course.Course(tables.courses, tables.units, tables.happenings, looks)
    figure = course.over_time(over, subtitle)
    yield Picture("over_time", "time", figure, course.over_time_words(over))
    if store_timeline.something_moves(tables.moves):
        figure = store_timeline.store_timeline(
            tables.moves, tables.happenings, looks, over.span_s, subtitle
        )
        shown = timeline.marks(tables.happenings, over.span_s)
        alt = store_timeline.store_timeline_words(tables.moves, shown, looks, over.span_s)
        yield Picture("store_timeline", "time", figure, alt)
    if lock_memory.has_table(tables.courses):
        figure = lock_memory.lock_memory(over, looks, tables.limits, subtitle)
        alt = lock_memory.lock_memory_words(over, looks, tables.limits)
        yield Picture("lock_memory", "locks", figure, alt)
    if not tables.warmups.empty:
        figure = warmup.warmup_cuts(tables.warmups, tables.units, looks, subtitle)
        yield Picture("warmup", "warmup", figure, warmup.warmup_words(tables.units, list(looks)))


def _parts(tables: PointTables, looks: Mapping[str, Look], subtitle: str) -> Iterator[Picture]:
    variants = list(looks)
    per_txn, per_s = map(tables.of_metric, ("disk_write_bytes_per_txn", "disk_write_bytes_per_s"))
    if (per_s["value"] > 0).any():
        figure = stacks.disk_writes(per_txn, per_s, variants, subtitle)
        alt = stacks.disk_write_words(per_txn, per_s, variants)
        yield Picture("disk_writes", "writes", figure, alt)
    busy = pd.concat([tables.of_metric(metric) for metric in utilisation.METRICS])
    if utilisation.stations(busy):
        figure = utilisation.utilisation(busy, looks, subtitle)
        yield Picture("utilisation", "limits", figure, utilisation.utilisation_words(busy, looks))
    stations = tables.of_metric("lock_station_ms")
    stations = stations[~stations["class"].str.contains("/")]
    if not stations.empty:
        figure = waterfall.lock_waterfall(stations, looks, subtitle)
        alt = waterfall.lock_waterfall_words(stations, looks)
        yield Picture("lock_stations", "stations", figure, alt)


def _convergence(
    tables: PointTables, looks: Mapping[str, Look], subtitle: str
) -> Iterator[Picture]:
    refused: set[tuple[str, MetricKey]] = set()
    nothing: Any = tables.rows[tables.rows["value"].isna()]
    for variant, metric, class_, stat in nothing[["variant", "metric", "class", "stat"]].itertuples(
        index=False
    ):
        refused.add((variant, MetricKey(metric, class_, stat)))
    found = convergence.convergences(tables.batches, tables.sums, tables.targets, refused)
    if found:
        figure = convergence.convergence(found, looks, subtitle)
        yield Picture("convergence", "convergence", figure, convergence.convergence_words(found))
