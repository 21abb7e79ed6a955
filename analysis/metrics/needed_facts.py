"""Which facts a published metric is made of, so that no others need be read."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

from analysis.metrics.catalogue import COUNTERS, QUANTILES, SERIES

COMMITS = "txns"
_OTHERS = {
    "tpmc": (COMMITS,),
    "cpu_busy": ("busy_ns", "capacity_ns"),
    "disk_busy": ("busy_ns", "capacity_ns"),
    "early_prewrites_waited": ("early_prewrites",),
    "lock_station_ms": ("lock_station_ns",),
}


class Key(Protocol):
    """A published number: ``lock_latency_ms``, ``all``, ``p99``."""

    @property
    def metric(self) -> str:
        """Its name in ``summary.json``."""

    @property
    def class_(self) -> str:
        """``all``, or one class."""

    @property
    def stat(self) -> str:
        """``mean``, ``p99`` and the like."""


@dataclass(frozen=True, slots=True)
class NeededFacts:
    """Names of facts by table; None: all that there are."""

    moments: tuple[str, ...] | None
    histogram: tuple[str, ...] | None
    counter: tuple[str, ...] | None


def needed_facts(keys: Iterable[Key]) -> NeededFacts:
    """Returns the facts of which some published numbers are made; none for unknown ones."""
    moments: set[str] = set()
    histogram: set[str] = set()
    counter: set[str] = set()
    for key in keys:
        (histogram if key.stat in QUANTILES else moments).update(
            series.fact for series in SERIES if series.metric == key.metric
        )
        for of in COUNTERS:
            if of.metric == key.metric:
                counter |= {of.fact, COMMITS} if of.per == "transaction" else {of.fact}
        counter.update(_OTHERS.get(key.metric, ()))
        if key.metric == "lock_station_ms":
            moments.add("lock_latency")
    return NeededFacts(*(tuple(sorted(names)) for names in (moments, histogram, counter)))
