"""Keys of a disk that was measured: latencies with several accesses in flight, and longer ones."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import model_validator

from sim.distributions import Empirical
from sim.hardware.crowding import Crowd, Crowding, Longer
from sim.scenario.fields import Count, Quantity, Section, key, wrong
from sim.scenario.quantities import SIZE
from sim.scenario.schema.shape import Shape

_MOST = 64


class CrowdSection(Section):
    """One number of accesses in flight."""

    in_flight: Annotated[int, Count(2, 10_000)] = key(
        description="So many are kept in flight, this one included. Source: measured."
    )
    latency: Shape = key(description="Quantiles of the latency then. Source: measured.")

    @model_validator(mode="after")
    def _has_quantiles(self) -> Self:
        _check_quantiles(self.latency)
        return self


class CrowdingSection(Section):
    """How accesses in flight at the same time slow each other down."""

    levels: list[CrowdSection] = key(
        description="Numbers in flight that were measured, ascending; straight lines between "
        "them, and up to the first by the chance 1 - 1/n of company. Source: measured.",
        min_length=1,
        max_length=_MOST,
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
            _check_quantiles(self.further, "further")
        return self

    def crowding(self) -> Crowding:
        """Returns what it says."""
        return Crowding(
            tuple(Crowd(each.in_flight, _quantiles(each.latency)) for each in self.levels),
            None if self.further is None else _quantiles(self.further),
        )


class LongerSection(Section):
    """One size of an append above a page."""

    size: Annotated[int, Quantity(SIZE, "512B", "1GiB")] = key(
        description="Bytes appended. Source: measured."
    )
    latency: Shape = key(description="Quantiles of the latency on an idle disk. Source: measured.")

    @model_validator(mode="after")
    def _has_quantiles(self) -> Self:
        _check_quantiles(self.latency)
        return self

    def longer(self) -> Longer:
        """Returns what it says."""
        return Longer(self.size, _quantiles(self.latency))


def _check_quantiles(shape: Shape, at: str = "latency") -> None:
    if not isinstance(shape.distribution(), Empirical):
        raise wrong("must be {quantiles}, without spikes; write [probability, duration] pairs",
                    at=at)  # fmt: skip


def _quantiles(shape: Shape) -> Empirical:
    distribution = shape.distribution()
    assert isinstance(distribution, Empirical), "the schema refuses others"
    return distribution
