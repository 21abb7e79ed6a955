"""Files that are no scenario are refused with a place and a mend, and cost nothing."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from sim.scenario.problems import ScenarioError
from sim.scenario.reader import read_file, read_text

_BOMB = "a: &a [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{name}: &{name} [{', '.join([f'*{before}'] * 10)}]\n"
    for before, name in zip("abcdefgh", "bcdefghi", strict=True)
)


def problem(text: str) -> str:
    with pytest.raises(ScenarioError) as caught:
        read_text(text, "x.yaml")
    return str(caught.value)


@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        ("", "x.yaml:1:1", "is empty"),
        ("# only a comment\n", "x.yaml:1:1", "is empty"),
        ("just words\n", "x.yaml:1:1", "a scenario is a mapping of sections"),
        ("- run\n- cluster\n", "x.yaml:1:1", "is a list"),
        ("run:\n\tseed: 1\n", "x.yaml:2:1", "a tab; YAML is indented with spaces"),
        ("run: {seed: 1\nabout: x\n", "x.yaml:2:", "not YAML"),
        ("about: a: b\n", "x.yaml:1:9", "quote a text that contains ': '"),
        ("run: {seed: 1}\nrun: {seed: 2}\n", "x.yaml:2:1", "run is said twice, first in line 1"),
        ("run: {}\n---\nrun: {}\n", "x.yaml:2:1", "a second document"),
        ("run: !!python/object:os.system {}\n", "x.yaml:1:6", "tag"),
        ("run: !include other.yaml\n", "x.yaml:1:6", "is not allowed; write plain data"),
        ("? [a, b]\n: c\n", "x.yaml:1:3", "a key must be a word"),
        ("a: &a {b: 1}\nc: {<<: *a}\n", "x.yaml:2:5", "merge keys (<<) are not read"),
        ("a: *nowhere\n", "x.yaml:1:4", "no finished anchor"),
        ("a: &a [*a]\n", "x.yaml:1:8", "no finished anchor"),
        (_BOMB, "x.yaml:", "once aliases are followed"),
        ("a: " + "[" * 100_000, "x.yaml:1:", "levels deep"),
        ("a: " + "{b: " * 5_000, "x.yaml:1:", "levels deep"),
        ("a: [" + "1," * 100_000 + "1]", "x.yaml:1:", "more than 20000 values"),
        ("a: " + "x" * 100_000, "x.yaml:1:4", "100000 characters"),
        ("a: \a\n", "x.yaml:1:1", "is not allowed in YAML"),
        ("%YAML 7.0\n---\na: 1\n", "x.yaml:1:", "not YAML"),
        ("a: @b\n", "x.yaml:1:4", "not YAML"),
    ],
)
def test_text_that_is_no_scenario(text: str, place: str, message: str) -> None:
    told = problem(text)
    assert told.startswith(place)
    assert message in told
    assert ";" in told, "a problem says how to mend it"


def test_a_bomb_costs_no_time() -> None:
    began = time.perf_counter()
    problem(_BOMB)
    assert time.perf_counter() - began < 1


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"a: 1\0\n", "binary file"),
        (b"\x7fELF\x02\x01\x01\0\0\0", "binary file"),
        (b"a: 1\nb: \xff\n", ":2:1: byte 0xff is not UTF-8"),
        ("a: 1\n".encode("utf-16"), "UTF-16"),
        (b"#" * (1 << 20) + b"##", "larger than 1 MiB"),
    ],
)
def test_bytes_that_are_no_text(tmp_path: Path, content: bytes, message: str) -> None:
    file = tmp_path / "x.yaml"
    file.write_bytes(content)
    with pytest.raises(ScenarioError) as caught:
        read_file(file)
    assert message in str(caught.value)


def test_a_byte_order_mark_is_no_part_of_the_first_key(tmp_path: Path) -> None:
    file = tmp_path / "x.yaml"
    file.write_bytes(b"\xef\xbb\xbfabout: x\r\nrun: {seed: 1}\r\n")
    assert read_file(file).plain() == {"about": "x", "run": {"seed": 1}}


def test_what_is_no_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "loop").symlink_to("loop")
    for path, message in [
        (tmp_path, "is a folder"),
        (tmp_path / "missing.yaml", "no such file"),
        (tmp_path / "pipe", "not a regular file"),
        (tmp_path / "loop", "cannot be read"),
        (tmp_path / "a\0b", "cannot be read"),
        (tmp_path / ("n" * 300), "cannot be read"),
    ]:
        with pytest.raises(ScenarioError) as caught:
            read_file(path)
        assert message in str(caught.value)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1_000_000", 1_000_000),
        ("1e-5", 1e-5),
        (".5", 0.5),
        ("on", "on"),
        ("no", "no"),
        ("1:30", "1:30"),
        ("010", "010"),
        ("0x1F", "0x1F"),
        ("2026-01-01", "2026-01-01"),
        ("'5'", "5"),
        ("~", None),
        ("true", True),
        ("9" * 5_000, "9" * 5_000),
    ],
)
def test_plain_scalars_mean_what_yaml_1_2_says(text: str, value: object) -> None:
    node = read_text(f"a: {text}\n", "x.yaml").entries["a"]
    assert node.value == value
    assert type(node.value) is type(value)


def test_aliases_may_be_used_in_moderation() -> None:
    tree = read_text("a: &a {b: [1, 2]}\nc: *a\n", "x.yaml")
    assert tree.plain() == {"a": {"b": [1, 2]}, "c": {"b": [1, 2]}}


def test_problems_of_a_file_are_told_together() -> None:
    told = problem("a: 1\na: 2\nb: !tag 3\nc: *d\n")
    assert [line.split(": ")[0] for line in told.splitlines()] == [
        "x.yaml:2:1",
        "x.yaml:3:4",
        "x.yaml:4:4",
    ]
