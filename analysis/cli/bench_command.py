"""``bench``: the quick figures of the simulator's own speed, as lines and as JSON."""

from __future__ import annotations

import json
from pathlib import Path
from time import perf_counter

from analysis.cli.console import messages, output, say
from analysis.cli.exit_status import ExitStatus
from analysis.program import IS_INSTALLED


def bench_command(json_file: Path | None, *, tiny: bool) -> int:
    """Measures everything, prints each figure as it comes; 3 if a measurement failed."""
    if IS_INSTALLED:
        say(messages(), "bench measures the sources of a checkout; run it there: make bench")
        return ExitStatus.BAD_INPUT
    from benchmarks.quick import FAILED, Found, document, line_of, measured

    begun_s = perf_counter()
    found: Found = {}
    for figures in measured(tiny=tiny):
        found |= figures
        for key, figure in figures.items():
            say(output(), line_of(key, figure))
    seconds = round(perf_counter() - begun_s)
    say(output(), f"measured in {seconds // 60} min {seconds % 60} s")
    if json_file is not None:
        json_file.write_text(json.dumps(document(found), indent=1) + "\n", encoding="utf-8")
    failed = any(str(figure).startswith(FAILED) for figure in found.values())
    return ExitStatus.UNITS_FAILED if failed else ExitStatus.FINE
