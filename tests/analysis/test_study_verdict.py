"""One verdict decides, from the verdicts of units, expectations and invariants."""

from __future__ import annotations

from typing import Any

import pytest

from analysis.report.study_verdict import study_verdict
from analysis.study.study_outcome import StudyOutcome


def summary(*verdicts: str, holds: bool = True, **more: Any) -> dict[str, Any]:
    return {
        "units": [
            {
                "point": {},
                "variant": f"v{place}",
                "verdicts": {verdict: 2},
                "reason": "because",
                "others_went_on": False,
            }
            for place, verdict in enumerate(verdicts)
        ],
        "expectations": [{"holds": holds}],
        "invariants": {"violations": []},
        **more,
    }


def searched(*binds: str) -> dict[str, Any]:
    """Returns a search that ended below its lowest load, for these reasons."""
    return {
        "between": [50.0, 400.0],
        "unit": "1/s",
        "cases": [
            {
                "point": {},
                "variant": f"v{place}",
                "status": "below",
                "binds": each,
                "without_value": [],
                "load": 50.0,
            }
            for place, each in enumerate(binds)
        ],
    }


@pytest.mark.parametrize(
    ("content", "outcome", "fails"),
    [
        (summary("stable", "near saturation", "not judged"), "passed", False),
        (summary("stable", "overloaded", "not settled"), "overloaded", False),
        (summary("stable", "not settled"), "unsettled", False),
        (summary("overloaded", "degraded"), "degraded", False),
        (summary("overloaded", holds=False), "failed", True),
        (summary("overloaded", capacity={}), "passed", False),
        (summary("stable", "degraded"), "degraded", False),
        (summary("degraded", "outage"), "outage", True),
        (summary("degraded", holds=False), "failed", True),
        (summary("outage", holds=False), "outage", True),
        (summary("stable", invariants={"violations": [{"what": "two holders"}]}), "failed", True),
        (summary("outage", capacity={}), "passed", False),
        (summary("outage", capacity=searched("outage", "overload")), "outage", True),
        (summary("outage", capacity=searched("lock_latency_ms.p99", "overload")), "unmet", False),
    ],
)
def test_the_gravest_decides(content: dict[str, Any], outcome: str, fails: bool) -> None:
    found = study_verdict(content)
    assert found.outcome == outcome
    assert found.fine is (outcome == "passed")
    assert StudyOutcome(found.outcome).fails is fails


def test_every_case_that_stopped_is_named_the_worst_first() -> None:
    found = study_verdict(summary("stable", "degraded", "outage"))
    assert found.stopped == ("v2: outage (because)", "v1: degraded (because)")
    assert found.says == (
        "in 1 of 3 cases (v2), work stopped or nearly stopped, and had not come back when the run "
        "ended."
    )
    two = study_verdict(summary("stable", "degraded", "degraded")).says
    assert two.startswith("in 2 of 3 cases throughput fell")
    assert study_verdict(summary("stable")).stopped == ()
    assert study_verdict(summary("stable")).says == ""


def test_where_others_went_on_work_is_not_said_to_have_stopped() -> None:
    content = summary("outage", "outage")
    content["units"][0]["others_went_on"] = True
    says = "work stopped or nearly stopped, and had not come back when the run ended."
    assert study_verdict(content).says == f"in 1 of 2 cases (v1), {says}"
    content["units"].pop()
    says = "some transactions stopped and had not ended when the run did."
    assert study_verdict(content).says == says
    assert study_verdict(content).outcome == "outage"


def test_what_piles_up_or_is_too_short_is_said_and_drifts_by_chance_are_not() -> None:
    says = "in 1 of 2 cases (v1), work piled up: more was asked for than was done."
    assert study_verdict(summary("stable", "overloaded")).says == says
    assert study_verdict(summary("not settled")).says == "the run was too short for its latencies."
    content = summary("stable")
    content["units"][0]["verdicts"] = {"stable": 11, "not settled": 1}
    assert study_verdict(content).fine


def test_a_search_in_which_work_stops_below_the_capacity_is_not_fine() -> None:
    content = searched("outage")
    loads = [{"load": 75.0, "stopped": 1}, {"load": 250.0, "stopped": 2}]
    content["cases"][0] |= {"status": "found", "load": 200.0, "loads": loads}
    found = study_verdict(summary("outage", capacity=content))
    assert (found.outcome, found.says) == (
        "outage",
        "work stopped at a load that was to be carried.",
    )
    assert found.stopped == (
        "v0: work stopped at 75/s already, look at what is done to the cluster",
    )
    content["cases"][0]["loads"] = loads[1:]
    assert study_verdict(summary("outage", capacity=content)).fine


def test_a_search_whose_promise_is_broken_at_the_lowest_load_is_not_fine() -> None:
    content = searched("lock_latency_ms.p99", "overload")
    found = study_verdict(summary("stable", capacity=content))
    assert (found.outcome, found.fine, found.says) == ("unmet", False, "")
    content["cases"][1] |= {"status": "found", "load": 200.0, "loads": []}
    found = study_verdict(summary("stable", capacity=content))
    says = "in 1 of 2 cases (v0), the promise is broken at the lowest load already."
    assert (found.outcome, found.fine, found.says) == ("unmet", False, says)


def test_a_search_whose_lowest_load_stops_says_so() -> None:
    found = study_verdict(summary("outage", capacity=searched("outage", "overload")))
    assert found.says == "in 1 of 2 cases (v0), work stopped at the lowest load already."
    assert found.stopped == (
        "v0: less than 50/s: work stops at the lower end already, look at what is done to the "
        "cluster",
    )
