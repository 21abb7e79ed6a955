"""The table of anchors in a document that people write."""

from __future__ import annotations

import pytest

from analysis.validation.anchor import Figure, Judged
from analysis.validation.anchors import ANCHORS
from analysis.validation.plot import anchors_picture
from analysis.validation.table import BEGIN, END, DocumentError, rows, written

JUDGED = [
    Judged(anchor, Figure.exactly(place * anchor.theirs.value) if place < 2 else None)
    for anchor, place in zip(ANCHORS, [1.0, 1.5, 2.0] * 99, strict=False)
]


def test_the_table_takes_its_place_and_what_is_around_it_stays() -> None:
    text = f"# Head\n\n{BEGIN}\nold\n{END}\n\n## Why\n"
    new = written(text, JUDGED)
    assert new.startswith(f"# Head\n\n{BEGIN}\n")
    assert new.endswith(f"{END}\n\n## Why\n")
    assert "old" not in new.splitlines()
    assert sum(line.startswith("| ") for line in new.splitlines()) == len(ANCHORS) + 4
    assert written(new, JUDGED) == new


def test_a_document_without_a_place_is_refused() -> None:
    with pytest.raises(DocumentError, match="no lines"):
        written("# Head\n", JUDGED)


def test_every_anchor_with_a_figure_is_drawn() -> None:
    picture = anchors_picture(JUDGED)
    names = [label.get_text() for label in picture.axes[1].get_yticklabels()]
    assert names == [each.anchor.name for each in reversed(JUDGED) if each.ours is not None]


def test_rows_for_machines_have_both_figures_and_the_verdict() -> None:
    row = rows(JUDGED)[0]
    assert row["theirs"] == row["ours"]
    assert row["verdict"] == "in band"
    assert rows(JUDGED)[2]["ours"] is None
