"""What a metric family is made of: a name, its labels, and the facts behind it.

Law: a family says what one real metric says, or its name begins with ``pessim_``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import ClassVar, Final, Literal

Labels = Mapping[str, str]
LabelsOf = Callable[[str, str], Labels | None]
"""From (fact, class) to labels; None: this class is no part of the family. Classes with the same
labels are added up."""

Job = Literal["tikv", "tidb", "pessim"]

TOTAL: Final = "_total"


@dataclass(frozen=True, slots=True)
class MadeOf:
    """The facts behind a family: ``counters``; ``series``, and those whose buckets are wanted."""

    kind: ClassVar[str]
    """Of the family: ``counter``, ``gauge`` or ``histogram``."""
    counters: tuple[str, ...] = ()
    series: tuple[str, ...] = ()
    histograms: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Total(MadeOf):
    """A total that grows, from counters; those in ns have the divisor 10**9, for seconds."""

    kind: ClassVar[str] = "counter"
    divisor: int = 1


@dataclass(frozen=True, slots=True)
class Buckets(MadeOf):
    """Values of a series in buckets, in seconds; the one up to infinity is not among the bounds."""

    kind: ClassVar[str] = "histogram"
    bounds_s: tuple[float, ...] = ()

    @classmethod
    def of(cls, fact: str, bounds_s: tuple[float, ...]) -> Buckets:
        """Returns the buckets of a series."""
        return cls(series=(fact,), histograms=(fact,), bounds_s=bounds_s)


@dataclass(frozen=True, slots=True)
class SumAndCount(MadeOf):
    """A histogram of which only the sum (a counter, in ns) and the count (a series') are known."""

    kind: ClassVar[str] = "histogram"


@dataclass(frozen=True, slots=True)
class Level(MadeOf):
    """The mean of a series' values between two samples."""

    kind: ClassVar[str] = "gauge"


@dataclass(frozen=True, slots=True)
class Difference(MadeOf):
    """A level that two counters move: what was gained less what was lost."""

    kind: ClassVar[str] = "gauge"


@dataclass(frozen=True, slots=True)
class Family:
    """One metric.

    Attributes:
        name: of the samples, as the real metric is called.
        about: one sentence.
        job: whose metric it is.
        made_of: facts.
        labels_of: labels from a class of them.
    """

    name: str
    about: str
    job: Job
    made_of: MadeOf
    labels_of: LabelsOf


def facts_of(families: Iterable[Family]) -> MadeOf:
    """Returns all facts that some families are made of."""
    parts = [family.made_of for family in families]
    return MadeOf(
        tuple({name for part in parts for name in part.counters}),
        tuple({name for part in parts for name in part.series}),
        tuple({name for part in parts for name in part.histograms}),
    )


def exponential_bounds_s(start_s: float, factor: float, count: int) -> tuple[float, ...]:
    """Returns ``count`` bounds, each ``factor`` times the one before, as metric libraries do."""
    bounds = [start_s]
    while len(bounds) < count:
        bounds.append(bounds[-1] * factor)
    return tuple(bounds)
