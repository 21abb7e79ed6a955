"""Study files of a few lines, and what comes of them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from sim.scenario import ScenarioError, Study, load_study

BASE = """\
about: Which?
run: {measure: 3s}
workload: {kind: tpcc, warehouses: 10, threads: 4}
"""
COMPARE = "compare: {a: {}, b: {tikv.pessimistic-txn.in-memory: false}}\n"


def corners(samples: int, dimensions: int, seed: int) -> Sequence[Sequence[float]]:
    """A hypercube whose points lie on its diagonal."""
    return [[(place + 0.5) / samples] * dimensions for place in range(samples)]


def study_of(folder: Path, text: str, *overrides: str) -> Study:
    (folder / "x.yaml").write_text(text, encoding="utf-8")
    return load_study(folder / "x.yaml", overrides, latin_hypercube=corners)


def told(folder: Path, text: str, *overrides: str) -> str:
    with pytest.raises(ScenarioError) as caught:
        study_of(folder, text, *overrides)
    return str(caught.value)
