"""How busy stations are: a bar a variant and station, the busiest first."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from analysis.plots import style
from analysis.plots.utilisation import stations, utilisation

LOOKS = style.variant_looks(["pipelined", "in_memory"])


def rows(**busy: tuple[float, float]) -> pd.DataFrame:
    """Returns rows of two variants by station, with intervals of 0.02 to each side."""
    return pd.DataFrame(
        [
            {
                "variant": variant, "class": station, "value": share, "ci_low": share - 0.02,
                "ci_high": share + 0.02,
            }
            for station, shares in busy.items()
            for variant, share in zip(LOOKS, shares, strict=True)
        ]
    )  # fmt: skip


BUSY = rows(store_poller=(0.97, 0.5), apply=(0.3, 0.4), read_pool=(0.001, 0.0))


def test_stations_are_in_order_and_idle_ones_have_no_bar() -> None:
    assert stations(BUSY) == ["store_poller", "apply"]
    (axes,) = utilisation(BUSY, LOOKS, "").figure.axes
    assert [label.get_text() for label in axes.get_yticklabels()] == [
        "store pollers", "apply threads",
    ]  # fmt: skip
    said = [text.get_text() for text in axes.texts]
    assert said == ["97 %", "30 %", "50 %", "40 %"]


def test_no_whisker_reaches_beyond_all_of_the_time() -> None:
    (axes,) = utilisation(rows(store_poller=(0.99, 0.98)), LOOKS, "").figure.axes
    ends = [np.asarray(line.get_xdata()).max() for line in axes.lines]
    assert ends == pytest.approx([1.0, 1.0])


def test_the_words_have_every_bar() -> None:
    words = utilisation(BUSY, LOOKS, "").alt
    assert "store pollers pipelined 97 %, in_memory 50 %; apply threads pipelined 30 %" in words
