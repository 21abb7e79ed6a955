"""The load curve: latency against the throughput at which it was measured.

Law: a point of the curve is a load that was run; its place are two means over replications, with a
bar for the 95 % interval of each. An overloaded run has a throughput and no latency: a cross at the
upper rim. What was promised is a line across, what can be carried a line upwards, which has the
marker of its curve at its foot.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from analysis.experiments.case_words import case_words
from analysis.metrics.catalogue import MetricKey
from analysis.metrics.numbers import Numbers, StudyNumber
from analysis.metrics.rounding import digits, plain
from analysis.plots import style
from analysis.plots.drawn import Picture, listed
from analysis.study.interpolation import amount_of
from analysis.study.units import Point

LOAD_KEYS: Final = ("workload.rate", "workload.threads")
MOST_LINES: Final = 8
_THROUGHPUT: Final = MetricKey("txn_per_s")


@dataclass(frozen=True, slots=True)
class Latency:
    """One latency over which a panel is drawn.

    Attributes:
        key: in ms.
        limit_ms: what was promised; None without a promise.
    """

    key: MetricKey
    limit_ms: float | None = None

    @property
    def name(self) -> str:
        """Returns ``lock latency p99``, ``new_order txn latency p95``."""
        words = self.key.metric.removesuffix("_ms").replace("_", " ")
        class_ = "" if self.key.class_ == "all" else f"{self.key.class_} "
        return f"{class_}{words} {self.key.stat}"


SWEPT: Final = (Latency(MetricKey.parse("lock_latency_ms.p99")),
                Latency(MetricKey.parse("txn_latency_ms.p99")))  # fmt: skip


class LoadPoint(NamedTuple):
    """What was seen at a load."""

    done: StudyNumber
    """Transactions per second."""
    waits: Sequence[StudyNumber]
    """Latencies, in the order of the panels."""


@dataclass(frozen=True, slots=True)
class LoadLine:
    """One curve: a variant, with the settings that do not make load.

    Attributes:
        name: as cases are called.
        variant: it is of.
        points: by ascending load.
        capacity: transactions per second, with its interval; None if none was sought or found.
    """

    name: str
    variant: str
    points: Sequence[LoadPoint]
    capacity: tuple[float, float | None, float | None] | None = None

    def has(self, place: int) -> bool:
        """Returns whether a latency is known anywhere, by its place among the panels."""
        return any(point.waits[place].is_drawn for point in self.points)

    def asked(self, place: int) -> bool:
        """Returns whether there was such a latency at all, if only one that is refused."""
        waits = [point.waits[place] for point in self.points]
        return any(wait.is_there or wait.refused for wait in waits)


def load_key(points: Sequence[Point]) -> str | None:
    """Returns the swept key that makes load, or None."""
    for key in LOAD_KEYS:
        values = {repr(point[key]) for point in points if key in point}
        if len(values) > 1:
            return key
    return None


def load_lines(
    rows: Sequence[Mapping[str, Any]],
    points: Sequence[Point],
    variants: Sequence[str],
    key: str,
    latencies: Sequence[Latency],
) -> list[LoadLine]:
    """Returns the curves there are, in the order of points and variants.

    Args:
        rows: of ``summary.json``.
        points: of the study.
        variants: in order.
        key: that makes load.
        latencies: in the order of the panels.
    """
    keys = [_THROUGHPUT, *(one.key for one in latencies)]
    numbers = Numbers(rows, keys=keys)
    groups: dict[str, list[Point]] = {}
    for point in points:
        if key in point:
            groups.setdefault(repr(_without(point, key)), []).append(point)
    lines = []
    for members in groups.values():
        members.sort(key=lambda point: float(amount_of(point[key])))
        for variant in variants:
            found = []
            for point in members:
                done, *waits = (numbers.get(point, variant, each) for each in keys)
                if done.is_there:
                    found.append(LoadPoint(done, waits))
            case = {"variant": variant, "point": _without(members[0], key)}
            lines.append(LoadLine(case_words(case), variant, found))
    return [line for line in lines if any(map(line.has, range(len(latencies))))]


def with_capacity(lines: Sequence[LoadLine], found: Mapping[str, Any]) -> list[LoadLine]:
    """Returns the curves with the throughput that each carries at most."""
    capacities = {
        case_words(case): (case["txn_per_s"], case["txn_per_s_ci_low"], case["txn_per_s_ci_high"])
        for case in found["cases"]
        if case["status"] == "found" and case["txn_per_s"] is not None
    }
    return [replace(line, capacity=capacities.get(line.name)) for line in lines]


def load_curve(lines: Sequence[LoadLine], latencies: Sequence[Latency]) -> Picture:
    """Draws a panel a latency that any curve has, all over one axis of throughput.

    The words have both ends of every curve of its first latency, and what it carries.

    Args:
        lines: at least one, and no more than ``MOST_LINES``; each has one of the latencies.
        latencies: in the order of the panels.
    """
    places = [place for place in range(len(latencies)) if any(one.asked(place) for one in lines)]
    figure = style.new_figure(style.WIDTH_IN, 1.7 + 2.5 * len(places))
    panels = figure.subplots(len(places), 1, sharex=True, squeeze=False)[:, 0]
    looks = style.line_looks([line.variant for line in lines])
    crossed = False
    for axes, place in zip(panels, places, strict=True):
        for line, look in zip(lines, looks, strict=True):
            crossed |= _draw(axes, line, look, place)
            _capacity(axes, line, look)
        _scale(axes, lines, place, latencies[place].limit_ms)
        axes.set_ylabel(f"{latencies[place].name} (ms)")
    panels[-1].set_xlabel("throughput (transactions per second)")
    panels[-1].set_xlim(left=0)
    style.write_ticks(panels[-1].xaxis, style.whole)
    _legend(figure, lines, looks, crossed=crossed)
    style.heading(figure, "Latency against throughput", "bars: 95 % intervals")
    return Picture("load_curve", "load", figure, _words(lines, latencies))


def _legend(
    figure: Figure, lines: Sequence[LoadLine], looks: Sequence[style.Look], *, crossed: bool
) -> None:
    handles = [style.look_handle(look, line.name) for line, look in zip(lines, looks, strict=True)]
    if crossed:
        words = "no latency: overloaded, or only a bound"
        handles.append(Line2D([], [], color=style.INK, linestyle="", marker="x", label=words))
    if any(line.capacity for line in lines):
        words = "capacity, with its interval"
        handles.append(Line2D([], [], color=style.INK, linestyle=":", linewidth=1.4, label=words))
    style.legend_below(figure, handles)


def _words(lines: Sequence[LoadLine], latencies: Sequence[Latency]) -> str:
    said, left = [], list(lines)
    for place, latency in enumerate(latencies):
        told = [_ends_words(line, place) for line in left if line.has(place)]
        if told:
            said.append(f"Curves of {latency.name} over throughput: {listed(told)}.")
        left = [line for line in left if not line.has(place)]
    limits = [f"{one.name} {digits(one.limit_ms)} ms" for one in latencies if one.limit_ms]
    said += [f"Promised: {listed(limits, ', ')}."] if limits else []
    return " ".join(said)


def _ends_words(line: LoadLine, place: int) -> str:
    known = [point for point in line.points if point.waits[place].is_drawn]
    first, last = (
        f"{digits(point.waits[place].value)} ms at {digits(point.done.value)}"
        for point in (known[0], known[-1])
    )
    carried = "" if line.capacity is None else f", capacity {digits(line.capacity[0])}"
    return f"{line.name} {first} per second, {last}{carried}"


def _without(point: Point, key: str) -> dict[str, Any]:
    return {name: value for name, value in point.items() if name != key}


def _draw(axes: Axes, line: LoadLine, look: style.Look, place: int) -> bool:
    """Draws a curve, if it has such a latency; returns whether a load had none."""
    if not line.asked(place):
        return False
    seen = [(point.done, point.waits[place]) for point in line.points]
    known = [(done, wait) for done, wait in seen if wait.is_drawn]
    axes.plot(
        [done.value for done, _ in known], [wait.value for _, wait in known], color=look.colour,
        linestyle=look.line, marker=look.marker, markersize=5, linewidth=1.5, label=line.name,
    )  # fmt: skip
    bar: dict[str, Any] = {"color": look.colour, "linewidth": 1.0, "alpha": 0.7}
    for done, wait in known:
        if wait.has_interval:
            ends = [max(wait.ci_low, wait.value / 20), wait.ci_high]
            axes.plot([done.value] * 2, ends, **bar)
        if done.has_interval:
            axes.plot([done.ci_low, done.ci_high], [wait.value] * 2, **bar)
    lost = [done.value for done, wait in seen if not wait.is_drawn]
    style.mark_no_values(axes, lost, look)
    return bool(lost)


def _capacity(axes: Axes, line: LoadLine, look: style.Look) -> None:
    if line.capacity is None:
        return
    carried, low, high = line.capacity
    axes.axvline(carried, color=look.colour, linewidth=1.4, linestyle=":")
    axes.plot(
        [carried], [0.05], look.marker, color=look.colour, markersize=7, markeredgecolor="black",
        transform=axes.get_xaxis_transform(),
    )  # fmt: skip
    if low is not None and high is not None:
        axes.axvspan(low, high, color=look.colour, alpha=0.12, linewidth=0)


def _scale(axes: Axes, lines: Sequence[LoadLine], place: int, limit_ms: float | None) -> None:
    """Draws what was promised, and scales to the values; an interval may go beyond."""
    waits = [point.waits[place] for line in lines for point in line.points]
    values_ms = [wait.value for wait in waits if wait.is_drawn]
    if limit_ms is not None:
        style.objective_line(axes, limit_ms, f"promised: {plain(limit_ms)} ms")
        values_ms.append(limit_ms)
    if not values_ms:
        return
    low, high = min(values_ms) / 2, max(values_ms) * 2.5
    axes.set_yscale("log")
    axes.set_ylim(low, high)
    style.log_values(axes, few=200)
