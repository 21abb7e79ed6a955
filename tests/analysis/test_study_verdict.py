"""One verdict decides, from the verdicts of units, expectations and invariants."""

from __future__ import annotations

from typing import Any

import pytest

from analysis.report.study_verdict import StudyOutcome, study_verdict


def summary(*verdicts: str, holds: bool = True, **more: Any) -> dict[str, Any]:
    return {
        "units": [
            {"point": {}, "variant": f"v{place}", "verdicts": {verdict: 2}, "reason": "because"}
            for place, verdict in enumerate(verdicts)
        ],
        "expectations": [{"holds": holds}],
        "invariants": {"violations": []},
        **more,
    }


@pytest.mark.parametrize(
    ("content", "outcome", "fails"),
    [
        (summary("stable", "near saturation", "not judged", "overloaded"), "passed", False),
        (summary("stable", "degraded"), "degraded", False),
        (summary("degraded", "outage"), "outage", True),
        (summary("degraded", holds=False), "failed", True),
        (summary("outage", holds=False), "outage", True),
        (summary("stable", invariants={"violations": [{"what": "two holders"}]}), "failed", True),
        (summary("outage", capacity={}), "passed", False),
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
    assert found.says == "in 1 of 3 cases work stopped and had not come back when the run ended."
    assert study_verdict(summary("stable")).stopped == ()
    assert study_verdict(summary("stable")).says == ""
