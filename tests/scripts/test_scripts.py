"""Every script below this folder prints what it says it does."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from sim.laboratory import run_script

FOLDER = Path(__file__).parent
TIKV_FOLDER = FOLDER / "tikv"
MANUAL = FOLDER.parents[1] / "docs" / "SCRIPTS.md"
SCRIPTS = sorted(FOLDER.rglob("*.txt"))


def name_of(path: Path) -> str:
    return str(path.relative_to(FOLDER))


def prose_of(path: Path) -> list[str]:
    return [line for line in path.read_text(encoding="utf-8").splitlines() if line.startswith("# ")]


@pytest.mark.parametrize("path", SCRIPTS, ids=name_of)
def test_a_script_prints_what_it_expects(path: Path, rewrite: bool) -> None:
    result = run_script(path, rewrite=rewrite)
    assert not result.problem
    assert rewrite or not result.differences, "\n".join(result.differences)


@pytest.mark.parametrize("path", SCRIPTS, ids=name_of)
def test_a_script_says_why(path: Path) -> None:
    assert len(prose_of(path)) >= 2, "prose says why the outcome is right"


def test_the_manual_lists_every_script_after_a_test_of_tikv() -> None:
    table = MANUAL.read_text(encoding="utf-8").split("| TiKV's test | script |")[1]
    listed: set[str] = set()
    for row in re.findall(r"^\| (`.*) \| (.*) \|$", table, re.MULTILINE):
        tests, here = row
        source = tests if here == "same" else here
        name = re.match(r"`(\w+)`", source)
        if name is not None:
            listed.add(name[1])
    assert listed == {path.stem for path in TIKV_FOLDER.iterdir()}
