"""What-if capacity: the answer, what was searched, and the greatest load of each case as a tile."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from analysis.experiments.case_words import (
    capacity_parts,
    capacity_text,
    case_words,
    headroom_words,
    promise_words,
    unit_mark,
    unit_words,
    why_refused,
)
from analysis.metrics.rounding import digits
from analysis.page.content import Block, Items, Paragraph, Tile, capital
from analysis.page.findings import Findings
from analysis.report.capacity_table import (
    capacity_changes,
    capacity_sentence,
    capacity_tables,
    station_words,
)

_MOST_TILES: Final = 8


def capacity_blocks(found: Findings) -> Iterator[Block]:
    """Yields what a capacity search has found."""
    if "capacity" not in found.summary:
        return
    content = found.summary["capacity"]
    yield Paragraph(_promise(content))
    yield from capacity_tables(content)
    yield Items(tuple(capacity_sentence(content, case) for case in content["cases"]))


def capacity_tiles(content: Mapping[str, Any]) -> tuple[Tile, ...]:
    """Returns a tile a case: how far it goes, and what limits it."""
    unit = unit_mark(content)
    made = []
    for case in content["cases"][:_MOST_TILES]:
        load, certainty = capacity_parts(content, case)
        load = load if case["status"] == "unknown" else f"{load}{unit}"
        if case["status"] == "found":
            room = headroom_words(case)
            detail = f"{station_words(case)} busy{f', {room} headroom' if room else ''}"
        else:  # the reason alone: the tile has the bound that is known
            bound, _, why = why_refused(content, case).partition(": ")
            detail = capital(why or bound)
        made.append(Tile(case_words(case), load, certainty, detail))
    return tuple(made)


def _promise(content: Mapping[str, Any]) -> str:
    low, high = (digits(end) for end in content["between"])
    sought = (
        f"The search looked for the greatest load between {low} and {high} {unit_words(content)} "
        f"that keeps {promise_words(content)}, and under which no work piles up."
    )
    if all(case["status"] != "found" for case in content["cases"]):
        return sought
    return (
        f"{sought} It found where each of {content['replications']} replications crosses a limit, "
        f"to within {100 * content['tolerance']:g} %; the capacity is the mean of these loads, "
        "with a 95 % interval."
    )


def of_capacity(found: Mapping[str, Any]) -> Iterator[str]:
    """How variants differ, then how far each case goes and what was promised."""
    known = [case for case in found["cases"] if case["status"] == "found"]
    promise = promise_words(found)
    yield from capacity_changes(found)
    if not known:
        yield _beyond(found, promise)
        return
    best = max(known, key=lambda case: float(case["load"]))
    most = f"{case_words(best)} carries the most: {capacity_text(found, best)} {unit_words(found)}"
    yield f"{most}, keeping {promise}."


def _beyond(found: Mapping[str, Any], promise: str) -> str:
    """Returns what is known where no capacity lies within the search."""
    low, high = (f"{digits(end)} {unit_words(found)}" for end in found["between"])
    seen = {case["status"] for case in found["cases"]}
    is_one = len(found["cases"]) == 1
    if seen == {"above"}:
        return f"{'The' if is_one else 'Every'} case keeps {promise} up to {high} at least."
    if seen == {"below"}:
        none = "The case does not keep" if is_one else "No case keeps"
        return f"{none} {promise}, not even at {low}."
    return f"No case has a capacity that is known to lie between {low} and {high}, with {promise}."
