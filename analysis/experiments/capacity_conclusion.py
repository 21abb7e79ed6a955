"""What a capacity search has found: plain values for ``summary.json``.

A case is ``found`` if every replication crosses between two loads that were tried. Where the
objectives are still met at the upper end of the search the capacity is ``above`` it, where they are
met nowhere it is ``below``; if only some replications do so, the mean with the end in their place
bounds it (``at least``, ``at most``). None of these four has an interval.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np

from analysis.experiments.case_runs import STATIONS, CaseRuns, Question, ReplicationRuns
from analysis.experiments.case_words import OUTAGE, OVERLOAD, why_refused
from analysis.metrics.catalogue import CAPACITY_METRICS
from analysis.metrics.rounding import kept
from analysis.statistics.crossing import Crossing, probability_met
from analysis.statistics.intervals import Array, half_widths, means, paired_ratios
from sim.record.histogram import RELATIVE_ERROR

_COLUMN_OF: Final = dict(zip(CAPACITY_METRICS, ("load", "txn_per_s"), strict=True))
"""What has a metric's value in a case."""


def conclude(question: Question, every: Sequence[CaseRuns], baseline: str) -> dict[str, Any]:
    """Returns the conclusion.

    Args:
        question: what was sought.
        every: the cases, points outermost.
        baseline: the variant with which the others are compared.
    """
    capacity = question.capacity
    cases = [_case(runs) for runs in every]
    _add_costs(cases, [runs.case.price_per_hour for runs in every])
    return {
        "load": capacity.load,
        "unit": "1/s" if capacity.load == "workload.rate" else "threads",
        "between": [capacity.low, capacity.high],
        "tolerance": capacity.tolerance,
        "replications": question.replications,
        "slo": [
            {"key": str(each.key), **each.key.columns, "limit": each.limit} for each in capacity.slo
        ],
        "cases": cases,
        "comparisons": _comparisons(cases, baseline),
    }


def capacity_rows(conclusion: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Returns ``capacity_load`` and ``capacity_txn_per_s`` (stat ``max``) of every case.

    Args:
        conclusion: of a ``CapacitySearch``. A capacity beyond the ends of the search has no value;
            ``refused`` says why.
    """
    rows = []
    for case in conclusion["cases"]:
        found = case["status"] == "found"
        for metric, column in _COLUMN_OF.items():
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


def _case(runs: CaseRuns) -> dict[str, Any]:
    question, case = runs.question, runs.case
    ends = [_crossing(question, each) for each in runs.replications]
    loads = np.array([end.load if end else math.nan for end in ends])
    status = _status(loads)
    found = status == "found"
    low, high = question.ladder.loads[0], question.ladder.loads[-1]
    bounded = np.clip(loads, low, high)
    value = float(means(bounded))
    half = math.hypot(float(half_widths(bounded)), _histogram_error(runs, ends))
    crossings = loads[np.isfinite(loads)] if found else np.array([])
    through = np.array([_throughput(each, end) if end else math.nan
                        for each, end in zip(runs.replications, ends, strict=True)])  # fmt: skip
    through_mean, through_half = float(means(through)), float(half_widths(through))
    return {
        "point": dict(case.point),
        "variant": case.variant,
        "status": status,
        "finished": all(_finished(question, end) for end in ends),
        "load": kept(value),
        "load_ci_low": kept(max(value - half, 0.0) if found else math.nan),
        "load_ci_high": kept(value + half if found else math.nan),
        "txn_per_s": kept(through_mean if found else math.nan),
        "txn_per_s_ci_low": kept(max(through_mean - through_half, 0.0) if found else math.nan),
        "txn_per_s_ci_high": kept(through_mean + through_half if found else math.nan),
        "replications": int(np.sum(~np.isnan(loads))),
        "crossings": [kept(load) if math.isfinite(load) else None for load in loads],
        "crossings_txn_per_s": [kept(each) if found else None for each in through],
        "binds": _binding(runs) if found else _never_met(runs) if status == "below" else None,
        "station": _busiest(runs, ends) if found else None,
        "without_value": _without_value(runs),
        # How much more than at present can be carried, as a share; a bound if the load is one.
        "headroom": None if case.present is None or status == "unknown"
        else kept(value / case.present - 1.0),
        "present": case.present,
        "present_p_met": None if case.present is None
        else kept(float(probability_met(np.array(case.present), crossings))),
        "loads": _loads(runs, crossings),
    }  # fmt: skip


def _crossing(question: Question, runs: ReplicationRuns) -> Crossing | None:
    """Returns where a replication crosses, infinite beyond the ends; None: it is not known."""
    if not runs.rungs:
        return None
    crossing = runs.crossing()
    ends = {math.inf: len(question.ladder) - 1, -math.inf: 0}
    return crossing if crossing.seen or ends[crossing.load] in runs.rungs else None


def _finished(question: Question, end: Crossing | None) -> bool:
    """Whether a replication crosses between two rungs next to each other, or beyond the ends."""
    if end is None or not end.seen:
        return end is not None
    loads = question.ladder.loads
    return loads.index(end.high) == loads.index(end.low) + 1


def _status(loads: Array) -> str:
    known = loads[~np.isnan(loads)]
    above, below = int(np.sum(known == np.inf)), int(np.sum(known == -np.inf))
    if len(known) == 0 or (above and below):
        return "unknown"
    if above:
        return "above" if above == len(known) else "at least"
    if below:
        return "below" if below == len(known) else "at most"
    return "found"


def _histogram_error(runs: CaseRuns, ends: Sequence[Crossing | None]) -> float:
    """Returns by how much the crossing may be off because a quantile is known to ±0.54 %.

    Replications round at places of their own, which their spread shows already; it is added like
    another independent error, so that it counts where they hardly differ.
    """
    shifts = []
    for each, end in zip(runs.replications, ends, strict=True):
        binding = each.binding() if end is not None and end.seen else None
        if end is None or binding is None:
            continue
        if runs.question.capacity.slo[binding].key.stat in {"mean", "max"}:
            shifts.append(0.0)
            continue
        below, above = np.interp([end.low, end.high], each.loads, each.slack[binding])
        fall = (below - above) / (end.high - end.low)
        shifts.append(min(RELATIVE_ERROR / fall, end.high - end.low) if fall > 0 else 0.0)
    return float(np.mean(shifts)) if shifts else 0.0


def _throughput(runs: ReplicationRuns, end: Crossing) -> float:
    """Returns transactions per second at the crossing; NaN where there is none.

    An overloaded run says nothing of the load below it: then throughput goes with the load.
    """
    if not end.seen:
        return math.nan
    low, high = (int(np.searchsorted(runs.loads, load)) for load in (end.low, end.high))
    if runs.refused[high]:
        return float(runs.txn_per_s[low] * end.load / end.low)
    return float(np.interp(end.load, runs.loads[[low, high]], runs.txn_per_s[[low, high]]))


def _binding(runs: CaseRuns) -> str | None:
    """Returns the objective that most replications pass first."""
    slo = runs.question.capacity.slo
    crossed = [each for each in runs.replications if each.rungs and each.crossing().seen]
    first = []
    for each in crossed:
        place = each.binding()
        beyond = OUTAGE if each.stops() else OVERLOAD
        first.append(beyond if place is None else str(slo[place].key))
    return Counter(first).most_common(1)[0][0] if first else None


def _never_met(runs: CaseRuns) -> str:
    """Returns what is missed by most at the lowest load."""
    slo = runs.question.capacity.slo
    tried = [each for each in runs.replications if each.rungs]
    if all(each.stopped[0] for each in tried):
        return OUTAGE
    if all(each.refused[0] for each in tried):
        return OVERLOAD
    slack = np.array([each.slack[:, 0] for each in tried]).mean(axis=0)
    return str(slo[int(np.argmin(slack))].key)


def _busiest(runs: CaseRuns, ends: Sequence[Crossing | None]) -> dict[str, Any] | None:
    """Returns the busiest station at the load just above the capacity, mean of replications."""
    columns = [
        each.stations[:, int(np.searchsorted(each.loads, end.high))]
        for each, end in zip(runs.replications, ends, strict=True)
        if end is not None and end.seen
    ]
    busy = means(np.array(columns).T) if columns else np.full(len(STATIONS), math.nan)
    if np.all(np.isnan(busy)):
        return None
    first = int(np.nanargmax(busy))
    above = float(np.mean([end.high for end in ends if end is not None and end.seen]))
    return {"name": STATIONS[first].class_, "busy": kept(busy[first]), "load": kept(above)}


def _without_value(runs: CaseRuns) -> list[str]:
    """Returns objectives that no run had a value of, although it was settled."""
    slo = runs.question.capacity.slo
    settled = [each.values[:, ~each.refused] for each in runs.replications if each.rungs]
    table = np.concatenate(settled, axis=1) if settled else np.empty((len(slo), 0))
    if table.shape[1] == 0:
        return []
    missing = np.all(np.isnan(table), axis=1)
    return [str(each.key) for each, lacks in zip(slo, missing, strict=True) if lacks]


def _loads(runs: CaseRuns, crossings: Array) -> list[dict[str, Any]]:
    """Returns each load that was tried: how far from each limit, and by how many it was met."""
    ladder, slo = runs.question.ladder, runs.question.capacity.slo
    tried = sorted({rung for each in runs.replications for rung in each.rungs})
    found = []
    for rung in tried:
        there = [(each, each.rungs.index(rung)) for each in runs.replications if rung in each.rungs]
        values = np.array([each.values[:, place] for each, place in there]).T
        load = ladder.loads[rung]
        margins = means(values) / np.array([each.limit or math.nan for each in slo])
        found.append({
            "load": load,
            "met": sum(bool(each.worst[place] >= 0.0) for each, place in there),
            "of": len(there),
            "refused": sum(bool(each.refused[place]) for each, place in there),
            "stopped": sum(bool(each.stopped[place]) for each, place in there),
            "p_met": kept(float(probability_met(np.array(load), crossings))),
            "margins": {
                str(each.key): kept(margin) for each, margin in zip(slo, margins, strict=True)
            },
        })  # fmt: skip
    return found


def _comparisons(cases: Sequence[dict[str, Any]], baseline: str) -> list[dict[str, Any]]:
    """Returns the ratio of each variant's capacity to the baseline's, paired by replication."""
    base = {repr(case["point"]): case for case in cases if case["variant"] == baseline}
    rows = []
    for case in cases:
        other = base.get(repr(case["point"]))
        if other is None or other is case or {case["status"], other["status"]} != {"found"}:
            continue
        for metric, column in _COLUMN_OF.items():
            name = "crossings" if column == "load" else "crossings_txn_per_s"
            values, baselines = (np.array(one[name], dtype=np.float64) for one in (case, other))
            ratio, low, high = map(float, paired_ratios(values, baselines))
            if not math.isnan(ratio):
                rows.append({
                    "point": case["point"], "baseline": baseline, "variant": case["variant"],
                    "metric": metric, "class": "all", "stat": "max",
                    "ratio": kept(ratio), "ci_low": kept(low), "ci_high": kept(high),
                })  # fmt: skip
    return rows


def _add_costs(cases: Sequence[dict[str, Any]], per_hour: Sequence[float | None]) -> None:
    """Adds costs in the currency of the prices; None without a price or capacity.

    ``pareto`` is a case unless another one costs no more an hour and carries no less, and is better
    in one of the two.
    """
    carried = [case["txn_per_s"] for case in cases]
    known = [
        (price, txn_per_s)
        for price, txn_per_s in zip(per_hour, carried, strict=True)
        if price is not None and txn_per_s is not None
    ]
    for case, price, txn_per_s in zip(cases, per_hour, carried, strict=True):
        each = pareto = None
        if price is not None and txn_per_s is not None:
            each = kept(1000 * price / (3600 * txn_per_s)) if txn_per_s else None
            pareto = all(
                dear > price or less < txn_per_s or (dear, less) == (price, txn_per_s)
                for dear, less in known
            )
        case |= {"cost_per_hour": price, "cost_per_1000_txn": each, "pareto": pareto}
