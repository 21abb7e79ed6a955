"""What ``run --json`` and ``report --json`` print: a study in a page, where the rest lies."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from analysis.cli.exit_status import ExitStatus
from analysis.metrics.row_table import RowTable
from analysis.metrics.shown import KEY_FIGURES
from analysis.study.finished_study import FinishedStudy

_SOUGHT = ("capacity", "sensitivity", "precision")


def run_document(run: FinishedStudy, summary: Mapping[str, Any], status: int) -> dict[str, Any]:
    """Returns the document.

    Args:
        run: the study.
        summary: content of ``summary.json``; empty if no unit is done.
        status: the command's exit status.
    """
    page = run.folder / "report.html"
    return {
        "study": run.name,
        "folder": str(run.folder),
        "status": int(status),
        "passed": status == ExitStatus.FINE and bool(summary.get("verdict", {}).get("fine")),
        "verdict": summary.get("verdict"),
        "units": {"done": len(run.done), "failed": len(run.failed), "missing": run.missing},
        "expectations": summary.get("expectations", []),
        "violations": summary.get("invariants", {}).get("violations", []),
        "warnings": summary.get("warnings", []),
        "cost": summary.get("cost"),
        "report": str(page) if page.is_file() else None,
        "rows": list(_headline(summary.get("rows", []))),
        "comparisons": list(_headline(summary.get("comparisons", []))),
        **{name: summary[name] for name in _SOUGHT if name in summary},
    }


def _headline(rows: Iterable[Mapping[str, Any]]) -> Iterable[Mapping[str, Any]]:
    """Returns the rows that the tables on a terminal are made of."""
    keys = {(each.key.metric, each.key.class_, each.key.stat) for each in KEY_FIGURES}
    if isinstance(rows, RowTable):
        columns = rows.columns
        names = zip(columns["metric"], columns["class"], columns["stat"], strict=True)
        return RowTable(columns[[name in keys for name in names]], rows.points)
    return [row for row in rows if (row["metric"], row["class"], row["stat"]) in keys]
