"""All figures of a study, as PNG and SVG under ``plots/``: of the whole, and of each point."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from analysis.experiments.case_words import key_of
from analysis.metrics.study_tables import StudyTables
from analysis.plots import style
from analysis.plots.capacity import capacity_pictures
from analysis.plots.drawn import Drawn, Picture
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
from analysis.plots.point_pictures import DrawnPoint, point_pictures
from analysis.plots.sensitivity import sensitivity_pictures
from analysis.plots.sweep import sweep_pictures
from analysis.study.finished_study import FinishedStudy
from analysis.study.units import point_words


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
