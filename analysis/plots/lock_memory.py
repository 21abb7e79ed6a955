"""What in-memory locks take of a store's memory, against what they may take.

Law: the facts have the sum over the tables of a store, at each grant. A region's table is part of
it, so a sum below the limit of a region says that no region has reached that limit; a sum above it
says nothing of a single region.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, NullFormatter

from analysis.metrics.rounding import digits
from analysis.metrics.study_tables import Course
from analysis.plots.drawn import Picture, listed
from analysis.plots.style import INK, SMALL, Look, heading, write_ticks
from analysis.plots.timeline import time_panels
from sim.scenario.schema.tikv import Tikv
from sim.units import KIB

METRIC: Final = "lock_table_bytes"


def size_text(size_bytes: float) -> str:
    """Returns a size in the unit in which it has the fewest digits."""
    for unit, factor in (("GiB", KIB**3), ("MiB", KIB**2), ("KiB", KIB)):
        if size_bytes >= factor:
            return f"{digits(size_bytes / factor)} {unit}"
    return f"{digits(size_bytes)} B"


def lock_memory(course: Course, looks: Mapping[str, Look], tikv: Tikv, subtitle: str) -> Picture:
    """Draws the fullest store's table over time, on a log scale that reaches up to its limit.

    The words have the most of each variant, and what share of the limit it is.

    Args:
        course: with ``lock_table_bytes``.
        looks: by variant; only those with locks in memory have a line.
        tikv: has the limits.
        subtitle: the point; empty if there is only one.
    """
    figure, (axes,) = time_panels(course.happenings, [3.0], course.span_s)
    region_bytes = tikv.in_memory_peer_size_limit_bytes
    store_bytes = tikv.in_memory_instance_size_limit_bytes
    least, told = float(region_bytes), []
    for variant, look in looks.items():
        line = course.line(variant, METRIC, "max")
        value = line["value"].where(line["value"] > 0)
        if not value.notna().any():
            continue
        least, most = min(least, float(value.min())), float(value.max())
        share = digits(100 * most / store_bytes)
        told.append(f"{variant} at most {size_text(most)}, {share} % of a store's")
        axes.fill_between(
            line["at_s"], line["low"].where(line["low"] > 0, value), line["high"],
            color=look.colour, alpha=0.25, linewidth=0,
        )  # fmt: skip
        axes.plot(
            line["at_s"], value, color=look.colour, linestyle=look.line, marker=look.marker,
            markersize=4, markevery=max(len(line) // 8, 1), linewidth=1.4, label=variant,
        )  # fmt: skip
    _limit(axes, store_bytes, "limit of a store")
    _limit(axes, region_bytes, "limit of one region")
    _scale(axes, least / 2, max(store_bytes, region_bytes) * 4)
    axes.set_ylabel("locks in memory, fullest store")
    axes.legend(
        loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=3, handlelength=2.8, borderaxespad=0.2
    )
    note = "all tables of a store together; while they are below a region's limit, none is full"
    heading(figure, "Memory of the lock table against its limits", f"{subtitle}\n{note}")
    alt = (
        f"Memory that locks take on the fullest store over time: {listed(told)}. Limits: "
        f"{size_text(store_bytes)} a store, {size_text(region_bytes)} a region."
    )
    return Picture("lock_memory", "locks", figure, alt)


def _limit(axes: Axes, size_bytes: int, name: str) -> None:
    axes.axhline(size_bytes, color=INK, linewidth=1.2, linestyle=(0, (6, 3)))
    axes.annotate(
        f"{name}, {size_text(size_bytes)}", (0.0, size_bytes), (4, 3),
        xycoords=("axes fraction", "data"), textcoords="offset points", fontsize=SMALL, color=INK,
    )  # fmt: skip


def _scale(axes: Axes, low_bytes: float, high_bytes: float) -> None:
    """Makes a log scale with ticks at powers of 32, which are round in all binary units."""
    axes.set_yscale("log")
    axes.yaxis.set_major_locator(FixedLocator([float(32**power) for power in range(9)]))
    write_ticks(axes.yaxis, size_text)
    axes.yaxis.set_minor_formatter(NullFormatter())
    axes.tick_params(axis="y", which="minor", length=0)
    axes.set_ylim(max(low_bytes, 1.0), high_bytes)
