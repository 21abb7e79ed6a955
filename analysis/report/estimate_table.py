"""The estimate of a scenario as a user reads it: figures, stations, what a run takes, warnings.

Fits 80 columns for three variants; more of them take turns. Plain text when the output is no
terminal.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from rich.console import Console
from rich.table import Table
from rich.text import Text

from analysis.metrics.catalogue import WRITE_PLACES
from analysis.metrics.rounding import short, with_half_width
from analysis.metrics.shown import TO_KIB
from analysis.report.terminal import plain_table
from sim.estimate import Estimate, Station

_AT_A_TIME: Final = 3
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
    names = list(estimates)
    for start in range(0, len(names), _AT_A_TIME):
        some = {name: estimates[name] for name in names[start : start + _AT_A_TIME]}
        console.print(_figures(title, some))
        console.print(_stations(some))
    console.print("  ms/job: mean time of one; wait: jobs in line at one node, on average")
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


def _figures(title: str, estimates: Mapping[str, Estimate]) -> Table:
    table = _table(title, list(estimates))
    paths = (each.lock_path if each.locks_per_txn else "none" for each in estimates.values())
    table.add_row("lock requests", *paths)
    rows: list[tuple[str, list[float | None]]] = [
        ("lock latency, mean (ms)", [each.lock_latency_ms for each in estimates.values()]),
        (
            "transactions (1/s)",
            [each.txn_per_s if each.in_balance else None for each in estimates.values()],
        ),
        ("txn latency, mean (ms)", [each.response_ms for each in estimates.values()]),
        ("disk writes per txn (KiB)", [_kib(each.bytes_per_txn) for each in estimates.values()]),
    ]
    rows += [
        (f"  {words}", [_kib(each.write_bytes_per_txn.get(place)) for each in estimates.values()])
        for place, words in WRITE_PLACES.items()
    ]
    rows += [
        ("proposals per txn", [each.proposals_per_txn for each in estimates.values()]),
        ("fsyncs (1/s)", [each.fsyncs_per_s for each in estimates.values()]),
    ]
    for label, values in rows:
        table.add_row(label, *map(_number, values))
    table.add_row("busiest station", *(each.bottleneck for each in estimates.values()))
    return table


def _kib(size: float | None) -> float | None:
    return None if size is None else size * TO_KIB


def _stations(estimates: Mapping[str, Estimate]) -> Table:
    table = _table("", [f"{name}\nbusy ms/job wait" for name in estimates])
    for place, station in enumerate(next(iter(estimates.values())).stations):
        cells = [_station(each.stations[place]) for each in estimates.values()]
        table.add_row(f"{station.name} x{station.servers}", *cells)
    return table


def _station(station: Station) -> str:
    return f"{station.utilisation:4.0%} {_brief(station.service_ms):>6} {_brief(station.queue):>4}"


def _brief(value: float | None) -> str:
    """Returns two or three digits; 0 for what is too small to be shown."""
    if value is None:
        return "-"
    if value >= 100:
        return f"{value:.0f}"
    if value >= 10:
        return f"{value:.1f}"
    return f"{value:.2f}" if value >= 0.005 else "0"


def _number(value: float | None) -> str:
    return "-" if value is None else short(value)


def _table(title: str, headings: Iterable[str]) -> Table:
    table = plain_table(title)
    table.add_column("", no_wrap=True)
    for heading in headings:
        table.add_column(Text(heading, justify="right"), justify="right", no_wrap=True)
    return table


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
    memory = max(each.cost.memory_bytes for each in estimates)
    lines = [
        f"{estimates[0].regions:,} regions; {_millions(events)} events a unit, "
        f"{memory / 1e6:,.0f} MB in one process",
        f"{units:,} units of about {_duration(seconds)} on one core: about "
        f"{_duration(seconds * units / min(cores, units))} on {cores} cores, and 10 s for Spark; "
        "rough, within a factor of two",
    ]
    for line in lines:
        console.print(Text(f"  {line}"), soft_wrap=True)


def _millions(events: float) -> str:
    return f"{events / 1e6:.1f} M" if events >= 1e5 else f"{events:,.0f}"


def _duration(seconds: float) -> str:
    if seconds < 1:
        return "a second"
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:,.0f} min" if seconds < 6000 else f"{seconds / 3600:,.1f} h"


def print_verified(console: Console, title: str, rows: Sequence[Compared]) -> None:
    """Prints estimate against simulation for one variant at one point."""
    table = _table(title, ["estimate", "simulation", "difference"])
    for row in rows:
        table.add_row(row.label, _number(row.estimate), _measured(row.simulation), difference(row))
    console.print(table)


def _measured(found: Measured | None) -> str:
    if found is None:
        return "-"
    if found.half_width is None:
        return f"{short(found.value)} (n=1)"
    return with_half_width(found.value, found.half_width)


def difference(row: Compared) -> str:
    """Returns by how much the estimate is off; in points where the figure is a share."""
    if row.estimate is None or row.simulation is None:
        return "-"
    off = row.estimate - row.simulation.value
    if row.label.endswith("(%)"):
        return f"{off:+.1f} points".replace("-0.0", "+0.0")
    if not row.simulation.value:
        return "-"
    return f"{off / row.simulation.value:+.1%}".replace("-0.0%", "+0.0%")
