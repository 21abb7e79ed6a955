"""The rows that a capacity search adds to ``summary.json``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from analysis.experiments.capacity_conclusion import CAPACITY_METRICS


def capacity_rows(conclusion: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Returns ``capacity_load`` and ``capacity_txn_per_s`` (stat ``max``) of every case.

    Args:
        conclusion: of a ``CapacitySearch``. A capacity beyond the ends of the search has no value;
            ``refused`` says why.
    """
    rows = []
    for case in conclusion["cases"]:
        found = case["status"] == "found"
        for metric, column in CAPACITY_METRICS:
            row = {
                "point": case["point"],
                "variant": case["variant"],
                "metric": metric,
                "class": "all",
                "stat": "max",
                "value": case[column] if found else None,
                "ci_low": case[f"{column}_ci_low"],
                "ci_high": case[f"{column}_ci_high"],
                "replications": case["replications"],
                "unit": conclusion["unit"] if column == "load" else "1/s",
            }
            rows.append(row if found else row | {"refused": why_refused(conclusion, case)})
    return rows


def why_refused(conclusion: Mapping[str, Any], case: Mapping[str, Any]) -> str:
    """Returns why a case has no capacity, and what to do."""
    low, high = conclusion["between"]
    if case["without_value"]:
        return f"no unit has a value of {', '.join(case['without_value'])}: check the class's name"
    words = {
        "above": f"more than {high:g}: all is met at the upper end, raise capacity.between",
        "at least": f"at least {case['load'] or 0:.4g}: some replications meet all at the upper "
        "end, raise capacity.between",
        "below": f"less than {low:g}: {case['binds']} breaks the promise at the lower end already, "
        "lower capacity.between or raise its limit",
        "at most": f"at most {case['load'] or 0:.4g}: some replications do not meet all at the "
        "lower end, lower capacity.between",
    }
    return words.get(case["status"], "not known: units are missing or have failed")
