"""The pictures of one point of a study, as far as there are facts for them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from analysis.metrics.catalogue import MetricKey
from analysis.metrics.study_tables import StudyTables
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
class DrawnPoint:
    """A point that gets pictures.

    Attributes:
        tables: of the point alone.
        rows: of ``summary.json``, as columns.
        limits: of the lock table.
        targets: figures and ratios that replications are added for.
        looks: by variant, in order.
        subtitle: the point; empty if there is only one.
    """

    tables: StudyTables
    rows: pd.DataFrame
    limits: lock_memory.TableLimits
    targets: Sequence[Target]
    looks: Mapping[str, Look]
    subtitle: str

    def of_metric(self, *metrics: str) -> pd.DataFrame:
        """Returns the rows of some metrics that have a value, those of one metric first."""
        parts = [self.rows[self.rows["metric"] == metric] for metric in metrics]
        return pd.concat(parts).dropna(subset=["value"])

    def refused(self, metric: str) -> dict[str, str]:
        """Returns the variants whose latency is refused, each with the reason."""
        if "refused" not in self.rows:
            return {}
        mine = self.rows[(self.rows["metric"] == metric) & (self.rows["class"] == "all")]
        why = mine[mine["refused"].notna() & (mine["refused"] != "")]
        return dict(zip(why["variant"], why["refused"], strict=True))


def point_pictures(of: DrawnPoint) -> Iterator[Picture]:
    """Yields pictures in the order of a report."""
    yield from _latencies(of)
    if not of.tables.courses.empty:
        yield from _over_time(of)
    yield from _parts(of)
    yield from _convergence(of)


def _latencies(of: DrawnPoint) -> Iterator[Picture]:
    tables, looks = of.tables, of.looks
    for tail in distribution.TAILS:
        refused = of.refused(f"{tail.metric}_ms")
        rows = tables.tails[tables.tails["metric"] == tail.metric]
        rows = rows[~rows["variant"].isin(refused)]
        if not rows.empty:
            said = "".join(f"\n{name} is not drawn: {why}" for name, why in refused.items())
            figure = distribution.latency_ccdf(rows, tail, looks, f"{of.subtitle}{said}")
            said = words.latencies(of.rows, list(looks), f"{tail.metric}_ms")
            alt = f"Share of {tail.what} slower than a latency: {said}."
            yield Picture(tail.metric, "latency", figure, alt)
    if not tables.heat.empty:
        span_s = tables.course.span_s
        figure = latency_heat.latency_heat(
            tables.heat, tables.happenings, looks, span_s, of.subtitle
        )
        alt = latency_heat.latency_heat_words(tables.heat, looks)
        yield Picture("latency_heat", "time", figure, alt)


def _over_time(of: DrawnPoint) -> Iterator[Picture]:
    tables, looks, over = of.tables, of.looks, of.tables.course
    figure = course.over_time(over, looks, of.subtitle)
    yield Picture("over_time", "time", figure, course.over_time_words(over, looks))
    if store_timeline.something_moves(tables.moves):
        figure = store_timeline.store_timeline(
            tables.moves, tables.happenings, looks, over.span_s, of.subtitle
        )
        shown = timeline.marks(tables.happenings, over.span_s)
        alt = store_timeline.store_timeline_words(tables.moves, shown, looks, over.span_s)
        yield Picture("store_timeline", "time", figure, alt)
    if over.has(lock_memory.METRIC):
        figure = lock_memory.lock_memory(over, looks, of.limits, of.subtitle)
        alt = lock_memory.lock_memory_words(over, looks, of.limits)
        yield Picture("lock_memory", "locks", figure, alt)
    if not tables.warmups.empty:
        figure = warmup.warmup_cuts(tables.warmups, tables.units, looks, of.subtitle)
        yield Picture("warmup", "warmup", figure, warmup.warmup_words(tables.units, list(looks)))


def _parts(of: DrawnPoint) -> Iterator[Picture]:
    looks, variants = of.looks, list(of.looks)
    per_txn, per_s = map(of.of_metric, ("disk_write_bytes_per_txn", "disk_write_bytes_per_s"))
    if (per_s["value"] > 0).any():
        figure = stacks.disk_writes(per_txn, per_s, variants, of.subtitle)
        alt = stacks.disk_write_words(per_txn, per_s, variants)
        yield Picture("disk_writes", "writes", figure, alt)
    busy = of.of_metric(*utilisation.METRICS)
    if utilisation.stations(busy):
        figure = utilisation.utilisation(busy, looks, of.subtitle)
        yield Picture("utilisation", "limits", figure, utilisation.utilisation_words(busy, looks))
    stations = of.of_metric("lock_station_ms")
    stations = stations[~stations["class"].str.contains("/")]
    if not stations.empty:
        figure = waterfall.lock_waterfall(stations, looks, of.subtitle)
        alt = waterfall.lock_waterfall_words(stations, looks)
        yield Picture("lock_stations", "stations", figure, alt)


def _convergence(of: DrawnPoint) -> Iterator[Picture]:
    names = ["variant", "metric", "class", "stat"]
    nothing: Any = of.rows.loc[of.rows["value"].isna(), names].itertuples(index=False)
    refused = {(variant, MetricKey(*key)) for variant, *key in nothing}
    found = convergence.convergences(of.tables.batches, of.tables.sums, of.targets, refused)
    if found:
        figure = convergence.convergence(found, of.looks, of.subtitle)
        yield Picture("convergence", "convergence", figure, convergence.convergence_words(found))
