"""Operations at fixed times: with them a run has a before and an after, and no steady state."""

from __future__ import annotations

from collections.abc import Sequence

from sim.scenario.resolved import Scenario
from sim.scenario.schema.operations import Operation, Timed
from sim.unit_result import simulated_ns


def first_fixed_ns(operations: Sequence[Operation], end_ns: int) -> int | None:
    """Returns when the first operation with an ``at`` before the end is carried out, or None."""
    times = [each.at_ns for each in operations if isinstance(each, Timed)]
    return min((at_ns for at_ns in times if at_ns is not None and at_ns < end_ns), default=None)


def has_fixed_times(scenario: Scenario) -> bool:
    """Returns whether something happens at a fixed time: parts of such a run are not alike."""
    return first_fixed_ns(scenario.operations, simulated_ns(scenario)) is not None
