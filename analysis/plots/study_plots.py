"""All pictures of a study, as PNG and SVG under ``plots/``: of the whole, and of each point.

A point has those that there are facts for.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

import pandas as pd

from analysis.experiments.case_words import key_of
from analysis.metrics.catalogue import MetricKey, stat_name
from analysis.metrics.rounding import digits
from analysis.metrics.study_tables import StudyTables
from analysis.plots import (
    convergence,
    course,
    distribution,
    latency_heat,
    lock_memory,
    stacks,
    store_timeline,
    style,
    utilisation,
    warmup,
)
from analysis.plots.capacity import capacity_pictures
from analysis.plots.drawn import Drawn, Picture, listed
from analysis.plots.in_forks import Forks, worthwhile
from analysis.plots.load_curve import (
    MOST_LINES,
    SWEPT,
    Latency,
    load_curve,
    load_key,
    load_lines,
    with_capacity,
)
from analysis.plots.sensitivity import sensitivity_pictures
from analysis.plots.style import Look
from analysis.plots.sweep import sweep_pictures
from analysis.study.finished_study import FinishedStudy
from analysis.study.run import Target
from analysis.study.units import point_words
from sim.scenario.schema.tikv import Tikv


def clear_plots(folder: Path) -> None:
    """Removes what an earlier run drew into ``results/<study>/plots``."""
    for old in (*folder.glob("*.png"), *folder.glob("*.svg")):
        old.unlink()


def write_study_plots(
    folder: Path, run: FinishedStudy, summary: Mapping[str, Any], tables: StudyTables
) -> list[Drawn]:
    """Draws every figure there are facts for, and says what was drawn.

    Args:
        folder: ``results/<study>/plots``; what an earlier run drew there goes away.
        run: the study.
        summary: content of ``summary.json``.
        tables: of the points that get figures.
    """
    clear_plots(folder)
    written = []
    with Forks(worthwhile()) as forks:
        for name, picture, _ in study_pictures(run, summary, tables):
            forks.run(partial(style.save, picture.figure, folder, name))
            written.append(picture.drawn(name))
    return written


def study_pictures(
    run: FinishedStudy, summary: Mapping[str, Any], tables: StudyTables
) -> Iterator[tuple[str, Picture, int | None]]:
    """Yields the name of each picture's files, the picture, and its point.

    Pictures of the whole study, which have no point, come first.
    """
    several = len(run.plan.points) > 1
    for picture in _whole(run, summary):
        yield picture.name, picture, None
    for index in sorted(set(tables.courses["point_index"])):
        for picture in point_pictures(_drawn_point(run, summary, tables, index)):
            yield f"{picture.name}_{index}" if several else picture.name, picture, int(index)


def _whole(run: FinishedStudy, summary: Mapping[str, Any]) -> Iterator[Picture]:
    if "capacity" in summary:
        found = summary["capacity"]
        yield from capacity_pictures(found)
        promised = [
            Latency(key_of(each), each["limit"])
            for each in found["slo"]
            if each["metric"].endswith("_latency_ms")
        ]
        yield from _load_pictures(run, summary, found["load"], promised)
    elif "sensitivity" in summary:
        yield from sensitivity_pictures(summary["sensitivity"])
    elif len(run.plan.points) > 1:
        variants, points = list(run.study.variants), run.plan.points
        yield from sweep_pictures(summary, variants, points, run.study.contours)
        key = load_key(points)
        if key is not None:
            yield from _load_pictures(run, summary, key, SWEPT)


def _load_pictures(
    run: FinishedStudy, summary: Mapping[str, Any], key: str, latencies: Sequence[Latency]
) -> Iterator[Picture]:
    """Yields the load curve, if there is a latency and not too many lines to tell apart."""
    if not latencies:
        return
    variants, points = list(run.study.variants), run.plan.points
    lines = load_lines(summary["rows"], points, variants, key, latencies)
    if "capacity" in summary:
        lines = with_capacity(lines, summary["capacity"])
    if 0 < len(lines) <= MOST_LINES:
        yield load_curve(lines, latencies)


def _drawn_point(
    run: FinishedStudy, summary: Mapping[str, Any], tables: StudyTables, index: int
) -> DrawnPoint:
    point, study = run.plan.points[index], run.study
    targets = study.precision.targets if study.precision else ()
    return DrawnPoint(
        tables=tables.at_point(index),
        rows=summary["rows"].at_point(index).columns,
        tikv=study.scenario(point, next(iter(study.variants))).tikv,
        targets=[target for target in targets if target.is_about(point)],
        looks=style.variant_looks(list(study.variants)),
        subtitle=point_words(point),
    )


_QUANTILES: Final = ("p50", "p99", "p999")
"""Those that words tell of."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnPoint:
    """A point that gets pictures.

    Attributes:
        tables: of the point alone.
        rows: of ``summary.json``, as columns.
        tikv: has the limits of the lock table.
        targets: figures and ratios that replications are added for.
        looks: by variant, in order.
        subtitle: the point; empty if there is only one.
    """

    tables: StudyTables
    rows: pd.DataFrame
    tikv: Tikv
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
    yield from _tails(of)
    yield from _over_time(of)
    yield from _parts(of)
    yield from _convergence(of)


def _tails(of: DrawnPoint) -> Iterator[Picture]:
    for tail in distribution.TAILS:
        refused = of.refused(f"{tail.metric}_ms")
        rows = of.tables.tails[of.tables.tails["metric"] == tail.metric]
        rows = rows[~rows["variant"].isin(refused)]
        if not rows.empty:
            said = "".join(f"\n{name} is not drawn: {why}" for name, why in refused.items())
            figure = distribution.latency_ccdf(rows, tail, of.looks, f"{of.subtitle}{said}")
            told = listed(_quantiles(of, variant, f"{tail.metric}_ms") for variant in of.looks)
            alt = f"Share of {tail.what} slower than a latency: {told}."
            yield Picture(tail.metric, "latency", figure, alt)


def _quantiles(of: DrawnPoint, variant: str, metric: str) -> str:
    """Returns a variant's quantiles, ``sync p50 3 ms, p99 9 ms``."""
    rows = of.rows[(of.rows["variant"] == variant) & (of.rows["class"] == "all")]
    values = rows[rows["metric"] == metric].set_index("stat")["value"].dropna()
    known = [stat for stat in _QUANTILES if stat in values]
    told = ", ".join(f"{stat_name(stat)} {digits(values[stat])} ms" for stat in known)
    return f"{variant} {told or 'refused'}"


def _over_time(of: DrawnPoint) -> Iterator[Picture]:
    tables, looks, over = of.tables, of.looks, of.tables.course
    if not tables.heat.empty:
        yield latency_heat.latency_heat(
            tables.heat, tables.happenings, looks, over.span_s, of.subtitle
        )
    if tables.courses.empty:
        return
    yield course.over_time(over, looks, of.subtitle)
    if store_timeline.something_moves(tables.moves):
        yield store_timeline.store_timeline(
            tables.moves, tables.happenings, looks, over.span_s, of.subtitle
        )
    if over.has(lock_memory.METRIC):
        yield lock_memory.lock_memory(over, looks, of.tikv, of.subtitle)
    if not tables.warmups.empty:
        yield warmup.warmup_cuts(tables.warmups, tables.units, looks, of.subtitle)


def _parts(of: DrawnPoint) -> Iterator[Picture]:
    per_txn, per_s = map(of.of_metric, ("disk_write_bytes_per_txn", "disk_write_bytes_per_s"))
    if (per_s["value"] > 0).any():
        yield stacks.disk_writes(per_txn, per_s, list(of.looks), of.subtitle)
    busy = of.of_metric(*utilisation.METRICS)
    if utilisation.stations(busy):
        yield utilisation.utilisation(busy, of.looks, of.subtitle)
    stations = of.of_metric("lock_station_ms")
    stations = stations[~stations["class"].str.contains("/")]
    if not stations.empty:
        yield stacks.lock_waterfall(stations, of.looks, of.subtitle)


def _convergence(of: DrawnPoint) -> Iterator[Picture]:
    names = ["variant", "metric", "class", "stat"]
    nothing: Any = of.rows.loc[of.rows["value"].isna(), names].itertuples(index=False)
    refused = {(variant, MetricKey(*key)) for variant, *key in nothing}
    found = convergence.convergences(of.tables.batches, of.tables.sums, of.targets, refused)
    if found:
        yield convergence.convergence(found, of.looks, of.subtitle)
