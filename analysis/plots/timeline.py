"""What is drawn over simulated time: what was done to the cluster, as lanes above panels.

Law: a kind of happening has a lane, named at the axis with how often it happened in a run. What
begins and ends is a bar, which lasts to the end of the run if nothing ends it; of what happens so
often that marks cannot be told apart, those within a short time are one mark. A text is written
only where it meets neither the next mark nor the edge, so texts never overlap.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, field, replace
from typing import Final

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.ticker import MaxNLocator

from analysis.metrics.rounding import digits, plain
from analysis.plots.style import INK, SMALL, WIDTH_IN, new_figure, write_ticks
from sim.scenario.schema.operations import OPERATIONS, LastingOperation, Rolling
from sim.units import NS_PER_S

LANE: Final = "lane"
"""Marks the text that names a lane, in a figure and in its SVG."""
SHADE: Final = "#f0f0f0"
_ENDS: Final = {"stop": "start"}
_LANES: Final = {"stop": "down"}
_ENDED_BY_OTHERS: Final = {"crash_store": ("restart_store", "start")}
"""Happenings of their own that are the end of another one about the same."""
_LASTING: Final = frozenset(
    do for do, kind in OPERATIONS.items() if issubclass(kind, LastingOperation | Rolling)
) | {*_ENDS}
_MOST_NAMED: Final = 12
"""Marks of a lane up to which each keeps its own text, however close they are."""
_SAME_SHARE: Final = 0.012
"""Share of the whole time within which happenings of a kind are drawn as one."""
_CHARACTER_SHARE: Final = 0.018
"""Width of a character as a share of the axis."""
_NAME_ABOVE: Final = 0.5
"""Of a lane, by which its name is above it."""
_LANE_IN: Final = 0.42
_MOST_GUIDES: Final = 40
_MOST_TOLD: Final = 6


@dataclass(frozen=True, slots=True)
class EventMark:
    """A bar, or a moment if it has no length."""

    lane: str
    detail: str
    from_s: float
    until_s: float
    times: float
    """How often it happened there, in a run on average."""
    ended: bool = False
    """Whether it has an end of its own, or that of the run, rather than being many in a row."""
    runs: int = field(default=0, compare=False)
    """How many runs' marks are in its lane, if not all of them have it; else 0."""

    @property
    def text(self) -> str:
        """What is written beside it: what it was done to, or how many are drawn as one."""
        if self.detail:
            return self.detail
        several = self.times > 1 and self.times == int(self.times)
        return f"{self.times:.0f} in a row" if several else ""


def lane_counts(shown: Sequence[EventMark]) -> dict[str, float]:
    """Returns how often each lane's kind happened, in a run on average; in the lanes' order."""
    counts: dict[str, float] = {}
    for mark in shown:
        counts[mark.lane] = counts.get(mark.lane, 0.0) + mark.times
    return counts


def lane_times(of_lane: Sequence[EventMark]) -> str:
    """Returns ``once``, ``8.5 times on average``, ``9 a run; marks of 2 runs`` if runs differ."""
    times, runs = sum(mark.times for mark in of_lane), max(mark.runs for mark in of_lane)
    if runs:
        return f"{digits(times)} a run; marks of {runs} runs"
    if times == 1:
        return "once"
    return f"{digits(times)} times{'' if times == int(times) else ' on average'}"


def marks(happenings: pd.DataFrame, span_s: float) -> list[EventMark]:
    """Returns what to draw, by lane and time; lanes in the order of their first mark.

    Args:
        happenings: of one point: ``kind``, ``detail``, ``from_ns``, ``until_ns``, ``times``,
            ``units``.
        span_s: length of the axis.
    """
    rows = happenings.sort_values(["from_ns", "kind", "detail"])
    single = [
        mark
        for (kind, detail), group in rows.groupby(["kind", "detail"], sort=False)
        for mark in _joined(_moments(str(kind), str(detail), group), _SAME_SHARE * span_s)
    ]
    single.sort(key=lambda mark: (mark.from_s, mark.lane))
    found = list(_with_ends(single, span_s))
    lanes = list(dict.fromkeys(mark.lane for mark in found))
    in_lanes = sorted(found, key=lambda mark: (lanes.index(mark.lane), mark.from_s))
    return list(_joined_lanes(in_lanes, _SAME_SHARE * span_s))


def _moments(kind: str, detail: str, rows: pd.DataFrame) -> list[EventMark]:
    begun, ended = rows["from_ns"] / NS_PER_S, rows["until_ns"] / NS_PER_S
    per_unit = rows["times"] / rows["units"]
    differing = rows["units"].where(per_unit < 1, 0)
    spans = zip(begun, ended, per_unit, differing, strict=True)
    return [
        EventMark(kind, detail, from_s, until_s, times, runs=int(runs))
        for from_s, until_s, times, runs in spans
    ]


def _joined(in_order: Sequence[EventMark], gap_s: float) -> list[EventMark]:
    """Makes one mark of those that follow each other closely."""
    found: list[EventMark] = []
    for mark in in_order:
        if found and mark.from_s - found[-1].until_s <= gap_s:
            found[-1] = _both(found[-1], mark)
        else:
            found.append(mark)
    return found


def _both(one: EventMark, two: EventMark) -> EventMark:
    return replace(
        one,
        detail=one.detail if one.detail == two.detail else "",
        until_s=max(one.until_s, two.until_s),
        times=one.times + two.times,
        runs=max(one.runs, two.runs),
    )


def _joined_lanes(in_lanes: Sequence[EventMark], gap_s: float) -> Iterator[EventMark]:
    """Joins marks of different details too, unless they are few or have an end."""
    for lane in dict.fromkeys(mark.lane for mark in in_lanes):
        of_lane = [mark for mark in in_lanes if mark.lane == lane]
        if len(of_lane) <= _MOST_NAMED:
            yield from of_lane
            continue
        ended = [mark for mark in of_lane if mark.ended]
        loose = _joined([mark for mark in of_lane if not mark.ended], gap_s)
        yield from sorted([*ended, *loose], key=lambda mark: mark.from_s)


def _with_ends(in_order: Sequence[EventMark], span_s: float) -> Iterator[EventMark]:
    """Makes bars of beginnings and their ends, of a lasting beginning without one to the end."""
    used: set[int] = set()
    for place, mark in enumerate(in_order):
        if place in used:
            continue
        lane, end = _LANES.get(mark.lane, mark.lane), _end_of(place, in_order, used)
        if end is not None and in_order[end].lane in _ENDED_BY_OTHERS.get(mark.lane, ()):
            yield replace(mark, lane=lane, until_s=in_order[end].from_s, ended=True)
        elif end is not None:
            used.add(end)
            yield replace(mark, lane=lane, until_s=in_order[end].until_s, ended=True)
        elif mark.lane in _LASTING and mark.detail:
            yield replace(mark, lane=lane, until_s=max(span_s, mark.until_s), ended=True)
        else:
            yield replace(mark, lane=lane)


def _end_of(place: int, in_order: Sequence[EventMark], used: Set[int]) -> int | None:
    """Returns the place of the first later end of a mark; one that says less is its end, too."""
    mark = in_order[place]
    kinds = {_ENDS.get(mark.lane, f"{mark.lane}_end"), *_ENDED_BY_OTHERS.get(mark.lane, ())}
    later = [
        at
        for at in range(place + 1, len(in_order))
        if in_order[at].lane in kinds and at not in used
    ]
    same = [at for at in later if in_order[at].detail == mark.detail]
    less = [at for at in later if _says_less(in_order[at].detail, mark.detail)]
    return next(iter([*same, *less]), None)


def _says_less(detail: str, than: str) -> bool:
    """Returns whether a detail names the same with fewer words: ``store 1``, of what is slow."""
    return not detail or than.startswith((f"{detail} ", f"{detail},"))


def mark_words(shown: Sequence[EventMark]) -> str:
    """Returns what happened when, by lane; of many marks the number and the span."""
    told = []
    for lane in lane_counts(shown):
        of_lane = [mark for mark in shown if mark.lane == lane]
        name = f"{lane.replace('_', ' ')} {lane_times(of_lane)}"
        if len(of_lane) > _MOST_TOLD:
            begun, ended = of_lane[0].from_s, of_lane[-1].until_s
            told.append(f"{name} from {digits(begun)} s to {digits(ended)} s")
        else:
            when = ", ".join(f"{mark.text} at {digits(mark.from_s)} s".strip() for mark in of_lane)
            told.append(f"{name}, {when}")
    return "; ".join(told) or "none"


def draw_lanes(axes: Axes, shown: Sequence[EventMark], span_s: float) -> None:
    """Draws the strip: above each lane its name, and how often that happened."""
    counts = lane_counts(shown)
    for row, lane in enumerate(counts):
        of_lane = [mark for mark in shown if mark.lane == lane]
        axes.annotate(
            f"{lane.replace('_', ' ')}, {lane_times(of_lane)}", (0.0, row - _NAME_ABOVE),
            xycoords=("axes fraction", "data"), va="center", fontsize=SMALL, color=INK, gid=LANE,
        )  # fmt: skip
        written_until = 0.0
        for place, mark in enumerate(of_lane):
            shown_s = max(mark.until_s - mark.from_s, 0.0025 * span_s)
            bar = Rectangle((mark.from_s, row - 0.2), shown_s, 0.4, color=INK, linewidth=0)
            axes.add_patch(bar)
            free_until = of_lane[place + 1].from_s if place + 1 < len(of_lane) else span_s
            written_until = _write(axes, row, mark, (written_until, free_until), span_s)
    axes.set_yticks([])
    axes.set_ylim(len(counts) - 0.6, -0.8)
    axes.tick_params(axis="x", length=0)
    axes.spines["left"].set_visible(False)
    axes.spines["bottom"].set_visible(False)
    axes.grid(visible=False)


def _write(
    axes: Axes, row: int, mark: EventMark, free: tuple[float, float], span_s: float
) -> float:
    """Writes behind the mark, or else before it, or not at all; returns where that ends."""
    wide_s = (len(mark.text) + 1) * _CHARACTER_SHARE * span_s
    if mark.until_s + wide_s < free[1]:
        place, align, away, ends = mark.until_s, "left", 4, mark.until_s + wide_s
    elif mark.from_s - wide_s > free[0]:
        place, align, away, ends = mark.from_s, "right", -3, mark.until_s
    else:
        return mark.until_s
    axes.annotate(
        mark.text, (place, row), xytext=(away, 0), textcoords="offset points", ha=align,
        va="center", fontsize=SMALL, color=INK,
    )  # fmt: skip
    return ends


def draw_guides(axes: Axes, shown: Sequence[EventMark]) -> None:
    """Draws where marks begin and end behind a course; shades what lasts."""
    if len(shown) > _MOST_GUIDES:
        return
    for mark in shown:
        if mark.until_s > mark.from_s:
            axes.axvspan(mark.from_s, mark.until_s, color=SHADE, linewidth=0, zorder=0)
        for at_s in {mark.from_s: None, mark.until_s: None} if mark.ended else (mark.from_s,):
            axes.axvline(at_s, color="#999999", linewidth=0.6, linestyle=(0, (2, 2)), zorder=0.5)


def time_panels(
    happenings: pd.DataFrame, heights_in: Sequence[float], span_s: float
) -> tuple[Figure, list[Axes]]:
    """Returns a figure with the events drawn, and empty panels below them.

    Args:
        happenings: what ``marks`` takes; without any there is no strip.
        heights_in: of the panels, in inches.
        span_s: length of the axis.
    """
    shown = marks(happenings, span_s)
    lanes = len(lane_counts(shown))
    heights = [_LANE_IN * lanes + 0.05] * bool(lanes) + list(heights_in)
    figure = new_figure(WIDTH_IN, sum(heights) + 0.34 * len(heights) + 0.9)
    grid = {"height_ratios": heights}
    drawn = figure.subplots(len(heights), 1, sharex=True, squeeze=False, gridspec_kw=grid)[:, 0]
    if lanes:
        draw_lanes(drawn[0], shown, span_s)
    panels = list(drawn[1:] if lanes else drawn)
    for axes in panels:
        draw_guides(axes, shown)
    panels[-1].xaxis.set_major_locator(MaxNLocator(6))
    write_ticks(panels[-1].xaxis, plain)
    panels[-1].set_xlabel("simulated time (s)")
    panels[-1].set_xlim(0, span_s)
    return figure, panels
