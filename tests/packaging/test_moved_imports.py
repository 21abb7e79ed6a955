"""What the build does to a module's text, and that names in strings need nothing done to them."""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from setup import moved

ROOT = Path(__file__).resolve().parents[2]
SHIPPED = [path for top in ("pessim", "sim", "analysis") for path in (ROOT / top).rglob("*.py")]


def test_only_import_statements_of_our_packages_are_moved() -> None:
    source = (
        '"""from sim.a import b"""\n'
        "from sim.units import NS_PER_S  # from sim\n"
        "from simpy import Environment\n"
        "def late():\n"
        "    from analysis import api\n"
        "    from . import sim\n"
        '    return "from sim.x import y", api, sim\n'
    )
    expected = source.replace("\nfrom sim.units", "\nfrom pessim.sim.units").replace(
        "    from analysis import", "    from pessim.analysis import"
    )
    assert moved(source) == expected
    assert moved(expected) == expected


def test_an_import_that_binds_a_package_is_refused() -> None:
    with pytest.raises(ValueError, match="line 2: write from"):
        moved("import simpy\nimport sim.units\n")


def test_no_shipped_module_imports_what_is_not_there() -> None:
    for path in SHIPPED:
        for node in ast.walk(ast.parse(moved(path.read_text(encoding="utf-8")))):
            if isinstance(node, ast.ImportFrom) and not node.level:
                top = str(node.module).partition(".")[0]
                assert top not in {"sim", "analysis", "tests"}, path


def names_in_strings(tree: ast.AST) -> Iterator[str]:
    """Yields texts that name one of our modules, unless ``module(...)`` translates them."""
    translated = {
        id(argument)
        for call in ast.walk(tree)
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name)
        if call.func.id == "module"
        for argument in call.args
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            parts = node.value.partition(":")[0].split(".")
            is_module = len(parts) > 1 and parts[0] in {"sim", "analysis"}
            if is_module and all(map(str.isidentifier, parts)) and id(node) not in translated:
                yield node.value


def test_a_module_that_is_named_in_a_string_is_named_as_it_is_installed() -> None:
    found = {
        (str(path.relative_to(ROOT)), name)
        for path in SHIPPED
        for name in names_in_strings(ast.parse(path.read_text(encoding="utf-8")))
    }
    assert not found
    assert list(names_in_strings(ast.parse('run("sim.simulation:run_unit")')))
    assert not list(names_in_strings(ast.parse('run(module("sim.simulation"))')))


PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
NEEDED = [Requirement(text) for text in PROJECT["project"]["dependencies"]]


@pytest.mark.parametrize("needed", NEEDED, ids=lambda needed: needed.name)
def test_what_was_tested_is_among_what_is_allowed(needed: Requirement) -> None:
    assert needed.specifier.contains(version(needed.name))


def test_the_package_needs_what_a_checkout_needs() -> None:
    lines = (ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines()
    pinned = {Requirement(line).name for line in lines if line and not line.startswith("#")}
    assert {needed.name for needed in NEEDED} == pinned


def test_tests_build_with_what_a_build_takes() -> None:
    lines = (ROOT / "requirements-dev.txt").read_text(encoding="utf-8").splitlines()
    assert set(PROJECT["build-system"]["requires"]) <= set(lines)
