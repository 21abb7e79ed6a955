"""The small golden study on one worker, run once: with other workers it says the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from analysis.pipeline.session import SparkStarter
from tests.cli.golden_runs import run_golden_here
from tests.spark.sharing import sharing


@pytest.fixture(scope="session", name="golden_run")
def golden_run_on_one_worker(
    starter: SparkStarter, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """Returns a study's folder that no test may change."""
    folder = tmp_path_factory.mktemp("one") / "study"
    with sharing(starter):
        run_golden_here(folder)
    return folder
