"""Scenario files as all commands read them: with what only the analysis can draw."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from analysis.statistics.latin_hypercube import latin_hypercube
from sim.scenario import Study
from sim.scenario import load_study as load


def load_study(
    path: Path | str,
    overrides: Sequence[str] = (),
    seed: int | None = None,
    replications: int | None = None,
) -> Study:
    """Returns the study that a scenario file describes.

    Args:
        path: the file.
        overrides: ``a.b=v``, as ``--set`` takes them.
        seed: replaces ``run.seed``.
        replications: replaces ``run.replications``.

    Raises:
        ScenarioError: with every problem found.
    """
    return load(path, overrides, seed, replications, latin_hypercube)
