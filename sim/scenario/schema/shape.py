"""How a distribution of durations is written: ``5ms``, or its mean, quantiles and spikes.

Also the keys of a disk that was measured: latency with several accesses in flight, and of longer
appends.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from sim.distributions import (
    Constant,
    Distribution,
    Empirical,
    Exponential,
    Lognormal,
    LognormalMean,
    Spiky,
)
from sim.hardware.crowding import Crowd, Crowding, Longer
from sim.scenario.fields import (
    LATENCY,
    SHARE,
    WRONG,
    Count,
    ListOf,
    Number,
    PairOf,
    Problems,
    Schema,
    Size,
    Wrong,
)
from sim.scenario.problems import Problem
from sim.scenario.section import Document, Section, SectionOf
from sim.scenario.tree import Node, Path, dotted

_FORMS = "write a duration, {mean}, {mean, cv}, {p50, p99} or {quantiles}"
_COMBINATIONS = ({"value"}, {"mean"}, {"mean", "cv"}, {"p50", "p99"}, {"quantiles"})


@dataclass(frozen=True, kw_only=True)
class Spikes(Section):
    """Rare long latencies in place of the usual ones."""

    probability: float = SHARE.key("Probability that a duration is a spike.")
    shortest_ns: int = LATENCY.key("Lower end of the uniform distribution of spikes.")
    longest_ns: int = LATENCY.key("Upper end of the uniform distribution of spikes.")

    def check(self) -> None:
        """Judges whether there is anything between the ends."""
        if self.shortest_ns > self.longest_ns:
            raise Wrong("is longer than longest; swap the two", at="shortest")


@dataclass(frozen=True, kw_only=True)
class Shape(Section):
    """A distribution of durations; a bare duration means: always that."""

    value_ns: int | None = LATENCY.key("Constant.", default=None)
    mean_ns: int | None = LATENCY.key(
        "Exponential with this mean; log-normal if cv is given.", default=None
    )
    cv: float | None = Number(0, 100).key(
        "Coefficient of variation: standard deviation / mean.", default=None
    )
    p50_ns: int | None = LATENCY.key("Log-normal: its median.", default=None)
    p99_ns: int | None = LATENCY.key("Log-normal: its 99 % quantile.", default=None)
    quantiles: tuple[tuple[float, int], ...] | None = ListOf(
        PairOf(SHARE, LATENCY), at_least=1, at_most=1_000
    ).key("[probability, duration] pairs, joined by straight lines.", default=None)
    spikes: Spikes | None = SectionOf(Spikes).key(
        "Rare long latencies; none by default.", default=None
    )

    def check(self) -> None:
        """Judges whether it is one of the forms."""
        given = set(self.document()) - {"spikes"}
        if given not in _COMBINATIONS:
            raise Wrong(
                f"{' and '.join(sorted(given)) or 'nothing'} is not a distribution; {_FORMS}"
            )
        if self.p50_ns is not None and not 0 < self.p50_ns <= (self.p99_ns or 0):
            raise Wrong("needs 0 < p50 <= p99; swap the two", at="p50")
        quantiles = list(self.quantiles or ())
        durations = [ns for _, ns in quantiles]
        if quantiles != sorted(quantiles) or durations != sorted(durations):
            raise Wrong("probabilities and durations must both ascend; sort them", at="quantiles")

    def resolved(self) -> Distribution:
        """Returns the distribution."""
        base, spikes = self._base(), self.spikes
        if spikes is None:
            return base
        return Spiky(base, spikes.probability, spikes.shortest_ns, spikes.longest_ns)

    def _base(self) -> Distribution:
        if self.quantiles is not None:
            return Empirical(self.quantiles)
        if self.p50_ns is not None and self.p99_ns is not None:
            return Lognormal(self.p50_ns, self.p99_ns)
        if self.mean_ns is None:
            return Constant(self.value_ns or 0)
        if self.cv is None:
            return Exponential(self.mean_ns)
        return LognormalMean(self.mean_ns, self.cv)

    @classmethod
    def document_of(cls, value: Any) -> Document:
        """Returns how a file writes a distribution."""
        return super().document_of(value if isinstance(value, cls) else _shape_of(value))


def _shape_of(distribution: Distribution) -> Shape:
    match distribution:
        case Constant(value_ns):
            return Shape(value_ns=value_ns)
        case Exponential(mean_ns):
            return Shape(mean_ns=mean_ns)
        case LognormalMean(mean_ns, cv):
            return Shape(mean_ns=mean_ns, cv=cv)
        case Lognormal(p50_ns, p99_ns):
            return Shape(p50_ns=p50_ns, p99_ns=p99_ns)
        case Empirical(quantiles):
            return Shape(quantiles=quantiles)
        case Spiky(base, probability, shortest_ns, longest_ns):
            spikes = Spikes(probability=probability, shortest_ns=shortest_ns, longest_ns=longest_ns)
            return replace(_shape_of(base), spikes=spikes)


class _ShapeForm(SectionOf):
    """A distribution, or a bare duration."""

    def read(self, node: Node, path: Path, problems: Problems) -> Any:
        """Returns the distribution; all that is wrong with a bare duration is said at its key."""
        if isinstance(node.value, dict):
            return super().read(node, path, problems)
        try:
            return Constant(LATENCY.parse(node.plain()))
        except Wrong as error:
            problems.append(Problem(node.key_mark, dotted(path), str(error)))
            return WRONG

    def described(self, definitions: dict[str, Schema]) -> Schema:
        """Returns a reference to a definition that allows text as well."""
        reference = super().described(definitions)
        described = definitions["Shape"]
        if "anyOf" not in described:
            definitions["Shape"] = {"anyOf": [{"type": "string"}, described]}
        return reference


SHAPE = _ShapeForm(Shape)


def _check_empirical(shape: Distribution, at: str = "latency") -> None:
    if not isinstance(shape, Empirical):
        raise Wrong("must be {quantiles}, without spikes; write [probability, duration] pairs",
                    at=at)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class CrowdSection(Section):
    """One number of accesses in flight."""

    MAKES = Crowd

    in_flight: int = Count(2, 10_000).key("Number in flight, including this one. Source: measured.")
    latency: Distribution = SHAPE.key("Quantiles of the latency at this number. Source: measured.")

    def check(self) -> None:
        """Judges the form of the latency."""
        _check_empirical(self.latency)


@dataclass(frozen=True, kw_only=True)
class CrowdingSection(Section):
    """How accesses in flight at the same time slow each other down."""

    MAKES = Crowding

    crowds: tuple[Crowd, ...] = ListOf(SectionOf(CrowdSection), at_least=1, at_most=64).key(
        "Measured numbers in flight, ascending, joined by straight lines; up to the first one "
        "latency grows with the probability 1 - 1/n that another is in flight. Source: measured.",
        name="levels",
    )
    further: Distribution | None = SHAPE.key(
        "Quantiles of the latency added by each access in flight beyond the last level; none by "
        "default. Source: bounds of a closed network.",
        default=None,
    )

    def check(self) -> None:
        """Judges the order of the levels and the form of what lies beyond them."""
        numbers = [level.in_flight for level in self.crowds]
        if numbers != sorted(set(numbers)):
            raise Wrong("in_flight must ascend; sort the levels and keep one of each", at="levels")
        if self.further is not None:
            _check_empirical(self.further, "further")


@dataclass(frozen=True, kw_only=True)
class LongerSection(Section):
    """One size of an append above a page."""

    MAKES = Longer

    size_bytes: int = Size("512B", "1GiB").key("Bytes appended. Source: measured.")
    latency: Distribution = SHAPE.key("Quantiles of the latency on an idle disk. Source: measured.")

    def check(self) -> None:
        """Judges the form of the latency."""
        _check_empirical(self.latency)
