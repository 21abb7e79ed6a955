"""Which numbers moved between two studies, beyond what replications explain.

The studies are taken as independent: Welch's t on the logarithms of the means, their errors by the
delta method from the intervals; on the means themselves where one of them is not positive. What is
tested at once is many numbers, so p values become q values (Benjamini and Hochberg): of what is
said to have moved, 5 % is expected not to have. If nothing has moved at all, that says so in 95 %
of comparisons. Holm's step down would promise more than a first look needs, and among hundreds of
numbers that mean nearly the same would hide what a reader wants to see.

Under the same seed replications share random draws, and the interval is wider than it need be.

Source: Welch, Biometrika 34, 1947; Benjamini and Hochberg, J. R. Stat. Soc. B 57, 1995.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtr, stdtrit

from analysis.metrics.catalogue import HIGHER_IS_BETTER, NEITHER_IS_BETTER, QUANTILES
from analysis.metrics.numbers import NumberKey, StudyNumber
from analysis.metrics.rounding import four_digits
from analysis.statistics.intervals import CONFIDENCE, Array
from sim.record.histogram import RELATIVE_ERROR

FALSE_DISCOVERIES: Final = 0.05


@dataclass(frozen=True, slots=True)
class Move:
    """One number of both studies."""

    key: NumberKey
    """As in study B."""
    a: StudyNumber
    b: StudyNumber
    ratio: float
    """B / A; NaN where one is not positive."""
    ci_low: float
    ci_high: float
    q: float
    """Share of false discoveries at which it counts as moved; NaN: it could not be judged."""

    @property
    def judged(self) -> bool:
        """Whether it could be judged: both studies have an interval."""
        return not math.isnan(self.q)

    @property
    def bounded(self) -> bool:
        """Whether only a lower bound is known in one of the studies."""
        return self.a.at_least or self.b.at_least

    @property
    def moved(self) -> bool:
        """Whether it moved beyond noise."""
        return self.q <= FALSE_DISCOVERIES

    @property
    def better(self) -> bool | None:
        """Whether B's number is the better one; None if neither is."""
        metric, a, b = self.key.figure.metric, self.a.value, self.b.value
        if a == b or metric in NEITHER_IS_BETTER:
            return None
        return (b > a) == (metric in HIGHER_IS_BETTER)

    @property
    def words(self) -> str:
        """Returns ``2.776 to more than 2,951``."""
        return " to ".join(
            f"{'more than ' * of.at_least}{four_digits(of.value)}" for of in (self.a, self.b)
        )

    @property
    def size(self) -> float:
        """How far it moved, by factors; infinite where there is no ratio."""
        return math.inf if math.isnan(self.ratio) else abs(math.log(self.ratio))


def moves(pairs: Sequence[tuple[NumberKey, StudyNumber, StudyNumber]]) -> list[Move]:
    """Judges all numbers that both studies have.

    Args:
        pairs: the key in B, the number of A and that of B; neither is refused.

    Returns:
        In the order given.
    """
    if not pairs:
        return []
    a, b = (np.array([pair[side][1:5] for pair in pairs], dtype=np.float64) for side in (1, 2))
    quantile = np.array([key.figure.stat in QUANTILES for key, _, _ in pairs])
    bound = np.where(quantile, np.log1p(RELATIVE_ERROR), 0.0)
    positive = (a[:, 0] > 0) & (b[:, 0] > 0)
    shift, error_a, error_b = _shift(a, b, bound, positive)
    with np.errstate(invalid="ignore", divide="ignore"):
        freedom = (error_a**2 + error_b**2) ** 2 / (
            error_a**4 / np.maximum(a[:, 3] - 1, 1) + error_b**4 / np.maximum(b[:, 3] - 1, 1)
        )
        error = np.hypot(error_a, error_b)
        # What the histograms' buckets may have added is no evidence.
        beyond = np.maximum(np.abs(shift) - 2 * bound, 0.0)
        p = 2 * stdtr(freedom, -beyond / error)
        half = stdtrit(freedom, 0.5 + CONFIDENCE / 2) * error + 2 * bound
    exact = error == 0
    p = np.where(exact, np.where(beyond > 0, 0.0, 1.0), p)
    half = np.where(exact, 2 * bound, half)
    same = (a[:, :3] == b[:, :3]).all(axis=1)
    q = np.where(same, 1.0, _q_values(np.where(same, 1.0, p)))
    with np.errstate(over="ignore"):  # an end that is not known at all is infinite
        ratio, low, high = (
            np.where(positive, np.exp(each), np.nan) for each in (shift, shift - half, shift + half)
        )
    return [
        Move(key, mine, theirs, *numbers)
        for (key, mine, theirs), *numbers in zip(
            pairs, ratio.tolist(), low.tolist(), high.tolist(), q.tolist(), strict=True
        )
    ]


def _shift(
    a: Array, b: Array, bound: Array, positive: NDArray[np.bool_]
) -> tuple[Array, Array, Array]:
    """Returns by how much the means differ, and the standard error of each; NaN: no interval."""
    scale_a, scale_b = np.where(positive, a[:, 0], 1.0), np.where(positive, b[:, 0], 1.0)
    logs = np.log(scale_b) - np.log(scale_a)
    shift = np.where(positive, logs, b[:, 0] - a[:, 0])
    return shift, _error(a, bound) / scale_a, _error(b, bound) / scale_b


def _error(of: Array, bound: Array) -> Array:
    """Returns the standard error of each mean, from its interval; NaN for one replication."""
    value, low, high, count = of.T
    half = (high - low) / 2 - value * np.expm1(bound)
    quantile = stdtrit(np.maximum(count - 1, 1.0), 0.5 + CONFIDENCE / 2)
    # A half width of rounding is none: numbers are kept to ten digits.
    return np.where(half <= 1e-9 * np.abs(value), np.where(np.isnan(half), np.nan, 0.0),
                    half / quantile)  # fmt: skip


def _q_values(p: Array) -> Array:
    """Returns Benjamini and Hochberg's q values; NaN stays, and counts for nothing."""
    from scipy.stats import false_discovery_control  # loading it takes half a second

    q, known = np.full_like(p, np.nan), ~np.isnan(p)
    q[known] = false_discovery_control(p[known])
    return q


@dataclass(frozen=True, slots=True)
class Matched:
    """The numbers of two studies, as far as they belong together."""

    both: list[tuple[NumberKey, StudyNumber, StudyNumber]]
    """Each number once: a class that is all there is of a metric says what ``all`` says."""
    repeats: dict[NumberKey, list[NumberKey]]
    """By a number in ``both``, others that are the same in A and in B."""
    refused: list[tuple[NumberKey, StudyNumber, StudyNumber]]
    """Refused in A, in B, or in both."""
    only_a: list[NumberKey]
    only_b: list[NumberKey]


def matched(
    a: Mapping[NumberKey, StudyNumber],
    b: Mapping[NumberKey, StudyNumber],
    variants: Mapping[str, str],
    points: Mapping[str, str],
) -> Matched:
    """Puts the numbers of two studies side by side.

    Args:
        a: of the first study.
        b: of the second.
        variants: those that are compared, A's name to B's.
        points: likewise.
    """
    found = Matched([], {}, [], [], [])
    known = set()
    for key, number in a.items():
        if key.variant not in variants or key.point not in points:
            continue
        there = key._replace(variant=variants[key.variant], point=points[key.point])
        other = b.get(there)
        known.add(there)
        if other is None:
            found.only_a.append(key)
        elif number.refused or other.refused:
            found.refused.append((there, number, other))
        elif not (math.isnan(number.value) or math.isnan(other.value)):
            # What the class is a part of: ``latch`` of ``pipelined/latch``, or ``all``.
            of_class = key.figure.class_.partition("/")[2] or "all"
            figure = replace(key.figure, class_=of_class)
            whole, there_whole = key._replace(figure=figure), there._replace(figure=figure)
            if whole != key and a.get(whole) == number and b.get(there_whole) == other:
                found.repeats.setdefault(there_whole, []).append(there)
            else:
                found.both.append((there, number, other))
    names, places = set(variants.values()), set(points.values())
    found.only_b.extend(
        key for key in b if key.variant in names and key.point in places and key not in known
    )
    return found
