"""Stations by themselves: what a log writes and how a disk under jobs answers."""

from __future__ import annotations

from statistics import fmean

import pytest

from sim.queueing.devices import DEVICE, device_bytes
from sim.queueing.formulas import closed_network_rate, mean_wait, order_statistic_mean


def test_appends_of_whole_pages_write_nothing_else() -> None:
    assert set(DEVICE["log_recycled_4k"]()) == {4096}


def test_a_growing_file_costs_metadata_with_every_sync() -> None:
    assert set(DEVICE["log_growing_1k"]()) == {4096 + 4096}
    assert set(device_bytes(1024, "growing", "ext4")) == {4096 + 12288}
    assert set(device_bytes(1024, "growing", "xfs")) == {4096 + 1024}


def test_a_preallocated_file_costs_metadata_with_every_page_that_is_new() -> None:
    assert set(device_bytes(4096, "preallocated", "ext4")) == {4096 + 12288}
    quarters = device_bytes(1024, "preallocated", "ext4")
    assert quarters[:8] == [4096 + 12288, 4096, 4096, 4096] * 2
    assert fmean(device_bytes(2560, "preallocated", "xfs")) == pytest.approx(
        4096 * (1 + 0.625 - 0.125) + 1024 * 0.625, rel=0.01
    )


def test_other_appends_touch_one_page_more_as_often_as_they_cross_into_it() -> None:
    assert fmean(device_bytes(160)) == pytest.approx(4096 + 160, rel=0.01)


def test_a_payload_without_room_for_framing_is_refused() -> None:
    with pytest.raises(ValueError, match="framing"):
        device_bytes(100)


def test_formulas_at_their_known_ends() -> None:
    assert mean_wait(1, 0.05, 10.0) == pytest.approx(10.0)
    assert order_statistic_mean(1, 1, 7.0) == 7.0
    assert order_statistic_mean(3, 3, 6.0) == pytest.approx(11.0)
    assert closed_network_rate([5.0], 0.0, 9) == pytest.approx(0.2)
    assert closed_network_rate([5.0], 15.0, 1) == pytest.approx(0.05)
