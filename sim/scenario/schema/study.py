"""What a study asks beyond one run: variants, swept points, and claims to check."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import model_validator

from sim.scenario.fields import Name, Number, Section, Text, key, wrong

_Bound = Annotated[float, Number(-1e15, 1e15)]


class ExpectSection(Section):
    """One claim; it holds when the whole interval lies on the right side."""

    metric: Text = key(description="A figure of the summary. Source: given.")
    stat: Literal["mean", "p50", "p90", "p95", "p99", "p999", "max"] = key(
        default="mean", description="Which statistic of it. Source: our own default."
    )
    class_: Text = key(
        default="all",
        alias="class",
        description="Which part of it, such as a transaction type. Source: our own default.",
    )
    variant: Name | None = key(
        default=None, description="Whose figure; not needed if there is one variant. Source: given."
    )
    against: Name | None = key(
        default=None,
        description="The baseline: judge the ratio to it, not the figure. Source: given.",
    )
    below: _Bound | None = key(default=None, description="The interval lies below. Source: given.")
    above: _Bound | None = key(default=None, description="The interval lies above. Source: given.")
    at: dict[str, Any] | None = key(
        default=None, description="Only at points with these values of swept keys. Source: given."
    )

    @model_validator(mode="after")
    def _claims_something(self) -> Self:
        if self.below is None and self.above is None:
            raise wrong("claims nothing; write below, above or both")
        if self.below is not None and self.above is not None and self.below <= self.above:
            raise wrong("is not above above; no figure lies between them", at="below")
        return self


class SweepSection(Section):
    """Values of keys, all combinations of which are run."""

    grid: dict[str, list[Any]] = key(
        description="Values by dotted key, such as workload.threads: [50, 400]. Source: given.",
        min_length=1,
        max_length=20,
    )
