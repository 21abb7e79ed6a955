"""Study files of a few lines, and what comes of them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from analysis.study.load import load_study
from analysis.study.study import Study
from sim.scenario import ScenarioError

BASE = """\
about: Which?
run: {measure: 3s}
workload: {kind: tpcc, warehouses: 10, threads: 4}
"""
COMPARE = "compare: {a: {}, b: {tikv.pessimistic-txn.in-memory: false}}\n"


def diagonal(samples: int, dimensions: int, _seed: int) -> Sequence[Sequence[float]]:
    """Stands in for a Latin hypercube: its points lie on the diagonal."""
    return [[(place + 0.5) / samples] * dimensions for place in range(samples)]


def load_on_diagonal(file: Path, overrides: Sequence[str] = ()) -> Study:
    """Returns a study whose points, if they are drawn, every version of scipy draws alike."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("analysis.study.sweep.latin_hypercube", diagonal)
        return load_study(file, overrides)


def study_of(folder: Path, text: str, *overrides: str) -> Study:
    (folder / "x.yaml").write_text(text, encoding="utf-8")
    return load_on_diagonal(folder / "x.yaml", overrides)


def told(folder: Path, text: str, *overrides: str) -> str:
    with pytest.raises(ScenarioError) as caught:
        study_of(folder, text, *overrides)
    return str(caught.value)
