"""Writes ``report.html``, ``report.md`` and ``answer.json`` of a finished study."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, Final

from analysis.metrics.study_tables import StudyTables
from analysis.page import charts, point_tables
from analysis.page.answer import answer, tiles
from analysis.page.assumptions import assumption_blocks
from analysis.page.capacity import capacity_blocks
from analysis.page.content import Block, Charts, Page, Paragraph, section
from analysis.page.findings import Findings
from analysis.page.formats import html_text, markdown_text
from analysis.page.pictures import Album
from analysis.page.stress import checklist, provenance_blocks
from analysis.page.trust import COMPARISON, TRUST, notices, trust_blocks
from analysis.plots import timeline
from analysis.plots.drawn import Drawn
from analysis.report.comparison import comparison_tables
from analysis.report.expectations import expectation_table
from analysis.report.sensitivity_table import factor_table, weight_tables
from analysis.report.table import ReportTable, texts
from analysis.study.finished_study import FinishedStudy
from analysis.study.study_folder import write_text_whole
from analysis.study.study_outcome import ANSWER

HTML: Final = "report.html"
MARKDOWN: Final = "report.md"
_MOST_EVENTS: Final = 60
_LOAD_NOTE: Final = (
    "Bands: 95 % intervals; none where one replication was run. A line breaks where latencies "
    "are refused (the load could not be carried, or the run was too short to tell) or only known "
    "to be greater than a bound."
)
_TIME_NOTE: Final = (
    "Bands: from the lowest replication to the highest. Blue: warm-up, which no number includes. "
    "Grey: something is being done to the cluster."
)


def write_page(
    run: FinishedStudy, summary: Mapping[str, Any], tables: StudyTables, drawn: Sequence[Drawn]
) -> Path:
    """Writes the files of a study with a finished unit, and returns the HTML page.

    Raises:
        OSError: if a file cannot be written, or a picture not be read.
    """
    found, folder = Findings(run, summary, tables, drawn), run.folder
    data = charts.time_charts(found) | charts.load_charts(found)
    charted = tuple(
        file
        for kind, file in (("time-", "over_time"), ("load-", "sweep_"))
        if any(name.startswith(kind) for name in data)
    )
    page = study_page(found, Album(folder, charted), data)
    write_text_whole(folder / HTML, html_text(page, data))
    write_text_whole(folder / MARKDOWN, markdown_text(page))
    said = {
        "study": page.study,
        "question": page.question,
        "answer": list(page.answer),
        "outcome": summary["verdict"]["outcome"],
    }
    write_text_whole(folder / ANSWER, json.dumps(said, indent=1) + "\n")
    return folder / HTML


def study_page(found: Findings, album: Album, data: Mapping[str, charts.Chart]) -> Page:
    """Returns everything that a report says; the album takes pictures in the order of the page."""
    sections = [
        part
        for anchor, title, blocks in _sections(found, album, data)
        for part in section(anchor, title, blocks)
    ]
    return Page(
        study=found.run.name,
        question=found.question,
        answer=answer(found),
        tiles=tiles(found),
        notices=notices(found),
        sections=tuple(sections),
    )


def _sections(
    found: Findings, album: Album, data: Mapping[str, charts.Chart]
) -> Iterator[tuple[str, str, Iterable[Block]]]:
    """Yields sections in the order of the page, which is also that of the pictures' budget."""

    def drawn(*names: str) -> Iterator[Block]:  # in its turn: earlier ones spend the budget
        yield from album.figures(found.of_section(*names))

    compared = comparison_tables(found.summary, found.variants, found.points)
    yield "comparison", COMPARISON, chain(
        drawn("answer"), () if found.searched else compared, expectation_table(found.summary)
    )  # fmt: skip
    yield "capacity", "What-if capacity", chain(capacity_blocks(found), drawn("capacity", "cost"))
    yield "load", charts.sweep_title(found), chain(
        _charts(data, "load-", _LOAD_NOTE), drawn("load", "sweep")
    )  # fmt: skip
    yield "sensitivity", "What would change the answer", chain(
        _sensitivity(found), drawn("sensitivity")
    )  # fmt: skip
    tables = point_tables
    yield "latency", "Latency", chain(drawn("latency"), tables.latency_tables(found))
    yield "time", "Over time", chain(_time_charts(found, data), drawn("time"), _events(found))
    yield "where-time", "Where the time goes", chain(tables.time_tables(found), drawn("stations"))
    yield "where-bytes", "Where the bytes go", chain(tables.byte_tables(found), drawn("writes"))
    yield "limits", "Bottlenecks", chain(drawn("limits"), tables.limit_blocks(found))
    yield "locks", "Fallbacks, lost locks, failures", chain(
        tables.lock_blocks(found), drawn("locks")
    )  # fmt: skip
    yield "trust", TRUST, chain(
        trust_blocks(found), drawn("warmup", "convergence"), _left_out(album)
    )  # fmt: skip
    yield "assumptions", "Assumptions", assumption_blocks(found)
    yield "stress", "STRESS-DES checklist", checklist(found)
    yield "provenance", "How to repeat it", provenance_blocks(found)


def _sensitivity(found: Findings) -> Iterator[Block]:
    """Yields a line and a table an outcome, and what was varied."""
    if "sensitivity" in found.summary:
        for table, says in weight_tables(found.summary["sensitivity"]):
            yield from (Paragraph(says), table)
        yield factor_table(found.summary["sensitivity"])


def _charts(data: Mapping[str, charts.Chart], kind: str, note: str) -> Iterator[Block]:
    """Yields the charts whose names begin so, if there are any."""
    names = tuple(name for name in data if name.startswith(kind))
    if names:
        yield Charts(names, note)


def _time_charts(found: Findings, data: Mapping[str, charts.Chart]) -> Iterator[Block]:
    for point in range(len(found.points)):
        yield from _charts(data, f"time-{point}-", _TIME_NOTE)


def _events(found: Findings) -> Iterator[ReportTable]:
    """Yields what was done to the cluster, and when."""
    happenings, units = found.tables.happenings, found.tables.units
    for point in sorted({int(index) for index in happenings["point_index"]}):
        span_s = float(units.loc[units["point_index"] == point, "simulated_s"].max())
        marks = timeline.marks(happenings[happenings["point_index"] == point], span_s)
        ordered = sorted(marks, key=lambda mark: mark.from_s)
        rows = tuple(
            texts(
                charts.mark_words(mark),
                f"{mark.from_s:.2f}",
                f"{mark.until_s:.2f}" if mark.until_s > mark.from_s else "",
            )
            for mark in ordered[:_MOST_EVENTS]
        )
        if rows:
            caption = found.at("What was done to the cluster", point)
            more = len(ordered) - len(rows)
            notes = (f"And {more:,} more.",) if more else ()
            yield ReportTable(caption, ("what", "from (s)", "until (s)"), rows, notes)


def _left_out(album: Album) -> Iterator[Block]:
    if album.left_out:
        yield Paragraph(
            f"{album.left_out} pictures are left out so that the page stays small; they are in "
            "plots/ beside it.",
            "note",
        )
