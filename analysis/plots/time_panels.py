"""The frame of what is drawn over simulated time: a strip of events above panels, on one axis."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from analysis.plots import timeline
from analysis.plots.style import WIDTH_IN, new_figure

_LANE_IN: Final = 0.42


def time_panels(
    shown: Sequence[timeline.EventMark], heights_in: Sequence[float], span_s: float
) -> tuple[Figure, list[Axes]]:
    """Returns a figure with the events drawn, and empty panels below them.

    Args:
        shown: from ``timeline.marks``; without any there is no strip.
        heights_in: of the panels, in inches.
        span_s: length of the axis.
    """
    lanes = len(timeline.lane_counts(shown))
    heights = [_LANE_IN * lanes + 0.05] * bool(lanes) + list(heights_in)
    figure = new_figure(WIDTH_IN, sum(heights) + 0.34 * len(heights) + 0.9)
    grid = {"height_ratios": heights}
    drawn = figure.subplots(len(heights), 1, sharex=True, squeeze=False, gridspec_kw=grid)[:, 0]
    if lanes:
        timeline.draw_lanes(drawn[0], shown, span_s)
    panels = list(drawn[1:] if lanes else drawn)
    for axes in panels:
        timeline.draw_guides(axes, shown)
    panels[-1].xaxis.set_major_locator(MaxNLocator(6))
    panels[-1].set_xlabel("simulated time (s)")
    panels[-1].set_xlim(0, span_s)
    return figure, panels
