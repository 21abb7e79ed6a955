"""A capacity search goes on without the units that fail."""

from __future__ import annotations

import pytest

from analysis.experiments.capacity import CapacitySearch
from analysis.experiments.capacity_conclusion import capacity_rows
from tests.experiments.test_capacity import QueueSeen, name_of, rate_of, study


def test_a_failed_unit_is_gone_round() -> None:
    plain = QueueSeen()
    plain.search(CapacitySearch(study()))
    lost = max((each for each in plain.taken.values() if each.variant == "pipelined"), key=rate_of)
    seen = QueueSeen(lambda request: name_of(request) == name_of(lost))
    case = seen.search(CapacitySearch(study()))["cases"][0]
    assert case["status"] == "found"
    assert case["replications"] == 4


@pytest.mark.parametrize("broken", [0, 2])
def test_a_replication_that_always_fails_is_left_out(broken: int) -> None:
    seen = QueueSeen(lambda request: request.replication == broken)
    case = seen.search(CapacitySearch(study()))["cases"][0]
    assert (case["status"], case["replications"]) == ("found", 3)
    assert case["crossings"][broken] is None


def test_what_failed_is_known_to_a_search_that_is_taken_up_again() -> None:
    seen = QueueSeen(lambda request: request.replication == 2)
    whole = seen.search(CapacitySearch(study()))
    again = CapacitySearch(study())
    assert {name_of(each) for each in again.requests(seen)} == set(seen.taken)
    assert again.conclusion(seen) == whole


def test_when_everything_fails_the_search_ends() -> None:
    found = QueueSeen(lambda _: True).search(CapacitySearch(study()))
    assert {case["status"] for case in found["cases"]} == {"unknown"}
    assert "missing or have failed" in capacity_rows(found)[0]["refused"]
