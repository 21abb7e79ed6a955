"""What a capacity search tells a person: tables of its cases, and each case in a sentence."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from analysis.experiments.case_words import (
    OUTAGE,
    OVERLOAD,
    capacity_parts,
    capacity_text,
    case_words,
    headroom_words,
    limit_words,
    stop_words,
    unit_mark,
    why_refused,
)
from analysis.metrics.catalogue import STATIONS
from analysis.metrics.numbers import StudyNumber, change_text, span_text
from analysis.metrics.rounding import digits, short
from analysis.report.table import DASH, ReportTable, texts
from analysis.statistics.saturation import BUSY

Case = Mapping[str, Any]
Found = Mapping[str, Any]

FULL: Final = BUSY
"""A station as busy as this limits the case; below, what passes the limit may be no queue."""


def capacity_tables(found: Found) -> Iterator[ReportTable]:
    """Yields the capacity of each case, and what it costs.

    Args:
        found: ``capacity`` of ``summary.json``.
    """
    yield _capacities(found)
    if any(case["cost_per_hour"] is not None for case in found["cases"]):
        yield _costs(found)


def _capacities(found: Found) -> ReportTable:
    rows = [
        texts(
            case_words(case),
            capacity_text(found, case),
            DASH if case["txn_per_s"] is None else short(case["txn_per_s"]),
            str(case["binds"] or DASH),
            station_words(case),
            headroom_words(case) or DASH,
            DASH if case["present_p_met"] is None else probability_words(case["present_p_met"]),
        )
        for case in found["cases"]
    ]
    load = "threads" if found["load"] == "workload.threads" else "load (1/s)"
    present = next((case["present"] for case in found["cases"] if case["present"]), None)
    at = "" if present is None else f" at {digits(present)}"
    headings = (
        "case", f"{load} [95 %]", "completed (1/s)", "what breaks first", "busiest station",
        f"headroom{at}", f"chance to keep the promise{at}",
    )  # fmt: skip
    return ReportTable("Capacity by case", headings, tuple(rows), words=(0, 3, 4), spare=(2, 3, 6))


def station_words(case: Case) -> str:
    """Returns ``store pollers, 97 %``; a dash for no station."""
    station = case["station"]
    return f"{STATIONS[station['name']]}, {100 * station['busy']:.0f} %" if station else DASH


def _costs(found: Found) -> ReportTable:
    rows = []
    for case in found["cases"]:
        price, each = case["cost_per_hour"], case["cost_per_1000_txn"]
        rows.append(texts(
            case_words(case),
            DASH if price is None else f"{price:,.2f}",
            DASH if each is None else f"{1000 * each:,.2f}",
            {True: "not beaten", False: "beaten", None: DASH}[case["pareto"]],
        ))  # fmt: skip
    return ReportTable(
        "What it costs",
        ("case", "per hour", "per million transactions", "price and capacity"),
        tuple(rows),
        ("In the currency of capacity.prices. A case is beaten if another costs no more, "
         "carries no less, and is better in one of the two.",),
        words=(0, 3),
    )  # fmt: skip


def capacity_changes(found: Found) -> list[str]:
    """Returns a sentence for each variant: how much more it carries than the baseline."""
    said = []
    for row in found["comparisons"]:
        if row["metric"] == "capacity_load" and row["ratio"] is not None:
            ratio, point = StudyNumber.of(row), ", ".join(map(str, row["point"].values()))
            change = f"{span_text(ratio)} {'more' if ratio.value > 1 else 'less'} than"
            if ratio.has_interval and not ratio.told_apart:
                change = f"as much ({change_text(ratio)}) as"
            where = f"On {point}, " if point else ""
            said.append(f"{where}{row['variant']} carries {change} {row['baseline']}.")
    return said


def capacity_sentence(found: Found, case: Case) -> str:
    """Returns what a person wants to know of a case."""
    name = case_words(case)
    if case["status"] != "found":
        return f"{name}: {why_refused(found, case)}."
    unit = unit_mark(found)
    load, certainty = capacity_parts(found, case)
    parts = [f"{name} carries {load}{unit} {certainty} {_until(found, case)}"]
    if case["station"] is not None:
        parts.append(_limit(case["station"]))
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


def _limit(station: Mapping[str, Any]) -> str:
    busy = f"({100 * station['busy']:.0f} % busy just above)"
    if station["busy"] >= FULL:
        return f"{station['name']} limits it {busy}"
    return f"no station is full, the busiest is {station['name']} {busy}"


def _at_present(case: Case, unit: str) -> str:
    chance = case["present_p_met"]
    likely = "" if chance is None else f" (met there with probability {probability_words(chance)})"
    present = f"{digits(case['present'])}{unit}"
    if case["headroom"] < 0:
        return f"{-100 * case['headroom']:.0f} % too little for the present {present}{likely}"
    return f"{100 * case['headroom']:.0f} % headroom at {present}{likely}"


def probability_words(chance: float) -> str:
    """Returns a probability, of which less than a percent is not told."""
    if chance > 0.99:
        return "above 99 %"
    return "below 1 %" if chance < 0.01 else f"{100 * chance:.0f} %"
