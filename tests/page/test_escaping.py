"""No text leaves its place, in HTML, Markdown or JSON: any text, and some that try hard."""

from __future__ import annotations

import json

from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from analysis.page.escaping import in_brackets, in_markdown, in_script, one_line, visible
from tests.page.hostile import MARKUP

TEXT = st.text(st.sampled_from("a1 _*`[]()<>!|#-+.:~&\\@/$=\n\"'") | st.characters(), max_size=40)


def shown(markdown: str) -> str:
    """Returns what CommonMark with tables shows of a paragraph; fails if it is anything else."""
    tokens = MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(markdown)
    kinds = [token.type for token in tokens]
    assert kinds == ["paragraph_open", "inline", "paragraph_close"], kinds
    children = tokens[1].children or []
    assert {child.type for child in children} <= {"text", "text_special"}, children
    return "".join(child.content for child in children)


@given(TEXT)
@example(MARKUP)
@example("1. one")
@example("12) twelve")
@example("- item")
@example("# title")
@example("[a]: /url")
@example("a\n===")
@example("&amp; &#60;b&#62;")
@example("in_memory 3.5 [1, 2] (n=1)")
def test_markdown_shows_a_text_as_it_is_and_nothing_else(text: str) -> None:
    if one_line(text):
        assert shown(in_markdown(text)) == one_line(text)


@given(TEXT)
@example("] ](x) [[")
@example("\\] \\[")
def test_nothing_closes_the_words_of_a_picture(text: str) -> None:
    tokens = MarkdownIt("commonmark").parse(f"![{in_brackets(text)}](plots/a.png)")
    [image] = tokens[1].children or []
    assert (image.type, image.attrs["src"]) == ("image", "plots/a.png")


@given(TEXT)
@example("a|b\\|c")
def test_a_text_stays_in_its_cell(text: str) -> None:
    table = f"| a | b |\n| --- | --- |\n| x {in_markdown(text)} | last |\n"
    tokens = MarkdownIt("commonmark").enable("table").parse(table)
    cells = [token.content for token in tokens if token.type == "inline"]
    assert len(cells) == 4
    assert cells[3] == "last"


def test_plain_numbers_and_names_stay_readable() -> None:
    for text in ("in_memory 0.289 ± 0.004 [0.28, 0.30]", "- 24 %".lstrip("- "), "lock_latency_ms"):
        assert in_markdown(text) == text


def test_addresses_make_no_links() -> None:
    assert "http://" not in in_markdown("see http://e.example")
    assert "www." not in in_markdown("see www.e.example")


def test_hidden_characters_go() -> None:
    assert visible("a\u202eb\u200bc\x00d\ne\tf") == "abcd\ne\tf"


@given(TEXT)
def test_json_in_a_script_cannot_end_it(text: str) -> None:
    written = in_script({"a": text})
    assert not set(written) & set("<>&\u2028\u2029")
    assert json.loads(written) == {"a": text}
