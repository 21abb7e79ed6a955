"""Predicted against measured: all anchors in two pictures.

On the left levels against levels, on logarithmic axes; on the right how far each anchor is from its
figure, in half widths of its band, so that throughputs and percentages can stand side by side.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil
from typing import Final

from matplotlib.axes import Axes
from matplotlib.figure import Figure as Picture

from analysis.plots.style import OTHERS, heading, new_figure
from analysis.validation.anchor import KINDS, Judged

_MARKERS: Final = dict(zip(KINDS, "os^D", strict=True))
_COLOURS: Final = dict(zip(KINDS, (OTHERS[1], OTHERS[0], "#0072B2", "#D55E00"), strict=True))
_FARTHEST: Final = 10.0
"""Half bands from the middle to the end of the axis, at most."""


def anchors_picture(judged: Sequence[Judged]) -> Picture:
    """Draws all anchors that the model has a figure for."""
    shown = [each for each in judged if each.ours is not None]
    picture = new_figure(10.0, max(4.0, 0.2 * len(shown) + 1.4))
    levels, distances = picture.subplots(1, 2, gridspec_kw={"width_ratios": [1.0, 1.1]})
    _draw_levels(levels, shown)
    _draw_distances(distances, shown)
    heading(picture, "The model against theory, claims, publications and measurements", "")
    return picture


def _draw_levels(axes: Axes, shown: Sequence[Judged]) -> None:
    for kind, words in KINDS.items():
        of_kind = [
            (each.anchor.theirs.value, each.ours.value)
            for each in shown
            if each.ours and each.anchor.kind == kind
        ]
        if of_kind:
            # A kind of changes alone has no level, but the legend is that of both pictures.
            pairs = [pair for pair in of_kind if min(pair) > 0]
            axes.plot(
                [theirs for theirs, _ in pairs], [ours for _, ours in pairs], _MARKERS[kind],
                markersize=5, label=words, markerfacecolor="none", color=_COLOURS[kind],
            )  # fmt: skip
    axes.set(xscale="log", yscale="log", xlabel="their figure", ylabel="our figure")
    limits = (*axes.get_xlim(), *axes.get_ylim())
    ends = (max(min(limits), 1e-9), max(limits))
    axes.plot(ends, ends, color="#444444", linewidth=0.8)
    for factor in (0.85, 1.15):
        axes.plot(
            ends, [factor * end for end in ends], color="#aaaaaa", linewidth=0.8, linestyle=":"
        )
    axes.set(xlim=ends, ylim=ends, aspect="equal")
    axes.set_anchor("N")
    axes.legend(loc="upper left", bbox_to_anchor=(0.0, -0.25), fontsize=8, frameon=False)
    axes.set_title("levels, each in its unit; dotted: 15 %", fontsize=9)


def _draw_distances(axes: Axes, shown: Sequence[Judged]) -> None:
    axes.axvspan(-1, 1, color="#e6f2ec")
    axes.axvline(0, color="#444444", linewidth=0.8)
    reach = 1.0
    for place, each in enumerate(reversed(shown)):
        low, middle, high = _in_bands(each)
        reach = max(reach, abs(middle))
        colour = _COLOURS[each.anchor.kind]
        axes.plot([low, high], [place, place], color=colour, linewidth=1.4)
        mark = _MARKERS[each.anchor.kind]
        axes.plot([middle], [place], mark, color=colour, markersize=5, clip_on=False)
    names = [each.anchor.name for each in reversed(shown)]
    axes.set_yticks(range(len(shown)), names, fontsize=7)
    reach = ceil(reach)  # An interval may end beyond it, a figure not.
    axes.set(xlim=(-reach, reach), ylim=(-0.7, len(shown) - 0.3))
    axes.set_xlabel("distance from the reference, in half bands")
    axes.grid(axis="y", visible=False)


def _in_bands(each: Judged) -> tuple[float, float, float]:
    """Returns low, middle and high; what is farther off than the axis stands at its end."""
    assert each.ours is not None, "only anchors with a figure are drawn"
    low, high = each.anchor.band.around(each.anchor.theirs)
    centre, half = (low + high) / 2, (high - low) / 2 or 1.0
    ends = ((figure - centre) / half for figure in (each.ours.low, each.ours.value, each.ours.high))
    first, middle, last = (min(max(end, -_FARTHEST), _FARTHEST) for end in ends)
    return first, middle, last
