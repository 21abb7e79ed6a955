"""The whole ``summary.json`` of a study, and its files."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from analysis.report.expectations import judge
from analysis.report.freshness import SUMMARY
from analysis.report.manifest import invariants
from analysis.report.summary import comparison_rows, summary_rows, variant_values
from analysis.metrics.unit_metrics import unit_metrics
from analysis.study.plan import ResolvedStudy, Unit
from analysis.study.study_folder import write_text_whole
from analysis.study.unit_folder import UnitRecord


class ReplicationTables(Protocol):
    """The tables that numbers are made of."""

    @property
    def units(self) -> pd.DataFrame:
        """One row a unit, in the order of the plan."""

    @property
    def values(self) -> pd.DataFrame:
        """``unit_hash``, ``metric``, ``class``, ``stat``, ``value``."""


def study_summary(
    study: ResolvedStudy,
    name: str,
    done: Mapping[Unit, UnitRecord],
    tables: ReplicationTables,
    wall_s: float,
) -> dict[str, Any]:
    """Returns the content of ``summary.json``.

    Args:
        study: points, variants, claims.
        name: the study's name.
        done: finished units.
        tables: a row a unit, and per-replication sums and quantiles of facts.
        wall_s: seconds from the command to here.
    """
    units, values = tables.units, tables.values
    wide = variant_values(unit_metrics(values, units), units)
    baseline = next(iter(study.variants))
    summary: dict[str, Any] = {
        "study": name,
        "rows": summary_rows(wide, study.points),
        "comparisons": comparison_rows(wide, study.points, baseline),
    }
    judged = {
        "rows": summary["rows"],
        "comparisons": [
            row
            for against in dict.fromkeys(claim.against for claim in study.expect if claim.against)
            for row in comparison_rows(wide, study.points, against)
        ],
    }
    checks = bool(getattr(study.scenario(study.points[0], baseline).run, "checks", False))
    return summary | {
        "expectations": judge(study.expect, judged),
        "invariants": invariants(done, checks=checks),
        "cost": {
            "wall_s": round(wall_s, 3),
            "events": int(units["events"].sum()),
            "transactions": int(units["transactions"].sum()),
            "simulated_s": float(units["simulated_s"].sum()),
        },
    }


def write_summary(folder: Path, summary: Mapping[str, Any]) -> None:
    """Writes ``summary.json`` and its rows as ``summary.parquet``."""
    write_text_whole(folder / SUMMARY, json.dumps(summary, indent=1) + "\n")
    rows = pd.DataFrame(summary["rows"])
    rows["point"] = rows["point"].map(lambda point: json.dumps(point, sort_keys=True))
    pq.write_table(pa.Table.from_pandas(rows, preserve_index=False), folder / "summary.parquet")
