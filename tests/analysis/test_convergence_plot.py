"""How intervals narrow: of numbers, and of the ratios that are waited for."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from analysis.metrics.catalogue import MetricKey
from analysis.plots.convergence import convergence, convergences
from analysis.statistics.intervals import paired_ratios
from analysis.study.run import Target
from tests.analysis.test_plots import LOOKS, VARIANTS


def replicated(replications: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Returns units and sums: commits and lock latencies that vary a little."""
    draws = np.random.Generator(np.random.PCG64(7)).normal(0.0, 0.02, (3, replications))
    units = [
        {"variant": variant, "replication": number, "measured_s": 10.0}
        for variant in VARIANTS
        for number in range(replications)
    ]
    facts = {
        ("lock_latency", "all", "mean"): 2e6 * (1 + draws.ravel()),
        ("txns", "all", "total"): np.round(6000 * (1 - draws.ravel())),
    }
    sums = pd.DataFrame(facts)
    sums.columns = sums.columns.set_names(["metric", "class", "stat"])
    return pd.DataFrame(units), sums


def test_convergence_ends_at_the_interval_of_all_replications() -> None:
    units, sums = replicated(6)
    target = MetricKey("lock_latency_ms")
    found = convergences(units, sums, [Target(target, 0.01)], set())
    assert [one.name for one in found] == [str(target)]
    assert found[0].lines["sync"].shape == (5,)
    values = sums["lock_latency", "all", "mean"][units["variant"] == "sync"].to_numpy()
    half = 2.5706 * values.std(ddof=1) / 6**0.5 / values.mean()
    assert found[0].lines["sync"][-1] == pytest.approx(half, rel=1e-4)
    picture = convergence(found, LOOKS, "stub")
    figure = picture.figure
    (axes,) = figure.axes
    assert [text.get_text() for text in axes.texts] == ["wanted: 1 %"]
    assert len([line for line in axes.lines if line.get_label() in LOOKS]) == 3
    assert "wanted 1 %" in picture.alt
    assert "over 2 to 6 replications" in picture.alt


def test_a_ratio_that_is_waited_for_narrows_to_its_interval() -> None:
    units, sums = replicated(6)
    wanted = Target(MetricKey("lock_latency_ms"), 0.02, "in_memory", "sync")
    (found,) = convergences(units, sums, [wanted], set())
    assert found.name == "lock_latency_ms\nin_memory / sync"
    assert list(found.lines) == ["in_memory"]
    latency = {
        name: sums["lock_latency", "all", "mean"][units["variant"] == name].to_numpy()
        for name in VARIANTS
    }
    middle, _, high = paired_ratios(latency["in_memory"][None, :], latency["sync"][None, :])
    assert found.lines["in_memory"][-1] == pytest.approx(np.log(high[0] / middle[0]))
    (axes,) = convergence([found], LOOKS, "").figure.axes
    assert [text.get_text() for text in axes.texts] == ["wanted: 2 %"]
    assert "lock_latency_ms, in_memory / sync over 2 to 6" in convergence([found], LOOKS, "").alt


def test_a_ratio_whose_baseline_is_refused_is_not_shown() -> None:
    wanted = Target(MetricKey("lock_latency_ms"), 0.02, "in_memory", "sync")
    refused = {("sync", wanted.key)}
    assert convergences(*replicated(6), [wanted], refused) == []


def test_convergence_needs_three_replications_and_leaves_refused_numbers_out() -> None:
    assert convergences(*replicated(2), [], set()) == []
    refused = {(variant, MetricKey("lock_latency_ms")) for variant in VARIANTS}
    found = convergences(*replicated(3), [], refused)
    assert [one.name for one in found] == ["txn_per_s"], "what nobody counted is 0"
