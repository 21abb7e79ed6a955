"""How certain each figure has become that a study wanted certain."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rich.console import Console
from rich.text import Text

from analysis.experiments.case_words import key_of
from analysis.report.terminal import plain_table
from analysis.study.units import point_words


def print_precision(
    console: Console, found: Mapping[str, Any], unit_cpu_s: float, variants: int
) -> None:
    """Prints a line a figure: half width reached, wanted, replications.

    Args:
        console: where to.
        found: ``precision`` of ``summary.json``.
        unit_cpu_s: CPU time of one replication of one variant.
        variants: how many there are.
    """
    targets = found["targets"]
    swept = any(target["point"] for target in targets)
    table = plain_table()
    for heading in (*(["point"] if swept else []), "variant", "figure"):
        table.add_column(heading, overflow="fold")
    for heading in ("reached", "wanted", "replications"):
        table.add_column(heading, justify="right", no_wrap=True)
    for target in targets:
        words = [point_words(target["point"])] if swept else []
        table.add_row(*words, target_variants(target), str(key_of(target)), *_cells(target))
    console.print(table)
    for line in _shortfall(found, unit_cpu_s, variants):
        console.print(line, highlight=False)


def target_variants(target: Mapping[str, Any]) -> str:
    """Returns whose figure it is: a variant, or ``in_memory / pipelined``."""
    against = target["against"]
    return f"{target['variant']} / {against}" if against else str(target["variant"])


def _shortfall(found: Mapping[str, Any], unit_cpu_s: float, variants: int) -> Iterator[str]:
    """Yields how much is missing where rounds ended too early, and what that would cost."""
    targets = found["targets"]
    unmet = [target for target in targets if not target["met"]]
    wanted = max((target["still_wanted"] for target in unmet), default=0)
    if wanted:
        units = max(
            target["still_wanted"] * (2 if target["against"] else variants) for target in unmet
        )
        minutes = units * unit_cpu_s / 60
        yield (
            f"{len(unmet)} of {len(targets)} figures are less certain than wanted; about "
            f"{wanted:,} more replications would do, {minutes:,.0f} minutes of CPU: raise "
            f"run.max_replications ({found['most_replications']}), or lengthen run.measure"
        )
    elif unmet:
        has = "has" if len(unmet) == 1 else "have"
        yield f"{len(unmet)} of {len(targets)} figures {has} no interval"


def _cells(target: Mapping[str, Any]) -> list[Text]:
    reached = "no interval" if target["reached"] is None else f"±{target['reached']:.2%}"
    style = "green" if target["met"] else "red"
    return [
        Text(reached, style=style),
        Text(f"±{target['wanted']:.2%}"),
        Text(str(target["replications"])),
    ]
