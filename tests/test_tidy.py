"""The source stays small: files of 300 lines unless named, functions of 50, docstrings for modules.

Names that say nothing (utils, helpers, manager, common, base, misc) are no names for a module.
"""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SOURCES = sorted(
    path
    for folder in ("sim", "analysis", "benchmarks", "tests")
    for path in (ROOT / folder).rglob("*.py")
)
EMPTY_NAMES = {"utils", "util", "helpers", "helper", "manager", "common", "base", "misc"}
MOST_LINES = 300
LONGER_FILES = {
    "analysis/plots/style.py": "what all pictures share: colours, axes, sizes, files",
    "sim/laboratory/stores.py": "all that the laboratory knows of the inside of a store",
    "sim/protocol/raft/peer.py": "one state machine, which cannot be understood in parts",
    "sim/raftstore/apply.py": "the apply pool: one loop, and all that an entry can be",
    "sim/raftstore/peer.py": "a peer and the commands it is sent, which hold each other",
    "sim/raftstore/poller.py": "the store pool: one loop, and all that a round does",
    "sim/scenario/fields.py": "every form of a value, a class each: read, written, described",
    "sim/scenario/reader.py": "one way, from the bytes of a file to a tree",
    "sim/scenario/schema/hardware.py": "one section of a file, a field a key; no logic",
    "sim/scenario/schema/operations.py": "every kind of operation, a class each; no logic",
    "sim/scenario/schema/tikv.py": "one section of a file, a field a key; no logic",
    "sim/storage/scheduler.py": "a command's whole way, from its latches to its answer",
    "sim/swarm/recipe.py": "a run of the swarm as a value, and how every part of it is drawn",
    "tests/calibration/test_tikv.py": "one reader, all that a file of it can be",
    "tests/study/test_load.py": "one loader, and where each value comes from",
}
"""Files that may be longer, each with its reason: half of it could not be understood alone."""

MOST_FUNCTION_LINES = 50


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


def test_a_class_name_means_one_class() -> None:
    places: dict[str, list[str]] = {}
    for path in SOURCES:
        if name_of(path).startswith(("sim/", "analysis/")):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.ClassDef):
                    places.setdefault(node.name, []).append(name_of(path))
    assert {name: there for name, there in places.items() if len(there) > 1} == {}


def test_there_is_something_to_look_at() -> None:
    assert len(SOURCES) > 200


@pytest.mark.parametrize("path", SOURCES, ids=name_of)
def test_a_source_file_is_tidy(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    tree = ast.parse(text)
    long = [
        f"{node.name} has {node.end_lineno - node.lineno + 1} lines"
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and node.end_lineno is not None
        and node.end_lineno - node.lineno >= MOST_FUNCTION_LINES
    ]
    assert not long
    assert len(text.splitlines()) <= MOST_LINES or name_of(path) in LONGER_FILES
    assert path.stem not in EMPTY_NAMES
    assert not text.strip() or ast.get_docstring(tree), "a module opens with what it knows"
