"""What-if capacity: the greatest load of each case, what limits it, what it costs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from analysis.experiments.case_words import (
    capacity_text,
    case_words,
    headroom_words,
    load_words,
    promise_words,
    unit_mark,
    unit_words,
    why_refused,
)
from analysis.metrics.numbers import StudyNumber
from analysis.metrics.rounding import short
from analysis.page.answer_wider import capital
from analysis.page.content import Block, Cell, Items, PageTable, Paragraph, Tile, texts
from analysis.page.findings import Findings
from analysis.page.limits import STATIONS
from analysis.page.numbers import DASH, change_cell
from analysis.report.capacity_table import capacity_sentence, probability_words


def capacity_blocks(found: Findings) -> Iterator[Block]:
    """Yields what a capacity search has found."""
    if "capacity" not in found.summary:
        return
    content = found.summary["capacity"]
    yield Paragraph(_promise(content))
    yield _capacities(content)
    if content["comparisons"]:
        yield _compared(content)
    if any(case["cost_per_hour"] is not None for case in content["cases"]):
        yield _costs(content)
    yield Items(tuple(capacity_sentence(content, case) for case in content["cases"]))


def capacity_tiles(content: Mapping[str, Any]) -> tuple[Tile, ...]:
    """Returns a tile a case: how far it goes, and what limits it."""
    unit = unit_mark(content)
    made = []
    for case in content["cases"][:_MOST_TILES]:
        load, _, interval = capacity_text(content, case).partition(" [")
        known = case["status"] == "found"
        room = _headroom(case)
        made.append(Tile(
            case_words(case),
            load if case["status"] == "unknown" else f"{load}{unit}",
            f"[{interval}" if interval else "",
            f"{_station(case)}{f', {room} headroom' if room else ''}" if known
            else _reason(content, case),
        ))  # fmt: skip
    return tuple(made)


_MOST_TILES: Final = 8


def _promise(content: Mapping[str, Any]) -> str:
    low, high = (load_words(end) for end in content["between"])
    return (
        f"The search looked for the greatest load between {low} and {high} {unit_words(content)} "
        f"that keeps {promise_words(content)}, and under which no work piles up. It found where "
        f"each of {content['replications']} replications crosses a limit, to within "
        f"{100 * content['tolerance']:g} %; the capacity is the mean of these loads, with a 95 % "
        "interval."
    )


def _capacities(content: Mapping[str, Any]) -> PageTable:
    threads = content["load"] == "workload.threads"
    rows = [
        (
            Cell(case_words(case)),
            Cell(capacity_text(content, case)),
            Cell(DASH if case["txn_per_s"] is None else short(case["txn_per_s"])),
            Cell(str(case["binds"] or DASH)),
            Cell(_station(case)),
            Cell(_headroom(case) or DASH),
            Cell(DASH if chance is None else probability_words(chance)),
        )
        for case in content["cases"]
        for chance in (case["present_p_met"],)
    ]
    load = "threads [95 %]" if threads else "arrivals (1/s) [95 %]"
    present = next((case["present"] for case in content["cases"] if case["present"]), None)
    at = "" if present is None else f" at {load_words(present)}"
    headings = (
        "case", load, "completed (1/s)", "what breaks first", "busiest station",
        f"headroom{at}", f"chance to keep the promise{at}",
    )  # fmt: skip
    return PageTable("Capacity by case", headings, tuple(rows), words=(0, 3, 4))


def _station(case: Mapping[str, Any]) -> str:
    station = case["station"]
    if station is None:
        return DASH
    name = STATIONS[station["name"]]
    return f"{name}, {100 * station['busy']:.0f} % busy"


def _headroom(case: Mapping[str, Any]) -> str:
    return headroom_words(case).replace("-", "−")


def _reason(content: Mapping[str, Any], case: Mapping[str, Any]) -> str:
    """Returns why a case has no capacity, below the bound that is known."""
    bound, _, why = why_refused(content, case).partition(": ")
    return capital(why or bound)


def _compared(content: Mapping[str, Any]) -> PageTable:
    rows = [
        (
            Cell(case_words(row)),
            Cell(row["baseline"]),
            change_cell(StudyNumber.of(row)),
        )
        for row in content["comparisons"]
        if row["metric"] == "capacity_load"
    ]
    note = "Paired by replication."
    headings = ("variant", "against", "capacity")
    return PageTable("How much more each variant carries", headings, tuple(rows), note, (0, 1))


def _costs(content: Mapping[str, Any]) -> PageTable:
    rows = []
    for case in content["cases"]:
        price, each = case["cost_per_hour"], case["cost_per_1000_txn"]
        rows.append((
            Cell(case_words(case)),
            *texts(
                DASH if price is None else f"{price:,.2f}",
                DASH if each is None else f"{1000 * each:,.2f}",
                {True: "not beaten", False: "beaten", None: DASH}[case["pareto"]],
            ),
        ))  # fmt: skip
    return PageTable(
        "What it costs",
        ("case", "per hour", "per million transactions", "price and capacity"),
        tuple(rows),
        "In the currency of capacity.prices. A case is beaten if another costs no more and carries "
        "no less.",
        (0, 3),
    )
