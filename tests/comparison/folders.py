"""Folders of finished studies, written by hand: what ``diff`` reads, and nothing else."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import yaml
from scipy.special import stdtrit

SCENARIO = {
    "about": "Which?",
    "run": {"seed": 1, "measure": "6s"},
    "workload": {"kind": "tpcc", "threads": 50},
    "compare": {"pipelined": {}, "in_memory": {"tikv.pessimistic-txn.in-memory": True}},
}


def row(
    name: str,
    value: float | None,
    deviation: float = 0.0,
    replications: int = 5,
    variant: str = "pipelined",
    **more: Any,
) -> dict[str, Any]:
    """Returns a row of a summary: ``lock_latency_ms/all/p99``; the interval is a t interval."""
    metric, class_, stat = name.split("/")
    half = 0.0
    if replications > 1:
        half = float(stdtrit(replications - 1, 0.975)) * deviation / replications**0.5
    known = value is not None and replications > 1
    return {
        "point": json.dumps(more.pop("point", {})),
        "variant": variant,
        "metric": metric,
        "class": class_,
        "stat": stat,
        "value": value,
        "ci_low": value - half if known and value is not None else None,
        "ci_high": value + half if known and value is not None else None,
        "replications": replications,
        "unit": "ms",
        "refused": more.pop("refused", None),
    }


def study_folder(
    folder: Path,
    rows: Sequence[Mapping[str, Any]],
    scenario: Mapping[str, Any] = SCENARIO,
    **manifest: Any,
) -> Path:
    """Writes a folder."""
    folder.mkdir(parents=True)
    said = {"study": folder.name, "commit": "abc", "seed": 1, "units": {"done": 10}} | {
        "finished": True,
        "versions": {"simpy": "4.1.2"},
        "digests": {"11": {"counter": "aa"}},
    }
    (folder / "manifest.json").write_text(json.dumps(said | manifest))
    (folder / "scenario.yaml").write_text(yaml.dump(dict(scenario)))
    pq.write_table(pa.Table.from_pylist([dict(each) for each in rows]), folder / "summary.parquet")
    return folder
