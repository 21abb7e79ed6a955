"""A question that its study cannot answer is told before it runs; one that it can is not."""

from __future__ import annotations

from pathlib import Path

from tests.lint.test_scenario_lint import AUTOCOMMIT, warned

SEARCH = "capacity={load: workload.rate, between: [100/s, 900/s], slo: {lock_latency_ms: 5ms}}"


def test_a_claim_at_loads_that_a_search_chooses_is_not_judged(tmp_path: Path) -> None:
    claim = "expect=[{metric: %s, variant: in_memory, above: 5}]"
    said = [one for one in warned(tmp_path, SEARCH, claim % "lock_latency_ms") if "expect" in one]
    assert said == [
        "expect[0]: it is not judged: a search for capacity chooses its loads itself; claim "
        "capacity_load or capacity_txn_per_s"
    ]
    assert not any("expect" in one for one in warned(tmp_path, SEARCH, claim % "capacity_load"))


def test_versions_may_differ_where_kinds_of_locks_make_no_difference(tmp_path: Path) -> None:
    older = "compare.pipelined.cluster.store_versions=5.4.0"
    (said,) = warned(tmp_path, AUTOCOMMIT)
    assert said.startswith("compare: the kind of locks makes no difference")
    assert warned(tmp_path, AUTOCOMMIT, older) == []
