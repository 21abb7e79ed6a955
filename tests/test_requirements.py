"""Whatever is imported is listed, and whatever is listed is locked with its hashes."""

from __future__ import annotations

import ast
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
RUN, DEV = "requirements", "requirements-dev"
PACKAGES = {"PIL": "pillow", "yaml": "pyyaml", "markdown_it": "markdown-it-py", "mypyc": "mypy"}
"""Of modules that are not called as their package is."""

_ENTRY = re.compile(r"^([A-Za-z0-9_.-]+)==(\S+)(.*?)(?=^\S|\Z)", re.MULTILINE | re.DOTALL)


def listed(file: str) -> dict[str, set[str]]:
    """Returns the versions of each package that a file names; markers may name several."""
    found: dict[str, set[str]] = {}
    for name, version, _ in _ENTRY.findall((ROOT / file).read_text(encoding="utf-8")):
        found.setdefault(name.lower().replace("_", "-"), set()).add(version)
    return found


def imported(*folders: str) -> set[str]:
    """Returns the packages that the modules below some folders import."""
    modules = {
        name.partition(".")[0]
        for folder in folders
        for file in (ROOT / folder).rglob("*.py")
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        for name in _names(node)
    }
    ours = {"sim", "analysis", "tests", "benchmarks", "pessim", "setup"}
    strange = modules - set(sys.stdlib_module_names) - ours
    return {PACKAGES.get(name, name).lower() for name in strange}


def _names(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
        yield node.module


def test_what_a_run_imports_is_listed() -> None:
    compiler = {"mypy"}  # `make fast` installs it
    assert imported("sim", "analysis") - compiler == set(listed(f"{RUN}.txt"))


def test_what_tests_import_is_listed() -> None:
    named = listed(f"{RUN}.txt").keys() | listed(f"{DEV}.txt").keys()
    assert imported("sim", "analysis", "tests", "benchmarks") <= named


@pytest.mark.parametrize("name", [RUN, DEV])
def test_what_is_listed_is_locked_in_the_same_version(name: str) -> None:
    locked = listed(f"{name}.lock")
    for package, versions in listed(f"{name}.txt").items():
        assert locked[package] == versions


def test_tools_leave_what_a_run_needs_as_it_is() -> None:
    run, tools = listed(f"{RUN}.lock"), listed(f"{DEV}.lock")
    assert {package: tools[package] for package in run} == run


@pytest.mark.parametrize("name", [RUN, DEV])
def test_every_locked_package_has_hashes(name: str) -> None:
    text = (ROOT / f"{name}.lock").read_text(encoding="utf-8")
    entries = _ENTRY.findall(text)
    assert len(entries) > 30
    assert [entry[0] for entry in entries if "--hash=sha256:" not in entry[2]] == []


@pytest.mark.skipif("PYTEST_XDIST_WORKER" not in os.environ, reason="one process runs all tests")
def test_one_process_runs_all_tests_of_a_group(request: pytest.FixtureRequest) -> None:
    # How pytest-xdist marks them; without, each process would make what the tests of a file share.
    assert request.node.nodeid.endswith("@tests/test_requirements")
