"""Latencies of a unit in which work stopped: what never came back counts, as far as it is known.

What has not ended when a run does has a latency of at least its age (it is censored on the right).
A quantile is read off all, those without an end beyond the others; one that falls among them is not
known, and is given as that of all as if they ended at once: it is more than that. The mean with
their ages is less than the true one. The longest is at least the oldest of them, and is not known
where a quantile is not.

In a unit that works to its end, what is under way then is a sample like any other, with as much
under way at the beginning, so its latencies are those of what has ended.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from analysis.metrics.catalogue import AT_LEAST
from analysis.statistics.histogram import value_at

CENSORED: Final = {"txn_latency": "txn_unfinished", "lock_latency": "request_unfinished"}
"""By series of latencies: the ages of what has not ended."""
MATERIAL_AGES: Final = 0.01
"""Share of all time from which the ages of what has not ended make a mean a lower bound."""
_LOCK: Final = "lock"
"""Class of requests that become lock latencies, of a path that is not known yet. Those that wait
for another transaction's lock are of another class, since that wait is no part of the latency."""

_Value = tuple[str, str, str, float]


def ages_of_unended(latency: str) -> pc.Expression:
    """Returns which facts are ages of what would have become a latency."""
    of_age = pc.field("metric") == CENSORED[latency]
    return of_age & (pc.field("class") == _LOCK) if latency == "lock_latency" else of_age


@dataclass(slots=True)
class _Values:
    """Values of one class; times in ns."""

    buckets: Counter[int] = field(default_factory=Counter)
    count: int = 0
    sum: int = 0
    max: int = 0

    def add(self, other: _Values) -> None:
        self.buckets.update(other.buckets)
        self.count += other.count
        self.sum += other.sum
        self.max = max(self.max, other.max)


def censored_values(
    moments: pa.Table, histogram: pa.Table, shares: dict[str, float]
) -> Iterator[_Value]:
    """Yields metric, class, statistic and value of the latencies of one unit.

    Beside each statistic that is a lower bound stands one named ``at_least:`` and its name, with 1.

    Args:
        moments: measured facts of the unit.
        histogram: likewise.
        shares: of all values, by name of the quantile.
    """
    for latency, age in CENSORED.items():
        ended = _by_class(moments, histogram, latency)
        left = _by_class(moments, histogram, age)
        if latency == "lock_latency":
            left = {"all": left[_LOCK]} if _LOCK in left else {}
        _add_all(ended)
        _add_all(left)
        for class_ in sorted({*ended, *left}):
            one, other = ended.get(class_, _Values()), left.get(class_, _Values())
            if not one.count + other.count:
                continue
            for stat, value, at_least in _statistics(one, other, shares):
                yield latency, class_, stat, value
                if at_least:
                    yield latency, class_, f"{AT_LEAST}{stat}", 1.0


def _statistics(
    ended: _Values, left: _Values, shares: dict[str, float]
) -> Iterator[tuple[str, float, bool]]:
    """Yields name and value of each statistic, and whether it is a lower bound."""
    every = _Values()
    every.add(ended)
    every.add(left)
    yield "mean", every.sum / every.count, left.sum > MATERIAL_AGES * every.sum
    beyond = [share * every.count > ended.count for share in shares.values()]
    # Where a quantile is not known, what is above it is not either.
    yield "max", float(every.max), left.max > ended.max or any(beyond)
    for (name, share), unknown in zip(shares.items(), beyond, strict=True):
        among = every if unknown else ended
        # Within a bucket a value is guessed; it may not be above the greatest.
        value = min(value_at(share * every.count, among.buckets), float(among.max))
        yield name, value, unknown


def _by_class(moments: pa.Table, histogram: pa.Table, metric: str) -> dict[str, _Values]:
    found: dict[str, _Values] = defaultdict(_Values)
    for row in _rows(moments, metric):
        found[row["class"]].add(_Values(Counter(), row["count"], row["sum"], row["max"]))
    for row in _rows(histogram, metric):
        found[row["class"]].buckets[row["bucket"]] += row["count"]
    return dict(found)


def _rows(facts: pa.Table, metric: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = facts.filter(pc.equal(facts["metric"], metric)).to_pylist()
    return rows


def _add_all(classes: dict[str, _Values]) -> None:
    """Adds the class of all, unless it is the only one."""
    every = _Values()
    for values in classes.values():
        every.add(values)
    if classes:
        classes["all"] = every
