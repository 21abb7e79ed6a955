"""How a distribution of durations is written: ``5ms``, or its mean, quantiles and spikes.

Also the keys of a disk that was measured: latency with several accesses in flight, and of longer
appends.
"""

from __future__ import annotations

from typing import Annotated, Any, Self

from pydantic import model_validator

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
from sim.scenario.fields import Count, Latency, Number, Quantity, Section, Share, key, wrong
from sim.scenario.quantities import SIZE

_FORMS = "write a duration, {mean}, {mean, cv}, {p50, p99} or {quantiles}"
_COMBINATIONS = ({"value"}, {"mean"}, {"mean", "cv"}, {"p50", "p99"}, {"quantiles"})


class Spikes(Section):
    """Rare long latencies in place of the usual ones."""

    probability: Share = key(description="Of a draw being such a one.")
    shortest: Latency = key(description="They are uniform from here.")
    longest: Latency = key(description="They are uniform up to here.")

    @model_validator(mode="after")
    def _ascends(self) -> Self:
        if self.shortest > self.longest:
            raise wrong("is longer than longest; swap the two", at="shortest")
        return self


class Shape(Section):
    """A distribution of durations; a bare duration means: always that."""

    value: Latency | None = key(default=None, description="Always this.")
    mean: Latency | None = key(
        default=None, description="Exponential with this mean; log-normal if cv is given."
    )
    cv: Annotated[float, Number(0, 100)] | None = key(
        default=None, description="Coefficient of variation, deviation / mean."
    )
    p50: Latency | None = key(default=None, description="Log-normal: its median.")
    p99: Latency | None = key(default=None, description="Log-normal: its 99 % quantile.")
    quantiles: list[tuple[Share, Latency]] | None = key(
        default=None,
        description="Straight lines between [probability, duration] pairs.",
        min_length=1,
        max_length=1_000,
    )
    spikes: Spikes | None = key(default=None, description="Rare long latencies; none by default.")

    @model_validator(mode="before")
    @classmethod
    def _bare_duration(cls, value: Any) -> Any:
        return value if isinstance(value, dict) else {"value": value}

    @model_validator(mode="after")
    def _is_one_form(self) -> Self:
        given = {name for name in _NAMES if getattr(self, name) is not None}
        if given not in _COMBINATIONS:
            raise wrong(f"{' and '.join(sorted(given)) or 'nothing'} is no distribution; {_FORMS}")
        if self.p50 is not None and not 0 < self.p50 <= (self.p99 or 0):
            raise wrong("needs 0 < p50 <= p99; swap the two", at="p50")
        if self.quantiles is not None:
            _check_quantiles(self.quantiles)
        return self

    def distribution(self) -> Distribution:
        """Returns what it says."""
        base = self._base()
        if self.spikes is None:
            return base
        return Spiky(base, self.spikes.probability, self.spikes.shortest, self.spikes.longest)

    def _base(self) -> Distribution:
        if self.quantiles is not None:
            return Empirical(tuple(self.quantiles))
        if self.p50 is not None and self.p99 is not None:
            return Lognormal(self.p50, self.p99)
        if self.mean is None:
            return Constant(self.value or 0)
        return Exponential(self.mean) if self.cv is None else LognormalMean(self.mean, self.cv)


_NAMES = ("value", "mean", "cv", "p50", "p99", "quantiles")


def _check_quantiles(quantiles: list[tuple[float, int]]) -> None:
    durations = [ns for _, ns in quantiles]
    if quantiles != sorted(quantiles) or durations != sorted(durations):
        raise wrong("probabilities and durations must both ascend; sort them", at="quantiles")


class CrowdSection(Section):
    """One number of accesses in flight."""

    in_flight: Annotated[int, Count(2, 10_000)] = key(
        description="So many are kept in flight, this one included. Source: measured."
    )
    latency: Shape = key(description="Quantiles of the latency then. Source: measured.")

    @model_validator(mode="after")
    def _has_empirical(self) -> Self:
        _check_empirical(self.latency)
        return self


class CrowdingSection(Section):
    """How accesses in flight at the same time slow each other down."""

    levels: list[CrowdSection] = key(
        description="Numbers in flight that were measured, ascending; straight lines between "
        "them, and up to the first by the chance 1 - 1/n of company. Source: measured.",
        min_length=1,
        max_length=64,
    )
    further: Shape | None = key(
        default=None,
        description="Quantiles of what each access in flight beyond the last level adds; nothing "
        "by default. Source: bounds of a closed network.",
    )

    @model_validator(mode="after")
    def _ascends(self) -> Self:
        numbers = [level.in_flight for level in self.levels]
        if numbers != sorted(set(numbers)):
            raise wrong("in_flight must ascend; sort the levels and keep one of each", at="levels")
        if self.further is not None:
            _check_empirical(self.further, "further")
        return self

    def crowding(self) -> Crowding:
        """Returns what it says."""
        return Crowding(
            tuple(Crowd(each.in_flight, _empirical(each.latency)) for each in self.levels),
            None if self.further is None else _empirical(self.further),
        )


class LongerSection(Section):
    """One size of an append above a page."""

    size: Annotated[int, Quantity(SIZE, "512B", "1GiB")] = key(
        description="Bytes appended. Source: measured."
    )
    latency: Shape = key(description="Quantiles of the latency on an idle disk. Source: measured.")

    @model_validator(mode="after")
    def _has_empirical(self) -> Self:
        _check_empirical(self.latency)
        return self

    def longer(self) -> Longer:
        """Returns what it says."""
        return Longer(self.size, _empirical(self.latency))


def _check_empirical(shape: Shape, at: str = "latency") -> None:
    if not isinstance(shape.distribution(), Empirical):
        raise wrong("must be {quantiles}, without spikes; write [probability, duration] pairs",
                    at=at)  # fmt: skip


def _empirical(shape: Shape) -> Empirical:
    distribution = shape.distribution()
    assert isinstance(distribution, Empirical), "the schema refuses others"
    return distribution
