"""Every script below this folder prints what it says it does.

Those of ``tikv_differs`` say what TiKV does where the model does something else. Each must go on
differing: when one no longer does, move it to ``tikv`` and take its name out of ``DIFFERING``.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

import pytest

from sim.laboratory import run_script

FOLDER = Path(__file__).parent
TIKV_FOLDER = FOLDER / "tikv"
DIFFERING_FOLDER = FOLDER / "tikv_differs"
MANUAL = FOLDER.parents[1] / "docs" / "SCRIPTS.md"
SCRIPTS = sorted(path for path in FOLDER.rglob("*.txt") if path.parent != DIFFERING_FOLDER)

DIFFERING: Final[tuple[str, ...]] = ()


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


def test_the_differing_scripts_are_those_that_are_known() -> None:
    assert tuple(sorted(path.stem for path in DIFFERING_FOLDER.glob("*.txt"))) == DIFFERING


@pytest.mark.parametrize("name", DIFFERING)
def test_a_differing_script_still_differs(name: str) -> None:
    result = run_script(DIFFERING_FOLDER / f"{name}.txt")
    assert not result.problem
    assert result.differences, f"as TiKV now: move {name} to tests/scripts/tikv"


@pytest.mark.parametrize("name", DIFFERING)
def test_a_differing_script_says_what_differs(name: str) -> None:
    prose = prose_of(DIFFERING_FOLDER / f"{name}.txt")
    assert any(line.startswith("# Differs: ") for line in prose)


def test_the_manual_lists_every_script_after_a_test_of_tikv() -> None:
    table = MANUAL.read_text(encoding="utf-8").split("| TiKV's test | script |")[1]
    listed: dict[str, bool] = {}
    for row in re.findall(r"^\| (`.*) \| (.*) \|$", table, re.MULTILINE):
        tests, here = row
        source = tests if here.startswith("same name") else here
        name = re.match(r"`(\w+)`", source)
        if name is not None:
            listed[name[1]] = "**differs**" in here
    assert {name for name, differs in listed.items() if differs} == set(DIFFERING)
    green = {name for name, differs in listed.items() if not differs}
    assert green == {path.stem for path in TIKV_FOLDER.iterdir()}
