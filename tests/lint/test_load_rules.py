"""A rate that no cluster of this size carries is told before it is simulated for minutes."""

from __future__ import annotations

from pathlib import Path

from tests.lint.test_scenario_lint import CLOSED, warned


def test_a_rate_far_beyond_the_estimate_is_told_with_what_can_be_carried(tmp_path: Path) -> None:
    (said,) = warned(tmp_path, "workload.rate=100000/s")
    assert said == (
        "workload.rate: apply would have to be 1001 % busy: what arrives piles up, and each unit "
        "takes long; about 10,000/s is what it carries (explain says more)"
    )
    assert warned(tmp_path, "workload.rate=10000/s") == []


def test_the_highest_rate_of_a_sweep_counts_but_no_load_that_is_searched(tmp_path: Path) -> None:
    rates = "sweep.grid={workload.rate: [100/s, 100000/s, 1000/s]}"
    (said,) = warned(tmp_path, rates)
    assert "1001 % busy" in said
    searched = (
        "capacity={load: workload.rate, between: [1/s, 100000/s], slo: {lock_latency_ms: 5ms}}"
    )
    assert warned(tmp_path, "workload.rate=100000/s", searched) == []


def test_clients_that_wait_for_each_answer_never_pile_up(tmp_path: Path) -> None:
    assert warned(tmp_path, *CLOSED, "workload.threads=5000") == []
