"""Reports of shipped scenarios, cut short, as a browser shows them."""

from __future__ import annotations

import io
from contextlib import redirect_stdout
from functools import cache
from pathlib import Path

import pytest

from tests.page.browser import Seen, chromium, look
from tests.page.three_studies import STUDIES, run_all

WIDTHS_PX = (1280, 390)
BUDGET_BYTES = 700_000
DARK = "--blink-settings=preferredColorScheme=0"
PICTURES = {"rfc77": 5, "evict_leader": 5, "capacity_gp3_vs_nvme": 2}
CHARTS = {"rfc77": 3, "evict_leader": 3, "capacity_gp3_vs_nvme": 3}
PROMISED = {"capacity_gp3_vs_nvme": 2}
"""Charts with a line for what was promised, by study."""

pytestmark = [
    pytest.mark.spark,
    pytest.mark.slow,
    pytest.mark.skipif(chromium() is None, reason="chromium is not installed: .ci/test_tools.sh"),
]


@pytest.fixture(scope="module")
def studies(shared_session: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Runs the studies; returns the folder that theirs lie in."""
    folder, said = tmp_path_factory.mktemp("studies"), io.StringIO()
    with redirect_stdout(said):
        run_all(folder)
    for name in STUDIES:
        assert f"report: {folder / name / 'report.html'}" in said.getvalue()
    return folder


@cache
def seen(studies: Path, name: str, width_px: int, *options: str) -> Seen:
    return look(studies / name / "report.html", width_px, studies, *options)


@pytest.mark.parametrize("width_px", WIDTHS_PX)
@pytest.mark.parametrize("name", STUDIES)
def test_a_report_fits_and_everything_is_drawn(studies: Path, name: str, width_px: int) -> None:
    view = seen(studies, name, width_px)
    assert view.console == []
    assert view.found["width"] == width_px
    assert view.found["tooWide"] == []
    assert view.found["scrollWidth"] <= width_px
    assert view.found["undrawn"] == []
    assert view.found["unpainted"] == []
    assert view.found["stuck"] == []
    assert view.found["unhidden"] == []
    assert view.found["hidden"] == 0
    assert view.found["pictures"] >= PICTURES[name]
    assert view.found["charts"] >= CHARTS[name]
    promised = [words for words in view.found["limits"] if words.startswith("promised: ")]
    assert len(promised) == PROMISED.get(name, 0)


def test_a_report_is_dark_where_that_is_wanted(studies: Path) -> None:
    light = seen(studies, "evict_leader", 390)
    dark = seen(studies, "evict_leader", 390, DARK)
    assert (light.found["dark"], dark.found["dark"]) == (False, True)
    assert dark.found["background"] != light.found["background"]
    assert dark.console == []
    assert dark.found["unpainted"] == []


@pytest.mark.parametrize("name", STUDIES)
def test_a_report_is_small_enough_to_be_mailed(studies: Path, name: str) -> None:
    assert (studies / name / "report.html").stat().st_size <= BUDGET_BYTES


@pytest.mark.parametrize("name", STUDIES)
def test_the_pictures_of_the_markdown_are_there(studies: Path, name: str) -> None:
    text = (studies / name / "report.md").read_text(encoding="utf-8")
    files = [part.partition(")")[0] for part in text.split("](plots/")[1:]]
    assert len(files) >= PICTURES[name]
    assert [file for file in files if not (studies / name / "plots" / file).is_file()] == []


def test_a_look_sees_what_is_wrong(tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    page.write_text(
        "<!DOCTYPE html><html><body><div style='width:2000px'>wide</div>"
        "<img src='data:image/png;base64,AAAA' alt='broken'><div class='chart'></div>"
        "<script>console.error('oh')</script><script>missing()</script></body></html>"
    )
    view = look(page, 390, tmp_path)
    assert view.found["width"] == 390
    assert view.found["scrollWidth"] >= 2000
    assert len(view.found["tooWide"]) == 1
    assert len(view.found["undrawn"]) == 1
    assert len(view.found["unpainted"]) == 1
    assert len(view.console) == 2
