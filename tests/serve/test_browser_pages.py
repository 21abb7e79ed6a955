"""The pages in a real browser: wide and narrow, light and dark, with the keyboard alone."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.page.browser import chromium
from tests.page.hostile import MARKUP, SCRIPT
from tests.serve.made_studies import study, summed_up
from tests.serve.served import Served, served
from tests.serve.tab import Tab, open_tab

WINDOWS = [(1280, False), (390, False), (1280, True), (390, True)]
FIGURES = ("lock_latency_ms", "txn_per_s", "txn_latency_ms", "write_kib_per_txn", "fsyncs_per_s")
ANSWERED = "document.body.getAttribute('data-answered')"
TRACED = f"document.body.getAttribute('data-traced') === {ANSWERED} && {ANSWERED}"

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(chromium() is None, reason="chromium is not installed: .ci/test_tools.sh"),
]


@pytest.fixture(name="server", scope="module")
def a_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    results = tmp_path_factory.mktemp("pages") / "results"
    summed_up(results, "small")
    study(results, '"><img src=x onerror=alert(1)>', question=MARKUP, answer=[SCRIPT] * 9)
    study(results, "x" * 200, question="long" * 200, answer=["word" * 300], outcome="failed")
    with served(results) as server:
        yield server


@pytest.fixture(name="tab", scope="module")
def a_tab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tab]:
    with open_tab(tmp_path_factory.mktemp("browser")) as tab:
        yield tab


@pytest.fixture(autouse=True)
def nothing_is_said(tab: Tab) -> Iterator[None]:
    """Every test ends without a word on the console."""
    tab.console.clear()
    yield
    assert tab.console == []


@pytest.mark.parametrize(("width_px", "dark"), WINDOWS)
@pytest.mark.parametrize("page", ["/", "/?q=none", "/explore?base=study:small", "/explore?base=x"])
def test_a_page_fits(server: Served, tab: Tab, page: str, width_px: int, *, dark: bool) -> None:
    tab.resize(width_px, dark=dark)
    tab.show(server.address + page)
    if page.endswith("small"):
        tab.wait_for(TRACED)
    assert tab.too_wide() == []
    light = tab.value("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert light != dark
    assert tab.value("window.innerWidth") == width_px


def test_markup_in_names_runs_nothing(server: Served, tab: Tab) -> None:
    tab.resize(1280)
    tab.show(server.address + "/?q=alert")
    assert tab.value("document.querySelectorAll('.study').length") == 1
    assert tab.value("document.querySelectorAll('main img, main script').length") == 0
    assert "<img src=x" in tab.text(".study .name")


def test_the_index_is_searched_with_the_keyboard(server: Served, tab: Tab) -> None:
    tab.resize(1280)
    tab.show(server.address + "/")
    assert tab.value("document.querySelectorAll('.study').length") == 3
    tab.tab_to("#q")
    tab.write("small")
    tab.press("Enter")
    tab.wait_for("location.search === '?q=small' && document.readyState === 'complete'")
    assert tab.value("document.querySelectorAll('.study').length") == 1
    tab.tab_to(".acts a:nth-of-type(1)")
    tab.press("Enter")
    tab.wait_for("document.body.innerText.includes('report of small')")


def test_the_skip_link_leads_to_the_content(server: Served, tab: Tab) -> None:
    tab.show(server.address + "/")
    tab.press("Tab")
    assert tab.value("document.activeElement.className") == "skip"
    tab.press("Enter")
    tab.wait_for("document.activeElement.id === 'main'")


def cells(tab: Tab, row: int) -> list[str]:
    found: list[str] = tab.value(
        f"[...document.querySelectorAll('#figures tbody tr:nth-child({row}) td')]"
        ".map((one) => one.innerText)"
    )
    return found


def test_every_slider_is_turned_with_the_keyboard(server: Served, tab: Tab) -> None:
    tab.resize(1280)
    tab.show(server.address + "/explore?base=scenario:rfc77")
    names = tab.wait_for(
        "[...document.querySelectorAll('.control:not([hidden]) input[type=range]')]"
        ".map((one) => one.id.slice(2))"
    )
    assert len(names) == 11
    for name in names:
        tab.wait_for(ANSWERED)
        before = tab.value(f"document.getElementById('c-{name}').value")
        tab.tab_to(f"#s-{name}")
        tab.press("ArrowRight" if name != "replicas" else "ArrowLeft")
        tab.wait_for(f"new URLSearchParams(location.search).get('{name}')")
        assert tab.value(f"document.getElementById('c-{name}').value") != before
        tab.wait_for(ANSWERED)
    tab.wait_for(TRACED)
    assert tab.value("document.getElementById('problem').hidden")
    tab.tab_to("#reset")
    tab.press("Enter")
    tab.wait_for("location.search.startsWith('?base=scenario%3Arfc77&over')")


def test_a_turn_changes_figures_bars_curve_and_file(server: Served, tab: Tab) -> None:
    tab.resize(1280)
    tab.show(server.address + "/explore?base=scenario:rfc77")
    tab.wait_for(TRACED)
    before = [cells(tab, 1), tab.text("#stations"), tab.text("#yaml")]
    tab.tab_to("#c-threads")
    tab.press("Backspace", 3)
    tab.write("5")
    tab.wait_for("location.search.includes('threads=5&')")
    tab.wait_for("document.getElementById('yaml').innerText.includes('threads: 5\\n')")
    tab.wait_for(TRACED)
    after = [cells(tab, 1), tab.text("#stations"), tab.text("#yaml")]
    assert all(one != other for one, other in zip(before, after, strict=True))
    assert tab.lines("#curve") == [True] * 3
    assert tab.value("document.querySelector('#curve .now') !== null")


def test_the_address_shows_the_same_again(server: Served, tab: Tab) -> None:
    tab.resize(1280)
    tab.show(
        server.address + "/explore?base=scenario:rfc77&threads=7&zones=2&over=zones&of=txn_per_s"
    )
    tab.wait_for(TRACED)
    figures, address = cells(tab, 1), tab.value("location.href")
    assert tab.value("document.getElementById('c-threads').value") == "7"
    assert tab.value("document.getElementById('axis').value") == "zones"
    assert tab.value("document.getElementById('figure').value") == "txn_per_s"
    tab.show(server.address + "/")
    tab.show(address)
    tab.wait_for(TRACED)
    assert (cells(tab, 1), tab.value("location.href")) == (figures, address)


def test_load_axis_figure_base_and_series_are_chosen_with_the_keyboard(
    server: Served, tab: Tab
) -> None:
    tab.resize(390)
    tab.show(server.address + "/explore?base=study:small")
    tab.wait_for(TRACED)
    tab.tab_to("#load-rate, #load-threads")
    tab.press("ArrowUp")
    tab.wait_for("location.search.includes('threads=50')")
    tab.tab_to("#axis")
    tab.press("ArrowDown")
    tab.wait_for("location.search.includes('over=append')")
    tab.tab_to("#figure")
    tab.press("ArrowDown")
    tab.wait_for("location.search.includes('of=txn_per_s')")
    tab.wait_for(TRACED)
    tab.tab_to("#curve .legend button")
    tab.press(" ")
    assert tab.lines("#curve") == [False, True, True]
    assert tab.value("document.activeElement.getAttribute('aria-pressed')") == "false"
    tab.press(" ")
    assert tab.lines("#curve") == [True] * 3
    tab.tab_to(".chart-canvas")
    tab.press("ArrowRight")
    told = tab.text(".told")
    assert "pipelined" in told
    tab.value("document.getElementById('figure').dispatchEvent(new Event('change'))")
    assert tab.text(".told") == told, "the cursor stays where it was when the curve is drawn again"
    assert tab.too_wide() == []
    tab.value("document.getElementById('base').focus()")
    tab.press("Home")
    tab.wait_for("location.search.startsWith('?base=scenario%3Acapacity_gp3_vs_nvme')")
    tab.wait_for(ANSWERED)


def test_what_was_simulated_stands_beside_its_estimate(server: Served, tab: Tab) -> None:
    tab.resize(1280)
    tab.show(server.address + "/explore?base=study:small&over=rate")
    tab.wait_for(TRACED)
    assert [("simulated" in cell) for cell in cells(tab, 1)] == [False, True, True]
    assert "simulated 2.00 ± 0.02" in cells(tab, 1)[1]
    assert tab.value("document.querySelectorAll('#curve .dot').length") == 2


def test_a_unit_is_simulated_with_the_keyboard(server: Served, tab: Tab) -> None:
    tab.resize(1280)
    tab.show(server.address + "/explore?base=study:small&rate=50&over=rate")
    tab.wait_for(TRACED)
    tab.tab_to("#simulate-in_memory")
    tab.press("Enter")
    tab.wait_for("!document.getElementById('stop').hidden")
    tab.wait_for("document.getElementById('units').innerText.includes('is done')")
    tab.wait_for("document.querySelectorAll('#figures .interval').length === 6")
    tab.wait_for(TRACED)
    assert tab.value("document.querySelectorAll('#curve .dot').length") == 3
    assert tab.value("document.querySelectorAll('#curve .interval-bar').length") == 3


def test_what_an_estimate_leaves_out_stands_beside_it(server: Served, tab: Tab) -> None:
    tab.show(server.address + "/explore?base=scenario:crash")
    tab.wait_for(ANSWERED)
    assert "Only the simulation includes: what happens to the cluster" in tab.text("#left-out")


def test_the_file_is_copied_or_it_is_said_why_not(server: Served, tab: Tab) -> None:
    tab.show(server.address + "/explore?base=study:small")
    tab.wait_for(TRACED)
    for button in ("#copy", "#link"):
        tab.click(button)
        tab.wait_for("document.getElementById('copied').innerText !== ''")


def test_a_report_of_somebody_else_reaches_nothing(server: Served, tab: Tab) -> None:
    results = server.site.studies.results
    folder = study(results, "theirs")
    (folder / "report.html").write_text(
        "<!DOCTYPE html><title>theirs</title><p id=said>waits</p><script>"
        "const said = document.getElementById('said');"
        f"fetch('{server.address}/').then(() => {{ said.textContent = 'read'; }},"
        "() => { said.textContent = 'refused'; });"
        "try { document.cookie = 'a=b'; said.title = 'cookie'; } catch { said.title = 'none'; }"
        "</script>"
    )
    tab.show(server.address + "/?q=theirs")
    tab.click(".study h2 a")
    tab.wait_for("document.getElementById('said').textContent === 'refused'")
    assert tab.value("document.getElementById('said').title") == "none"
    assert tab.value("window.origin") == "null"
    assert server.address.rpartition("/")[2] not in tab.value("location.href")
    assert any("Content Security Policy" in said for said in tab.console)
    tab.console.clear()
