"""Which facts a published metric is made of, so that no others need be read."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from analysis.metrics.catalogue import (
    COMMITS,
    METRICS,
    QUANTILES,
    CountOf,
    Derived,
    MetricKey,
    SeriesOf,
)


@dataclass(frozen=True, slots=True)
class NeededFacts:
    """Names of facts by table; None: all that there are."""

    moments: tuple[str, ...] | None
    histogram: tuple[str, ...] | None
    counter: tuple[str, ...] | None


def needed_facts(keys: Iterable[MetricKey]) -> NeededFacts:
    """Returns the facts of which some published numbers are made; none for unknown ones."""
    moments: set[str] = set()
    histogram: set[str] = set()
    counter: set[str] = set()
    for key in keys:
        if key.metric not in METRICS:
            continue
        match METRICS[key.metric].made_of:
            case SeriesOf(fact=fact):
                (histogram if key.stat in QUANTILES else moments).add(fact)
            case CountOf(fact=fact, per=per):
                counter |= {fact, COMMITS} if per == "transaction" else {fact}
            case Derived(counters=counters, series=series):
                counter.update(counters)
                moments.update(series)
    return NeededFacts(*(tuple(sorted(names)) for names in (moments, histogram, counter)))
