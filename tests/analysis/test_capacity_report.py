"""Capacities in words, in 80 columns, and as figures."""

from __future__ import annotations

import io
from typing import Any, cast

import numpy as np
import pytest
from matplotlib.figure import Figure
from rich.console import Console

from analysis.cli.study_report import print_capacity
from analysis.experiments.case_words import capacity_text, headroom_words
from analysis.page.capacity import capacity_blocks
from analysis.page.content import Paragraph
from analysis.page.findings import Findings
from analysis.plots import style
from analysis.plots.capacity import capacity_pictures
from analysis.report.capacity_table import capacity_sentence

P99 = "lock_latency_ms.p99"


def case(**changes: Any) -> dict[str, Any]:
    return {
        "point": {"hardware.profile": "gp3_max"},
        "variant": "in_memory",
        "status": "found",
        "finished": True,
        "load": 1830.4,
        "load_ci_low": 1790.2,
        "load_ci_high": 1870.4,
        "txn_per_s": 1825.0,
        "txn_per_s_ci_low": 1780.0,
        "txn_per_s_ci_high": 1868.0,
        "replications": 4,
        "crossings": [1800.0, 1850.0, 1820.0, 1851.6],
        "crossings_txn_per_s": [1795.0, 1845.0, 1815.0, 1845.0],
        "binds": P99,
        "station": {"name": "store_poller", "busy": 0.97, "load": 1870.0},
        "without_value": [],
        "present": 1200.0,
        "headroom": 0.525,
        "present_p_met": 0.9999,
        "loads": [
            {"load": load, "met": met, "of": 4, "refused": 0, "p_met": 0.5,
             "margins": {P99: margin}}
            for load, met, margin in ((1790.0, 4, 0.9), (1880.0, 0, 1.3))
        ],
        "cost_per_hour": 5.08,
        "cost_per_1000_txn": 0.000773,
        "pareto": True,
    } | changes  # fmt: skip


def found(*cases: dict[str, Any], **changes: Any) -> dict[str, Any]:
    return {
        "load": "workload.rate",
        "unit": "1/s",
        "between": [300.0, 3000.0],
        "tolerance": 0.05,
        "replications": 4,
        "slo": [{"key": P99, "metric": "lock_latency_ms", "class": "all", "stat": "p99",
                 "limit": 5.0}],
        "cases": list(cases),
        "comparisons": [],
    } | changes  # fmt: skip


BEYOND = {
    "load_ci_low": None, "load_ci_high": None, "binds": None, "station": None, "txn_per_s": None,
    "txn_per_s_ci_low": None, "txn_per_s_ci_high": None, "crossings": [None] * 4,
    "present_p_met": None, "cost_per_1000_txn": None, "pareto": None,
}  # fmt: skip


def sentence(one: dict[str, Any], **changes: Any) -> str:
    return capacity_sentence(found(one, **changes), one)


def test_the_sentence_says_what_a_person_asks() -> None:
    assert sentence(case()) == (
        "in_memory on gp3_max carries 1,830/s [1,790, 1,870] before lock_latency_ms.p99 passes "
        "5 ms; store_poller limits it (97 % busy just above); 52 % headroom at 1,200/s (met there "
        "with probability above 99 %)."
    )


def test_a_case_without_a_full_station_says_so() -> None:
    text = sentence(case(station={"name": "raft_disk", "busy": 0.41, "load": 1.0}))
    assert "no station is full, the busiest is raft_disk (41 % busy just above)" in text


def test_too_little_for_the_present_load() -> None:
    text = sentence(case(headroom=-0.25, present=2400.0, present_p_met=0.004))
    assert "25 % too little for the present 2,400/s (met there with probability below 1 %)" in text


def test_overload_needs_no_objective() -> None:
    assert "before it is overloaded" in sentence(case(binds="overload"))
    assert "before work stops" in sentence(case(binds="outage"))


def test_a_capacity_above_a_load_at_which_work_stopped_says_so() -> None:
    loads = [{"load": 900.0, "stopped": 1}, {"load": 1880.0, "stopped": 4}]
    told = "but work stopped at 900/s already, look at what is done to the cluster"
    assert told in sentence(case(loads=loads))
    assert "work stopped at" not in sentence(case(loads=loads[1:]))


def test_threads_are_threads() -> None:
    one = case(load=120.4, load_ci_low=115.0, load_ci_high=126.0, present=None, headroom=None)
    text = sentence(one, load="workload.threads", unit="threads")
    assert "carries 120 threads [115, 126] before" in text
    assert "headroom" not in text


def test_missing_units_are_told() -> None:
    assert "units are missing or have failed" in sentence(case(finished=False))


@pytest.mark.parametrize(
    ("status", "text"),
    [
        ("above", "more than 3,000"),
        ("below", "less than 300"),
        ("at least", "at least 2,950"),
        ("at most", "at most 2,950"),
        ("unknown", "not known"),
    ],
)
def test_what_lies_beyond_is_a_bound(status: str, text: str) -> None:
    one = case(**BEYOND, status=status, load=2950.0)
    assert capacity_text(found(one), one) == text
    assert sentence(one).startswith("in_memory on gp3_max: ")
    assert "carries" not in sentence(one)


def test_one_replication_has_no_interval() -> None:
    one = case(load_ci_low=None, load_ci_high=None, replications=1, present_p_met=None)
    assert capacity_text(found(one), one) == "1,830 (n=1)"
    assert "1,830/s (n=1) before" in sentence(one)


def printed(content: dict[str, Any]) -> str:
    console = Console(file=io.StringIO(), width=80, highlight=False)
    print_capacity(console, content)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_a_line_a_case_in_80_columns() -> None:
    other = case(point={"hardware.profile": "i3.4xlarge"}, variant="pipelined", pareto=False)
    text = printed(found(case(), other))
    table = text[: text.index("carries")].splitlines()[:-1]
    assert all(len(line) <= 80 for line in table)
    lines = [line.split() for line in table if line.strip().startswith("pipelined")]
    assert " ".join(lines[0]) == (
        "pipelined on i3.4xlarge 1,830 [1,790, 1,870] store pollers, 97 % +52 %"
    )
    assert lines[1][-1] == "beaten"
    assert "\x1b" not in text


def test_without_prices_there_are_no_costs() -> None:
    plain = case(cost_per_hour=None, cost_per_1000_txn=None, pareto=None)
    assert "cost" not in printed(found(plain))
    assert set(figures(found(plain))) == {"capacity_probability", "capacity_margins"}


def figures(of: dict[str, Any]) -> dict[str, Figure]:
    return {picture.name: picture.figure for picture in capacity_pictures(of)}


def curves(figure: Figure) -> dict[str, Any]:
    return {str(line.get_label()): line for line in figure.axes[0].lines}


def test_probability_falls_through_one_half_at_the_capacity() -> None:
    figure = figures(found(case()))["capacity_probability"]
    line = curves(figure)["in_memory on gp3_max"]
    loads, chance = line.get_data()
    assert loads[(chance < 0.5).argmax()] == pytest.approx(1830.4, rel=0.005)
    assert line.get_color() == style.FIXED["in_memory"].colour


def test_a_case_beyond_the_ends_is_named_with_its_bound() -> None:
    one = case(**BEYOND, status="above", load=3000.0)
    drawn = figures(found(one))
    assert "in_memory on gp3_max: more than 3,000" in curves(drawn["capacity_probability"])
    assert "capacity_cost" not in drawn


def test_margins_have_a_panel_an_objective_and_the_limit() -> None:
    figure = figures(found(case()))["capacity_margins"]
    (axes,) = figure.axes
    assert curves(figure)["in_memory on gp3_max"].get_ydata().tolist() == [0.9, 1.3]
    assert "limit: 5 ms" in [text.get_text() for text in axes.texts]


def test_no_margin_lies_beyond_the_last_tick() -> None:
    panels = figures(found(case()))["capacity_margins"].axes
    for axes in panels:
        low, high = axes.get_ylim()
        ticks = [tick for tick in axes.get_yticks() if low <= tick <= high]
        values = [float(y) for line in axes.lines for y in np.asarray(line.get_ydata())]
        assert ticks[0] < min(values)
        assert max(values) < ticks[-1]


def test_the_cost_figure_joins_what_is_not_beaten() -> None:
    dear = case(variant="pipelined", cost_per_hour=6.0, txn_per_s=1500.0, pareto=False)
    best = case(variant="sync", cost_per_hour=7.0, txn_per_s=2500.0)
    axes = figures(found(case(), dear, best))["capacity_cost"].axes[0]
    assert list(np.asarray(axes.lines[-1].get_xdata())) == [5.08, 7.0]


@pytest.mark.parametrize(
    ("status", "headroom", "words"),
    [
        ("found", 0.525, "+52 %"),
        ("below", -0.17, "< −17 %"),
        ("above", 1.5, "> +150 %"),
        ("found", None, ""),
    ],
)
def test_a_headroom_beyond_the_search_is_a_bound(
    status: str, headroom: float | None, words: str
) -> None:
    assert headroom_words(case(status=status, headroom=headroom)) == words


def test_a_search_says_where_it_found_a_limit_only_if_it_did() -> None:
    limited, beyond = case(), case(**BEYOND, status="at_least", load=3000.0)

    def said(*cases: dict[str, Any]) -> str:
        search = Findings(cast(Any, None), {"capacity": found(*cases)}, cast(Any, None), [])
        first = next(iter(capacity_blocks(search)))
        assert isinstance(first, Paragraph)
        return first.text

    assert "It found where each of 4 replications crosses a limit" in said(limited, beyond)
    assert said(beyond).endswith("and under which no work piles up.")
