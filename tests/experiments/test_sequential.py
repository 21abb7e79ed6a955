"""Replications in rounds: enough for each point, paired, never more than the ceiling."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from analysis.experiments.experiment import Request
from analysis.experiments.sequential import SequentialDesign
from analysis.metrics.catalogue import MetricKey
from analysis.statistics.intervals import relative_half_widths
from analysis.study.run import Precision, Target
from sim.record.histogram import RELATIVE_ERROR
from tests.experiments.fake_seen import FakeSeen, run_to_the_end

LATENCY = MetricKey("lock_latency_ms", "all", "p99")
BYTES = MetricKey("disk_write_bytes_per_txn")
VARIANTS = ("pipelined", "in_memory")
QUIET, LOUD = {"workload.threads": 10}, {"workload.threads": 400}


def draw(request: Request, spread: float) -> float:
    """Returns a lognormal number of mean about one that belongs to the request."""
    seed = [request.replication, *map(ord, f"{request.point} {request.variant}")]
    return float(np.exp(spread * np.random.default_rng(seed).standard_normal()))  # noqa: TID251


def noisy(request: Request, key: MetricKey) -> float:
    """A model in which the loud point is ten times as noisy."""
    loud = request.point == LOUD
    return draw(request, 0.3 if loud and key == LATENCY else 0.005)


def design(*targets: tuple[MetricKey, float], most: int = 100) -> SequentialDesign:
    wanted = tuple(Target(key, width) for key, width in targets)
    return SequentialDesign((QUIET, LOUD), VARIANTS, 5, Precision(wanted, most))


def counts(seen: FakeSeen) -> dict[str, int]:
    """Returns how many replications each point has; all its variants have the same."""
    by_point: dict[str, set[int]] = {}
    for point, variant, _ in seen.taken:
        number = sum(other[:2] == (point, variant) for other in seen.taken)
        by_point.setdefault(point, set()).add(number)
    assert all(len(numbers) == 1 for numbers in by_point.values())
    return {point: numbers.pop() for point, numbers in by_point.items()}


def test_a_noisy_point_gets_more_replications_and_a_quiet_one_does_not() -> None:
    experiment, seen = design((LATENCY, 0.1), (BYTES, 0.02)), FakeSeen(noisy)
    run_to_the_end(experiment, seen)
    quiet, loud = counts(seen).values()
    assert quiet == 5
    assert 20 < loud <= 100
    found = experiment.conclusion(seen)["targets"]
    assert len(found) == 2 * 2 * 2
    assert all(target["met"] and target["reached"] <= target["wanted"] for target in found)


class InBatches(FakeSeen):
    """Units of four batches, each as noisy as a replication."""

    def values(self, request: Request, key: MetricKey) -> tuple[float, ...]:
        """Returns the values of a unit that was run."""
        parts = (request._replace(replication=4 * request.replication + part) for part in range(4))
        return tuple(noisy(part, key) if self.verdict(request) else math.nan for part in parts)


def test_a_batch_counts_as_a_replication() -> None:
    wanted = Precision((Target(LATENCY, 0.1),), 100)
    experiment, seen = SequentialDesign((LOUD,), VARIANTS, 2, wanted), InBatches(noisy)
    run_to_the_end(experiment, seen)
    (count,) = counts(seen).values()
    for target in experiment.conclusion(seen)["targets"]:
        requests = [Request(LOUD, target["variant"], part) for part in range(4 * count)]
        values = np.array([[noisy(request, LATENCY) for request in requests]])
        half_width = relative_half_widths(values)[0] + RELATIVE_ERROR  # of the histogram's buckets
        assert target["reached"] == half_width <= 0.1
        assert target["replications"] == count


def test_a_ratio_asks_for_more_of_its_two_variants_alone() -> None:
    loud = Target(LATENCY, 0.1, "in_memory", "pipelined")
    quiet = Target(BYTES, 0.02, "sync", "pipelined")
    variants, wanted = (*VARIANTS, "sync"), Precision((loud, quiet), 100)
    experiment, seen = SequentialDesign((LOUD,), variants, 5, wanted), FakeSeen(noisy)
    run_to_the_end(experiment, seen)
    pipelined, in_memory, sync = (
        sum(request.variant == variant for request in seen.taken.values()) for variant in variants
    )
    assert pipelined == in_memory > 20
    assert sync == 5
    found = experiment.conclusion(seen)["targets"]
    assert [target["replications"] for target in found] == [in_memory, sync]
    assert all(target["met"] for target in found)
    assert SequentialDesign((LOUD,), variants, 5, wanted).requests(seen) == experiment.requests(
        seen
    )


def test_the_ceiling_holds_and_is_told() -> None:
    experiment, seen = design((LATENCY, 0.001), most=12), FakeSeen(noisy)
    run_to_the_end(experiment, seen)
    assert list(counts(seen).values()) == [12, 12]
    assert not any(target["met"] for target in experiment.conclusion(seen)["targets"])
    assert "0 of 4 figures are precise enough" in experiment.progress(seen)
    assert "±0.10% wanted" in experiment.progress(seen)


def test_before_anything_was_run_the_aim_is_told() -> None:
    text = design((LATENCY, 0.05)).progress(FakeSeen(noisy))
    assert text == "until lock_latency_ms.p99 ±5.00%; at most 100 replications"


def test_a_failed_unit_holds_nothing_up() -> None:
    seen = FakeSeen(noisy, failing=lambda request: request.replication == 2)
    experiment = design((LATENCY, 0.1))
    run_to_the_end(experiment, seen)
    assert max(target["replications"] for target in experiment.conclusion(seen)["targets"]) > 20


def test_a_failed_unit_is_replaced_if_its_value_is_needed() -> None:
    def alternating(request: Request, _: MetricKey) -> float:
        return 1.05 if request.replication % 2 else 0.95

    # Five values would be certain enough, four are not.
    seen = FakeSeen(alternating, failing=lambda request: request.replication == 2)
    experiment = design((LATENCY, 0.08))
    run_to_the_end(experiment, seen)
    targets = experiment.conclusion(seen)["targets"]
    assert all(target["met"] and target["replications"] >= 5 for target in targets)


def test_a_point_that_only_fails_ends() -> None:
    seen = FakeSeen(noisy, failing=lambda request: request.point == LOUD)
    experiment = design((LATENCY, 0.1))
    assert run_to_the_end(experiment, seen) == 1


def test_a_number_that_does_not_exist_is_not_waited_for() -> None:
    seen = FakeSeen(lambda request, key: math.nan if key == LATENCY else noisy(request, key))
    experiment = design((LATENCY, 0.1), (BYTES, 0.05))
    assert run_to_the_end(experiment, seen) == 1
    missing = [t for t in experiment.conclusion(seen)["targets"] if t["reached"] is None]
    assert len(missing) == 4
    assert not any(target["met"] for target in missing)


@given(st.floats(0.01, 0.5), st.integers(2, 40))
def test_what_is_asked_again_is_asked_alike(target: float, most: int) -> None:
    experiment, seen = design((LATENCY, target), most=most), FakeSeen(noisy)
    run_to_the_end(experiment, seen)
    assert design((LATENCY, target), most=most).requests(seen) == experiment.requests(seen)
    assert all(5 <= number <= max(5, most) for number in counts(seen).values())
