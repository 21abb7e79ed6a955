"""What an anchor is, and when the model's figure agrees with it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from analysis.metrics.catalogue import MetricKey

Kind = Literal["theory", "claim", "published", "measured"]
KINDS: Final[dict[Kind, str]] = {
    "theory": "derived: queueing formulas",
    "claim": "claimed: RFC 77",
    "published": "published: TiDB and TiKV",
    "measured": "measured: etcd, RocksDB, disks",
}
"""Every kind with its heading, in the order of the table."""

Standing = Literal["predicted", "fitted", "derived"]
"""What agreement proves: that the model predicts, or little, for constants or the setting were set
with the figure in view, or nothing of its own, for it follows from other anchors' figures.
"""

Verdict = Literal["in band", "outside", "refused"]


@dataclass(frozen=True, slots=True)
class Figure:
    """A number and its spread: an interval, or the range of several publications."""

    value: float
    low: float
    high: float

    @classmethod
    def exactly(cls, value: float) -> Figure:
        """Returns a number of whose spread nothing is known."""
        return cls(value, value, value)


@dataclass(frozen=True, slots=True)
class Band:
    """How far from their value the model may be: a share of it, or an amount.

    Publications that differ among themselves do not widen it.
    """

    share: float = 0.0
    amount: float = 0.0

    def around(self, theirs: Figure) -> tuple[float, float]:
        """Returns the lowest and the highest value that agrees."""
        slack = max(self.share * abs(theirs.value), self.amount)
        return theirs.value - slack, theirs.value + slack


@dataclass(frozen=True, slots=True)
class InStudy:
    """Where a study has the model's figure: a row of its summary, or a comparison of two."""

    study: str
    variant: str
    key: MetricKey
    against: str | None = None
    """The variant that is divided by; None: the figure itself."""
    point: Mapping[str, Any] = field(default_factory=dict)
    """Settings of the point; those that are not named do not matter."""
    scale: float = 1.0
    """Theirs per unit of the summary."""
    change: bool = False
    """Whether theirs is a change: a ratio less 1."""


@dataclass(frozen=True, slots=True)
class Quotient:
    """The model's figure is one row over another of the same variant and point."""

    over: InStudy
    under: InStudy


@dataclass(frozen=True, slots=True)
class Alone:
    """The mean of a series that a station or a queue of the model gives, run by itself."""

    run: Callable[[], Sequence[int]]
    to_unit: Callable[[float], float]
    """From the series' unit to that of the anchor."""


Origin = InStudy | Quotient | Alone


@dataclass(frozen=True, slots=True, kw_only=True)
class Anchor:
    """One figure to be met."""

    name: str
    kind: Kind
    conditions: str
    source: str
    unit: str
    theirs: Figure
    band: Band
    origin: Origin
    standing: Standing = "predicted"
    quick: bool = True
    """Whether ``validate --quick`` looks at it."""


@dataclass(frozen=True, slots=True)
class Judged:
    """An anchor with the model's figure; None, if a study refuses it."""

    anchor: Anchor
    ours: Figure | None
    reason: str = ""
    """Why it is refused."""

    @property
    def error(self) -> float | None:
        """Returns (ours - theirs) / theirs; None without either."""
        if self.ours is None or not self.anchor.theirs.value:
            return None
        return self.ours.value / self.anchor.theirs.value - 1.0

    @property
    def verdict(self) -> Verdict:
        """Says whether the model's value lies in the band; its interval does not widen it."""
        if self.ours is None:
            return "refused"
        low, high = self.anchor.band.around(self.anchor.theirs)
        return "in band" if low <= self.ours.value <= high else "outside"
