"""A study of 10,000 tiny units from end to end: seconds by phase, and the driver's memory.

Memory is the peak of each of the driver's two processes, Python and the JVM, in a process of its
own that only aggregates: for the same units with about four times the facts each (windows a quarter
as long), and for four times the units. It must not grow with the facts.

On a local master the JVM also does the executors' work; its heap ends at Spark's default of 1 GiB.
Run it with ``python -m benchmarks.ten_thousand``; ``--units 400`` for a short one.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from argparse import ArgumentParser
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter
from typing import Any, Final

ROOT: Final = Path(__file__).resolve().parents[1]
SCENARIO: Final = ROOT / "benchmarks" / "tiny.yaml"
UNITS_A_POINT: Final = 10
"""Two variants, five replications."""


def measure(units: int, master: str = "local[2]") -> Iterator[dict[str, Any]]:
    """Yields seconds by phase and peak memory in MiB.

    First of a quarter of the units, then of these with about four times the facts, then of all.
    """
    with tempfile.TemporaryDirectory(prefix="pessim-bench-") as scratch:
        for count, window in ((units // 4, "5ms"), (units // 4, "1.25ms"), (units, "5ms")):
            out = Path(scratch) / "study"
            found = finished_study(out, count, window, master)
            yield {"units": count, "window": window} | found | _aggregation(out, master)
            shutil.rmtree(out)


def finished_study(out: Path, units: int, window: str, master: str) -> dict[str, Any]:
    """Runs a whole study, and the same command again when it is finished."""
    rows = list(range(1000, 1000 + units // UNITS_A_POINT))
    sweep = f"sweep: {{grid: {{workload.tables.counter.rows: {rows}}}}}\n"
    scenario = out.with_suffix(".yaml")
    scenario.write_text(SCENARIO.read_text(encoding="utf-8") + sweep, encoding="utf-8")
    command = [
        sys.executable, "run_sim.py", "run", str(scenario), "--out", str(out), "--master", master,
        "--set", f"run.window={window}",
    ]  # fmt: skip
    begun_s = perf_counter()
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    whole_s = perf_counter() - begun_s
    begun_s = perf_counter()
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    again_s = perf_counter() - begun_s
    begun_s = perf_counter()
    status = [sys.executable, "run_sim.py", "status", str(out)]
    subprocess.run(status, cwd=ROOT, check=True, capture_output=True)
    said = json.loads((out / "manifest.json").read_text(encoding="utf-8"))
    return {
        "whole_s": round(whole_s, 1),
        "again_s": round(again_s, 1),
        "status_s": round(perf_counter() - begun_s, 2),
        "done": said["units"]["done"],
        "phases_s": said["wall_s"],
        "summary_mib": round((out / "summary.json").stat().st_size / 2**20, 1),
    }


def _aggregation(out: Path, master: str) -> dict[str, Any]:
    """Makes the summary of a finished study once more, in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.ten_thousand", "--aggregate", str(out)]
    command += ["--master", master]
    said = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    found: dict[str, Any] = json.loads(said.splitlines()[-1])
    return found


def aggregate(out: Path, master: str) -> dict[str, Any]:
    """Aggregates in this process; returns seconds, fact rows, and peaks in MiB."""
    from analysis.pipeline.batches import batches_of
    from analysis.pipeline.session import SparkStarter, stop_spark
    from analysis.pipeline.study_tables import read_unit_sums, units_table
    from analysis.study.ledger import read_ledger
    from analysis.study.units import read_plan

    known = read_plan(out)
    if known is None:
        raise SystemExit(f"{out}: no plan")
    starter = SparkStarter(master)
    try:
        spark = starter.context()
        begun_s = perf_counter()
        done = read_ledger(out / "units", list(known.units)).done
        ledger_s = perf_counter() - begun_s
        sums = read_unit_sums(spark, out / "units", batches_of(units_table(done), 1))
        jvm = spark._gateway.proc.pid  # type: ignore[union-attr]
        return {
            "ledger_s": round(ledger_s, 1),
            "sums_s": round(perf_counter() - begun_s - ledger_s, 1),
            "numbers": int(sums.notna().to_numpy().sum()),
            "fact_rows": _fact_rows(out, [unit.unit_hash for unit in done]),
            "python_peak_mib": _peak_mib("self"),
            "jvm_peak_mib": _peak_mib(str(jvm)),
        }
    finally:
        stop_spark(starter)


def _fact_rows(out: Path, units: list[str]) -> int:
    """Returns an estimate from every hundredth unit."""
    import pyarrow.parquet as pq

    some = units[::100]
    files = (file for unit in some for file in (out / "units" / unit).glob("*.parquet"))
    rows = sum(int(pq.read_metadata(file).num_rows) for file in files)
    return rows * len(units) // len(some)


def _peak_mib(process: str) -> int:
    lines = Path(f"/proc/{process}/status").read_text(encoding="ascii").splitlines()
    (peak,) = (int(line.split()[1]) for line in lines if line.startswith("VmHWM"))
    return peak // 1024


def main() -> None:
    """Prints the figures as JSON."""
    parser = ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--units", type=int, default=10_000)
    parser.add_argument("--master", default="local[2]")
    parser.add_argument("--aggregate", type=Path)
    asked = parser.parse_args()
    if asked.aggregate is not None:
        print(json.dumps(aggregate(asked.aggregate, asked.master)))
    else:
        for found in measure(asked.units, asked.master):
            print(json.dumps(found), flush=True)


if __name__ == "__main__":
    main()
