"""What a metric family is made of: a name, its labels, and the facts behind it.

Law: a family says what one real metric says, or its name begins with ``pessim_``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

Labels = Mapping[str, str]
LabelsOf = Callable[[str, str], Labels | None]
"""From (fact, class) to labels; None: this class is no part of the family. Classes with the same
labels are added up."""

Job = Literal["tikv", "tidb", "pessim"]

TOTAL: Final = "_total"


@dataclass(frozen=True, slots=True, kw_only=True)
class CounterFamily:
    """A total that grows, from counters of the facts.

    Attributes:
        name: of the samples, as the real metric is called.
        facts: counters that it is made of.
        divisor: what the fact is divided by: 10**9 for ns to seconds.
    """

    name: str
    about: str
    job: Job
    facts: tuple[str, ...]
    labels_of: LabelsOf
    divisor: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class HistogramFamily:
    """Values in buckets, from one series of the facts, in seconds.

    Attributes:
        bounds_s: upper bounds, in seconds, without infinity.
    """

    name: str
    about: str
    job: Job
    fact: str
    labels_of: LabelsOf
    bounds_s: tuple[float, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class MeanFamily:
    """A histogram of which only sum and count are known: one bucket, up to infinity.

    Attributes:
        sum_fact: a counter, in ns.
        counted_fact: a series whose values are as many.
    """

    name: str
    about: str
    job: Job
    sum_fact: str
    counted_fact: str
    labels_of: LabelsOf


@dataclass(frozen=True, slots=True, kw_only=True)
class GaugeFamily:
    """A level, from one series of the facts: the mean of its values between two samples."""

    name: str
    about: str
    job: Job
    fact: str
    labels_of: LabelsOf


@dataclass(frozen=True, slots=True, kw_only=True)
class LevelFamily:
    """A level that two counters of the facts move: what was gained less what was lost."""

    name: str
    about: str
    job: Job
    gained: str
    lost: str
    labels_of: LabelsOf


Family = CounterFamily | HistogramFamily | MeanFamily | GaugeFamily | LevelFamily


@dataclass(slots=True)
class FamilyFacts:
    """Which facts some families are made of."""

    counters: set[str] = field(default_factory=set)
    series: set[str] = field(default_factory=set)
    histograms: set[str] = field(default_factory=set)

    def add(self, family: Family) -> None:
        """Adds one family's."""
        match family:
            case CounterFamily():
                self.counters.update(family.facts)
            case HistogramFamily():
                self.histograms.add(family.fact)
                self.series.add(family.fact)
            case MeanFamily():
                self.counters.add(family.sum_fact)
                self.series.add(family.counted_fact)
            case GaugeFamily():
                self.series.add(family.fact)
            case LevelFamily():
                self.counters.update((family.gained, family.lost))


def exponential_bounds_s(start_s: float, factor: float, count: int) -> tuple[float, ...]:
    """Returns ``count`` bounds, each ``factor`` times the one before, as metric libraries do."""
    bounds = [start_s]
    while len(bounds) < count:
        bounds.append(bounds[-1] * factor)
    return tuple(bounds)
