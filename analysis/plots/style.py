"""Colours, sizes and files of all figures.

Variants take Okabe and Ito's colours, which colour-blind readers can tell apart: the three locking
modes have fixed ones, other names get the rest in the order of the study.

Source: Okabe, Ito, Color Universal Design, 2008.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure

FIXED: Final = {"sync": "#777777", "pipelined": "#0072B2", "in_memory": "#D55E00"}
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

_SETTINGS: Final[dict[Any, Any]] = {
    "font.size": 10,
    "axes.titlesize": 11,
    "axes.titlelocation": "left",
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


def variant_colours(variants: Sequence[str]) -> dict[str, str]:
    """Returns each variant's colour; more variants than colours share."""
    spare = [colour for colour in OTHERS if colour not in FIXED.values()]
    unnamed = [name for name in variants if name not in FIXED]
    given = {name: spare[place % len(spare)] for place, name in enumerate(unnamed)}
    return {name: FIXED.get(name) or given[name] for name in variants}


def part_colours(parts: Sequence[str]) -> dict[str, str]:
    """Returns a colour for each part of a whole."""
    return {part: PARTS[place % len(PARTS)] for place, part in enumerate(parts)}


def ink_on(colour: str) -> str:
    """Returns black or white, whichever is read better on ``colour`` (WCAG relative luminance)."""
    red, green, blue = to_rgb(colour)
    return (
        "black" if 0.2126 * red**2.2 + 0.7152 * green**2.2 + 0.0722 * blue**2.2 > 0.18 else "white"
    )


def new_figure(width_in: float, height_in: float) -> Figure:
    """Returns an empty figure with the project's settings, laid out so that nothing overlaps."""
    mpl.rcParams.update(_SETTINGS)
    figure = Figure(figsize=(width_in, height_in), layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def heading(figure: Figure, title: str, subtitle: str) -> None:
    """Puts what is shown above the axes, and the study and point beside it in small."""
    text = f"{title}\n{subtitle}" if subtitle else title
    figure.suptitle(text, x=0.01, ha="left", fontsize=11)


def legend_above(axes: Axes, columns: int) -> None:
    """Puts a legend in a row above the axes, where it hides no data."""
    axes.legend(
        loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=columns, borderaxespad=0.2,
        handlelength=1.4, columnspacing=1.2,
    )  # fmt: skip


def save(figure: Figure, folder: Path, name: str) -> None:
    """Writes ``name.png`` and ``name.svg``, without dates so that equal figures are equal bytes."""
    folder.mkdir(parents=True, exist_ok=True)
    figure.savefig(folder / f"{name}.png", dpi=144, metadata={"Software": None})
    figure.savefig(folder / f"{name}.svg", metadata={"Date": None})
