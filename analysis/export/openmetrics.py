"""``metrics/*.prom``: the course of each (point, variant), for Prometheus and TiKV's dashboards.

Law: a file is one cluster's history. Replications follow each other in it, as if the same cluster
were run again, and every counter begins again at 0 then, as after a restart: a rate over any range
is right, and a dashboard that adds up over labels counts nothing twice.

A file stays below ``MOST_BYTES``: steps are several windows long if need be, and replications
that would get fewer than ``LEAST_STEPS`` steps are left out, the last ones first.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from analysis.export.exposition import EOF, family_lines, head, sample
from analysis.export.families import MadeOf, facts_of
from analysis.export.pessim_families import PESSIM_FAMILIES
from analysis.export.tikv_families import TIKV_FAMILIES
from analysis.export.unit_course import ReplicationFacts, read_course, step_ends_ns
from analysis.study.finished_study import FinishedStudy
from analysis.study.study_folder import write_text_whole
from analysis.study.unit_folder import UnitRecord
from analysis.study.units import Unit

FOLDER: Final = "metrics"
START_S: Final = 1_735_689_600
"""2025-01-01T00:00:00Z: simulated time has no date, and a file has to be the same every time."""

MOST_POINTS: Final = 6
"""As figures: a sweep of more points is not looked at over time."""

MOST_BYTES: Final = 2_000_000
LEAST_STEPS: Final = 10
EVERY: Final = (*TIKV_FAMILIES, *PESSIM_FAMILIES)


def write_metrics(
    run: FinishedStudy, out: Path | None = None, start_s: int = START_S
) -> list[Path]:
    """Writes one file a (point, variant) that has finished units.

    Args:
        run: the study; nothing is written if it has more than ``MOST_POINTS`` points.
        out: where the folder ``metrics`` is made; the study's if None.
        start_s: when the first replication begins, in seconds from 1970.

    Returns:
        The files, in the order of the plan.
    """
    points = len(run.plan.points)
    if points > MOST_POINTS:
        return []
    cases: dict[tuple[int, str], list[Unit]] = {}
    for unit in run.done:
        cases.setdefault((unit.point_index, unit.variant), []).append(unit)
    written = []
    for (point_index, variant), units in cases.items():
        name = case_name(variant, point_index, points)
        labels = {"study": run.name, "variant": variant}
        labels |= {"point": str(point_index)} if points > 1 else {}
        records = [run.done[unit] for unit in sorted(units, key=lambda unit: unit.replication)]
        path = (out or run.folder) / FOLDER / f"{name}.prom"
        path.parent.mkdir(parents=True, exist_ok=True)
        write_text_whole(path, metrics_text(run.folder / "units", records, labels, start_s))
        written.append(path)
    return written


def case_name(variant: str, point_index: int, points: int) -> str:
    """Returns a case's file name without its ending: ``in_memory``, or ``in_memory_3``."""
    return variant if points == 1 else f"{variant}_{point_index}"


def metrics_text(
    units_dir: Path, records: Sequence[UnitRecord], labels: Mapping[str, str], start_s: int
) -> Iterator[str]:
    """Yields the lines of one file.

    Args:
        units_dir: where the units' folders lie.
        records: the replications of one case, at least one, in their order.
        labels: of every series.
        start_s: as ``write_metrics``.
    """
    wanted = facts_of(EVERY)
    sample_bytes = _bytes_of_a_step(units_dir, records[0], labels, wanted)
    shown, windows = steps_that_fit(records, MOST_BYTES // sample_bytes)
    begin_ns = start_s * 10**9
    replications = []
    for record in records[:shown]:
        course = read_course(units_dir / record.unit_hash, record, windows, wanted)
        replications.append(ReplicationFacts(record, course, begin_ns))
        begin_ns += record.simulated_ns
    yield from _lines(replications, labels)


def steps_that_fit(records: Sequence[UnitRecord], most_steps: int) -> tuple[int, int]:
    """Returns how many replications to show, and how many windows make a step.

    Args:
        records: the replications of one case.
        most_steps: of all of them together; each has one more, its beginning.
    """
    shown = max(1, min(len(records), most_steps // (LEAST_STEPS + 1)))
    windows = 1
    while _steps(records[:shown], windows) > most_steps and _steps(records[:1], windows) > 2:
        windows += 1
    return shown, windows


def _steps(records: Sequence[UnitRecord], windows: int) -> int:
    return sum(len(step_ends_ns(record, windows)) + 1 for record in records)


def _bytes_of_a_step(
    units_dir: Path, record: UnitRecord, labels: Mapping[str, str], wanted: MadeOf
) -> int:
    """Returns how long the text of one step is at most: that of a whole unit as one step."""
    whole = -(-record.simulated_ns // record.window_ns)
    course = read_course(units_dir / record.unit_hash, record, whole, wanted)
    lines = _lines([ReplicationFacts(record, course, START_S * 10**9)], labels)
    # Two samples: the beginning and the end.
    return sum(len(line.encode()) for line in lines) // 2 + 1


def _lines(replications: Sequence[ReplicationFacts], labels: Mapping[str, str]) -> Iterator[str]:
    for family in EVERY:
        yield from family_lines(family, replications, labels)
    yield from _progress(replications, labels)
    yield EOF


def _progress(replications: Sequence[ReplicationFacts], labels: Mapping[str, str]) -> Iterator[str]:
    """Yields which replication runs, and whether it is still warming up."""
    own = {**labels, "instance": "pessim", "job": "pessim"}
    numbers, warmups = [], []
    for replication in replications:
        record = replication.record
        warm_ns = record.warmup_windows * record.window_ns
        for end_ns in replication.course.ends_ns:
            at_ns = replication.begin_ns + end_ns
            numbers.append(sample("pessim_replication", own, str(record.replication), at_ns))
            warming = str(int(end_ns <= warm_ns))
            warmups.append(sample("pessim_warmup", own, warming, at_ns))
    yield from head("pessim_replication", "gauge", "The number of the replication that runs.")
    yield from numbers
    yield from head("pessim_warmup", "gauge", "1 while what happens is left out of summary.json.")
    yield from warmups
