"""The small golden study on one worker, run once: with other workers it says the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.golden_runs import UNDRAWN, run_golden


@pytest.fixture(scope="session", name="golden_run")
def golden_run_on_one_worker(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns a study's folder that no test may change."""
    folder = tmp_path_factory.mktemp("one") / "study"
    run_golden(folder, "local[1]", UNDRAWN)
    return folder
