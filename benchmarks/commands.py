"""What a user's commands cost as a whole: CPU time of Python, the JVM and the workers.

``rfc77_answer``: rfc77.yaml as it is shipped, which stops when the ratios that it expects something
of are known to 2 %. ``study_fixed``: what it costs beside its units, which count their own CPU.

Run it with ``python -m benchmarks.commands``.
"""

from __future__ import annotations

import json
import tempfile
from math import inf
from pathlib import Path
from typing import Final

from benchmarks.command_cost import Cost, cost_of

_RFC77: Final = "scenarios/rfc77.yaml"
_MASTER: Final = ("--master", "local[2]")
_WIDTH: Final = 0.02
RATIOS: Final = ("lock_latency_ms", "disk_write_bytes_per_txn")


def measure(*, tiny: bool = False) -> dict[str, float | str]:
    """Returns CPU seconds: ``quickstart_cpu_s``, ``rfc77_answer_cpu_s``, ``study_fixed_cpu_s``.

    Also ``explain_cpu_s``, and of the answer seconds and half width. With ``tiny`` only the
    scenarios are checked: a study takes 20 s of CPU.
    """
    if tiny:
        cost_of(["check", "scenarios/quickstart.yaml", _RFC77])
        keys = ("quickstart_cpu_s", "rfc77_answer_cpu_s", "study_fixed_cpu_s")
        return dict.fromkeys(keys, "a tiny size runs no study")
    with tempfile.TemporaryDirectory(prefix="pessim-bench-") as scratch:
        explain = cost_of(["explain", _RFC77])
        quickstart = _study("scenarios/quickstart.yaml", Path(scratch) / "quickstart")
        found = {
            "explain_cpu_s": round(explain.cpu_s, 1),
            "quickstart_cpu_s": round(quickstart.cpu_s, 1),
        }
        return found | _answer(Path(scratch) / "rfc77")


def _study(file: str, out: Path) -> Cost:
    return cost_of([file, "--out", str(out), *_MASTER])


def _answer(out: Path) -> dict[str, float | str]:
    whole = _study(_RFC77, out)
    width = widest_ratio(out)
    return {
        "study_fixed_cpu_s": round(whole.cpu_s - units_cpu_s(out), 1),
        "rfc77_answer_width": round(width, 4),
        "rfc77_answer_s": round(whole.wall_s, 1),
        "rfc77_answer_cpu_s": (
            round(whole.cpu_s, 1) if width <= _WIDTH else f"a ratio is left at ±{width:.1%}"
        ),
    }


def units_cpu_s(out: Path) -> float:
    """Returns the CPU seconds that the units of a study counted for themselves."""
    records = out.glob("units/*/unit.json")
    return float(sum(json.loads(file.read_text(encoding="utf-8"))["cpu_s"] for file in records))


def widest_ratio(out: Path) -> float:
    """Returns the larger relative half width of ``RATIOS``, in memory over pipelined.

    It is infinite if a ratio has no interval.
    """
    summary = json.loads((out / "summary.json").read_text(encoding="utf-8"))
    widths = dict.fromkeys(RATIOS, inf)
    for row in summary["comparisons"]:
        figure = (row["variant"], row["class"], row["stat"])
        if row["metric"] in RATIOS and figure == ("in_memory", "all", "mean") and row["ci_low"]:
            widths[row["metric"]] = (row["ci_high"] - row["ci_low"]) / 2 / row["ratio"]
    return max(widths.values())


if __name__ == "__main__":
    print(measure())
