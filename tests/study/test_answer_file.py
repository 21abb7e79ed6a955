"""A study's answer is read as far as it can be."""

from __future__ import annotations

from pathlib import Path

import pytest

from analysis.study.study_outcome import ANSWER, said_in, sentences


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        (
            '{"answer": ["It is quicker.", "It writes less."]}',
            ["It is quicker.", "It writes less."],
        ),
        ('{"answer": ["It is quicker.", 7]}', ["It is quicker."]),
        ('{"answer": null}', []),
        ('{"answer": "yes"}', []),
        ("[]", []),
        ("{", []),
    ],
)
def test_what_is_damaged_says_nothing(text: str, answer: list[str], tmp_path: Path) -> None:
    (tmp_path / ANSWER).write_text(text, encoding="utf-8")
    assert sentences(said_in(tmp_path)) == answer


def test_a_folder_without_an_answer_says_nothing(tmp_path: Path) -> None:
    assert said_in(tmp_path) == {}
