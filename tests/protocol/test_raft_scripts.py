"""Raft as text: tests/testdata/raft says what happens, and what follows from it."""

from pathlib import Path

import pytest

from tests import datadriven
from tests.protocol.raft_script import ScriptedRaft


@pytest.mark.parametrize("path", datadriven.files("raft"), ids=lambda path: path.stem)
def test_raft(path: Path, rewrite: bool) -> None:
    datadriven.run(path, ScriptedRaft().execute, rewrite=rewrite)
