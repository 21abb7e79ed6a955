"""Every script below this folder prints what it says it does."""

from __future__ import annotations

from pathlib import Path

import pytest

from sim.laboratory import run_script

FOLDER = Path(__file__).parent
SCRIPTS = sorted(FOLDER.rglob("*.txt"))


def name_of(path: Path) -> str:
    return str(path.relative_to(FOLDER))


@pytest.mark.parametrize("path", SCRIPTS, ids=name_of)
def test_a_script_prints_what_it_expects(path: Path, rewrite: bool) -> None:
    result = run_script(path, rewrite=rewrite)
    assert not result.problem
    assert rewrite or not result.differences, "\n".join(result.differences)


@pytest.mark.parametrize("path", SCRIPTS, ids=name_of)
def test_a_script_says_why(path: Path) -> None:
    lines = path.read_text(encoding="utf-8").splitlines()
    prose = [line for line in lines if line.startswith("# ")]
    assert len(prose) >= 2, "prose says why the outcome is right"
