"""What a compiler needs of the model: rules that mypyc does not check itself."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from analysis.pipeline.compiled_model import INTERPRETED, sources

ROOT = Path(__file__).resolve().parents[2]


def waits_in_handlers(tree: ast.AST) -> Iterator[int]:
    """Yields the lines where a generator waits while an exception is being handled.

    mypyc's generators do not set the exception aside when they yield, so whoever runs next would
    have it, and its reference would be given back twice.
    """
    for node in ast.walk(tree):
        if isinstance(node, ast.Try):
            for part in (*node.handlers, *node.finalbody):
                for inner in ast.walk(part):
                    if isinstance(inner, ast.Yield | ast.YieldFrom):
                        yield inner.lineno


@pytest.mark.parametrize("name", sources())
def test_no_process_waits_while_it_handles_an_exception(name: str) -> None:
    assert not list(waits_in_handlers(ast.parse((ROOT / name).read_text(encoding="utf-8"))))


def test_such_a_wait_is_found() -> None:
    text = "def run():\n try:\n  yield 1\n except KeyError:\n  yield 2\n finally:\n  yield 3"
    assert list(waits_in_handlers(ast.parse(text))) == [5, 7]


def uncompilable_fields(tree: ast.AST) -> Iterator[int]:
    """Yields the lines of records' fields that mypyc takes for something else.

    In a dataclass it takes attributes of the class for fields, and it looks for the type ``object``
    of a record's field among the module's own names.
    """
    for node in ast.walk(tree):
        if not isinstance(node, ast.ClassDef):
            continue
        is_dataclass = any("dataclass" in ast.unparse(each) for each in node.decorator_list)
        is_tuple = any(ast.unparse(base) == "NamedTuple" for base in node.bases)
        for part in node.body:
            if isinstance(part, ast.AnnAssign) and (is_dataclass or is_tuple):
                said = ast.unparse(part.annotation)
                if said == "object" or said.startswith("ClassVar"):
                    yield part.lineno
            elif isinstance(part, ast.Assign) and is_dataclass:
                yield part.lineno


@pytest.mark.parametrize("name", sources())
def test_records_have_fields_and_nothing_else(name: str) -> None:
    assert not list(uncompilable_fields(ast.parse((ROOT / name).read_text(encoding="utf-8"))))


def test_such_a_field_is_found() -> None:
    text = "@dataclass\nclass A:\n x: int\n y = 1\n z: object\n w: ClassVar[int] = 2"
    assert list(uncompilable_fields(ast.parse(text))) == [4, 5, 6]


def test_mypyc_translates_the_model(tmp_path: Path) -> None:
    """A process of its own: mypyc ends the one it finds an error in, and changes its folder."""
    code = "from pathlib import Path\nfrom analysis.pipeline.compiled_model import translated\n"
    code += f"print(len(translated(Path({str(tmp_path)!r})).sources))"
    said = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert said.returncode == 0, said.stdout + said.stderr
    assert int(said.stdout.splitlines()[-1]) > len(sources()) / 2


def test_what_is_left_out_is_there() -> None:
    assert all((ROOT / "sim" / name).is_file() for name in INTERPRETED)
