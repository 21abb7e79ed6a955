"""How precise each number has become that a scenario wanted precise."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from analysis.metrics.catalogue import MetricKey
from analysis.study.units import point_words


def print_precision(console: Console, found: Mapping[str, Any]) -> None:
    """Prints a line a number: half width reached, wanted, replications.

    Args:
        console: where to.
        found: ``precision`` of ``summary.json``.
    """
    targets = found["targets"]
    swept = any(target["point"] for target in targets)
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1))
    for heading in (*(["point"] if swept else []), "variant", "number"):
        table.add_column(heading, overflow="fold")
    for heading in ("reached", "wanted", "replications"):
        table.add_column(heading, justify="right", no_wrap=True)
    for target in targets:
        key = MetricKey(target["metric"], target["class"], target["stat"])
        words = [point_words(target["point"])] if swept else []
        table.add_row(*words, target["variant"], str(key), *_cells(target))
    console.print(table)
    unmet = sum(not target["met"] for target in targets)
    if unmet:
        console.print(f"{unmet} of {len(targets)} numbers are less precise than wanted after "
                      f"run.max_replications ({found['most_replications']}) or for want of a value",
                      highlight=False)  # fmt: skip


def _cells(target: Mapping[str, Any]) -> list[Text]:
    reached = "no interval" if target["reached"] is None else f"±{target['reached']:.2%}"
    style = "green" if target["met"] else "red"
    return [
        Text(reached, style=style),
        Text(f"±{target['wanted']:.2%}"),
        Text(str(target["replications"])),
    ]
