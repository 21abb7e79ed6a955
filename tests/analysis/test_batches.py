"""Batches: parts of a unit's measured windows, in order, without a gap."""

import pandas as pd
import pytest

from analysis.pipeline.batches import batches_of


def units(**columns: object) -> pd.DataFrame:
    """Returns two replications of a variant: a second in windows of 100 ms, 200 ms of warm-up."""
    said = {"unit_hash": ["a", "b"], "variant": "sync", "replication": [0, 1],
            "window_ns": 100_000_000, "warmup_windows": 2, "simulated_s": 1.0}  # fmt: skip
    return pd.DataFrame(said | columns)


def test_a_unit_without_batches_is_one_after_its_warmup() -> None:
    (one, other) = batches_of(units(), 1).to_dict("records")
    assert (one["first_window"], one["end_window"]) == (2, 10)
    assert one["measured_s"] == pytest.approx(0.8)
    assert (one["replication"], other["replication"]) == (0, 1)


def test_batches_share_the_measured_windows() -> None:
    found = batches_of(units(), 4)
    assert found["unit_hash"].tolist() == ["a"] * 4 + ["b"] * 4
    assert found["first_window"].tolist() == [2, 4, 6, 8] * 2
    assert found["end_window"].tolist() == [4, 6, 8, 10] * 2
    assert found["replication"].tolist() == list(range(8))
    assert found["measured_s"].tolist() == pytest.approx([0.2] * 8)


def test_windows_that_do_not_divide_are_spread_and_none_is_lost() -> None:
    found = batches_of(units(), 3)
    assert found["first_window"].tolist()[:3] == [2, 4, 7]
    assert found["end_window"].tolist()[:3] == [4, 7, 10]


def test_the_last_window_may_be_cut_short() -> None:
    found = batches_of(units(simulated_s=0.95), 2)
    assert found["measured_s"].tolist()[:2] == pytest.approx([0.4, 0.35])
