"""How clients arrive, whatever they ask for."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import model_validator

from sim.scenario.fields import Count, Rate, Section, key, wrong
from sim.scenario.schema.shape import Shape


class ArrivalSection(Section):
    """How clients arrive: a closed loop of threads, or an open loop with a rate."""

    threads: Annotated[int, Count(1, 100_000)] | None = key(
        default=None, description="Closed loop: clients that wait for each answer."
    )
    rate: Rate | None = key(
        default=None,
        description="Open loop: transactions arrive at this mean rate, and latency counts from "
        "the intended start.",
    )
    think_time: Shape | None = key(
        default=None,
        description="Closed loop: pause between two transactions; none by default. Source: go-tpc "
        "has none unless --wait.",
    )

    @model_validator(mode="after")
    def _one_loop(self) -> Self:
        if self.threads is not None and self.rate is not None:
            raise wrong("both threads and rate; keep threads (closed loop) or rate (open loop)",
                        at="rate")  # fmt: skip
        if self.threads is None and self.rate is None:
            raise wrong("says neither threads nor rate; write threads: 50 (closed loop) or "
                        "rate: 2400/s (open loop)")  # fmt: skip
        if self.rate is not None and self.think_time is not None:
            raise wrong("has no meaning in an open loop; remove it or write threads",
                        at="think_time")  # fmt: skip
        return self
