"""What a capacity search tells a person: a line a case, then each case in a sentence.

Fits 80 columns; plain text when the output is no terminal.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from rich.console import Console
from rich.table import Table
from rich.text import Text

from analysis.experiments.case_words import (
    OUTAGE,
    OVERLOAD,
    capacity_text,
    case_words,
    headroom_words,
    limit_words,
    load_words,
    stop_words,
    unit_mark,
    why_refused,
)
from analysis.metrics.numbers import StudyNumber, change_text, span_text
from analysis.metrics.rounding import short
from analysis.report.terminal import plain_table

Case = Mapping[str, Any]
Found = Mapping[str, Any]

FULL: Final = 0.8
"""A station that is busier than this limits the case; below, what passes the limit is no queue."""


def print_capacity(console: Console, found: Found) -> None:
    """Prints all cases.

    Args:
        console: where to.
        found: ``capacity`` of ``summary.json``.
    """
    cases = found["cases"]
    console.print(_capacities(found))
    if any(case["cost_per_hour"] is not None for case in cases):
        console.print(_costs(found))
    for sentence in (
        *capacity_changes(found),
        *(capacity_sentence(found, case) for case in cases),
    ):
        console.print(Text(sentence), soft_wrap=not console.is_terminal)


def capacity_changes(found: Found) -> list[str]:
    """Returns a sentence for each variant: how much more it carries than the baseline."""
    return [
        f"{_on(row['point'])}{row['variant']} carries {_change(StudyNumber.of(row))} "
        f"{row['baseline']}."
        for row in found["comparisons"]
        if row["metric"] == "capacity_load" and row["ratio"] is not None
    ]


def _on(point: Mapping[str, Any]) -> str:
    """Returns ``On i3.4xlarge, ``; nothing for the only point."""
    values = ", ".join(str(value) for value in point.values())
    return f"On {values}, " if values else ""


def _change(ratio: StudyNumber) -> str:
    if ratio.has_interval and not ratio.told_apart:
        return f"as much ({change_text(ratio)}) as"
    return f"{span_text(ratio)} {'more' if ratio.value > 1 else 'less'} than"


def _capacities(found: Found) -> Table:
    threads = found["load"] == "workload.threads"
    table = plain_table(is_close=True)
    table.add_column("case", overflow="fold")
    table.add_column("threads [95 %]" if threads else "load (1/s) [95 %]", justify="right")
    if threads:
        table.add_column("txn/s", justify="right")
    table.add_column("busiest", overflow="fold")
    table.add_column("headroom", justify="right")
    for case in found["cases"]:
        cells = [case_words(case), capacity_text(found, case)]
        if threads:
            cells.append("-" if case["txn_per_s"] is None else short(case["txn_per_s"]))
        table.add_row(*cells, _station(case), headroom_words(case) or "-")
    return table


def _costs(found: Found) -> Table:
    """Returns what cases cost; one that no other beats in both price and capacity is marked."""
    table = plain_table(is_close=True)
    table.add_column("case", overflow="fold")
    for heading in ("cost per hour", "txn/s", "per million txn", "Pareto"):
        table.add_column(heading, justify="right")
    for case in found["cases"]:
        price, each = case["cost_per_hour"], case["cost_per_1000_txn"]
        table.add_row(
            case_words(case),
            "-" if price is None else f"{price:,.2f}",
            "-" if case["txn_per_s"] is None else short(case["txn_per_s"]),
            "-" if each is None else f"{1000 * each:.3g}",
            {True: "yes", False: "beaten", None: "-"}[case["pareto"]],
        )
    return table


def capacity_sentence(found: Found, case: Case) -> str:
    """Returns what a person wants to know of a case."""
    name = case_words(case)
    if case["status"] != "found":
        return f"{name}: {why_refused(found, case)}."
    unit = unit_mark(found)
    load = f"{load_words(case['load'])}{unit}" + capacity_text(found, case).removeprefix(
        load_words(case["load"])
    )
    parts = [f"{name} carries {load} {_until(found, case)}", *_limited(case)]
    if case["headroom"] is not None:
        parts.append(_at_present(case, unit))
    stops = stop_words(found, case)
    if stops:
        parts.append(f"but {stops}")
    if not case["finished"]:
        parts.append("not all replications were searched to the tolerance: units are missing "
                     "or have failed")  # fmt: skip
    return "; ".join(parts) + "."


def _until(found: Found, case: Case) -> str:
    if case["binds"] == OVERLOAD:
        return "before it is overloaded"
    if case["binds"] == OUTAGE:
        return "before work stops"
    objective = next(each for each in found["slo"] if each["key"] == case["binds"])
    return f"before {case['binds']} passes {limit_words(objective)}"


def _limited(case: Case) -> list[str]:
    station = case["station"]
    if station is None:
        return []
    busy = f"{station['busy']:.0%} busy just above".replace("%", " %")
    if station["busy"] >= FULL:
        return [f"{station['name']} limits it ({busy})"]
    return [f"no station is full, the busiest is {station['name']} ({busy})"]


def _at_present(case: Case, unit: str) -> str:
    chance = case["present_p_met"]
    likely = "" if chance is None else f" (met there with probability {probability_words(chance)})"
    present = f"{load_words(case['present'])}{unit}"
    if case["headroom"] < 0:
        return f"{-100 * case['headroom']:.0f} % too little for the present {present}{likely}"
    return f"{100 * case['headroom']:.0f} % headroom at {present}{likely}"


def probability_words(chance: float) -> str:
    """Returns a probability, of which less than a percent is not told."""
    if chance > 0.99:
        return "above 99 %"
    return "below 1 %" if chance < 0.01 else f"{100 * chance:.0f} %"


def _station(case: Case) -> str:
    station = case["station"]
    return "-" if station is None else f"{station['name']} {100 * station['busy']:.0f} %"
