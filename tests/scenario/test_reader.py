"""Files as data: what is read, what is refused, and that refusing costs nothing."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from analysis.study.load import load_study
from sim.scenario import Problem, ScenarioError
from sim.scenario.reader import MOST_BYTES, MOST_VALUES, read_file, read_text, scalar_value
from tests.call_count import calls_of


def refusal(path: Path) -> str:
    with pytest.raises(ScenarioError) as caught:
        read_file(path)
    return str(caught.value)


@pytest.mark.parametrize(
    ("content", "part"),
    [
        (b"\x89PNG\r\n\x1a\n\0\0\0", "is a binary file"),
        ("about: x".encode("utf-16"), "is UTF-16 text; save it as UTF-8"),
        (b"about: na\xefve\n", ":1:10: byte 0xef is not UTF-8"),
        (b"a: 1\n\nb: \xff\n", ":3:4: byte 0xff is not UTF-8"),
        (b"#" * (MOST_BYTES + 1), "is larger than 1 MiB"),
    ],
)
def test_what_is_no_text_is_refused(tmp_path: Path, content: bytes, part: str) -> None:
    path = tmp_path / "x.yaml"
    path.write_bytes(content)
    assert part in refusal(path)


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    assert "no such file" in refusal(tmp_path / "missing.yaml")
    assert "is a folder" in refusal(tmp_path)
    os.mkfifo(tmp_path / "pipe")
    assert "is not a regular file" in refusal(tmp_path / "pipe")
    assert "is not a regular file" in refusal(Path("/dev/zero"))
    assert "cannot be read" in refusal(Path("a\0b"))
    assert "cannot be read" in refusal(Path("x" * 5_000))
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    assert "cannot be read" in refusal(tmp_path / "loop")


def test_a_byte_order_mark_and_carriage_returns_are_fine(tmp_path: Path) -> None:
    path = tmp_path / "x.yaml"
    path.write_bytes(b"\xef\xbb\xbfabout: x\r\nrun: {seed: 2}\r\n")
    assert read_file(path).plain() == {"about": "x", "run": {"seed": 2}}


def bomb(width: int, depth: int) -> str:
    text = f"a0: &a0 [{', '.join(['x'] * width)}]\n"
    for level in range(1, depth):
        text += f"a{level}: &a{level} [{', '.join([f'*a{level - 1}'] * width)}]\n"
    return text


@pytest.mark.parametrize(
    "text",
    [
        bomb(10, 9),
        "a: &a {b: *a}",
        "[" * 100_000,
        "{a: " * 100_000,
        "a: [" + "x, " * (3 * MOST_VALUES) + "]",
        "- " * 50_000 + "x",
        "a0: &a0 [x]\n" + "".join(f"a{n}: &a{n} [*a{n - 1}]\n" for n in range(1, 5_000)),
        "a: " + "9" * 500_000,
        "".join(f"? [{n}]\n: {n}\n" for n in range(5_000)),
    ],
    ids=[
        "aliases", "a cycle", "open lists", "open mappings", "a long list", "nested lists",
        "a chain of aliases", "a long number", "keys that are lists",
    ],
)  # fmt: skip
def test_bombs_are_refused_before_they_are_much_work(text: str) -> None:
    def read() -> None:
        with pytest.raises(ScenarioError):
            read_text(text, "bomb.yaml")

    assert calls_of(read) < 4_000_000


def test_an_alias_stands_for_its_value() -> None:
    tree = read_text("a: &x {b: [1, 2]}\nc: *x\n&k d: *k\n", "x.yaml")
    assert tree.plain() == {"a": {"b": [1, 2]}, "c": {"b": [1, 2]}, "d": "d"}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("5", 5), ("-5", -5), ("1_000_000", 1_000_000), ("0", 0), ("1e3", 1000.0), (".5", 0.5),
        ("010", "010"), ("1:30", "1:30"), ("0x10", "0x10"), ("on", "on"), ("no", "no"),
        ("true", True), ("False", False), ("~", None), ("", None), ("null", None),
        ("1.2.3", "1.2.3"), ("v6.0", "v6.0"), ("2026-11-21", "2026-11-21"), ("=", "="),
        ("9" * 50, "9" * 50),
    ],
)  # fmt: skip
def test_plain_scalars_follow_yaml_1_2(text: str, value: object) -> None:
    assert scalar_value(text) == value
    assert type(scalar_value(text)) is type(value)


def test_a_quoted_number_is_text() -> None:
    assert read_text("a: '5'\nb: \"true\"\nc: !!str 5\n", "x").plain() == {
        "a": "5", "b": "true", "c": "5",
    }  # fmt: skip


FRAGMENTS = st.sampled_from(
    ["workload", "kind", "tpcc", "custom", "tables", "transactions", "statements", "hardware",
     "disk", "raft", "kv", "shared", "network", "append", "p50", "tikv", "behaviour", "v8.5",
     "raftstore", "compare", "sweep", "grid", "workload.threads", "expect", "metric", "cluster",
     "tidb", "run", "auto", "5ms", "500MB/s", "1e99", "-1", "null", "true", "", "é", "a.b", "<<",
     "profile", "about", "think_time", "mix", "extends", "x.yaml", "at", "tikv."]
)  # fmt: skip
VALUES = st.recursive(
    FRAGMENTS | st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(FRAGMENTS, inner, max_size=5),
    max_leaves=25,
)
SECTIONS = st.sampled_from(
    ["run", "cluster", "hardware", "tikv", "workload", "compare", "sweep", "expect", "about"]
)


@given(st.dictionaries(SECTIONS, VALUES, max_size=6))
def test_any_data_is_a_study_or_a_list_of_problems(
    tmp_path_factory: pytest.TempPathFactory, data: dict[str, object]
) -> None:
    path = tmp_path_factory.mktemp("any") / "any.yaml"
    path.write_text(yaml.safe_dump(data, allow_unicode=True), encoding="utf-8")
    problems = problems_with(lambda: load_study(path))
    assert all("; " in problem.message for problem in problems)
    assert all("\n" not in str(problem) for problem in problems)


@given(st.text(alphabet="ab:{}[],-&*!?|>'\"#\n\t %@`=~.1", max_size=60))
def test_any_text_is_a_tree_or_a_list_of_problems(text: str) -> None:
    problems_with(lambda: read_text(text, "x.yaml"))


def problems_with(read: Callable[[], object]) -> list[Problem]:
    """Returns what an attempt to read is told; nothing else than a ``ScenarioError`` may escape."""
    try:
        read()
    except ScenarioError as error:
        problems = error.problems
    else:
        return []
    assert problems, "an error without a problem"
    return problems
