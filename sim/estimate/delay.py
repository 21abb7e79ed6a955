"""A time of which the mean and the variance are known, and what becomes of several at once.

Source: David, Nagaraja, Order Statistics.
"""

from math import sqrt
from operator import add
from typing import NamedTuple

from sim.queueing.formulas import order_statistic_mean


class Delay(NamedTuple):
    """A time: one part is always the same, one varies."""

    fixed: float = 0.0
    random: float = 0.0
    variance: float = 0.0

    @classmethod
    def of(cls, fixed: float, random: float = 0.0) -> "Delay":
        """Returns a time whose random part is exponential."""
        return cls(fixed, random, random**2)

    @property
    def mean(self) -> float:
        """Of both parts."""
        return self.fixed + self.random

    def then(self, other: "Delay") -> "Delay":
        """Returns both, one after the other."""
        return Delay(*map(add, self, other))

    def until(self, needed: int, count: int) -> float:
        """Returns the mean time until ``needed`` of ``count`` such delays are over.

        Exact for an exponential part; the less it varies, the less it matters who is first.
        """
        deviations = order_statistic_mean(count, needed, 1.0) - 1
        return self.mean + sqrt(self.variance) * deviations
