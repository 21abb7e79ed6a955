"""Scripts as text: blocks, words, rewriting."""

from __future__ import annotations

from pathlib import Path

import pytest

from sim.laboratory import run_script, run_text
from sim.laboratory.grammar import ScriptProblem, blocks_of, words_of
from sim.laboratory.values import (
    duration_ns,
    expanded,
    key_of,
    key_range,
    show_duration,
    show_key,
    show_timestamp,
    timestamp,
)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("lock t1 k1", ["lock", "t1", "k1"]),
        ("  lock\tt1   k1  ", ["lock", "t1", "k1"]),
        ("lock t1 k1 # why", ["lock", "t1", "k1"]),
        ("# prose", []),
        ("region 1 [a, m) leader=1", ["region", "1", "[a,m)", "leader=1"]),
        ("scan [ , +inf )", ["scan", "[,+inf)"]),
        ('lock t1 "a b" put:"x y"=z', ["lock", "t1", '"a b"', 'put:"x y"=z']),
        ("", []),
    ],
)
def test_words_of_a_line(line: str, words: list[str]) -> None:
    assert words_of(line) == words


def test_blocks_keep_their_places() -> None:
    blocks = blocks_of("# prose\n\na\n----\nx\ny\n\n\nb\n")
    assert [(block.first, block.has_separator, block.expected) for block in blocks] == [
        (1, False, ()),
        (3, True, ("x", "y")),
        (9, False, ()),
    ]
    assert [line.number for line in blocks[1].commands()] == [3]


@pytest.mark.parametrize("text", ["10", "262143", "200ms", "200ms+3", "1ms"])
def test_a_timestamp_is_shown_as_it_is_read(text: str) -> None:
    assert show_timestamp(timestamp(text)) == text


@pytest.mark.parametrize("text", ["0ns", "1us", "200ms", "1.5s", "1.000000001s", "1.02us"])
def test_a_duration_is_shown_as_it_is_read(text: str) -> None:
    assert show_duration(duration_ns(text)) == text


@pytest.mark.parametrize("key", [b"k1", b"a" * 31, b"a" * 300 + b"b", b"", b"a{b}"])
def test_a_key_is_shown_as_it_is_read(key: bytes) -> None:
    assert key_of(show_key(key)) == key


def test_a_key_may_have_any_byte() -> None:
    assert key_of(r"t\x80\x00") == b"t\x80\x00"


def test_numbers_stand_for_several_words() -> None:
    assert expanded("k{08..11}") == ["k08", "k09", "k10", "k11"]
    assert expanded("a{1..2}b{1..2}") == ["a1b1", "a1b2", "a2b1", "a2b2"]
    assert expanded("k") == ["k"]


def test_open_ends_of_a_range() -> None:
    assert key_range("[,m)") == key_range("[-inf,m)") == (b"", b"m")
    assert key_range("[m,)") == key_range("[m,+inf)") == (b"m", b"")


ORDERS = [
    "lock 10 k1 for_update_ts=15 return-values",
    "lock return-values 10 for_update_ts=15 k1",
    "LOCK For-Update-Ts=15 10 k1 Return_Values",
    "acquire 10 k1 return-values=true for-update-ts=15",
]


@pytest.mark.parametrize("line", ORDERS)
def test_words_may_come_in_any_order(line: str) -> None:
    expected = (
        "locked k1 in-memory k1=none\n"
        "k1 memory@1: PESSIMISTIC start_ts=10 for_update_ts=15 primary=k1 ttl=20000 "
        "min_commit_ts=16"
    )
    result = run_text(f"{line}\nshow locks\n----\n{expected}\n", "s.txt")
    assert not result.problem
    assert not result.differences


def test_a_difference_is_told_with_its_line_and_both_texts() -> None:
    result = run_text("cluster\n\n# why\nlock 10 k1\n----\nlocked k2\n", "s.txt")
    assert result.differences == (
        "s.txt:6: not as expected\n    - locked k2\n    + locked k1 in-memory",
    )


def test_output_without_separator_is_a_difference() -> None:
    result = run_text("lock 10 k1\n", "s.txt")
    assert result.differences
    assert result.text == "lock 10 k1\n----\nlocked k1 in-memory\n"


def test_rewriting_keeps_prose_and_commands(tmp_path: Path) -> None:
    script = tmp_path / "s.txt"
    script.write_text("# prose\n\n# more\nlock 10 k1 # here\n----\nwrong\n\ncluster\n")
    assert not run_script(script, rewrite=True).problem
    rewritten = "# prose\n\n# more\nlock 10 k1 # here\n----\nlocked k1 in-memory\n\ncluster\n"
    assert script.read_text() == rewritten
    assert not run_script(script).differences


def test_rewriting_does_not_touch_a_script_with_a_mistake(tmp_path: Path) -> None:
    script = tmp_path / "s.txt"
    script.write_text("lock 10 k1\n\nlokc 10 k2\n")
    assert run_script(script, rewrite=True).problem
    assert script.read_text() == "lock 10 k1\n\nlokc 10 k2\n"


def test_the_same_script_prints_the_same_twice() -> None:
    text = "lock 10 k{1..20}\nprewrite 10 as p\nadvance 1s\nwait\nlog\ntime\n"
    assert run_text(text, "s").text == run_text(text, "s").text


def test_a_quote_that_is_not_closed() -> None:
    with pytest.raises(ScriptProblem, match="quote"):
        words_of('lock t1 "k1', 3)
