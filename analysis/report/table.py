"""The comparison a user reads first: per point, a row a metric, a column a variant, then ratios.

Fits 80 columns: what does not fit in one table becomes two, values and ratios, or more.
Plain text when the output is no terminal.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from rich import box
from rich.console import Console
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from analysis.metrics.catalogue import HIGHER_IS_BETTER
from analysis.metrics.rounding import short, with_ends, with_half_width

Row = Mapping[str, Any]
Key = tuple[str, str, str]

KEY_METRICS: Final[tuple[tuple[str, Key, float], ...]] = (
    ("lock latency, mean (ms)", ("lock_latency_ms", "all", "mean"), 1.0),
    ("lock latency, p50 (ms)", ("lock_latency_ms", "all", "p50"), 1.0),
    ("lock latency, p99 (ms)", ("lock_latency_ms", "all", "p99"), 1.0),
    ("lock service, mean (ms)", ("lock_service_ms", "all", "mean"), 1.0),
    ("txn latency, mean (ms)", ("txn_latency_ms", "all", "mean"), 1.0),
    ("txn latency, p99 (ms)", ("txn_latency_ms", "all", "p99"), 1.0),
    ("transactions (1/s)", ("txn_per_s", "all", "mean"), 1.0),
    ("tpmC (1/min)", ("tpmc", "all", "mean"), 1.0),
    ("disk writes per txn (KiB)", ("disk_write_bytes_per_txn", "all", "mean"), 1 / 1024),
    ("disk writes (MB/s)", ("disk_write_bytes_per_s", "all", "mean"), 1e-6),
    ("fsyncs (1/s)", ("fsync_per_s", "all", "mean"), 1.0),
    ("network (MB/s)", ("network_bytes_per_s", "all", "mean"), 1e-6),
    ("proposals per txn", ("proposals_per_txn", "all", "mean"), 1.0),
    ("lock wait, mean (ms)", ("lock_wait_ms", "all", "mean"), 1.0),
    ("failed transactions (%)", ("txn_failures", "all", "mean"), 100.0),
)

AT_LEAST_WORDS: Final = (
    "> is more than: what had not ended when the run did counts, and would have taken longer"
)
LONGEST_HEADING: Final = 24
"""A longer one is broken before what it divides by."""


def print_comparison(
    console: Console, summary: Mapping[str, Any], variants: Sequence[str], points: Sequence[Row]
) -> None:
    """Prints every point's table."""
    for point in points:
        title = ", ".join(f"{key} = {value}" for key, value in point.items())
        values = _by_key(row for row in summary["rows"] if row["point"] == point)
        ratios = _by_key(row for row in summary["comparisons"] if row["point"] == point)
        _print_point(console, title, variants, values, ratios)


def _by_key(rows: Any) -> dict[tuple[str, Key], Row]:
    return {(row["variant"], (row["metric"], row["class"], row["stat"])): row for row in rows}


def _print_point(
    console: Console,
    title: str,
    variants: Sequence[str],
    values: Mapping[tuple[str, Key], Row],
    ratios: Mapping[tuple[str, Key], Row],
) -> None:
    lines = [line for line in KEY_METRICS if any((name, line[1]) in values for name in variants)]
    columns = [(name, [value_text(values.get((name, key)), scale) for _, key, scale in lines])
               for name in variants]  # fmt: skip
    against = [
        (f"{name} / {variants[0]}", [ratio_text(ratios.get((name, key))) for _, key, _ in lines])
        for name in variants[1:]
    ]
    labels = [label for label, _, _ in lines]
    one = _table(title, labels, [*columns, *against])
    if _width(console, one) <= console.width or not against:
        console.print(one)
    else:
        _print_fitting(console, title, labels, columns)
        _print_fitting(console, "", labels, against)
    if any(row.get("at_least") for row in values.values()):
        console.print(Text(f"  {AT_LEAST_WORDS}", style="yellow"))
    for name, why in _refusals(values).items():
        console.print(Text(f"  {name}: latencies are refused: {why}", style="yellow"))


def _refusals(values: Mapping[tuple[str, Key], Row]) -> dict[str, str]:
    """Returns by variant why its latencies are refused."""
    return {name: row["refused"] for (name, _), row in values.items() if "refused" in row}


def _width(console: Console, table: Table) -> int:
    """Returns the width that the table would take with room enough."""
    return Measurement.get(console, console.options.update(max_width=1000), table).maximum


def _print_fitting(
    console: Console, title: str, labels: Sequence[str], columns: Sequence[tuple[str, list[Text]]]
) -> None:
    """Prints one table, or several with the labels in each, as wide as the console allows."""
    left = columns
    while left:
        count = len(left)
        while count > 1 and _width(console, _table(title, labels, left[:count])) > console.width:
            count -= 1
        console.print(_table(title, labels, left[:count]))
        title, left = "", left[count:]


def _table(title: str, labels: Sequence[str], columns: Sequence[tuple[str, list[Text]]]) -> Table:
    table = Table(
        title=title or None,
        box=box.SIMPLE_HEAD,
        title_justify="left",
        padding=(0, 1),
        pad_edge=False,
        collapse_padding=True,
    )
    table.add_column("", no_wrap=True)
    for heading, _ in columns:
        lines = heading if len(heading) <= LONGEST_HEADING else heading.replace(" / ", "\n/ ")
        table.add_column(Text(lines), justify="right", no_wrap=True)
    for index, label in enumerate(labels):
        table.add_row(label, *(cells[index] for _, cells in columns))
    return table


def value_text(row: Row | None, scale: float) -> Text:
    """Returns ``1.93 ± 0.04``; without an interval ``1.93 (n=1)``; a dash for no value.

    A number that is refused is a word; one that is only known to be greater says so.
    """
    if row is not None and "refused" in row:
        return Text("refused", style="yellow")
    if row is None or row["value"] is None:
        return Text("-", style="dim")
    value = row["value"] * scale
    if row.get("at_least"):
        return Text(f"> {short(value)}", style="red")
    if row["ci_high"] is None:
        return Text(f"{short(value)} (n={row['replications']})")
    half = (row["ci_high"] - row["ci_low"]) / 2 * scale
    return Text(with_half_width(value, half))


def ratio_text(row: Row | None) -> Text:
    """Returns ``0.512 [0.49, 0.53]``, green or red when the interval excludes 1."""
    if row is None or row["ratio"] is None:
        return Text("-", style="dim")
    if row["ci_low"] is None:
        return Text(f"{short(row['ratio'])} (n=1)")
    text = with_ends(row["ratio"], row["ci_low"], row["ci_high"])
    return Text(text, style=_verdict_style(row))


def _verdict_style(row: Row) -> str:
    if row["ci_low"] <= 1.0 <= row["ci_high"]:
        return ""
    improved = (row["ratio"] > 1.0) == (row["metric"] in HIGHER_IS_BETTER)
    return "green" if improved else "red"
