"""What the explorer starts from: a scenario, shipped or of a study, and how its controls stand."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from analysis.comparison.results import SummaryKey, SummaryNumber
from analysis.serve.controls import BY_NAME, CONTROLS, LOADS, LOCK_MODES, ControlError
from analysis.study.study import Study
from sim.scenario.problems import ScenarioError
from sim.scenario.resolved import Scenario

Values = Mapping[str, float]
"""Controls that were turned, by name."""


class NoBaseError(Exception):
    """There is no such scenario to start from; the message says why."""


@dataclass(frozen=True)
class Base:
    """The scenario that controls turn."""

    name: str
    """``scenario:rfc77`` or ``study:my_study``."""
    file: Path
    study: Study
    numbers: Mapping[SummaryKey, SummaryNumber]
    """Of the finished study; empty without one."""

    @cached_property
    def variant(self) -> str:
        """The one whose other settings hold; lock modes are the explorer's own."""
        return next(iter(self.study.variants))

    @cached_property
    def scenario(self) -> Scenario:
        """With nothing turned."""
        return self.study.scenario(self.study.points[0], self.variant)

    def point(self, values: Values, mode: str) -> dict[str, Any]:
        """Returns the point at which some controls are turned, in a lock mode."""
        point = dict(self.study.points[0])
        for name, value in values.items():
            point |= BY_NAME[name].overrides(value, self.scenario)
        return point | LOCK_MODES[mode]

    @cached_property
    def simulated(self) -> Mapping[str, Mapping[SummaryKey, SummaryNumber]]:
        """Numbers of the study by the digest of their case."""
        cases: dict[tuple[str, str], dict[SummaryKey, SummaryNumber]] = {}
        for key, number in self.numbers.items():
            cases.setdefault((key.point, key.variant), {})[key] = number
        found = {}
        for (point, variant), numbers in cases.items():
            try:
                found[self.study.resolver.digest(json.loads(point), variant)] = numbers
            except (ScenarioError, KeyError, ValueError):
                continue  # of a file that was changed since
        return found


def turned(said: Mapping[str, str], base: Base) -> dict[str, float]:
    """Returns the controls that an address turns, without those that stand as in the base.

    Raises:
        ControlError: if a value is none that its control can have.
    """
    values = {
        control.name: control.parse(said[control.name])
        for control in CONTROLS
        if said.get(control.name, "") != ""
    }
    if all(name in values for name in LOADS):
        raise ControlError("clients or a rate: leave one of the two out")
    return {
        name: value
        for name, value in values.items()
        if (own := BY_NAME[name].of(base.scenario)) is None or value != _rounded(own)
    }


def _rounded(value: float) -> float:
    """Returns a value as a page shows it: with three telling digits, if it is no whole number."""
    return value if value == int(value) else float(f"{value:.3g}")


def settings(base: Base, values: Values) -> list[dict[str, Any]]:
    """Returns every control with its value, for a page to draw.

    A value of the base that is no step is a step of its own.
    """
    found = []
    for control in CONTROLS:
        own = control.of(base.scenario)
        value = values.get(control.name, own)
        if own is None and control.name not in LOADS:
            continue
        steps = sorted({*control.steps, *([_rounded(own)] if own is not None else [])})
        found.append(
            {
                "name": control.name, "key": control.key, "label": control.label,
                "unit": control.unit, "kind": control.kind, "steps": steps,
                "base": None if own is None else _rounded(own),
                "value": None if value is None else _rounded(value),
            }
        )  # fmt: skip
    return found
