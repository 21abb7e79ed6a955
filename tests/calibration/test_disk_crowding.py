"""More jobs than were measured: what fio measured with them, from runs with fewer."""

from __future__ import annotations

from pathlib import Path

import pytest

from analysis.calibration.disk_crowding import Crowded, crowded
from analysis.calibration.disk_fit import LEVELS, RunFit, fits, predicted_by, predictions
from analysis.calibration.disk_profile import DiskProfile, profiles_of
from analysis.calibration.fio_file import read_fio
from analysis.calibration.histogram import GRID, Pairs, at_rank

GROUPED = Path(__file__).resolve().parents[1] / "testdata" / "fio_grouped"
"""fdatasync after 4 KiB into a preallocated file, 8 s each, with 1 to 16 jobs; 2 vCPU AMD EPYC,
virtio, ext4 without a journal, fio 3.33 --group_reporting, 2026-11-22."""


def _profile(*jobs: int) -> DiskProfile:
    return profiles_of([read_fio(GROUPED / f"jobs{n}.json") for n in jobs], "x")[0]


def _unseen(known: DiskProfile, jobs: int) -> tuple[dict[float, float], float]:
    """Returns the errors at ``LEVELS``, and of the accesses per second."""
    fit: RunFit = predicted_by(known, read_fio(GROUPED / f"jobs{jobs}.json"))
    return dict(zip(LEVELS, fit.errors, strict=True)), fit.modelled_per_s / fit.measured_per_s - 1


@pytest.mark.parametrize("jobs", [8, 16])
def test_four_times_the_jobs_follow_from_one_two_and_four(jobs: int) -> None:
    errors, of_rate = _unseen(_profile(1, 2, 4), jobs)
    assert abs(of_rate) < 0.08
    assert all(abs(errors[level]) < 0.10 for level in (0.5, 0.75, 0.9, 0.95, 0.99, 0.999)), errors


@pytest.mark.parametrize("jobs", [4, 8, 16])
def test_two_jobs_alone_say_the_order_of_what_follows(jobs: int) -> None:
    errors, of_rate = _unseen(_profile(1, 2), jobs)
    assert abs(of_rate) < 0.15
    assert abs(errors[0.5]) < 0.10


def test_the_first_other_access_is_met_by_chance() -> None:
    errors, _ = _unseen(_profile(1, 4), 2)
    assert abs(errors[0.5]) < 0.08
    assert abs(errors[0.999]) < 0.30


def test_with_every_number_measured_the_model_says_what_fio_did() -> None:
    profile = _profile(1, 2, 4, 8, 16)
    assert [fit.run.in_flight for fit in fits([profile])] == [1, 2, 4, 8, 16]
    assert all(fit.holds for fit in fits([profile]))
    assert [fit.run.in_flight for fit in predictions(profile)] == [2, 4, 8, 16]


def test_at_its_limit_a_device_serves_no_more_however_many_come() -> None:
    found = _profile(1, 2, 4, 8, 16).crowded
    assert found is not None
    assert found.most_ns / found.least_ns < 1.2
    per_s = 1e9 / at_rank(found.further, 0.5)
    assert per_s == pytest.approx(read_fio(GROUPED / "jobs16.json").per_s, rel=0.1)


def _flat(ns: int) -> Pairs:
    return tuple((rank, ns) for rank in GRID)


def _crowded(*latencies: int) -> Crowded:
    """Latencies with 1, 2, 4, ... in flight."""
    numbers = [2**place for place in range(len(latencies))]
    levels = dict(zip(numbers[1:], map(_flat, latencies[1:]), strict=True))
    return crowded(_flat(latencies[0]), levels)


@pytest.mark.parametrize(
    ("latencies", "beyond_ns", "least", "most"),
    [
        # One server: throughput is at its limit from the first on.
        ((100, 200, 400), 800, 100, 100),
        # A delay: nobody waits for anybody, which may end at once.
        ((100, 100, 100), 100, 0, 25),
        # Half of each: the last step costs more than the mean of all.
        ((100, 110, 160), 260, 25, 40),
        # Two alone: four by the chance of meeting one.
        ((100, 160), 190, 30, 47),
        # It became quicker, by luck.
        ((100, 90, 80), 80, 0, 20),
    ],
)
def test_what_each_adds_lies_between_the_bounds(
    latencies: tuple[int, ...], beyond_ns: int, least: int, most: int
) -> None:
    found = _crowded(*(ns * 1000 for ns in latencies))
    assert found.beyond == 2 ** len(latencies)
    assert at_rank(found.then, 0.5) == pytest.approx(beyond_ns * 1000, rel=0.02)
    assert found.least_ns == pytest.approx(least * 1000, abs=1000)
    assert found.most_ns == pytest.approx(most * 1000, abs=1000)
    middle = (found.least_ns + found.most_ns) / 2
    assert at_rank(found.further, 0.5) == pytest.approx(middle, abs=1)


def test_a_stall_is_waited_for_once() -> None:
    def with_stalls(ns: int, stall_ns: int) -> Pairs:
        return tuple((rank, stall_ns if rank > 0.99 else ns) for rank in GRID)

    found = crowded(
        with_stalls(100_000, 2_000_000),
        {2: with_stalls(200_000, 5_000_000), 4: with_stalls(400_000, 9_000_000)},
    )
    assert at_rank(found.further, 0.999) == at_rank(found.further, 0.5) == 100_000
    assert at_rank(found.then, 0.999) == 9_000_000 + 4 * 100_000
