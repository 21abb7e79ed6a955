"""The same scenario, seed and replication give the same facts, to the byte, in any process."""

from __future__ import annotations

import os
import subprocess
import sys
from itertools import zip_longest
from pathlib import Path

import pytest

from analysis.pipeline import compiled_model
from sim.compiled import VARIABLE
from tests.determinism import small_units
from tests.determinism.small_units import RARE, SCENARIOS, facts

PROJECT = Path(__file__).resolve().parents[2]


def start(*names: str, hash_seed: str = "0", library: str = "") -> subprocess.Popen[str]:
    """Starts a process of its own that prints facts, interpreted or with a library."""
    settings = {"PYTHONHASHSEED": hash_seed, "PYTHONPATH": str(PROJECT), VARIABLE: library}
    return subprocess.Popen(
        [sys.executable, str(small_units.__file__), *names],
        env=os.environ | settings,
        stdout=subprocess.PIPE,
        text=True,
    )


def first_difference(one: list[str], other: list[str]) -> str:
    """Returns the first record in which two lists of facts differ, on both sides; or nothing."""
    for number, (left, right) in enumerate(zip_longest(one, other, fillvalue="(none)")):
        if left != right:
            return f"record {number}:\n  {left}\n  {right}"
    return ""


def by_unit(printed: str) -> dict[str, list[str]]:
    """Returns the lines of each unit."""
    parts = (part.splitlines() for part in printed.split("unit: ")[1:])
    return {name: lines for name, *lines in parts}


@pytest.fixture(scope="module", name="hashed")
def facts_under_two_hash_seeds() -> list[dict[str, list[str]]]:
    """Returns by process, a hash seed each, what cycles every unit has left, and its facts."""
    processes = [start(hash_seed=seed) for seed in ("0", "1")]
    printed = [process.communicate()[0] for process in processes]
    assert [process.returncode for process in processes] == [0, 0]
    return [by_unit(text) for text in printed]


@pytest.mark.parametrize("name", SCENARIOS)
def test_hash_seed_and_process_do_not_matter(hashed: list[dict[str, list[str]]], name: str) -> None:
    zero, one = (units[name] for units in hashed)
    assert len(zero) > 50
    assert not (parted := first_difference(zero, one)), parted


@pytest.mark.parametrize("name", SCENARIOS)
def test_the_cycle_collector_finds_nothing_after_a_unit(
    hashed: list[dict[str, list[str]]], name: str
) -> None:
    assert [units[name][0] for units in hashed] == ["cycles: 0"] * 2


@pytest.mark.parametrize("name", SCENARIOS | RARE)
def test_a_compiled_unit_leaves_the_same_facts(name: str) -> None:
    library = compiled_model.library()
    if library is None:
        pytest.skip("the model is not compiled; make fast does it")
    processes = [start(name, library=each) for each in ("", str(library))]
    interpreted, compiled = (process.communicate()[0].splitlines() for process in processes)
    assert len(compiled) > 50
    assert not (parted := first_difference(interpreted, compiled)), parted


def test_replications_differ_and_repeat() -> None:
    of = SCENARIOS["hot_row"]
    zero, one, again = list(facts(of, 0)), list(facts(of, 1)), list(facts(of, 1))
    assert first_difference(one, again) == ""
    assert first_difference(zero, one) != ""


def test_the_first_differing_record_is_told_with_both_sides() -> None:
    assert first_difference(["a", "b", "c"], ["a", "x"]) == "record 1:\n  b\n  x"
    assert first_difference(["a"], ["a", "b"]) == "record 1:\n  (none)\n  b"
    assert first_difference(["a"], ["a"]) == ""
