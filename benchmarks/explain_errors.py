"""How far the estimate of ``explain`` is off, by shipped scenario.

``python -m benchmarks explain_errors`` prints the greatest errors, as docs/EXPLAIN.md shows them; a
test holds those below saturation to 25 %.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import groupby
from pathlib import Path
from typing import Any, Final, NamedTuple

from analysis.report.table import DASH
from benchmarks.estimate_beside import Beside, cases, compare

RESULTS: Final = "explain_errors"
"""The folder in ``results`` with the rows, as ``summary.json``."""


class Row(NamedTuple):
    """The greatest errors of one scenario, over its variants below saturation if it has some.

    Attributes:
        busiest: share of time of the busiest station but the log.
        in_rounds: share of time that pollers were in rounds.
        station, station_error: of which station the estimate is farthest off; empty if none is
            worth speaking of.
        bytes_error: of bytes a transaction.
        rate_error: of transactions a second.
        lock_error: of a lock's mean latency.
    """

    scenario: str
    saturated: bool
    busiest: float
    in_rounds: float
    station: str
    station_error: float
    bytes_error: float | None
    rate_error: float | None
    lock_error: float | None


def row_of(scenario: str, variants: Sequence[Beside]) -> Row:
    """Returns the row of a scenario's variants."""
    below = [each for each in variants if not each.is_saturated]
    listed = below or variants
    errors = [pair for each in listed for pair in each.errors().items()]
    station, error = max(errors, key=lambda pair: abs(pair[1]), default=("", 0.0))
    return Row(
        scenario,
        not below,
        max(busy for each in listed for name, busy in each.simulated.items() if name != "raft_log"),
        max(each.simulated_in_rounds for each in listed),
        station,
        error,
        _greatest(each.bytes_error() for each in listed),
        _greatest(each.rate_error() for each in listed),
        _greatest(each.lock_error() for each in listed),
    )


def _greatest(errors: Iterable[float | None]) -> float | None:
    return max((error for error in errors if error is not None), key=abs, default=None)


def table(rows: Iterable[Row]) -> str:
    """Returns rows as lines of Markdown."""
    head = (
        "scenario", "busiest station but the log", "pollers in rounds", "worst station",
        "bytes per transaction", "transactions a second", "lock latency",
    )  # fmt: skip
    lines = [f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
    for row in rows:
        worst = "none above 2 %"
        if row.station:
            worst = f"{row.station} {_percent(f'{row.station_error:+.0%}')}"
        cells = (
            f"`{row.scenario}`{' (saturated)' if row.saturated else ''}",
            _percent(f"{row.busiest:.0%}"),
            _percent(f"{row.in_rounds:.0%}"),
            worst,
            *(
                DASH if error is None else _percent(f"{error:+.0%}")
                for error in (row.bytes_error, row.rate_error, row.lock_error)
            ),
        )
        lines.append(f"| {' | '.join(cells)} |")
    return "".join(f"{line}\n" for line in lines)


def _percent(text: str) -> str:
    return text.replace("%", " %")


def table_of(summary: Mapping[str, Any]) -> str:
    """Returns the table of the rows that ``main`` left behind."""
    return table(Row(**row) for row in summary["rows"])


def main() -> int:
    """Prints the table, and leaves its rows in ``results``."""
    every = cases()
    with ProcessPoolExecutor() as pool:
        done = list(zip(every, pool.map(compare, every), strict=True))
    rows = [
        row_of(name, [beside for _, beside in group])
        for name, group in groupby(done, key=lambda pair: pair[0].name)
    ]
    print(table(rows), end="")
    folder = Path("results") / RESULTS
    folder.mkdir(parents=True, exist_ok=True)
    summary = json.dumps({"rows": [row._asdict() for row in rows]}, indent=1)
    (folder / "summary.json").write_text(summary + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
