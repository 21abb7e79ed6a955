"""The notebook runs from its first cell to its last, and shows what it promises."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from matplotlib.figure import Figure

from analysis.api import Study, run

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOK = json.loads((ROOT / "docs" / "study.ipynb").read_text(encoding="utf-8"))
SHORT = {"run.warmup": "100ms", "run.measure": "150ms"}
"""What is promised does not hang on the length of units."""
CODE = ["".join(cell["source"]) for cell in NOTEBOOK["cells"] if cell["cell_type"] == "code"]


def shown(code: str, names: dict[str, Any]) -> Any:
    """Runs a cell and returns what a notebook would show below it: the value of its last line."""
    *statements, last = ast.parse(code).body
    if not isinstance(last, ast.Expr):
        statements.append(last)
    exec(compile(ast.Module(statements, []), "cell", "exec"), names)
    if not isinstance(last, ast.Expr):
        return None
    return eval(compile(ast.Expression(last.value), "cell", "eval"), names)


def run_short(*words: Any, **options: Any) -> Study:
    return run(*words, **options | {"set": options.get("set", {}) | SHORT})


def test_it_is_a_notebook_without_output() -> None:
    assert (NOTEBOOK["nbformat"], NOTEBOOK["nbformat_minor"]) == (4, 5)
    assert len({cell["id"] for cell in NOTEBOOK["cells"]}) == len(NOTEBOOK["cells"])
    assert not any(cell.get("outputs") for cell in NOTEBOOK["cells"])


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.usefixtures("shared_session")
def test_every_cell_runs_and_shows_what_is_promised(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("analysis.api.run", run_short)
    names: dict[str, Any] = {}
    below = [shown(code, names) for code in CODE]
    kinds = [type(each) for each in below]
    assert kinds.count(Study) == kinds.count(Figure) == 1
    ratio, table, estimate, latency = (below[place] for place in (2, 4, 7, 8))
    assert ratio["ratio"].iloc[0] < 1
    assert set(table.columns) == {"pipelined", "in_memory"}
    assert table.loc["txn_per_s"].min() > 0
    assert list(estimate["workload.threads"].unique()) == [5, 20]
    expected = estimate.pivot(index="workload.threads", columns="variant", values="value")
    assert (expected.loc[20] > expected.loc[5]).all()
    assert list(latency.index) == [5, 20]
    assert (latency > 0).all(axis=None), "a p99 of runs as short as these says no more"
    means = (
        names["sweep"]
        .summary.query("metric == 'lock_latency_ms' and `class` == 'all' and stat == 'mean'")
        .pivot(index="workload.threads", columns="variant", values="value")
    )
    assert (means.loc[20] > means.loc[5]).all()
    assert isinstance(below[-1], pd.Series)
