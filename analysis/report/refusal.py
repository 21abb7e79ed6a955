"""Which numbers are refused, and whether the units of each case carried their load.

The latency of a unit whose load piles up, or that still drifts, says how long it was watched and
little else. One replication whose load piles up is enough: the mean over the others would be of
those that were lucky. Drifts are found by a test in each replication, which finds one by chance
now and then: so many of them are enough as settled replications would hardly have (binomial).
Counts and rates stay: what was done was done.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, cast

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import bdtrc

from analysis.metrics.row_table import POINT
from analysis.statistics.saturation import DRIFT_LEVEL, Verdict
from analysis.study.units import at_point

LATENCY_ENDING: Final = "_ms"
AGE_ENDING: Final = "_age_ms"
"""Ages of what had not ended are facts of the end of the run, and are told whatever it was like."""
SHOWN_CASES: Final = 5
_CHANCE_LEVEL: Final = 0.05
"""Probability from which so many drifts may be chance; up to ten replications, one is enough."""
STOPPED: Final = (Verdict.OUTAGE, Verdict.DEGRADED)
"""Verdicts on cases in which work stopped, or less was done than before."""
LOAD: Final = (Verdict.OVERLOADED, Verdict.UNSETTLED, Verdict.NEAR_SATURATION)
"""Verdicts on how a case stands its load."""
WORST_FIRST: Final = (*STOPPED, *LOAD, Verdict.NOT_JUDGED)

Refusals = Mapping[tuple[int, str], str]
"""Why latencies are refused, by ``point_index`` and variant."""


def refusals(units: pd.DataFrame) -> dict[tuple[int, str], str]:
    """Returns why latencies are refused, of the cases in which they are.

    Args:
        units: ``point_index``, ``variant``, ``verdict``, ``verdict_reason``; one row a unit.
    """
    found = {}
    for point, variant, case in _cases(units):
        verdict = refused_for(Counter(case["verdict"]))
        if verdict is not None:
            of_it = case[case["verdict"] == str(verdict)]
            are = "replications are" if len(case) > 1 else "replication is"
            why = of_it["verdict_reason"].iloc[0]
            found[point, variant] = f"{len(of_it)} of {len(case)} {are} {verdict}: {why}"
    return found


def refused_for(verdicts: Mapping[str, int]) -> Verdict | None:
    """Returns the verdict for which latencies of a case are refused; None: they are told.

    Args:
        verdicts: how many of its replications have each.
    """
    if verdicts.get(str(Verdict.OVERLOADED)):
        return Verdict.OVERLOADED
    unsettled, replications = verdicts.get(str(Verdict.UNSETTLED), 0), sum(verdicts.values())
    chance = float(bdtrc(unsettled - 1, replications, DRIFT_LEVEL))
    return None if chance > _CHANCE_LEVEL else Verdict.UNSETTLED


def _cases(units: pd.DataFrame) -> Iterator[tuple[int, str, pd.DataFrame]]:
    """Yields each point and variant with its units, in the order of the units."""
    for number, case in units.groupby([units[POINT], units["variant"]], sort=False):
        point, variant = cast("tuple[Any, Any]", number)
        yield int(point), str(variant), case


def reasons(index: pd.Index, refused: Refusals) -> NDArray[np.object_]:
    """Returns for each row of ``variant_values`` why it is refused; None: it is not."""
    found = np.full(len(index), None, dtype=object)
    if not refused or not len(index):
        return found
    metrics = index.get_level_values("metric").str
    latency = np.asarray(metrics.endswith(LATENCY_ENDING) & ~metrics.endswith(AGE_ENDING))
    points, variants = index.get_level_values(POINT), index.get_level_values("variant")
    for (point, variant), reason in refused.items():
        found[latency & np.asarray(points == point) & np.asarray(variants == variant)] = reason
    return found


def unit_facts(units: pd.DataFrame, points: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Returns for each point and variant the verdicts of its units and the warm-up left out.

    Args:
        units: as for ``refusals``, with ``others_went_on``, ``warmup_windows`` and ``window_ns``.
        points: by ``point_index``.
    """
    return [
        {
            "point": dict(points[point]),
            "variant": variant,
            "verdicts": case["verdict"].value_counts(sort=False).to_dict(),
            **_worst(case),
            "warmup_s": {
                name: round(float(value), 9)
                for name, value in (case["warmup_windows"] * case["window_ns"] / 1e9)
                .agg(["min", "median", "max"])
                .items()
            },
        }
        for point, variant, case in _cases(units)
    ]


def _worst(case: pd.DataFrame) -> dict[str, Any]:
    """Returns what is said of the first unit with the worst verdict and the most to say of it.

    An outage in which others went on is less than one in which all stopped.
    """
    worst = next(
        each for each in (*WORST_FIRST, Verdict.STABLE) if str(each) in set(case["verdict"])
    )
    of_it = case[case["verdict"] == str(worst)]
    said = zip(of_it["verdict_reason"], of_it["others_went_on"], strict=True)
    reason, went_on = max(said, key=lambda each: (not each[1], each[0].count("; ")))
    return {"reason": str(reason), "others_went_on": bool(went_on)}


def verdict_lines(
    facts: Iterable[Mapping[str, Any]], verdicts: Sequence[Verdict] = WORST_FIRST
) -> list[str]:
    """Returns a line for each case that is not stable, the worst first, some at most.

    One line, if the same is said of all.

    Such as ``pipelined at workload.threads = 400: near saturation (store_poller 97 % busy)``.

    Args:
        facts: from ``unit_facts``.
        verdicts: those that are told of, by a case's worst.
    """
    cases = list(facts)
    told = [case for verdict in verdicts for case in _cases_of(cases, verdict)]
    if 1 < len(told) == len(cases) and len({words for _, words in told}) == 1:
        return [f"all {len(cases)} cases: {told[0][1]}"]
    lines = [f"{name}: {words}" for name, words in told]
    more = len(lines) - SHOWN_CASES
    return lines if more <= 1 else [*lines[:SHOWN_CASES], f"and {more:,} more cases"]


def _cases_of(facts: Sequence[Mapping[str, Any]], verdict: Verdict) -> Iterator[tuple[str, str]]:
    """Yields the cases whose worst verdict it is, by name, with what is said of each."""
    for case in facts:
        worst = next((each for each in WORST_FIRST if case["verdicts"].get(str(each))), None)
        if worst is verdict:
            number, total = case["verdicts"][str(verdict)], sum(case["verdicts"].values())
            share = "" if number == total else f" in {number} of {total} replications"
            yield at_point(case["variant"], case["point"]), f"{verdict}{share} ({case['reason']})"
