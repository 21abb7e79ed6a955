"""The picture of a calibration: what is left above each latency, measured and modelled."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from textwrap import wrap

from matplotlib.axes import Axes
from matplotlib.ticker import NullLocator

from analysis.calibration.disk_fit import LEVELS, RunFit
from analysis.plots.style import (
    INK,
    OTHERS,
    WIDTH_IN,
    heading,
    log_ticks,
    new_figure,
    panel_grid,
    percent,
    save,
    write_ticks,
)

_ROW_IN = 2.5
_COLUMNS = 2
_TITLE = 28
"""Letters of a title that fit above a column."""
_WIDE = 30
"""Ratio of an axis' ends from which 1, 2, 5 on it would be too many for half the width."""


def draw_fits(fits: Sequence[RunFit], path: Path) -> list[Path]:
    """Writes the picture beside ``path`` as PNG and SVG; returns both."""
    figure = new_figure(WIDTH_IN, 0.7 + _ROW_IN * math.ceil(len(fits) / _COLUMNS))
    panels = panel_grid(figure, len(fits), _COLUMNS, sharey=True)
    for place, (axes, fit) in enumerate(zip(panels, fits, strict=True)):
        _draw(axes, fit)
        if place % _COLUMNS == 0:
            axes.set_ylabel("share that takes longer")
    panels[0].legend(loc="upper right", handlelength=1.6)
    heading(figure, "A disk measured, and as it is modelled", "dots: fio; line: the model")
    save(figure, path.parent, path.stem)
    return [path.parent / f"{path.stem}{ending}" for ending in (".png", ".svg")]


def _draw(axes: Axes, fit: RunFit) -> None:
    left = [1 - level for level in LEVELS]
    count = len(fit.modelled)
    ranks = [1 - 10 ** (-step / 20) for step in range(65)]
    modelled = [fit.modelled[min(count - 1, int(rank * count))] / 1000 for rank in ranks]
    axes.plot(modelled, [1 - rank for rank in ranks], color=OTHERS[0], label="modelled")
    axes.plot(
        [ns / 1000 for ns in fit.measured_ns], left, "o", color=OTHERS[4], markersize=4.5,
        label="measured",
    )  # fmt: skip
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_ylim(5e-4, 1.3)
    write_ticks(axes.yaxis, percent)
    log_ticks(axes.xaxis, few=_WIDE)
    axes.xaxis.set_minor_locator(NullLocator())
    worst = max(fit.errors, key=abs)
    axes.set_title(_title(fit.run.path.stem), fontsize=9.5)
    axes.annotate(
        f"off by {worst * 100:+.1f} % at most", (0.03, 0.04), xycoords="axes fraction",
        fontsize=9.5, color=INK,
    )  # fmt: skip
    axes.set_xlabel("latency, µs")


def _title(stem: str) -> str:
    shown = stem if stem.isprintable() else ascii(stem)
    shown = shown if len(shown) <= 40 else shown[:39] + "…"
    # Breaks after hyphens are looked for, and lines of a file's name end after its underscores.
    lengths = map(len, wrap(shown.replace("_", "-"), _TITLE, drop_whitespace=False))
    letters = iter(shown)
    lines = ["".join(islice(letters, length)) for length in lengths]
    return "\n".join(lines).replace("$", r"\$")
