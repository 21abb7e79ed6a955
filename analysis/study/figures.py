"""Figures of the summary in a file: their keys, and limits in the unit of each.

Law: a limit has the unit of its metric, and says so: ``5ms`` or ``5000us`` for one in ms, ``64KiB``
for one in bytes, ``200/s`` for a rate, ``0.1%`` or ``0.001`` for a share, a number for a count.
Of aborted transactions a limit is a share of all, whatever they are counted as.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from analysis.metrics.catalogue import HIGHER_IS_BETTER, METRICS, MetricKey
from sim.scenario.fields import Form, Schema, Wrong
from sim.scenario.problems import shown
from sim.scenario.quantities import BANDWIDTH, DURATION, PERCENT, RATE, SIZE, QuantityKind
from sim.scenario.tree import Place
from sim.units import NS_PER_MS

_KINDS: Final[dict[str, tuple[QuantityKind, float]]] = {
    "ms": (DURATION, NS_PER_MS),
    "B": (SIZE, 1),
    "B/s": (BANDWIDTH, 1),
    "1/s": (RATE, 1),
}
"""By a metric's unit: how a file writes it, and base units of that in one of the metric's."""

_COUNTED_PER_TXN: Final = {"txn_aborts": "txn_aborts_per_txn"}
"""Counts of which a percentage means the metric per transaction."""

_MOST: Final = 1e15


@dataclass(frozen=True)
class FigureField(Form):
    """The key of a figure: ``metric``, ``metric.stat``, ``metric.class.stat``."""

    def parse(self, value: object) -> MetricKey:
        """Returns the figure."""
        if not isinstance(value, str):
            raise Wrong(f"must be a metric, is {shown(value)}; write lock_latency_ms.p99")
        try:
            return MetricKey.parse(value)
        except ValueError as error:
            raise Wrong(str(error)) from None

    def written(self, value: MetricKey) -> str:
        """Returns the key in its shortest spelling."""
        return str(value)

    def described(self, _: dict[str, Schema]) -> Schema:
        """Returns text that begins with a metric."""
        return {"type": "string", "pattern": f"^({'|'.join(METRICS)})(\\.[^.]+){{0,2}}$"}


@dataclass(frozen=True)
class LimitField(Form):
    """A limit, which only its metric can judge."""

    def parse(self, value: object) -> str | float:
        """Returns it as it is written."""
        if isinstance(value, str | int | float) and not isinstance(value, bool):
            return value
        raise Wrong(f"must be a limit, is {shown(value)}; write, for example, 5ms or 0.1%")

    def described(self, _: dict[str, Schema]) -> Schema:
        """Returns a number, or text with a unit."""
        return {"anyOf": [{"type": "number", "minimum": 0}, {"type": "string"}]}


FIGURE: Final = FigureField()
LIMIT: Final = LimitField()


def limit_of(key: MetricKey, value: object) -> tuple[MetricKey, float]:
    """Returns the figure that a limit is for, and the limit in the unit of that figure.

    ``txn_aborts: 0.1%`` is a limit of ``txn_aborts_per_txn``.

    Raises:
        ValueError: if the limit has another unit; the message says what to write.
    """
    if key.metric in HIGHER_IS_BETTER:
        raise ValueError(f"{key.metric} is better the higher it is, and a limit is an upper end; "
                         "remove it")  # fmt: skip
    percent = isinstance(value, str) and value.rstrip().endswith("%")
    if percent and key.metric in _COUNTED_PER_TXN:
        key = MetricKey(_COUNTED_PER_TXN[key.metric], key.class_, key.stat)
    if key.metric in _COUNTED_PER_TXN:
        # A count grows with the length of a run: who writes a bare number means a share.
        raise ValueError(_without_percent(value))
    unit = METRICS[key.metric].unit
    if unit in _KINDS:
        kind, in_base = _KINDS[unit]
        if kind is DURATION and _is_number(value):
            # Who writes a bare number means the unit that the metric's name says.
            raise ValueError(f"{value} has no unit; write {value}ms")
        limit = kind.parse(value) / in_base
    elif METRICS[key.metric].is_share:
        limit = _share(value, percent=percent)
    else:
        limit = _number(value, "a number without a unit", most=_MOST)
    if limit < 0:
        raise ValueError(f"{value} is below 0; write 0 or more")
    return key, limit


def _without_percent(value: object) -> str:
    """Returns what is wrong with a limit of a count, which is one of a share of transactions."""
    if not isinstance(value, int | float) or not _is_number(value):
        return f"{shown(value)} cannot be a limit here; write, of all transactions, 0.1%"
    if not 0 <= value <= 100:
        return f"{value} has no unit; write, of all transactions, 0.1%"
    as_share = f" or {100 * value:g}%" if 0 < value < 1 else ""
    return f"{value} has no unit; write {value}%{as_share}"


def _share(value: object, *, percent: bool) -> float:
    share = float(PERCENT.parse(value)) if percent else _number(value, "0.1% or 0.001", most=1)
    if share > 1:
        raise ValueError(f"{value} is more than 100%; write a part of the whole")
    return share


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _number(value: object, remedy: str, *, most: float) -> float:
    if not isinstance(value, int | float) or not _is_number(value):
        raise ValueError(f"{shown(value)} cannot be a limit here; write {remedy}")
    if value > most:
        raise ValueError(f"{shown(value)} is more than {most:g}; write {remedy}")
    return float(value)


def limit_text(key: MetricKey, limit: float) -> str | float:
    """Returns what ``limit_of`` turns into this limit again."""
    unit = METRICS[key.metric].unit
    if unit in _KINDS:
        kind, in_base = _KINDS[unit]
        amount = limit * in_base
        return kind.text_of(round(amount) if kind.whole else amount)
    return PERCENT.text_of(limit) if METRICS[key.metric].is_share else limit


def refuse_twice(place: Place, keys: Iterable[str]) -> None:
    """Notes that two keys at a place are spellings of one figure, if they are."""
    figures = [MetricKey.parse(key) for key in keys]
    twice = next((each for place, each in enumerate(figures) if each in figures[:place]), None)
    if twice is not None:
        place.refuse(f"{twice} appears twice; remove one")
