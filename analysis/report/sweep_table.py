"""A sweep in few lines: one table an outcome, a row a point, only the axes that vary.

With many points the table says the extremes and the middle, and how often the interval excludes 1;
``summary.json`` has the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from rich import box
from rich.console import Console
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from analysis.plots.axes import Axis, Point, axes_of
from analysis.plots.sweep_outcomes import OutcomeCells, compared, outcome_cells
from analysis.report.table import ratio_text, value_text

MOST_ROWS: Final = 40
"""Points up to which each has a row."""

Cells = list[Text]


def print_sweep(
    console: Console, summary: Mapping[str, Any], variants: Sequence[str], points: Sequence[Point]
) -> None:
    """Prints a table for each outcome that the study has.

    Args:
        console: where to; nothing is wider than it.
        summary: content of ``summary.json``.
        variants: the baseline first.
        points: swept settings, more than one.
    """
    axes = axes_of(points)
    for axis in axes:
        console.print(f"{axis.name}: {axis.key}", highlight=False)
    sweep = _Sweep(axes, variants, points)
    few = len(points) <= MOST_ROWS
    reasons: dict[str, None] = {}
    for cells in outcome_cells(summary):
        if few:
            _print_all(console, cells, sweep)
        else:
            _print_extremes(console, cells, sweep)
        reasons |= dict.fromkeys(_reasons(cells, sweep))
    for reason in list(reasons)[:3]:
        console.print(f"refused: {reason}", highlight=False)
    if not few:
        console.print(
            f"{len(points):,} points: only extremes are shown; all are in summary.json, and in "
            "plots", highlight=False,
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Sweep:
    """Axes, variants (the baseline first) and points."""

    axes: Sequence[Axis]
    variants: Sequence[str]
    points: Sequence[Point]

    def ordered(self) -> list[Point]:
        """Returns the points, the first axis varying slowest."""
        return sorted(self.points, key=lambda point: tuple(axis.index(point) for axis in self.axes))


def _reasons(cells: OutcomeCells, sweep: _Sweep) -> Iterator[str]:
    for point in sweep.points:
        for variant in sweep.variants:
            reason = cells.refusal(point, variant)
            if reason:
                yield reason


def _print_all(console: Console, cells: OutcomeCells, sweep: _Sweep) -> None:
    points = sweep.ordered()
    places = [(axis.name, [Text(axis.label(point)) for point in points]) for axis in sweep.axes]
    values = [(name, [_value(cells, point, name) for point in points]) for name in sweep.variants]
    ratios = [
        (f"{name} / {sweep.variants[0]}", [_ratio(cells, point, name) for point in points])
        for name in compared(sweep.variants)
    ]
    whole = _table(cells.outcome.title, places, [*values, *ratios])
    if _width(console, whole) <= console.width or not ratios:
        console.print(whole)
        return
    # The other values follow from the baseline's and the ratios.
    _print_fitting(console, cells.outcome.title, places, [values[0], *ratios])


def _print_fitting(
    console: Console,
    title: str,
    places: Sequence[tuple[str, Cells]],
    columns: Sequence[tuple[str, Cells]],
) -> None:
    """Prints one table, or several with the places in each, as wide as the console allows."""
    left = columns
    while left:
        count = len(left)
        while count > 1 and _width(console, _table(title, places, left[:count])) > console.width:
            count -= 1
        console.print(_table(title, places, left[:count]))
        left = left[count:]


def _table(
    title: str, places: Sequence[tuple[str, Cells]], columns: Sequence[tuple[str, Cells]]
) -> Table:
    table = Table(title=title, box=box.SIMPLE_HEAD, title_justify="left", padding=(0, 1))
    for name, _ in [*places, *columns]:
        table.add_column(Text(_broken(name)), justify="right", no_wrap=True)
    everything = [*places, *columns]
    for row in zip(*(cells for _, cells in everything), strict=True):
        table.add_row(*row)
    return table


def _broken(name: str) -> str:
    """Returns a heading in as many lines as it takes not to widen its column."""
    if " / " in name:
        return name.replace(" / ", "\n/ ")
    return name if len(name) <= 10 else name.replace(".", ".\n").replace("_", "_\n")


def _width(console: Console, table: Table) -> int:
    """Returns the width that the table would take with room enough."""
    return Measurement.get(console, console.options.update(max_width=1000), table).maximum


def _value(cells: OutcomeCells, point: Point, variant: str) -> Text:
    if cells.refusal(point, variant) is not None:
        return Text("refused", style="yellow")
    return value_text(cells.value(point, variant), cells.outcome.scale)


def _ratio(cells: OutcomeCells, point: Point, variant: str) -> Text:
    row = cells.ratio(point, variant)
    if row is None and cells.refused_at(point):
        return Text("refused", style="yellow")
    return ratio_text(row)


def _print_extremes(console: Console, cells: OutcomeCells, sweep: _Sweep) -> None:
    """Prints the least, middle and greatest ratio or value, where they are, and a count."""
    for name in compared(sweep.variants) or sweep.variants[:1]:
        told = _told(cells, sweep, name)
        if not told:
            continue
        heading = f"{name} / {sweep.variants[0]}" if compared(sweep.variants) else name
        places = [
            ("", [Text(label) for label, _, _ in told]),
            *(
                (axis.name, [Text(axis.label(point)) for _, point, _ in told])
                for axis in sweep.axes
            ),
        ]
        shown = [(heading, [text for _, _, text in told])]
        _print_fitting(console, cells.outcome.title, places, shown)
    for name in compared(sweep.variants):
        console.print(f"  {_tally(cells, sweep, name)}\n", highlight=False)


def _told(cells: OutcomeCells, sweep: _Sweep, name: str) -> list[tuple[str, Point, Text]]:
    """Returns the least, the middle and the greatest point of a variant, with what they show."""
    get: Callable[[Point, str], Mapping[str, Any] | None]
    if compared(sweep.variants):
        field, get, show = "ratio", cells.ratio, _ratio
    else:
        field, get, show = "value", cells.value, _value
    there = [
        (row[field], place)
        for place, point in enumerate(sweep.points)
        if (row := get(point, name)) is not None and row[field] is not None
    ]
    there.sort()
    if not there:
        return []
    chosen = {"least": there[0], "middle": there[len(there) // 2], "greatest": there[-1]}
    return [
        (label, sweep.points[place], show(cells, sweep.points[place], name))
        for label, (_, place) in chosen.items()
    ]


def _tally(cells: OutcomeCells, sweep: _Sweep, name: str) -> str:
    """Returns at how many points a variant is clearly below or above the baseline."""
    rows = [row for point in sweep.points if (row := cells.ratio(point, name)) is not None]
    known = [row for row in rows if row["ci_low"] is not None and row["ci_high"] is not None]
    below = sum(row["ci_high"] < 1 for row in known)
    above = sum(row["ci_low"] > 1 for row in known)
    missing = len(sweep.points) - len(known)
    text = (
        f"{name}: below {sweep.variants[0]} at {below} of {len(sweep.points)} points, above at "
        f"{above}, not told apart at {len(known) - below - above}"
    )
    return f"{text}, no interval at {missing}" if missing else text
