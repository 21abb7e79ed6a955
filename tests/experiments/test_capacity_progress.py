"""What a capacity search says between rounds comes true."""

from __future__ import annotations

import re

import pytest

from analysis.experiments.capacity import CapacitySearch
from tests.experiments.test_capacity import QueueSeen, study

LEFT = re.compile(r"about (\d+) rounds?, (\d+) units? to")
BETWEEN = re.compile(r"(\w+): between ([\d,.]+) and ([\d,.]+);")


@pytest.mark.parametrize("most", [1.0, 0.7, 1.6])
def test_progress_never_narrows_to_a_wrong_interval_and_foresees_the_rounds(most: float) -> None:
    search, seen = CapacitySearch(study()), QueueSeen(scale=most)
    found = seen.search(search)
    loads = {case["variant"]: case["load"] for case in found["cases"]}
    for number, told in enumerate(seen.told):
        left = LEFT.search(told)
        assert left, told
        units = len(seen.taken) - seen.sizes[number]
        assert abs(int(left[1]) - (seen.rounds - number)) <= 2, (number, told)
        assert abs(int(left[2]) - units) <= max(0.4 * units, 4), (number, told)
        between = BETWEEN.search(told)
        if between:
            low, high = (float(end.replace(",", "")) for end in between.groups()[1:])
            assert 0.999 * low <= loads[between[1]] <= 1.001 * high, told


def test_progress_says_what_is_left() -> None:
    search, seen = CapacitySearch(study()), QueueSeen()
    assert "lock_latency_ms.p99 ≤ 10" in search.progress(seen)
    seen.search(search)
    assert search.progress(seen) == "2 of 2 capacities found"
