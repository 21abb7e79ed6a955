"""The estimate of a scenario as a user reads it: figures, stations, what a run takes, warnings.

Plain text when the output is no terminal.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from rich.console import Console
from rich.text import Text

from analysis.metrics.catalogue import WRITE_PLACES
from analysis.metrics.rounding import short, with_half_width
from analysis.metrics.shown import TO_KIB
from analysis.report.table import DASH, ReportTable, by_variant, texts
from analysis.report.terminal import print_tables
from analysis.statistics.amounts import count, large_count
from sim.estimate import Estimate, Station

_WARNING: Final = "yellow"


class Measured(NamedTuple):
    """A figure of a finished study."""

    value: float
    half_width: float | None
    """Of its interval; None without one."""


class Compared(NamedTuple):
    """An estimate beside what was simulated."""

    label: str
    estimate: float | None
    simulation: Measured | None


def print_estimates(console: Console, title: str, estimates: Mapping[str, Estimate]) -> None:
    """Prints the estimates of one point's variants."""
    print_tables(console, (_figures(title, estimates), _stations(estimates)))
    for warning in _warnings(estimates):
        console.print(Text(f"  warning: {warning}", style=_WARNING), soft_wrap=True)
    print_left_out(console, estimates.values())


def print_left_out(console: Console, estimates: Iterable[Estimate]) -> None:
    """Prints what the simulation does and estimates leave out."""
    words = dict.fromkeys(part for each in estimates for part in each.left_out)
    console.print(Text(f"  only the simulation includes: {'; '.join(words)}"), soft_wrap=True)


def _warnings(estimates: Mapping[str, Estimate]) -> list[str]:
    """Returns the warnings; one that several variants share once, with their names."""
    variants: dict[str, list[str]] = {}
    texts: dict[str, str] = {}
    for name, each in estimates.items():
        for warning in each.warnings:
            variants.setdefault(warning.place, []).append(name)
            texts.setdefault(warning.place, warning.text)
    return [
        f"{place}: {', '.join(names)}: {texts[place]}" if len(names) < len(estimates)
        else f"{place}: {texts[place]}"
        for place, names in variants.items()
    ]  # fmt: skip


def _figures(title: str, estimates: Mapping[str, Estimate]) -> ReportTable:
    each = list(estimates.values())
    figures: dict[str, list[float | None]] = {
        "lock latency, mean (ms)": [one.lock_latency_ms for one in each],
        "transactions (1/s)": [one.txn_per_s if one.in_balance else None for one in each],
        "txn latency, mean (ms)": [one.response_ms for one in each],
        "disk writes per txn (KiB)": [_kib(one.bytes_per_txn) for one in each],
        **{
            f"  {words}": [_kib(one.write_bytes_per_txn.get(place)) for one in each]
            for place, words in WRITE_PLACES.items()
        },
        "proposals per txn": [one.proposals_per_txn for one in each],
        "fsyncs (1/s)": [one.fsyncs_per_s for one in each],
    }
    rows = (
        ("lock requests", [one.lock_path if one.locks_per_txn else "none" for one in each]),
        *((label, list(map(_number, of))) for label, of in figures.items()),
        ("busiest station", [one.bottleneck for one in each]),
    )
    return by_variant(title, "", list(estimates), rows)


def _kib(size: float | None) -> float | None:
    return None if size is None else size * TO_KIB


def _stations(estimates: Mapping[str, Estimate]) -> ReportTable:
    by_name: dict[str, list[Station | None]] = {}
    for place, each in enumerate(estimates.values()):
        for station in each.stations:
            by_name.setdefault(station.name, [None] * len(estimates))[place] = station
    rows = [row for name, of in by_name.items() for row in _rows_of_station(name, of)]
    return by_variant(
        "", "", [f"{name}\nbusy ms/job wait" for name in estimates], rows,
        "ms/job: mean time of one; wait: jobs in line at one node, on average; a store poller that "
        "waits for the raft log is not busy, but takes no mail; raft_log, which writes all "
        "that waits at once, is not called busiest",
    )  # fmt: skip


def _rows_of_station(
    name: str, of: Sequence[Station | None]
) -> Iterator[tuple[str, Iterable[str]]]:
    """Yields a station over all stores, and where it differs much at the fullest one."""
    yield _servers(name, of), map(_station, of)
    fullest = [None if each is None else each.fullest for each in of]
    if any(fullest):
        yield "  fullest store", [DASH if each is None else f"{each:4.0%}" for each in fullest]


def _servers(name: str, stations: Sequence[Station | None]) -> str:
    """Returns ``store_poller x3``, and all numbers where variants have different ones."""
    numbers = sorted({station.servers for station in stations if station is not None})
    return f"{name} x{'/'.join(map(str, numbers))}"


def _station(station: Station | None) -> str:
    if station is None:
        return DASH
    return f"{station.utilisation:4.0%} {_brief(station.service_ms):>6} {_brief(station.queue):>4}"


def _brief(value: float | None) -> str:
    """Returns two or three digits; 0 for what is too small to be shown."""
    if value is None:
        return DASH
    if value >= 100:
        return f"{value:.0f}"
    if value >= 10:
        return f"{value:.1f}"
    return f"{value:.2f}" if value >= 0.005 else "0"


def _number(value: float | None) -> str:
    return DASH if value is None else short(value)


def print_cost(console: Console, estimates: Sequence[Estimate], units: int, cores: int) -> None:
    """Prints what running the study takes, from the estimates that were made.

    Args:
        console: where to.
        estimates: of the cases that were looked at.
        units: of the whole study, or of its first round.
        cores: of this machine.
    """
    events = sum(each.cost.events for each in estimates) / len(estimates)
    seconds = sum(each.cost.seconds for each in estimates) / len(estimates)
    whole = study_seconds(estimates, units, cores)
    memory = max(each.cost.memory_bytes for each in estimates)
    text = (
        f"  {count(estimates[0].regions, 'region')}; {large_count(events, 'event')} a unit, "
        f"{memory / 1e6:,.0f} MB in one process\n"
        f"  {count(units, 'unit')} of about {rough_duration(seconds)} on one core: about "
        f"{rough_duration(whole)} on {cores} cores, and 10 s for Spark; "
        "rough, within a factor of two"
    )
    console.print(Text(text), soft_wrap=True)


def study_seconds(estimates: Sequence[Estimate], units: int, cores: int) -> float:
    """Returns how long units like those that were estimated take on so many cores."""
    mean = sum(each.cost.seconds for each in estimates) / len(estimates)
    return mean * units / min(cores, units)


def rough_duration(seconds: float) -> str:
    """Returns a time that is right within a factor of two."""
    if seconds < 1:
        return "a second"
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:,.0f} min" if seconds < 6000 else f"{seconds / 3600:,.1f} h"


def print_verified(console: Console, title: str, rows: Sequence[Compared]) -> None:
    """Prints estimate against simulation for one variant at one point."""
    cells = tuple(
        texts(row.label, _number(row.estimate), _measured(row.simulation), difference(row))
        for row in rows
    )
    print_tables(console, [ReportTable(title, ("", "estimate", "simulation", "difference"), cells)])


def _measured(found: Measured | None) -> str:
    if found is None:
        return DASH
    if found.half_width is None:
        return f"{short(found.value)} (n=1)"
    return with_half_width(found.value, found.half_width)


def difference(row: Compared) -> str:
    """Returns by how much the estimate is off; in points where the figure is a share."""
    if row.estimate is None or row.simulation is None:
        return DASH
    off = row.estimate - row.simulation.value
    if row.label.endswith("(%)"):
        return f"{off:+.1f} points".replace("-0.0", "+0.0")
    if not row.simulation.value:
        return DASH
    return f"{off / row.simulation.value:+.1%}".replace("-0.0%", "+0.0%")
