"""Pictures keep their colours, and a page its budget."""

from __future__ import annotations

import base64
import io
from pathlib import Path

from PIL import Image

from analysis.page.pictures import Album, embedded
from tests.page.hostile import picture


def test_a_picture_keeps_its_colours_and_its_size(tmp_path: Path) -> None:
    drawn = picture(tmp_path)
    data, width, height = embedded(tmp_path / "plots" / f"{drawn.name}.png")
    kind, _, code = data.partition(",")
    assert kind == "data:image/webp;base64"
    assert (width, height) == (48, 24)
    with Image.open(io.BytesIO(base64.b64decode(code))) as shown:
        assert shown.size == (72, 36)
        assert sorted(shown.convert("RGB").getcolors() or []) == [
            (300, (0, 114, 178)), (2292, (255, 255, 255)),
        ]  # fmt: skip


def test_what_does_not_fit_is_told_in_words(tmp_path: Path) -> None:
    first, second = picture(tmp_path, "over_time"), picture(tmp_path, "warmup")
    size = len(embedded(tmp_path / "plots" / "over_time.png")[0])
    album = Album(tmp_path, ("over_time",), budget_bytes=2 * size - 1)
    shown, told = album.figures([first, second])
    assert shown.data
    assert shown.charted
    assert not told.data
    assert (told.file, told.alt) == ("plots/warmup.png", second.alt)
    assert album.left_out == 1
