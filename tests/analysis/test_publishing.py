"""Pictures for a publication: format, size, font and title are what was asked for."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

import pytest
from matplotlib.figure import Figure
from matplotlib.text import Text
from PIL import Image

from analysis.plots.distribution import latency_ccdf
from analysis.plots.publishing import Format, Sheet, is_installed, publish, size_in
from tests.analysis.test_plots import LOCKS, LOOKS, tails

SERIF = "DejaVu Serif"


def drawn() -> Figure:
    return latency_ccdf(tails(), LOCKS, LOOKS, "threads = 5")


def letters(figure: Figure) -> list[Text]:
    """Returns the texts of a figure that say something."""
    found = figure.findobj(lambda artist: isinstance(artist, Text))
    return [text for text in found if isinstance(text, Text) and text.get_text()]


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("85mm", (85 / 25.4, None)),
        ("85x60mm", (85 / 25.4, 60 / 25.4)),
        ("8.5cm", (8.5 / 2.54, None)),
        ("3.5x2in", (3.5, 2.0)),
    ],
)
def test_a_size_is_read(text: str, size: tuple[float, float | None]) -> None:
    assert size_in(text) == pytest.approx(size)


@pytest.mark.parametrize("text", ["85", "85px", "x60mm", "0mm", "85x60x2mm", "9000in"])
def test_what_is_no_size_is_refused_with_what_to_write(text: str) -> None:
    with pytest.raises(ValueError, match="write"):
        size_in(text)


@pytest.mark.parametrize("kind", get_args(Format))
def test_files_are_of_their_format_and_the_same_bytes_twice(tmp_path: Path, kind: Format) -> None:
    files = [tmp_path / f"{name}.{kind}" for name in ("one", "two")]
    for file in files:
        publish(drawn(), Sheet(kind, 3.5), file)
    content = files[0].read_bytes()
    assert content == files[1].read_bytes()
    begins = {"pdf": b"%PDF", "svg": b"<?xml", "png": b"\x89PNG"}
    assert content.startswith(begins[kind])


def test_a_picture_is_as_large_as_asked_for(tmp_path: Path) -> None:
    publish(drawn(), Sheet("png", *size_in("85x60mm")), tmp_path / "a.png")
    with Image.open(tmp_path / "a.png") as picture:
        assert picture.size == pytest.approx((85 / 25.4 * 300, 60 / 25.4 * 300), abs=1)
    publish(drawn(), Sheet("pdf", 3.5), tmp_path / "a.pdf")
    box = re.search(rb"/MediaBox \[ 0 0 ([\d.]+) ", (tmp_path / "a.pdf").read_bytes())
    assert box is not None
    assert float(box[1]) == pytest.approx(3.5 * 72)


def test_letters_keep_their_proportion_to_the_width(tmp_path: Path) -> None:
    figure = drawn()
    before = {text.get_text(): float(text.get_fontsize()) for text in letters(figure)}
    publish(figure, Sheet("svg", figure.get_figwidth() / 2), tmp_path / "a.svg")
    after = {text.get_text(): float(text.get_fontsize()) for text in letters(figure)}
    same = before.keys() & after.keys()
    assert {"lock latency (ms)", "pipelined", "p99"} <= same
    assert [after[name] / before[name] for name in same] == pytest.approx([0.5] * len(same))


def test_font_size_and_title_are_switches(tmp_path: Path) -> None:
    figure = drawn()
    sheet = Sheet("svg", 3.5, font=SERIF, font_pt=7, title="Figure 3")
    publish(figure, sheet, tmp_path / "a.svg")
    assert {text.get_fontfamily()[0] for text in letters(figure)} == {SERIF}
    assert max(float(text.get_fontsize()) for text in letters(figure)) == pytest.approx(7)
    assert figure.get_suptitle().startswith("Figure 3\nthreads = 5")
    publish(drawn(), Sheet("svg", title=""), tmp_path / "b.svg")
    assert "threads = 5" not in (tmp_path / "b.svg").read_text(encoding="utf-8")


def test_a_font_that_is_not_there_is_known_not_to_be() -> None:
    assert is_installed(SERIF)
    assert not is_installed("No Such Font")
