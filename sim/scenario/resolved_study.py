"""What a study asks beyond its cases, resolved: precision, capacity, sensitivity.

Law: plain frozen values, which compare by content and travel between processes. Figures are in the
unit in which the metric is published (ms, B, 1/s, a share of 1); loads are threads or transactions
a second. What goes into a point is spelled as a scenario file would spell it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from sim.scenario.interpolation import Scale, Value, between, digits, rounded
from sim.scenario.metrics import METRICS, STATS
from sim.scenario.problems import shown, suggestion
from sim.scenario.quantities import RATE

Load = Literal["workload.threads", "workload.rate"]

ALL_PROFILES: Final = "all"
"""The key of prices that hold for every hardware profile without prices of its own."""

_LOAD_DIGITS = 3

_LIKE_A_STAT: Final = re.compile(r"p\d+|avg|average|median|min|count|sum|std")
"""Words that nobody means as a class."""


@dataclass(frozen=True, slots=True, order=True)
class MetricKey:
    """One figure of the summary: ``lock_latency_ms.p99``, ``txn_latency_ms.new_order.p95``."""

    metric: str
    class_: str = "all"
    stat: str = "mean"

    @classmethod
    def parse(cls, text: str) -> MetricKey:
        """Returns the figure that a key means.

        Raises:
            ValueError: if no study reports it; the message says what to write.
        """
        metric, *rest = text.split(".")
        if metric not in METRICS:
            raise ValueError(f"no metric {shown(metric)}; {suggestion(metric, list(METRICS))}")
        if rest and _LIKE_A_STAT.fullmatch(rest[-1]) and rest[-1] not in STATS:
            stats = list(METRICS[metric].stats)
            raise ValueError(f"no statistic {shown(rest[-1])}; {suggestion(rest[-1], stats)}")
        stat = rest.pop() if rest and rest[-1] in STATS else "mean"
        if len(rest) > 1 or not all(rest) or set(rest) & set(STATS):
            raise ValueError(f"{shown(text)} is no figure; write metric, metric.stat, "
                             "metric.class or metric.class.stat")  # fmt: skip
        key = cls(metric, rest[0] if rest else "all", stat)
        if stat not in METRICS[metric].stats:
            known = (str(cls(metric, key.class_, stat)) for stat in METRICS[metric].stats)
            raise ValueError(f"{metric} has no {stat}; write {' or '.join(known)}")
        return key

    def __str__(self) -> str:
        """Returns the shortest text that ``parse`` turns into this key again."""
        class_ = "" if self.class_ == "all" else f".{self.class_}"
        return f"{self.metric}{class_}" + ("" if self.stat == "mean" else f".{self.stat}")


@dataclass(frozen=True, slots=True)
class Precision:
    """Replications are added in rounds until every figure is as certain as asked for."""

    targets: tuple[tuple[MetricKey, float], ...]
    """Half width of the 95 % interval over the value, 0.05 for 5 %, by figure."""
    most_replications: int
    """Where rounds end even so; ``run.replications`` is the first round."""


@dataclass(frozen=True, slots=True)
class Objective:
    """One part of a service level objective: the figure is at most ``limit``."""

    key: MetricKey
    limit: float
    """In the unit in which the metric is published."""


@dataclass(frozen=True, slots=True)
class NodePrices:
    """What a node costs an hour, in any currency."""

    store: float
    tidb_node: float


@dataclass(frozen=True, slots=True)
class Capacity:
    """Asks for the greatest load at which all objectives are met."""

    slo: tuple[Objective, ...]
    load: Load
    low: float
    """Threads, or transactions a second."""
    high: float
    tolerance: float
    """Width of the final bracket over the load."""
    prices: Mapping[str, NodePrices] = field(default_factory=dict)
    """By hardware profile, or ``all``; empty: costs are not asked for."""

    def load_value(self, x: float) -> int | str:
        """Returns a load as a point has it, in three significant digits so that loads coincide."""
        short = rounded(x, _LOAD_DIGITS)
        if self.load == "workload.threads":
            return max(round(short), 1)
        return f"{digits(short)}/s"

    def load_of(self, point: Mapping[str, Any]) -> float:
        """Returns the load that a point has.

        Raises:
            KeyError: if it has none.
            ValueError: if it is no load.
        """
        value = point[self.load]
        return float(value) if self.load == "workload.threads" else float(RATE.parse(value))


@dataclass(frozen=True, slots=True)
class Range:
    """A key of the scenario, between two values."""

    key: str
    low: Value
    high: Value
    scale: Scale = "linear"

    def at(self, share: float) -> Value:
        """Returns the value ``share`` (0 to 1) of the way, as a file would write it."""
        return between(self.low, self.high, share, self.scale)


@dataclass(frozen=True, slots=True)
class Sensitivity:
    """Asks which keys move the outcomes: Morris screening, then Sobol' on what matters."""

    factors: tuple[Range, ...]
    outcomes: tuple[MetricKey, ...]
    """Judged as second variant over first if there are two or more variants, else as they are."""
    trajectories: int = 6
    """Of Morris: paths through the factors' levels."""
    levels: int = 4
    """Of Morris: values of each factor, evenly spaced on its scale."""
    keep: int = 3
    """Factors that go on to Sobol'."""
    samples: int = 16
    """Of Sobol': base samples, a power of two."""
    seed: int = 1
