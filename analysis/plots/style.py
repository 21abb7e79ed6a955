"""Colours, lines, hatches, sizes and files of all figures.

A figure is as wide as a phone can show with letters that can still be read, and says everything
twice: in colour, and by a line, a marker or a hatch, so that a copy in grey loses nothing.

Variants take Okabe and Ito's colours, which colour-blind readers can tell apart: the three locking
modes have fixed ones, other names get the rest in the order of the study.

Source: Okabe, Ito, Color Universal Design, 2008.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from io import BytesIO
from itertools import cycle
from pathlib import Path
from textwrap import wrap
from typing import Any, Final, Literal

import matplotlib as mpl
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patheffects import withStroke
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter
from PIL import Image

from analysis.metrics.rounding import plain

OTHERS: Final = ("#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#F0E442")
PARTS: Final = (
    "#332288",
    "#88CCEE",
    "#44AA99",
    "#117733",
    "#999933",
    "#DDCC77",
    "#CC6677",
    "#882255",
    "#AA4499",
)
"""Colours of parts of a whole (places, causes, stations), none of which a variant has.

Source: Tol, Colour schemes, SRON technical note, 2021, "muted".
"""

WIDTH_IN: Final = 5.25
"""Two fit beside each other into a wide column."""
SMALL: Final = 10.0
"""Points of the smallest text: on a phone, where a picture is 350 px wide, 9.3 px."""
TEXT_PT: Final = 11
"""Points of everything else."""
_HANDLE_IN: Final = 0.6
"""Width of a legend's line, with the room around it."""
_LEGEND_ROW_IN: Final = 0.2
_CHARACTER_IN: Final = 0.0835
"""Mean width of a letter of a heading, with some room."""
INK: Final = "#555555"
"""What is beside the matter: marks, guides, limits."""

Dashes = tuple[float, tuple[float, ...]] | Literal["-"]
_OTHER_LINES: Final[tuple[Dashes, ...]] = (
    "-",
    (0, (5, 1.6)),
    (0, (1.2, 1.2)),
    (0, (7, 1.4, 1.4, 1.4)),
    (0, (4, 1.2, 1, 1.2, 1, 1.2)),
    (0, (10, 2.5)),
    (0, (2.4, 2.4)),
    (0, (10, 1.4, 3, 1.4)),
    (0, (7, 1, 1, 1, 1, 1, 1, 1)),
)
_OTHER_MARKERS: Final = ("D", "v", "P", "X", "<", ">", "d", "*", "h")
HATCHES: Final = ("", "///", "...", "\\\\\\", "xxx", "|||", "ooo", "---", "+++")
"""Of the parts of a whole, in the order of their colours."""


@dataclass(frozen=True, slots=True)
class Look:
    """How a variant is drawn, everywhere: each of the three tells it apart on its own."""

    colour: str
    line: Dashes
    marker: str


_SETTINGS: Final[dict[Any, Any]] = {
    "font.size": TEXT_PT,
    "axes.titlesize": TEXT_PT,
    "xtick.labelsize": SMALL,
    "ytick.labelsize": SMALL,
    "legend.fontsize": SMALL,
    "hatch.linewidth": 0.6,
    "axes.titlelocation": "left",
    "axes.titley": 1.0,  # no ticks are above an axes: to look for some took a seventh of drawing
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#dddddd",
    "grid.linewidth": 0.6,
    "legend.frameon": False,
    "svg.hashsalt": "pessim",
    "svg.fonttype": "none",
}


FIXED: Final = {
    "sync": Look("#777777", (0, (1.2, 1.2)), "s"),
    "pipelined": Look("#0072B2", (0, (5, 1.6)), "o"),
    "in_memory": Look("#D55E00", "-", "^"),
}
"""Looks of the locking modes."""


def variant_looks(variants: Sequence[str]) -> dict[str, Look]:
    """Returns each variant's look; up to six names beside the locking modes differ in all of it."""
    taken = [FIXED[name].line for name in variants if name in FIXED]
    lines = cycle([line for line in _OTHER_LINES if line not in taken])
    others = zip(cycle(OTHERS), lines, cycle(_OTHER_MARKERS), strict=False)
    return {name: FIXED.get(name) or Look(*next(others)) for name in variants}


def line_looks(variants: Sequence[str]) -> list[Look]:
    """Returns a look for each of several lines, of which some may be of the same variant.

    Args:
        variants: of each line; their colours are kept, if there is more than one. Line and marker
            differ between all lines.
    """
    looks = variant_looks(list(dict.fromkeys(variants)))
    if len(looks) == len(variants):
        return [looks[variant] for variant in variants]
    own = variant_looks([f"line {place}" for place in range(len(variants))])
    if len(looks) == 1:
        return list(own.values())
    return [
        Look(looks[variant].colour, look.line, look.marker)
        for variant, look in zip(variants, own.values(), strict=True)
    ]


def part_hatches(parts: Sequence[str]) -> dict[str, str]:
    """Returns a hatch for each part of a whole; none for the first."""
    return dict(zip(parts, cycle(HATCHES), strict=False))


def part_colours(parts: Sequence[str]) -> dict[str, str]:
    """Returns a colour for each part of a whole."""
    return dict(zip(parts, cycle(PARTS), strict=False))


def ink_on(colour: str) -> str:
    """Returns black or white, whichever is read better on ``colour`` (WCAG relative luminance)."""
    red, green, blue = to_rgb(colour)
    return (
        "black" if 0.2126 * red**2.2 + 0.7152 * green**2.2 + 0.0722 * blue**2.2 > 0.18 else "white"
    )


def new_figure(width_in: float, height_in: float) -> Figure:
    """Returns an empty figure with the project's settings, laid out so that nothing overlaps."""
    mpl.rcParams.update(_SETTINGS)
    figure = Figure(figsize=(width_in, height_in), dpi=_DPI, layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def heading(figure: Figure, title: str, subtitle: str = "", size_pt: float = TEXT_PT) -> None:
    """Puts what is shown above the axes, then what has to be known of it; long lines are broken.

    Args:
        figure: whose label becomes the text, unbroken.
        title: one line; empty for none.
        subtitle: the point, how to read it; may be empty, and have several lines.
        size_pt: of the letters.
    """
    figure.set_label(f"{title}\n{subtitle}")
    across = int(figure.get_figwidth() / (_CHARACTER_IN * size_pt / TEXT_PT))
    lines = [title, *subtitle.splitlines()]
    text = "\n".join(part for line in lines for part in wrap(line, across))
    figure.suptitle(text, x=0.01, ha="left", fontsize=size_pt, parse_math=False)


def percent(share: float) -> str:
    """Returns a share as a tick says it."""
    return f"{100 * share:g} %"


def whole(value: float) -> str:
    """Returns a number without decimals, thousands set apart."""
    return f"{value:,.0f}"


def write_ticks(axis: Axis, text: Callable[[float], str]) -> None:
    """Writes an axis' ticks by a function of their values."""
    axis.set_major_formatter(FuncFormatter(lambda value, _: text(value)))


def log_ticks(
    axis: Axis, text: Callable[[float], str] = plain, *, few: float = 1_000, most: int | None = None
) -> None:
    """Puts ticks on a log axis: at powers of ten, and at 2 and 5 times these if there is room.

    Args:
        axis: which shows all that it will show.
        text: of a tick.
        few: ratio of its ends up to which there is room.
        most: ticks, if there may be fewer.
    """
    low, high = sorted(axis.get_view_interval())
    subs = (1.0, 2.0, 5.0) if high < few * low else (1.0,)
    axis.set_major_locator(LogLocator(subs=subs, numticks=most))
    write_ticks(axis, text)
    axis.set_minor_formatter(NullFormatter())


def log_values(axes: Axes, text: Callable[[float], str] = plain, few: float = 60) -> None:
    """Makes the axis of values logarithmic, with steps where it spans less than ``few``-fold."""
    axes.set_yscale("log")
    log_ticks(axes.yaxis, text, few=few)


def values_from_zero(axes: Axes) -> None:
    """Lets the axis of values begin at 0."""
    axes.set_ylim(bottom=0)
    write_ticks(axes.yaxis, plain)


def unique_handles(panels: Iterable[Axes]) -> tuple[list[Artist], list[str]]:
    """Returns what legends of some panels would have, each label once."""
    found: dict[str, Artist] = {}
    for axes in panels:
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            found.setdefault(str(label), handle)
    return list(found.values()), list(found)


def panel_grid(figure: Figure, count: int, columns: int, **shared: Any) -> list[Axes]:
    """Returns so many panels, row by row; what is left of the last row stays empty."""
    rows = math.ceil(count / columns)
    grid = list(figure.subplots(rows, columns, squeeze=False, **shared).flat)
    for unused in grid[count:]:
        unused.set_visible(False)
    return grid[:count]


def objective_line(axes: Axes, level: float, words: str) -> None:
    """Draws a level that values should keep below, and what it is."""
    axes.axhline(level, color="black", linewidth=1.2, linestyle=(0, (6, 3)))
    axes.annotate(
        words, (0.0, level), (4, 3), xycoords=("axes fraction", "data"),
        textcoords="offset points", fontsize=SMALL, zorder=4,
        path_effects=[withStroke(linewidth=3, foreground="white")],
    )  # fmt: skip


def mark_no_values(axes: Axes, places: Sequence[float], look: Look) -> None:
    """Draws a cross at the top for each value that is refused, or only bounded."""
    if places:  # An empty line without clipping would upset the layout.
        axes.plot(
            places, [0.97] * len(places), "x", color=look.colour, markersize=6,
            transform=axes.get_xaxis_transform(), clip_on=False,
        )  # fmt: skip


def look_handle(look: Look, label: str, *, joined: bool = True) -> Line2D:
    """Returns a legend's entry for a look: its marker, on its line if what is drawn is joined."""
    return Line2D(
        [], [], color=look.colour, linestyle=look.line if joined else "", marker=look.marker,
        markersize=5, label=label,
    )  # fmt: skip


def legend_below(
    figure: Figure, handles: Sequence[Artist], labels: Sequence[str] | None = None
) -> None:
    """Puts a legend below the axes, in as many columns as its longest label leaves room for.

    The figure grows by what is more than one row.

    Args:
        figure: at least one line, bar or area is in it.
        handles: in order.
        labels: of the handles; None for those that they have themselves.
    """
    names = [str(handle.get_label()) for handle in handles] if labels is None else list(labels)
    longest_in = _HANDLE_IN + _CHARACTER_IN * max(map(len, names))
    columns = max(min(int(figure.get_figwidth() / longest_in), len(names)), 1)
    more_rows = math.ceil(len(names) / columns) - 1
    figure.set_figheight(figure.get_figheight() + _LEGEND_ROW_IN * more_rows)
    figure.legend(
        list(handles), names, loc="outside lower left", ncols=columns, handlelength=2.8,
        columnspacing=1.2,
    )  # fmt: skip


_DPI: Final = 144
_PLACES: Final = re.compile(rb'\b(?:d|x|y|x1|x2|y1|y2|points|transform)="[^"]*"')
_DECIMALS: Final = re.compile(rb"(\.\d\d)\d+")


def save(figure: Figure, folder: Path, name: str) -> None:
    """Writes ``name.png`` and ``name.svg``, without dates so that equal figures are equal bytes.

    Both are made light: a picture has no more than 256 colours, and a place in an SVG is given to a
    hundredth of a point.
    """
    folder.mkdir(parents=True, exist_ok=True)
    engine = figure.get_layout_engine()
    if engine is not None:  # laid out once: with an engine every file would do it, and draw twice
        engine.execute(figure)
        figure.set_layout_engine(None)
    canvas, drawing = FigureCanvasAgg(figure), BytesIO()
    canvas.draw()  # type: ignore[no-untyped-call]
    pixels = canvas.buffer_rgba()  # type: ignore[no-untyped-call]
    full = Image.frombuffer("RGBA", canvas.get_width_height(), pixels)
    few = full.convert("RGB").quantize(256, dither=Image.Dither.NONE)
    few.save(folder / f"{name}.png", compress_level=8)  # 9 takes thrice the time for 1 % less
    figure.savefig(drawing, format="svg", metadata={"Date": None}, dpi=_DPI)
    light = _PLACES.sub(lambda place: _DECIMALS.sub(rb"\1", place[0]), drawing.getvalue())
    (folder / f"{name}.svg").write_bytes(light)
