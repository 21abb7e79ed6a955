"""The table and the figures of a sensitivity analysis show what was found."""

from __future__ import annotations

import io
import re
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from analysis.cli.study_report import print_sensitivity
from analysis.metrics.rounding import size_with_half_width
from analysis.plots.drawn import Picture
from analysis.plots.sensitivity import sensitivity_pictures
from analysis.report.expectations import claim_place, claims_to_judge, judge
from analysis.report.sensitivity_table import moves_words, signed_effect
from analysis.study.expectation import Expectation

APPEND, THREADS, HOP = (
    "hardware.disk.raft.append.mean", "workload.threads", "hardware.cpu.thread_hop",
)  # fmt: skip


def effect(factor: str, mu: float, above_noise: bool) -> dict[str, Any]:
    return {
        "factor": factor, "mu": mu, "mu_star": abs(mu), "mu_star_conf": 0.05, "sigma": 0.08,
        "above_noise": above_noise,
    }  # fmt: skip


def share(factor: str, total: float) -> dict[str, Any]:
    return {"factor": factor, "own": total - 0.02, "own_conf": 0.03, "total": total,
            "total_conf": 0.04}  # fmt: skip


def outcome(**changes: Any) -> dict[str, Any]:
    return {
        "metric": "lock_latency_ms", "class": "all", "stat": "mean", "variant": "in_memory",
        "baseline": "pipelined", "scale": "logarithm of the ratio",
        "base": {"value": 0.36, "ci_low": 0.353, "ci_high": 0.367, "replications": 5},
        "noise": {"deviation": 0.016, "mu_star": 0.04}, "varies": True,
        "morris": {"used": 5, "of": 6, "effects": [
            effect(HOP, 0.01, False), effect(APPEND, -1.2, True), effect(THREADS, 0.6, True),
        ]},
        "sobol": {"used": 16, "of": 16, "indices": []},
        "shares": {"from": "polynomial", "degree": 2, "q2": 0.985,
                   "factors": [share(APPEND, 0.8), share(THREADS, 0.2)]},
        "walks": [
            {"factor": APPEND, "values": ["100us", "178us", "316us", "562us", "1ms"],
             "outcomes": [0.65, 0.49, 0.36, None, 0.2], "crossings": []},
        ],
        "tried": {"points": 100, "least": 0.15, "greatest": 0.8},
        "thresholds": [0.5], "says": "lock_latency_ms, in_memory / pipelined is 0.36 at the centre",
    } | changes  # fmt: skip


def found(*outcomes: dict[str, Any]) -> dict[str, Any]:
    factors = [
        {"key": APPEND, "low": "100us", "high": "1ms", "scale": "log"},
        {"key": THREADS, "low": 10, "high": 110, "scale": "linear"},
        {"key": HOP, "low": "20us", "high": "50us", "scale": "linear"},
    ]
    centre = {APPEND: "316.2us", THREADS: 60, HOP: "35us"}
    return {"factors": factors, "centre": centre, "kept": [APPEND, THREADS],
            "outcomes": list(outcomes)}  # fmt: skip


def printed(content: dict[str, Any]) -> str:
    out = io.StringIO()
    print_sensitivity(Console(file=out, width=80), content)
    text = out.getvalue()
    assert max(len(line.rstrip()) for line in text.splitlines()) <= 80
    assert "…" not in text
    return text


def test_factors_come_by_weight_with_their_shares() -> None:
    text = printed(found(outcome()))
    lines = text[text.index("lock_latency_ms, in_memory") :].splitlines()
    rows = [line.split() for line in lines if line.split()[:1] in (["append.mean"], ["threads"],
                                                                   ["thread_hop"])]  # fmt: skip
    assert [row[0] for row in rows] == ["append.mean", "threads", "thread_hop"]
    assert " ".join(rows[0]) == "append.mean 1.20 ± 0.05 −1.20 0.08 78 ± 3 % 80 ± 4 %"
    assert rows[2][-2:] == ["–", "–"]


def test_the_sentence_the_floor_and_what_is_left_out_are_said() -> None:
    text = " ".join(printed(found(outcome())).split())
    assert "is 0.36 at the centre." in text
    assert "In brackets: a mean up to 0.04 may be chance" in text
    assert f"thread_hop ({size_with_half_width(0.01, 0.05)})" in text
    assert "fit of degree 2 (q2 0.98)" in text
    assert "1 of 6 trajectories are left out" in text
    assert "blocks are left out" not in text


def test_without_shares_or_noise_there_are_dashes_and_words() -> None:
    bare = outcome(shares=None, sobol=None, walks=[], noise={"deviation": None, "mu_star": 0.0})
    text = printed(found(bare))
    assert "gives no noise floor" in " ".join(text.split())
    assert not re.search(r"± \d+ %", text)


def test_a_share_that_may_be_anything_is_not_told() -> None:
    factors = [share(APPEND, 0.8) | {"total_conf": 45.0}, share(THREADS, 0.2)]
    shares = {"from": "blocks", "degree": 1, "q2": 0.1, "factors": factors}
    text = printed(found(outcome(shares=shares)))
    assert text.count("too vague") == 1
    assert "4500" not in text


def pictures(of: dict[str, Any]) -> dict[str, Picture]:
    return {picture.name: picture for picture in sensitivity_pictures(of)}


def test_figures_show_effects_shares_and_walks() -> None:
    drawn = pictures(found(outcome(), outcome(stat="p99", varies=False)))
    assert set(drawn) == {"sensitivity_effects", "sensitivity_shares", "sensitivity_walks"}
    (effects,) = drawn["sensitivity_effects"].figure.axes
    assert [label.get_text() for label in effects.get_yticklabels()] == [
        "thread_hop", "threads ↑", "append.mean ↓",
    ]  # fmt: skip
    assert [patch.get_width() for patch in effects.patches] == pytest.approx([0.01, 0.6, 1.2])  # type: ignore[attr-defined]
    assert effects.patches[0].get_facecolor() != effects.patches[1].get_facecolor()
    (walks,) = drawn["sensitivity_walks"].figure.axes
    (walk,) = [line for line in walks.lines if line.get_marker() not in {"None", "", None}]
    assert np.asarray(walk.get_ydata()) == pytest.approx(
        [0.65, 0.49, 0.36, np.nan, 0.2], nan_ok=True
    )


def test_a_share_that_may_be_anything_is_not_drawn() -> None:
    vague = share(APPEND, 1.2) | {"total_conf": 1.93}
    factors = [vague, share(THREADS, 0.2)]
    shares = {"from": "blocks", "degree": 1, "q2": 0.1, "factors": factors}
    of = found(outcome(shares=shares))
    picture = pictures(of)["sensitivity_shares"]
    figure = picture.figure
    figure.draw_without_rendering()
    (axes,) = figure.axes
    widths = sorted(patch.get_width() for patch in axes.patches)  # type: ignore[attr-defined]
    assert widths == pytest.approx([0.18, 0.2, 1.18])
    assert [text.get_text() for text in axes.texts] == ["too vague"]
    assert f"{APPEND} too vague" in picture.alt
    ticks = [label for label in axes.get_xticklabels() if label.get_text()]
    assert not any("-" in label.get_text() for label in ticks)
    boxes = [label.get_window_extent() for label in ticks]
    assert all(left.x1 < right.x0 for left, right in pairwise(boxes))
    only = {**shares, "factors": [{**vague, "own_conf": 0.9}]}
    assert set(pictures(found(outcome(shares=only)))) == {
        "sensitivity_effects", "sensitivity_walks",
    }  # fmt: skip


def test_nothing_that_varies_has_no_figure() -> None:
    assert pictures(found(outcome(varies=False))) == {}


def test_claims_of_a_sensitivity_study_are_judged_at_its_centre() -> None:
    claim = Expectation(
        metric="lock_latency_ms", stat="mean", class_="all", variant="in_memory",
        against="pipelined", below=0.5, above=None,
    )  # fmt: skip
    centre = {THREADS: 60}
    name: dict[str, Any] = {
        "metric": "lock_latency_ms",
        "class": "all",
        "stat": "mean",
        "variant": "in_memory",
    }
    compared: list[dict[str, Any]] = [
        name | {"point": centre, "ratio": 0.36, "ci_low": 0.35, "ci_high": 0.37},
        name | {"point": {THREADS: 10}, "ratio": 0.7, "ci_low": None, "ci_high": None},
    ]
    claims = claims_to_judge([claim], {"sensitivity": {"centre": centre}})
    assert [row["holds"] for row in judge(claims, [], compared)] == [True]
    assert [row["holds"] for row in judge(claims_to_judge([claim], {}), [], compared)] == [
        True,
        False,
    ]


def test_a_search_judges_claims_on_the_capacity_alone() -> None:
    of_a_load = Expectation(metric="lock_latency_ms", variant="in_memory", below=0.5)
    of_the_search = Expectation(metric="capacity_load", variant="in_memory", above=100.0)
    claims = [of_a_load, of_the_search]
    found = {"capacity": {"load": THREADS}}
    assert claims_to_judge(claims, found) == [of_the_search]
    assert claims_to_judge(claims, {}) == claims


def test_a_claim_about_the_centre_says_so_in_few_words() -> None:
    centre = {"workload.threads": 45, "hardware.store_cores": 20}
    found = {"sensitivity": {"centre": centre}}
    assert claim_place(centre, found) == "at the centre"
    assert claim_place({"workload.threads": 45}, found) == "workload.threads = 45"
    assert claim_place({}, {}) == ""


def test_a_size_that_is_open_is_no_contradiction_to_a_factor_that_counts() -> None:
    vague = effect(APPEND, 0.4, True) | {"mu_star_conf": 0.45}
    assert moves_words(vague) == "moves it, how far is open"
    assert moves_words(effect(THREADS, 0.6, True)) == "moves it"
    assert moves_words(effect(HOP, 0.01, False)) == "may be chance"
    assert moves_words(effect(HOP, 0.0, False)) == "no effect seen"


def test_an_effect_that_rounds_to_nothing_has_no_minus() -> None:
    assert [signed_effect(value) for value in (-0.004, 0.0, -0.126)] == ["+0.00", "+0.00", "−0.13"]


def test_without_a_trajectory_nothing_is_in_brackets() -> None:
    nothing = {"mu": None, "mu_star": None, "mu_star_conf": None, "sigma": None}
    effects = [effect(APPEND, 0.0, False) | nothing]
    bare = outcome(
        morris={"used": 0, "of": 2, "effects": effects},
        shares=None,
        sobol=None,
        walks=[],
        noise={"deviation": None, "mu_star": 0.0},
    )
    text = printed(found(bare))
    assert "(–)" not in text
    assert "Too little is known for a noise floor" in " ".join(text.split())
