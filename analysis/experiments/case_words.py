"""How a case, its capacity and an objective are called, in tables, figures and sentences."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from analysis.metrics.catalogue import METRICS, MetricKey
from analysis.metrics.rounding import digits, plain

OVERLOAD: Final = "overload"
"""Binds where the objectives are met until a run no longer settles."""
OUTAGE: Final = "outage"
"""Binds where work stops, before an objective is missed or at the lowest load already."""


def stops_below(case: Mapping[str, Any]) -> float | None:
    """Returns the least load at which work stopped although the case is said to carry more."""
    if case["load"] is None or case["status"] in {"below", "unknown"}:
        return None
    carried = (each["load"] for each in case["loads"] if each["load"] < case["load"])
    stopped = {each["load"] for each in case["loads"] if each.get("stopped")}
    return min((load for load in carried if load in stopped), default=None)


def case_words(case: Mapping[str, Any]) -> str:
    """Returns ``in_memory on gp3_max``, or ``in_memory at warehouses 500``."""
    values = [
        f"on {value}" if key == "hardware.profile" else f"at {key.rpartition('.')[2]} {value}"
        for key, value in case["point"].items()
    ]
    return " ".join([case["variant"], *values])


def key_of(said: Mapping[str, Any]) -> MetricKey:
    """Returns the figure that a row of ``summary.json`` is about, an objective or an outcome."""
    return MetricKey(said["metric"], said["class"], said["stat"])


def limit_words(objective: Mapping[str, Any]) -> str:
    """Returns the limit of an objective as a reader knows it: ``5 ms``, ``0.1 %``."""
    metric = METRICS[objective["metric"]]
    if metric.is_share:
        return f"{plain(100 * objective['limit'])} %"
    return f"{plain(objective['limit'])} {metric.unit}".rstrip()


def stop_words(found: Mapping[str, Any], case: Mapping[str, Any]) -> str:
    """Returns that work stopped at a load that was to be carried, and what to do; empty: no."""
    if case["status"] == "below" and case["binds"] == OUTAGE:
        return why_refused(found, case)
    load = stops_below(case)
    if load is None:
        return ""
    return (
        f"work stopped at {digits(load)}{unit_mark(found)} already, look at what is done to "
        "the cluster"
    )


def capacity_text(found: Mapping[str, Any], case: Mapping[str, Any]) -> str:
    """Returns ``1,830 [1,790, 1,870]``, or the bound that is known."""
    return " ".join(capacity_parts(found, case)).rstrip()


def capacity_parts(found: Mapping[str, Any], case: Mapping[str, Any]) -> tuple[str, str]:
    """Returns the load, or the bound that is known, and how certain it is: ``[1,790, 1,870]``."""
    low, high = found["between"]
    match case["status"]:
        case "found" if case["load_ci_low"] is None:
            return digits(case["load"]), f"(n={case['replications']})"
        case "found":
            ends = f"[{digits(case['load_ci_low'])}, {digits(case['load_ci_high'])}]"
            return digits(case["load"]), ends
        case "above":
            return f"more than {digits(high)}", ""
        case "below":
            return f"less than {digits(low)}", ""
        case "at least" | "at most":
            return f"{case['status']} {digits(case['load'])}", ""
        case _:
            return "not known", ""


def promise_words(found: Mapping[str, Any]) -> str:
    """Returns what is to be kept: ``lock_latency_ms.p99 ≤ 10 ms and txn_aborts ≤ 0.1 %``."""
    return " and ".join(f"{one['key']} ≤ {limit_words(one)}" for one in found["slo"])


def unit_words(found: Mapping[str, Any]) -> str:
    """Returns what a load is counted in, in words."""
    return "transactions a second" if found["unit"] == "1/s" else "threads"


def unit_mark(found: Mapping[str, Any]) -> str:
    """Returns what is written behind a load: ``/s`` or `` threads``."""
    return "/s" if found["unit"] == "1/s" else " threads"


def headroom_words(case: Mapping[str, Any]) -> str:
    """Returns ``+50 %``, ``< −17 %`` where a bound is known; empty: there is no present load."""
    if case["headroom"] is None:
        return ""
    bound = {"above": "> ", "at least": "> ", "below": "< ", "at most": "< "}
    return f"{bound.get(case['status'], '')}{100 * case['headroom']:+.0f} %".replace("-", "−")


def why_refused(conclusion: Mapping[str, Any], case: Mapping[str, Any]) -> str:
    """Returns why a case has no capacity, and what to do."""
    low, high = conclusion["between"]
    unit = unit_mark(conclusion)
    if case["without_value"]:
        return f"no unit has a value of {', '.join(case['without_value'])}: check the class's name"
    below = f"{case['binds']} breaks the promise at the lower end already, lower capacity.between "
    below += "or raise its limit"
    if case["binds"] == OVERLOAD:
        below = "the lower end is too much already, lower capacity.between"
    elif case["binds"] == OUTAGE:
        below = "work stops at the lower end already, look at what is done to the cluster"
    bound = f"{digits(case['load'] or 0)}{unit}"
    words = {
        "above": f"more than {digits(high)}{unit}: all is met at the upper end, "
        "raise capacity.between",
        "at least": f"at least {bound}: some replications meet all at the upper end, "
        "raise capacity.between",
        "below": f"less than {digits(low)}{unit}: {below}",
        "at most": f"at most {bound}: some replications do not meet all at the lower end, "
        "lower capacity.between",
    }
    return words.get(case["status"], "not known: units are missing or have failed")
