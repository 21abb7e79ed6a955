"""Percolator's commands as text: tests/testdata/percolator says what each must do, and why."""

from pathlib import Path

import pytest

from tests import datadriven
from tests.protocol.scripted_region import ScriptedRegion


@pytest.mark.parametrize("path", datadriven.files("percolator"), ids=lambda path: path.stem)
def test_percolator(path: Path, rewrite: bool) -> None:
    datadriven.run(path, ScriptedRegion().execute, rewrite=rewrite)
