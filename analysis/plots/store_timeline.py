"""Each store's leaders over time, with what moved them: transfers, splits, merges, crashes.

Law: a store leads what it has gained less what it has lost; a line is the mean over replications. A
store that is down leads nothing. Only a study in which something moves has this figure.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from analysis.metrics.rounding import digits
from analysis.plots import timeline
from analysis.plots.drawn import Picture, listed
from analysis.plots.style import OTHERS, Look, heading, legend_below, unique_handles

_SIGNS: Final = {"leaders_gained": 1.0, "leaders_lost": -1.0}
_CHANGES: Final = {
    "leader_transfers": ("leader moved", "v"), "splits": ("split", "+"), "merges": ("merge", "x"),
}  # fmt: skip
_LINES: Final[tuple[Any, ...]] = ("-", (0, (5, 1.6)), (0, (1.2, 1.2)), (0, (7, 1.4, 1.4, 1.4)))
_MOST_NAMED: Final = 6


def something_moves(moves: pd.DataFrame) -> bool:
    """Returns whether any leader or region changed, beyond being there at the beginning.

    Facts of before leaders were counted by store have nothing to draw.
    """
    changed = moves["metric"].isin(["leaders_lost", *_CHANGES]).any()
    return bool(changed and (moves["metric"] == "leaders_gained").any())


def leaders_by_store(moves: pd.DataFrame, span_s: float) -> dict[str, pd.DataFrame]:
    """Returns by store ``at_s`` and ``leaders``: steps, of which each holds until the next.

    A bin's changes stand at its end, so none comes before what made it; the first bin's, most of
    them leaders that there were, at the beginning.

    Args:
        moves: of one variant at one point, from ``plot_tables.region_moves``.
        span_s: where the last step ends.
    """
    rows = moves[moves["metric"].isin(list(_SIGNS))]
    net = rows.assign(net=rows["value"] * rows["metric"].map(_SIGNS))
    found = {}
    for store, of in net.groupby("class"):
        steps = of.groupby("bin").agg(net=("net", "sum"), bin_s=("bin_s", "max"))
        ends = np.where(steps.index == 0, 0, steps.index + 1)
        at_s = np.minimum(ends * steps["bin_s"].to_numpy(), span_s).tolist()
        leaders = steps["net"].cumsum().tolist()
        found[str(store)] = pd.DataFrame(
            {"at_s": [*at_s, span_s], "leaders": [*leaders, leaders[-1]]}
        )
    return dict(sorted(found.items(), key=lambda pair: _number(pair[0])))


def store_timeline(
    moves: pd.DataFrame,
    happenings: pd.DataFrame,
    looks: Mapping[str, Look],
    span_s: float,
    subtitle: str,
) -> Picture:
    """Draws a panel a variant: a step line a store, and below it marks of what changed.

    The words have each store's leaders at both ends, and what happened.

    Args:
        moves: of one point; not empty.
        happenings: what ``timeline.marks`` takes.
        looks: by variant, in order.
        span_s: length of the time axis.
        subtitle: the point; empty if there is only one.
    """
    variants = [name for name in looks if (moves["variant"] == name).any()]
    figure, panels = timeline.time_panels(happenings, [2.1] * len(variants), span_s)
    told = []
    for axes, variant in zip(panels, variants, strict=True):
        mine = moves[moves["variant"] == variant]
        stores = leaders_by_store(mine, span_s)
        for place, (store, steps) in enumerate(stores.items()):
            axes.step(
                steps["at_s"], steps["leaders"], where="post", label=store, linewidth=1.6,
                color=OTHERS[place % len(OTHERS)], linestyle=_LINES[place % len(_LINES)],
            )  # fmt: skip
        _changes(axes, mine)
        told.append(f"{variant}: {', '.join(_words(stores, mine))}")
        axes.set_title(variant, fontweight="bold", color=looks[variant].colour, pad=3)
        axes.set_ylabel("leaders")
    _same_height(panels)
    legend_below(figure, *unique_handles(panels))
    heading(figure, "Leaders of each store", subtitle)
    alt = (
        f"Steps of how many regions each store leads over {digits(span_s)} s; {listed(told)}. "
        f"Events: {timeline.mark_words(timeline.marks(happenings, span_s))}."
    )
    return Picture("store_timeline", "time", figure, alt)


def _words(stores: Mapping[str, pd.DataFrame], mine: pd.DataFrame) -> Iterator[str]:
    """Yields a few stores' leaders, then how often each kind of change happened."""
    for store, steps in list(stores.items())[:_MOST_NAMED]:
        leaders = steps["leaders"]
        first, last, least = map(digits, (leaders.iloc[0], leaders.iloc[-1], leaders.min()))
        yield f"{store} from {first} to {last} (least {least})"
    totals = mine[mine["metric"].isin(list(_CHANGES))].groupby("metric")["value"].sum()
    for metric, total in totals.items():
        yield f"{digits(total)} {str(metric).replace('_', ' ')}"


def _number(store: str) -> tuple[int, str]:
    digits_ = store.rpartition("-")[2]
    return (int(digits_), store) if digits_.isdigit() else (0, store)


def _changes(axes: Axes, mine: pd.DataFrame) -> None:
    """Marks where leaders moved and regions split or merged, in a strip below the lines."""
    for row, (metric, (label, marker)) in enumerate(_CHANGES.items()):
        at = mine[mine["metric"] == metric]
        if at.empty:
            continue
        at_s = (at["bin"] + 0.5) * at["bin_s"]
        axes.plot(
            at_s, np.full(len(at), 0.06 + 0.06 * row), marker, color="black", markersize=5,
            markeredgewidth=1.0, linestyle="", label=label, clip_on=False,
            transform=axes.get_xaxis_transform(),
        )  # fmt: skip


def _same_height(panels: Sequence[Axes]) -> None:
    """Leaves room for the strip below 0, and gives all panels the same scale."""
    most = max(axes.get_ylim()[1] for axes in panels)
    for axes in panels:
        axes.set_ylim(-0.32 * most, most * 1.05)
        axes.set_yticks([tick for tick in axes.get_yticks() if 0 <= tick <= most])
