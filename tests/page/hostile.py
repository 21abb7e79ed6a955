"""A small finished study, made without Spark, whose every free text tries to leave its place."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

import pandas as pd
from PIL import Image

from analysis.metrics.row_table import RowTable
from analysis.metrics.study_tables import StudyTables
from analysis.plots.drawn import Drawn
from analysis.report.study_verdict import study_verdict
from analysis.study.finished_study import FinishedStudy
from analysis.study.load import load_study
from analysis.study.plan import Plan

SCRIPT: Final = "</script><script>alert(1)</script><img src=x onerror=alert(2)>"
MARKUP: Final = (
    f"{SCRIPT} ![p](http://e.example/p.png) [l](javascript:alert(3)) <b>b</b> `c` | d | *e* _f_ "
    "http://e.example www.e.example a@e.example &lt; ~~g~~ $h$ \u202egnp\u202c \x07 "
    "[r]: //e.example"
)


def scenario(folder: Path, about: str, extra: str = "") -> Path:
    """Writes a scenario of two variants whose table, transaction and operation have odd names."""
    file = folder / "odd.yaml"
    text = about.replace("\\", "\\\\").replace('"', '\\"').replace("\x07", "\\x07")
    file.write_text(
        f'about: "{text}"\n'
        "run: {seed: 1, warmup: 1s, measure: 2s, replications: 2}\n"
        "workload:\n"
        "  kind: custom\n"
        "  rate: 100/s\n"
        "  tables: {t: {rows: 100}}\n"
        "  transactions:\n"
        "    x: {statements: [{lock: t, rows: 1}, {update: t}]}\n"
        "compare:\n"
        "  pipelined: {tikv.pessimistic-txn.in-memory: false}\n"
        "  in_memory: {tikv.pessimistic-txn.in-memory: true}\n" + extra,
        encoding="utf-8",
    )
    return file


def row(variant: str, metric: str, value: float | None, **more: Any) -> dict[str, Any]:
    """Returns a row of ``summary.json`` with an interval of 1 % to each side."""
    ends = (None, None) if value is None else (value * 0.99, value * 1.01)
    return {
        "point": {}, "variant": variant, "metric": metric, "class": "all", "stat": "mean",
        "value": value, "ci_low": ends[0], "ci_high": ends[1], "replications": 2, "unit": "",
    } | more  # fmt: skip


def ratio(metric: str, value: float, low: float | None, high: float | None) -> dict[str, Any]:
    """Returns a comparison of in_memory with pipelined."""
    return {
        "point": {}, "baseline": "pipelined", "variant": "in_memory", "metric": metric,
        "class": "all", "stat": "mean", "ratio": value, "ci_low": low, "ci_high": high,
    }  # fmt: skip


ROWS: Final = (
    row("pipelined", "lock_latency_ms", 2.0),
    row("in_memory", "lock_latency_ms", 1.0),
    row("pipelined", "disk_write_bytes_per_txn", 20480.0),
    row("in_memory", "disk_write_bytes_per_txn", 20480.0),
    row("pipelined", "txn_per_s", 100.0),
    row("in_memory", "txn_per_s", 120.0),
    row("pipelined", "txn_aborts", 3.0),
    row("pipelined", "txn_aborts", 1.0, **{"class": "rollback"}),
    row("pipelined", "txn_aborts", 2.0, **{"class": SCRIPT}),
    row("in_memory", "txn_aborts", 0.0),
    row("pipelined", "locks_lost", 0.0),
    row("in_memory", "locks_lost", 0.0),
    row("pipelined", "cpu_busy", 0.97, **{"class": "store_poller"}),
    row("in_memory", "cpu_busy", 0.31, **{"class": "store_poller"}),
    row("pipelined", "disk_busy", 0.99, **{"class": "raft_log"}),
    row("in_memory", "disk_busy", 0.5, **{"class": "raft_log"}),
)
RATIOS: Final = (
    ratio("lock_latency_ms", 0.5, 0.48, 0.52),
    ratio("disk_write_bytes_per_txn", 1.0, 0.97, 1.03),
    ratio("txn_per_s", 1.2, 1.19, 1.21),
)


def summary(**more: Any) -> dict[str, Any]:
    """Returns content of ``summary.json``."""
    fact = {"point": {}, "verdicts": {"stable": 2}, "reason": "", "others_went_on": False}
    warmup = {"min": 1.0, "median": 1.0, "max": 1.0}
    content = {
        "study": "odd",
        "rows": RowTable.from_rows(list(ROWS), [{}]),
        "comparisons": RowTable.from_rows(list(RATIOS), [{}]),
        "expectations": [],
        "units": [
            fact | {"variant": name, "warmup_s": warmup} for name in ("pipelined", "in_memory")
        ],
        "invariants": {"checked": 4, "violations": []},
        "cost": {"wall_s": 1.0, "events": 1000, "transactions": 400, "simulated_s": 12.0},
    } | more
    return content | {"verdict": asdict(study_verdict(content))}


def finished(folder: Path, about: str = MARKUP, missing: int = 0, extra: str = "") -> FinishedStudy:
    """Returns a study with all its units done but so many."""
    study = load_study(scenario(folder, about, extra))
    plan = Plan(study)
    plan.add(
        (point, variant, replication)
        for replication in range(2)
        for point in study.points
        for variant in study.variants
    )
    done: Any = dict.fromkeys(plan.units[: len(plan.units) - missing])
    return FinishedStudy(study=study, name="odd", folder=folder, plan=plan, done=done)


def tables(text: str = SCRIPT) -> StudyTables:
    """Returns a course of ten bins, and happenings with odd details."""
    times = range(10)
    course = [
        {
            "point_index": 0, "variant": variant, "metric": "lock_latency", "class": variant,
            "bin": at, "bin_s": 0.3, "stat": stat, "value": 1e6 * (1 + at), "low": 1e6,
            "high": 2e7,
        }
        for variant in ("pipelined", "in_memory")
        for stat in ("mean", "p99")
        for at in times
        if at != 4
    ]  # fmt: skip
    units = [
        {
            "point_index": 0, "variant": variant, "window_ns": 10**8, "warmup_windows": 10,
            "simulated_s": 3.0,
        }
        for variant in ("pipelined", "in_memory")
    ]  # fmt: skip
    happenings = [
        {
            "point_index": 0, "kind": "slow_disk", "detail": text, "from_ns": 10**9,
            "until_ns": 10**9, "times": 1, "units": 2,
        }
    ]  # fmt: skip
    none = pd.DataFrame({"point_index": []})
    return StudyTables(
        units=pd.DataFrame(units), batches=pd.DataFrame(units), sums=pd.DataFrame(index=range(2)),
        courses=pd.DataFrame(course), happenings=pd.DataFrame(happenings), warmups=none,
        tails=none, heat=none, moves=none, facts_s=0.0,
    )  # fmt: skip


def picture(folder: Path, name: str = "over_time", text: str = SCRIPT) -> Drawn:
    """Draws a small picture and returns its words."""
    (folder / "plots").mkdir(exist_ok=True)
    drawing = Image.new("RGB", (72, 36), "white")
    drawing.paste((0, 114, 178), (10, 10, 40, 20))
    drawing.save(folder / "plots" / f"{name}.png")
    return Drawn(name, f"Over time {text}", f"What happened ] {text}", "time")
