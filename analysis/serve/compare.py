"""Two or more studies beside each other: curves over one another, and what ``diff`` says of them.

The first study is the one that the others are held against. The same page is served, and written
as one file that loads nothing.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Final

from markupsafe import Markup

from analysis.comparison.moves import Move
from analysis.comparison.results import StudyResults
from analysis.comparison.study_diff import study_diff
from analysis.metrics.catalogue import MetricKey
from analysis.metrics.numbers import NumberKey, StudyNumber
from analysis.metrics.rounding import NOT_KNOWN
from analysis.metrics.shown import KEY_FIGURE_OF
from analysis.page.charts import one_view
from analysis.page.escaping import in_script
from analysis.page.formats import CHART_SCRIPTS, CHART_STYLES, asset, environment, inlined
from analysis.plots.axes import axes_of
from analysis.report.diff_table import changes_table, moves_table, study_words
from analysis.report.table import ReportTable
from analysis.serve.courses import COURSES, Line, study_courses
from analysis.study.study_folder import StudyFolderError

TITLE: Final = "Comparison – Pessim"
"""By which a page that was written as a file is known again."""
MOST_STUDIES: Final = 6
_MOST_CHANGES: Final = 40
_MOST_OTHERS: Final = 40
_MOST_KEY_ROWS: Final = 300
_MOVES: Final = "The main numbers, then what else moved"
_OF_REPORTS: Final = ("page.css", *CHART_STYLES, *CHART_SCRIPTS)
MEDIA_TYPES: Final = {
    name: "text/css" if name.endswith(".css") else "text/javascript"
    for name in (*_OF_REPORTS, "serve.css", "explore.js", "live.js", "compare.js", "time.js")
}
"""Of styles and scripts that come with the pages: served one by one, or set into a file."""
_ONE_IN: Final = {"p50": 2, "p90": 10, "p95": 20, "p99": 100, "p999": 1000}
_TAILS: Final = {
    "lock_latency_ms": "Lock latency (ms)",
    "txn_latency_ms": "Transaction latency (ms)",
}
_OVER_AXIS: Final = {
    "lock_latency_ms": "Lock latency, mean (ms)",
    "txn_latency_ms": "Transaction latency, mean (ms)",
    "txn_per_s": "Transactions (1/s)",
    "disk_write_bytes_per_txn": "Disk writes per transaction (bytes)",
}

Named = Sequence[tuple[str, StudyResults]]
"""Studies with the names that a page calls them by."""
FileOf = Callable[[str, str], Path]
"""Returns the path of a study's file; ``NoStudyError`` if it has none that may be read."""


def comparison(studies: Named, file: FileOf | None = None) -> dict[str, Any]:
    """Returns what the page shows: ``studies``, ``pairs`` and ``charts``.

    Args:
        studies: the first is the one that the others are held against.
        file: returns files of studies; None: they are the reader's own, and nothing is refused.
    """
    (first, a), *others = studies
    return {
        "studies": [{"name": name, "says": study_words(of)} for name, of in studies],
        "pairs": [_pair(first, a, name, b) for name, b in others],
        "charts": [*_charts(studies), *_over_time(studies, file)],
    }


def comparison_file(studies: Named) -> str:
    """Returns the page as one HTML file that loads nothing."""
    found = comparison(studies)
    styles = ("page.css", *CHART_STYLES, "serve.css")
    parts = inlined(styles, (*CHART_SCRIPTS, "compare.js"), shipped)
    template = environment(__package__).get_template("compare_file.html.j2")
    return template.render(title=TITLE, found=found, data=chart_data(found), **parts)


def shipped(name: str) -> str:
    """Returns the text of one of ``MEDIA_TYPES``; style and charts are those of reports."""
    return asset(name) if name in _OF_REPORTS else asset(name, __package__)


def chart_data(found: dict[str, Any]) -> Markup:
    """Returns the charts as JSON for an element ``script``."""
    return Markup(in_script({"charts": found["charts"]}))


def _pair(first: str, a: StudyResults, name: str, b: StudyResults) -> dict[str, Any]:
    pair: dict[str, Any] = {"a": first, "b": name}
    try:
        diff = study_diff(a, b)
    except StudyFolderError as error:
        return pair | {"problem": str(error)}
    return pair | {
        "problem": "",
        "changes": changes_table("What was changed", diff.scenario[:_MOST_CHANGES], first, name),
        "more_changes": max(0, len(diff.scenario) - _MOST_CHANGES),
        "moves": _moves(diff.moves, first, name),
        "moved": len(diff.moved),
        "judged": diff.judged,
        "not_judged": len(diff.moves) - diff.judged,
        "refused": len(diff.numbers.refused),
        "same_facts": diff.facts.all_same,
    }


def _moves(moves: Sequence[Move], a: str, b: str) -> ReportTable:
    """Returns the main numbers, moved or not, and of the others those that moved most.

    A ratio that is not known yet is not said to have stayed.
    """
    main = [move for key in KEY_FIGURE_OF for move in moves if move.key.figure == key]
    others = [move for move in moves if move.moved and move.key.figure not in KEY_FIGURE_OF]
    others.sort(key=lambda move: -move.size)
    table = moves_table(_MOVES, [*main[:_MOST_KEY_ROWS], *others[:_MOST_OTHERS]], a, b)
    rows = []
    for *cells, ratio in table.rows:
        unknown = ratio.text == NOT_KNOWN and ratio.tone == "quiet"
        rows.append((*cells, replace(ratio, verdict="") if unknown else ratio))
    return replace(table, rows=tuple(rows))


def _charts(studies: Named) -> Iterator[dict[str, Any]]:
    """Yields curves over the swept key where there is one, else the tails of latencies."""
    axes = {axis.key for _, of in studies for axis in axes_of(list(map(_settings, of.points)))}
    if len(axes) == 1:
        (axis,) = axes
        for metric, title in _OVER_AXIS.items():
            yield from _chart(title, axis, studies, partial(_at, metric, axis))
    elif not axes:
        for metric, title in _TAILS.items():
            x_label = "one in … takes longer"
            yield from _chart(title, x_label, studies, partial(_tail, metric))


def _over_time(studies: Named, file: FileOf | None) -> Iterator[dict[str, Any]]:
    """Yields latency and throughput over simulated time, of studies whose facts are there."""
    courses = [
        (name, study_courses(of.folder.joinpath if file is None else partial(file, name)))
        for name, of in studies
    ]
    for fact, title in COURSES.items():
        lines = {
            f"{name}, {variant}": line
            for name, course in courses
            for variant, line in course.get(fact, {}).items()
        }
        yield from _curves(title, "simulated time (s)", lines)


def _settings(point: str) -> dict[str, Any]:
    found = json.loads(point)
    return found if isinstance(found, dict) else {}


def _at(metric: str, axis: str, key: NumberKey) -> float | None:
    if key.figure != MetricKey(metric):
        return None
    value = _settings(key.point).get(axis)
    return float(value) if type(value) in {int, float} else None  # type: ignore[arg-type]


def _tail(metric: str, key: NumberKey) -> float | None:
    figure = key.figure
    return _ONE_IN.get(figure.stat) if (figure.metric, figure.class_) == (metric, "all") else None


def _chart(
    title: str, x_label: str, studies: Named, x_of: Callable[[NumberKey], float | None]
) -> Iterator[dict[str, Any]]:
    """Yields a chart with a series a variant of each study, or none where there is no curve."""
    lines = {}
    for name, of in studies:
        for variant in of.variants:
            lines[f"{name}, {variant}"] = sorted(
                [x, *_ends(number)]
                for key, number in of.numbers.items()
                if key.variant == variant
                and (x := x_of(key)) is not None
                and number.is_drawn
                and not number.refused
            )
    for chart in _curves(title, x_label, {name: line for name, line in lines.items() if line}):
        first, last = chart["x"][0], chart["x"][-1]
        yield chart | {"log": "atency" in title, "xlog": first > 0 and last / first > 12}


def _curves(title: str, axis: str, lines: Mapping[str, Line]) -> Iterator[dict[str, Any]]:
    """Yields a chart of lines by name, over all the values that any of them has; or none."""
    xs = sorted({point[0] for line in lines.values() for point in line})
    if len(xs) < 2:
        return
    columns = {}
    for name, line in lines.items():
        at = {point[0]: dict(zip(("v", "lo", "hi"), point[1:], strict=True)) for point in line}
        columns[name] = {end: [at.get(x, {}).get(end) for x in xs] for end in ("v", "lo", "hi")}
    yield {
        "title": title, "heading": "h2", "axis": axis, "x": xs, "joined": True,
        "views": one_view(columns),
    }  # fmt: skip


def _ends(number: StudyNumber) -> list[float]:
    """Returns a value and the ends of its interval; the value itself without one."""
    low, high = (
        number.value if math.isnan(end) else end for end in (number.ci_low, number.ci_high)
    )
    return [number.value, low, high]
