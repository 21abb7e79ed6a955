"""The three steps of a sensitivity analysis, on functions whose answer is known."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from analysis.experiments.experiment import Request, Seen
from analysis.experiments.sensitivity import SensitivityAnalysis
from analysis.metrics.catalogue import MetricKey
from analysis.statistics.saturation import Verdict
from analysis.study.expectation import Expectation
from analysis.study.sections import Range, Sensitivity
from analysis.study.study import Study

LATENCY, BYTES = MetricKey("lock_latency_ms"), MetricKey("disk_write_bytes_per_txn")
FACTORS = (
    Range("hardware.disk.raft.append.mean", "100us", "1ms", "log"),
    Range("workload.threads", 10, 110),
    Range("hardware.lsm.write_amplification", 1, 10),
    Range("hardware.cpu.thread_hop", "20us", "50us"),
)

Model = Callable[[Sequence[float], int], float]
"""From the factors' shares and the replication to the logarithm of the ratio."""


def shares_of(point: Mapping[str, Any]) -> list[float]:
    append_us = {"ms": 1000.0, "us": 1.0}[str(point[FACTORS[0].key]).lstrip("0123456789.")]
    append_us *= float(str(point[FACTORS[0].key]).rstrip("mus"))
    return [
        math.log10(append_us / 100),
        (point[FACTORS[1].key] - 10) / 100,
        (point[FACTORS[2].key] - 1) / 9,
        (float(str(point[FACTORS[3].key]).removesuffix("us")) - 20) / 30,
    ]


@dataclass
class Laboratory(Seen):
    """Runs a round of requests on a model, as the loop of a study does."""

    model: Model
    bad: Callable[[Request], bool] = lambda _: False
    run: dict[str, float] = field(default_factory=dict)
    rounds: list[int] = field(default_factory=list)

    def name(self, request: Request) -> str:
        return json.dumps(request)

    def value(self, request: Request, key: MetricKey) -> float:
        ratio = self.run.get(self.name(request), math.nan)
        if request.variant == "pipelined":
            return 2.0 + 0.0 * ratio
        return 2.0 * math.exp(ratio if key == LATENCY else 0.0 * ratio - 0.2)

    def verdict(self, request: Request) -> Verdict | None:
        return Verdict.STABLE if self.name(request) in self.run else None

    def finish(self, experiment: SensitivityAnalysis) -> dict[str, Any]:
        known: set[str] = set()
        while True:
            asked = experiment.requests(self)
            new = [one for one in asked if self.name(one) not in known]
            if not new:
                return experiment.conclusion(self)
            known |= {self.name(one) for one in new}
            self.rounds.append(len(new))
            for one in new:
                if not self.bad(one):
                    self.run[self.name(one)] = self.model(shares_of(one.point), one.replication)


def analysis(
    *, expect: Sequence[Expectation] = (), variants: Sequence[str] = ("pipelined", "in_memory"),
    replications: int = 5, contours: Mapping[str, float] | None = None, **asked: Any,
) -> SensitivityAnalysis:  # fmt: skip
    settings: dict[str, Any] = {
        "factors": FACTORS,
        "outcomes": (LATENCY,),
        "keep": 2,
        "samples": 64,
        "seed": 1,
    } | asked
    study = SimpleNamespace(
        variants=dict.fromkeys(variants), replications=replications, expect=expect,
        contours=contours or {}, sensitivity=Sensitivity(**settings),
    )  # fmt: skip
    return SensitivityAnalysis(cast("Study", study))


def luck(replication: int) -> float:
    return 0.01 * (replication - 2)


def disk_and_threads(x: Sequence[float], replication: int) -> float:
    """Disk four times the variance of threads, nothing else; ln 0.36 at the centre."""
    return math.log(0.36) - 1.2 * (x[0] - 0.5) + 0.6 * (x[1] - 0.5) + luck(replication)


def test_the_first_round_is_the_centre_and_the_trajectories() -> None:
    first = analysis().requests(Laboratory(disk_and_threads))
    centre = {
        "hardware.disk.raft.append.mean": "316.2us",
        "workload.threads": 60,
        "hardware.lsm.write_amplification": 6,
        "hardware.cpu.thread_hop": "35us",
    }
    assert [one.replication for one in first[:10:2]] == [0, 1, 2, 3, 4]
    assert all(dict(one.point) == centre for one in first[:10])
    assert {one.replication for one in first[10:]} == {0}
    assert len(first) <= 10 + 2 * 6 * 5
    assert len({json.dumps(one) for one in first}) == len(first)


def test_only_what_stands_out_goes_on_and_gets_its_share_of_variance() -> None:
    laboratory = Laboratory(disk_and_threads)
    found = laboratory.finish(analysis(keep=3))
    assert found["kept"] == [FACTORS[0].key, FACTORS[1].key]
    (outcome,) = found["outcomes"]
    effects = {row["factor"]: row for row in outcome["morris"]["effects"]}
    assert effects[FACTORS[0].key]["mu"] == pytest.approx(-1.2, rel=0.01)
    assert effects[FACTORS[1].key]["mu_star"] == pytest.approx(0.6, rel=0.03)
    assert [row["above_noise"] for row in outcome["morris"]["effects"]] == [
        True,
        True,
        False,
        False,
    ]
    indices = {row["factor"]: row for row in outcome["sobol"]["indices"]}
    assert indices[FACTORS[0].key]["total"] == pytest.approx(0.8, abs=0.1)
    assert indices[FACTORS[1].key]["total"] == pytest.approx(0.2, abs=0.1)
    assert outcome["shares"]["from"] == "polynomial"
    assert [row["own"] for row in outcome["shares"]["factors"]] == pytest.approx(
        [0.8, 0.2], abs=0.01
    )
    assert len(laboratory.rounds) == 2
    assert laboratory.rounds[1] <= 2 * (64 * 4 + 10)


def test_shares_are_those_of_the_blocks_where_a_polynomial_predicts_nothing() -> None:
    rough = Laboratory(lambda x, replication: math.sin(40 * x[0]) + luck(replication))
    (outcome,) = rough.finish(analysis(keep=2))["outcomes"]
    assert outcome["shares"]["from"] == "blocks"
    assert outcome["shares"]["factors"][0]["total"] == outcome["sobol"]["indices"][0]["total"]
    (vague,) = rough.finish(analysis(keep=2, samples=4))["outcomes"]
    assert vague["shares"]["factors"][0]["total_conf"] > 0.5
    assert "% of the variance" not in vague["says"]


def test_the_base_has_an_interval_and_the_noise_is_that_between_replications() -> None:
    (outcome,) = Laboratory(disk_and_threads).finish(analysis())["outcomes"]
    assert outcome["base"]["value"] == pytest.approx(0.36, rel=1e-3)
    assert outcome["base"]["ci_low"] == pytest.approx(0.353, abs=0.001)
    assert outcome["noise"]["deviation"] == pytest.approx(np.std([-2, -1, 0, 1, 2], ddof=1) / 100)
    assert outcome["scale"] == "logarithm of the ratio"


def test_a_quantile_has_the_histograms_error_in_its_interval() -> None:
    tail = MetricKey("lock_latency_ms", "all", "p99")
    (outcome,) = Laboratory(disk_and_threads).finish(analysis(outcomes=(tail,)))["outcomes"]
    # All replications give exp(-0.2); two histograms are off by 0.54 % each.
    assert outcome["base"]["ci_high"] == pytest.approx(math.exp(-0.2) * 1.0109, rel=1e-4)


def claim(below: float) -> Expectation:
    return Expectation(
        metric="lock_latency_ms", stat="mean", class_="all", variant="in_memory",
        against="pipelined", below=below, above=None,
    )  # fmt: skip


def test_the_sentence_says_what_moves_it_and_where_it_passes_the_threshold() -> None:
    (outcome,) = Laboratory(disk_and_threads).finish(analysis(expect=[claim(0.5)]))["outcomes"]
    # ln 0.5 - ln 0.36 = 0.3285; luck adds 0.02; a share of 0.5 - 0.3485 / 1.2 = 0.2096, 162 us.
    assert outcome["walks"][0]["crossings"] == [{"level": 0.5, "at": "162us", "side": "below"}]
    assert outcome["says"].startswith(
        "lock_latency_ms, in_memory / pipelined is 0.36 [0.353, 0.367] at the centre; "
        "hardware.disk.raft.append.mean (80 ± 0 % of the variance) moves it between"
    )
    assert "moves it between 0.194 (at 1ms) and 0.643 (at 100us)" in outcome["says"]
    assert outcome["says"].endswith("with hardware.disk.raft.append.mean below 162us it passes 0.5")


def test_without_a_claim_the_threshold_is_that_of_a_map_or_else_one() -> None:
    near = analysis(contours={"lock_latency_ms": 0.5})
    assert Laboratory(disk_and_threads).finish(near)["outcomes"][0]["thresholds"] == [0.5]
    (outcome,) = Laboratory(disk_and_threads).finish(analysis())["outcomes"]
    assert outcome["thresholds"] == [1.0]
    assert "no factor alone takes it past 1, and none of the" in outcome["says"]


def test_a_threshold_that_only_several_factors_pass_together() -> None:
    (outcome,) = Laboratory(disk_and_threads).finish(analysis(expect=[claim(0.7)]))["outcomes"]
    assert "no factor alone takes it past 0.7, but several together do (" in outcome["says"]


def test_a_walk_with_a_gap_says_that_not_all_of_it_was_judged() -> None:
    def end_of_the_walk(request: Request) -> bool:
        return (request.point[FACTORS[0].key], request.point[FACTORS[1].key]) == ("1ms", 60)

    laboratory = Laboratory(disk_and_threads, bad=end_of_the_walk)
    (outcome,) = laboratory.finish(analysis())["outcomes"]
    assert None in outcome["walks"][0]["outcomes"]
    assert "takes it past 1 at the points that could be judged, and none of the" in outcome["says"]


def test_an_outcome_that_does_not_vary_says_so_and_asks_for_nothing_more() -> None:
    laboratory = Laboratory(disk_and_threads)
    found = laboratory.finish(analysis(outcomes=(BYTES,)))
    (outcome,) = found["outcomes"]
    assert laboratory.rounds[1:] == []
    assert not outcome["varies"]
    assert all(row["mu_star"] == 0 for row in outcome["morris"]["effects"])
    assert "does not vary" in outcome["says"]
    assert "NaN" not in json.dumps(found)


def test_luck_alone_keeps_no_factor() -> None:
    draws = np.random.Generator(np.random.PCG64(3))
    noise = Laboratory(lambda _x, _replication: float(draws.normal(0.0, 0.05)))
    found = noise.finish(analysis(replications=8))
    assert found["kept"] == []
    assert "more than chance does" in found["outcomes"][0]["says"]
    assert found["outcomes"][0]["sobol"] is None


def test_a_failed_unit_takes_its_trajectory_along_and_holds_nothing_up() -> None:
    walks = analysis()
    first = walks.requests(Laboratory(disk_and_threads))
    victim = json.dumps(first[-1])
    laboratory = Laboratory(disk_and_threads, bad=lambda one: json.dumps(one) == victim)
    (outcome,) = laboratory.finish(walks)["outcomes"]
    assert outcome["morris"]["used"] in (4, 5)  # two trajectories may meet in a point
    assert outcome["morris"]["of"] == 6
    assert outcome["sobol"]["used"] == 64


def test_a_failed_sample_takes_its_block_along() -> None:
    first = {json.dumps(one) for one in analysis().requests(Laboratory(disk_and_threads))}
    late: list[str] = []

    def bad(one: Request) -> bool:
        late.extend([json.dumps(one)] if json.dumps(one) not in first else [])
        return late[:1] == [json.dumps(one)]

    (outcome,) = Laboratory(disk_and_threads, bad=bad).finish(analysis())["outcomes"]
    assert outcome["sobol"]["used"] == 63


def test_if_all_fails_there_is_nothing_to_say() -> None:
    laboratory = Laboratory(disk_and_threads, bad=lambda _: True)
    found = laboratory.finish(analysis())
    assert len(laboratory.rounds) == 1
    assert found["outcomes"][0]["base"]["value"] is None
    assert "too few trajectories" in found["outcomes"][0]["says"]


def test_one_variant_is_judged_by_its_value() -> None:
    claims = [replace(claim(1.0), against=None)]
    alone = analysis(variants=["in_memory"], expect=claims)
    (outcome,) = Laboratory(disk_and_threads).finish(alone)["outcomes"]
    assert (outcome["baseline"], outcome["scale"]) == (None, "value")
    assert outcome["base"]["value"] == pytest.approx(0.72, rel=1e-3)
    assert "lock_latency_ms is 0.72" in outcome["says"]
    assert outcome["walks"][0]["crossings"][0]["level"] == 1.0


def test_of_three_variants_only_the_first_two_are_run() -> None:
    three = analysis(variants=["pipelined", "in_memory", "sync"])
    assert {one.variant for one in three.requests(Laboratory(disk_and_threads))} == {
        "pipelined", "in_memory",
    }  # fmt: skip


def test_the_same_study_asks_and_concludes_the_same() -> None:
    one, two = (Laboratory(disk_and_threads) for _ in range(2))
    assert one.finish(analysis()) == two.finish(analysis())
    assert list(one.run) == list(two.run)


def test_progress_names_the_step() -> None:
    walks, laboratory = analysis(), Laboratory(disk_and_threads)
    assert walks.progress(laboratory) == "screening 4 factors on 6 trajectories of 5 points"
    laboratory.finish(walks)
    assert walks.progress(laboratory) == (
        "Sobol' indices of hardware.disk.raft.append.mean, workload.threads from 256 samples"
    )
