"""How a distribution of durations is written: ``5ms``, or its mean, quantiles and spikes."""

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
from sim.scenario.fields import Latency, Number, Section, Share, key, wrong

_FORMS = "write a duration, {mean}, {mean, cv}, {p50, p99} or {quantiles}"
_COMBINATIONS = ({"value"}, {"mean"}, {"mean", "cv"}, {"p50", "p99"}, {"quantiles"})


class Spikes(Section):
    """Rare long latencies in place of the usual ones."""

    probability: Share = key(description="Of a draw being such a one. Source: given.")
    shortest: Latency = key(description="They are uniform from here. Source: given.")
    longest: Latency = key(description="They are uniform up to here. Source: given.")

    @model_validator(mode="after")
    def _ascends(self) -> Self:
        if self.shortest > self.longest:
            raise wrong("is longer than longest; swap the two", at="shortest")
        return self


class Shape(Section):
    """A distribution of durations; a bare duration means: always that."""

    value: Latency | None = key(default=None, description="Always this. Source: given.")
    mean: Latency | None = key(
        default=None,
        description="Exponential with this mean; log-normal if cv is given. Source: given.",
    )
    cv: Annotated[float, Number(0, 100)] | None = key(
        default=None, description="Coefficient of variation, deviation / mean. Source: given."
    )
    p50: Latency | None = key(default=None, description="Log-normal: its median. Source: given.")
    p99: Latency | None = key(
        default=None, description="Log-normal: its 99 % quantile. Source: given."
    )
    quantiles: list[tuple[Share, Latency]] | None = key(
        default=None,
        description="Straight lines between [probability, duration] pairs. Source: given.",
        min_length=1,
        max_length=1_000,
    )
    spikes: Spikes | None = key(
        default=None, description="Rare long latencies; none by default. Source: given."
    )

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
