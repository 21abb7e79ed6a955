"""What a study that has run does not show after all: nothing happened, or too seldom.

An expectation on something that never fired holds by itself; these warnings say so.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence, Set
from typing import Any, Final, NamedTuple

import numpy as np
import pandas as pd

from analysis.lint.mechanisms import Mechanism, left_out_words, mechanisms
from analysis.lint.question_rules import is_steady
from analysis.lint.scenario_lint import static_warnings
from analysis.lint.scenario_warning import LintedCase, duration, said_by
from analysis.metrics.catalogue import QUANTILES, SERIES, MetricKey
from analysis.statistics.amounts import count
from analysis.statistics.saturation import Verdict
from analysis.study.study import Study
from analysis.study.units import Point, point_words

SHARES_BEYOND: Final = {name: 1 - share for name, share in QUANTILES.items() if share > 0.5}
"""The share of values beyond a quantile; those beyond a median are seldom few."""
_BESIDE_THE_POINT: Final = 100
"""How many times longer a run must be for a figure that nobody asks for not to be spoken of."""
FEWEST_BEYOND: Final = 10
"""Values beyond a quantile that a replication should have; docs/STATISTICS.md says why."""
_SHOWN: Final = (
    MetricKey("lock_latency_ms", stat="p99"),
    MetricKey("txn_latency_ms", stat="p99"),
)
"""Quantiles among the main numbers of a report, which are shown without being asked for."""

Warned = dict[str, Any]


class Facts(NamedTuple):
    """Sums of facts, and whose they are."""

    units: pd.DataFrame
    """``point_index``, ``variant``, ``replication``, ``verdict``; one row a finished unit, or batch
    of one."""
    sums: pd.DataFrame
    """The same rows; columns ``metric``, ``class``, ``stat``."""
    points: Sequence[Point]

    @property
    def carried(self) -> pd.Series[bool]:
        """Returns by unit whether its latencies are told, and no mere bounds."""
        verdicts = self.units["verdict"].map(Verdict)
        return verdicts.map(lambda verdict: not (verdict.refused or verdict.censored))

    def counts(self, fact: str, class_: str = "", stat: str = "total") -> pd.Series[float]:
        """Returns by unit how often something was counted, over the classes that begin so."""
        names = [name for name in self.sums.columns if name[0] == fact and name[2] == stat]
        parts = [name for name in names if name[1] != "all"] or names
        if class_ == "all":
            parts = [name for name in names if name[1] == "all"] or parts
        elif class_:
            parts = [name for name in parts if str(name[1]).startswith(class_)]
        values = np.nansum(self.sums[parts].to_numpy(dtype=np.float64), axis=1)
        return pd.Series(values, index=self.units.index)


def study_warnings(study: Study, facts: Facts) -> list[Warned]:
    """Returns ``warnings`` of ``summary.json``: what the file could not show, and what did not.

    Args:
        study: what was asked.
        facts: of its finished units.

    Returns:
        ``kind`` (``scenario``, ``mechanism``, ``alike``, ``quantile``, or ``unasked``: a quantile
        that the scenario does not ask for), ``text``; ``key`` of the scenario, ``variant``,
        ``point`` and ``do`` (an operation that was left out) where it is about one of them.
    """
    static = [
        {"kind": "scenario", "key": warning.key, "text": str(warning)}
        for warning in static_warnings(study)
    ]
    left_out = list(_left_out(study, facts))
    return [
        *static,
        *left_out,
        *_idle(study, facts, {(each["variant"], each["do"]) for each in left_out}),
        *_alike(list(study.variants), facts),
        *_thin_quantiles(study, facts),
    ]


def _left_out(study: Study, facts: Facts) -> Iterator[Warned]:
    """Yields operations that were due and could not be done; of each, for one reason."""
    skipped = {name[1] for name in facts.sums.columns if name[0] == "operations_skipped"}
    for variant, scenario in study.variants.items() if skipped else ():
        of_variant = facts.units["variant"] == variant
        for each in scenario.operations:
            times = {
                reason.removeprefix(f"{each.name}:"): int(counted.sum())
                for reason in sorted(skipped)
                if reason.startswith(f"{each.name}:")
                for counted in [facts.counts("operations_skipped", reason)[of_variant]]
            }
            done = int(facts.counts("operations", each.do)[of_variant].sum())
            text = left_out_words(each, times, done)
            if text is not None:
                yield {"kind": "mechanism", "variant": variant, "do": each.do,
                       "text": f"{variant}: {text}"}  # fmt: skip


def _idle(study: Study, facts: Facts, left_out: Set[tuple[str, str]]) -> Iterator[Warned]:
    """Yields mechanisms that fired too seldom, unless it is said that they were left out."""
    if not is_steady(study):
        return
    # Where work stopped for good nothing more happens, and a longer run is no remedy.
    went_on = facts.units["verdict"] != str(Verdict.OUTAGE)
    seen: dict[Mechanism, pd.DataFrame] = {}
    for variant, scenario in study.variants.items():
        for each in dict.fromkeys(
            mechanisms(LintedCase(variant, scenario), said_by(study, variant))
        ):
            if (variant, each.do) in left_out:
                continue
            if each not in seen:
                counted = facts.counts(each.fact, each.class_, each.stat)
                keys = [facts.units["variant"], facts.units["point_index"]]
                times = counted[went_on].groupby(keys, sort=False).sum()
                seen[each] = times.to_frame("times").reset_index()
            of_variant = seen[each][seen[each]["variant"] == variant]
            yield from _too_few(each, variant, of_variant, facts.points)


def _too_few(
    each: Mechanism, variant: str, counted: pd.DataFrame, points: Sequence[Point]
) -> Iterator[Warned]:
    """Yields a warning if it happened too seldom at every point, or never at some."""
    if counted.empty:
        return
    most = int(counted["times"].max())
    warned: Warned = {"kind": "mechanism", "variant": variant}
    where = " at any point" if len(counted) > 1 else ""
    if most < each.least:
        wanted = f", {each.least} are needed" if each.least > 1 else ""
        text = f"{variant}: {each.times(most)}{where} in all replications{wanted}; {each.remedy}"
        yield warned | {"text": text}
        return
    never = counted[counted["times"] == 0]
    if len(never):
        point = dict(points[int(never["point_index"].iloc[0])])
        others = (
            f", the first is {point_words(point)}" if len(never) > 1 else f" ({point_words(point)})"
        )
        points_of = f"{len(never)} of {len(counted)} points{others}"
        text = f"{variant}: no {each.words} at {points_of}; {each.remedy}"
        yield warned | {"text": text, "point": point}


def _alike(variants: Sequence[str], facts: Facts) -> Iterator[Warned]:
    """Yields variants of which every fact of every unit is another's: what was changed is idle."""
    units = facts.units[["point_index", "replication", "variant"]]
    hashes = pd.util.hash_pandas_object(facts.sums, index=False).to_numpy()
    table = pd.Series(hashes, index=pd.MultiIndex.from_frame(units)).unstack("variant")
    for place, variant in enumerate(variants):
        for other in variants[:place]:
            both = table.reindex(columns=[other, variant]).dropna()
            if len(both) and both[other].equals(both[variant].rename(other)):
                yield {
                    "kind": "alike",
                    "variant": variant,
                    "text": f"{variant} and {other} came out alike in every figure: what tells "
                    "them apart has no effect in this scenario",
                }
                break


def _thin_quantiles(study: Study, facts: Facts) -> Iterator[Warned]:
    """Yields quantiles that rest on too few values in some batch of some replication."""
    searched = study.capacity is not None or study.sensitivity is not None
    asked = _asked(study)
    part = "replication" if study.run.batches == 1 else "batch"
    for key in dict.fromkeys((*asked, *(() if searched else _SHOWN))):
        series, share = SERIES.get(key.metric), SHARES_BEYOND.get(key.stat)
        if series is None or share is None:
            continue
        seen = facts.counts(series.fact, key.class_, "count")
        wanted = round(FEWEST_BEYOND / share)
        if key not in asked:  # a longer run of what stopped or piles up is no remedy
            seen = seen[facts.carried]
            seen = seen[seen * _BESIDE_THE_POINT >= wanted]
        thin = seen[(seen > 0) & (seen < wanted)]
        if thin.empty:
            continue
        fewest = int(thin.min())
        worst = facts.units.loc[thin.idxmin()].to_dict()
        variants = list(dict.fromkeys(facts.units.loc[thin.index, "variant"]))
        others = ", ".join(variant for variant in variants if variant != worst["variant"])
        rests = (
            f"rests on {count(fewest, 'value')} in a {part} of {worst['variant']}"
            f"{f' (and too few of {others})' if others else ''}, {wanted:,} are needed"
        )
        remedy = _more_values(study, fewest, wanted)
        yield {
            "kind": "quantile" if key in asked else "unasked",
            "variant": worst["variant"],
            "point": dict(facts.points[int(worst["point_index"])]),
            "text": f"{key} {rests}; {remedy}"
            if key in asked
            else f"{key}, which the scenario does not ask for, is only rough: it {rests}. To rely "
            f"on it, {remedy}",
        }


def _more_values(study: Study, fewest: int, wanted: int) -> str:
    """Returns what would give the quantile as many values as are wanted of it."""
    batches = study.run.batches * fewest // wanted
    if batches:
        return f"write run.batches: {batches}"
    shortest_ns = study.run.measure_ns * wanted / fewest
    step_ns = 10 ** (math.floor(math.log10(shortest_ns)) - 1)
    return f"lengthen run.measure to {duration(math.ceil(shortest_ns / step_ns) * step_ns)}"


def _asked(study: Study) -> list[MetricKey]:
    """Returns the figures that the scenario names."""
    if study.capacity is not None:
        return [objective.key for objective in study.capacity.slo]
    keys = [claim.key for claim in study.expect]
    keys += study.run.precision or ()
    if study.sensitivity is not None:
        keys += study.sensitivity.outcomes
    return keys
