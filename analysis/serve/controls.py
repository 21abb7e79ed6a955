"""What a reader can change in the explorer: keys of a scenario, as steps of a slider.

Law: a control changes one key and nothing else. A latency keeps the shape of its distribution: all
its durations are scaled alike, so that its mean is what is asked for.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final, Literal

from analysis.metrics.numbers import NumberKey, StudyNumber
from analysis.study.study import Study
from sim.distributions import mean_ns
from sim.scenario.problems import ScenarioError
from sim.scenario.quantities import DURATION
from sim.scenario.resolved import Scenario
from sim.units import NS_PER_MS

Kind = Literal["count", "number", "latency", "rate"]
LOCK_MODES: Final[Mapping[str, dict[str, Any]]] = {
    mode: {"tikv.pessimistic-txn.pipelined": pipelined, "tikv.pessimistic-txn.in-memory": in_memory}
    for mode, pipelined, in_memory in (
        ("sync", False, False), ("pipelined", True, False), ("in_memory", True, True),
    )
}  # fmt: skip
"""Keys of each lock mode."""


class ControlError(ValueError):
    """A value that a control cannot have; the message says which it can."""


@dataclass(frozen=True, slots=True)
class KeyControl:
    """A key that can be turned."""

    name: str
    """In addresses."""
    key: str
    label: str
    kind: Kind
    steps: tuple[float, ...]
    """Ascending: the slider's, and those of a curve over it."""
    of: Callable[[Scenario], float | None]
    """Its value in a scenario; None: it has none there."""
    unit: str = ""

    def parse(self, text: str) -> float:
        """Returns a value as a page sends it.

        Raises:
            ControlError: if it is none, or lies beyond the steps.
        """
        low, high = self.steps[0], self.steps[-1]
        try:
            value = float(text)
        except ValueError:
            value = float("nan")
        if not low <= value <= high or (self.kind == "count" and value != int(value)):
            whole = "a whole number" if self.kind == "count" else "a number"
            raise ControlError(f"{self.label}: write {whole} from {low:g} to {high:g}")
        return value

    def overrides(self, value: float, base: Scenario) -> dict[str, Any]:
        """Returns what a point says for a value, beside what the base says."""
        load = {"workload.threads": None, "workload.rate": None, "workload.think_time": None}
        return (load if self.name in LOADS else {}) | {self.key: self._said(value, base)}

    def _said(self, value: float, base: Scenario) -> Any:
        match self.kind:
            case "count":
                return int(value)
            case "number":
                return value
            case "rate":
                return f"{value:g}/s"
            case "latency":
                said: Any = {"hardware": base.hardware.document()}
                for part in self.key.split("."):
                    said = said[part]
                return _scaled(said, value / (self.of(base) or 1.0))


def _scaled(said: Any, factor: float) -> Any:
    """Returns what a file says of a distribution with all its durations scaled."""
    if isinstance(said, str):
        return DURATION.text_of(round(DURATION.parse(said) * factor))
    if isinstance(said, dict):
        return {key: _scaled(child, factor) for key, child in said.items()}
    if isinstance(said, list | tuple):
        return [_scaled(child, factor) for child in said]
    return said


def _mean_ms(spec: Any) -> float | None:
    return None if spec is None else mean_ns(spec) / NS_PER_MS


LOADS: Final = ("threads", "rate")
"""Controls of which a scenario has one: a closed loop, or an open one."""

_LATENCIES_MS: Final = (0.02, 0.05, 0.08, 0.12, 0.2, 0.35, 0.5, 0.75, 1.0, 1.5, 2.5, 5.0, 10.0)
_ROUND_TRIPS_MS: Final = (0.02, 0.05, 0.1, 0.15, 0.25, 0.5, 0.8, 1.0, 2.0, 5.0, 10.0, 20.0, 70.0)
_THREADS: Final = (1, 2, 3, 4, 6, 8, 12, 16)

CONTROLS: Final = (
    KeyControl("threads", "workload.threads", "Clients (threads)", "count",
               (1, 2, 5, 10, 20, 35, 50, 100, 200, 400, 800, 1600),
               lambda made: made.workload.threads),
    KeyControl("rate", "workload.rate", "Transactions asked for", "rate",
               (50, 100, 200, 400, 600, 800, 1200, 1600, 2400, 3600, 5000),
               lambda made: made.workload.rate_per_s, "1/s"),
    KeyControl("append", "hardware.disk.raft.append", "Disk append, mean", "latency", _LATENCIES_MS,
               lambda made: _mean_ms(made.hardware.raft_disk.append), "ms"),
    KeyControl("amplification", "hardware.lsm.write_amplification", "Write amplification", "number",
               (1, 2, 3, 5, 7, 10, 15, 20, 30),
               lambda made: made.hardware.lsm.write_amplification),
    KeyControl("pollers", "tikv.raftstore.store-pool-size", "Store pollers", "count", _THREADS,
               lambda made: made.tikv.store_pool_size),
    KeyControl("writers", "tikv.raftstore.store-io-pool-size", "Raft log writers (IO threads)",
               "count", (0, 1, 2, 3, 4, 6, 8), lambda made: made.tikv.store_io_pool_size),
    KeyControl("appliers", "tikv.raftstore.apply-pool-size", "Apply threads", "count", _THREADS,
               lambda made: made.tikv.apply_pool_size),
    KeyControl("stores", "cluster.stores", "Stores", "count", (1, 2, 3, 4, 5, 6, 9, 12, 18),
               lambda made: made.cluster.stores),
    KeyControl("replicas", "cluster.replicas", "Replicas", "count", (1, 2, 3, 4, 5, 6, 7),
               lambda made: made.cluster.replicas),
    KeyControl("zones", "cluster.zones", "Zones", "count", (1, 2, 3, 4, 5),
               lambda made: made.cluster.zones),
    KeyControl("inside", "hardware.network.same_zone", "Round trip inside a zone, mean", "latency",
               _ROUND_TRIPS_MS, lambda made: _mean_ms(made.hardware.network.same_zone), "ms"),
    KeyControl("between", "hardware.network.cross_zone", "Round trip between zones, mean",
               "latency", _ROUND_TRIPS_MS,
               lambda made: _mean_ms(made.hardware.network.cross_zone), "ms"),
)  # fmt: skip
BY_NAME: Final[Mapping[str, KeyControl]] = {control.name: control for control in CONTROLS}


_MOST_POINTS: Final = 100
"""Of a study: so many steps more are what a slider can show."""

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
    numbers: Mapping[NumberKey, StudyNumber]
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
    def simulated(self) -> Mapping[str, Mapping[NumberKey, StudyNumber]]:
        """Numbers of the study by the digest of their case."""
        cases: dict[tuple[str, str], dict[NumberKey, StudyNumber]] = {}
        for key, number in self.numbers.items():
            cases.setdefault((key.point, key.variant), {})[key] = number
        found = {}
        for (point, variant), numbers in cases.items():
            try:
                found[self.study.resolver.digest(json.loads(point), variant)] = numbers
            except (ScenarioError, KeyError, ValueError):
                continue  # of a file that was changed since
        return found

    @cached_property
    def swept(self) -> Mapping[str, set[float]]:
        """Values of the finished study's points that a control can have, by its name."""
        found: dict[str, set[float]] = {}
        points = self.study.points if self.numbers else ()
        for point in points[:_MOST_POINTS]:
            made = self.study.scenario(point, self.variant)
            for control in CONTROLS:
                value = control.of(made)
                if value is not None and control.steps[0] <= value <= control.steps[-1]:
                    found.setdefault(control.name, set()).add(_rounded(value))
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

    A value of the base, or of the study's points, that is no step is a step of its own.
    """
    found = []
    for control in CONTROLS:
        own = control.of(base.scenario)
        value = values.get(control.name, own)
        if own is None and control.name not in LOADS:
            continue
        steps = {*control.steps, *base.swept.get(control.name, ())}
        steps |= set() if own is None else {_rounded(own)}
        found.append(
            {
                "name": control.name, "key": control.key, "label": control.label,
                "unit": control.unit, "kind": control.kind, "steps": sorted(steps),
                "base": None if own is None else _rounded(own),
                "value": None if value is None else _rounded(value),
            }
        )  # fmt: skip
    return found
