"""What a disk's latency is with more accesses in flight than were measured.

Law: bounds of a closed network (Denning, Buzen 1978; Zahorjan, Sevcik, Eager, Galler 1982). At its
limit each further access costs the demand at the bottleneck, which two bounds enclose. It is at
most the latency with n in flight over n, or else throughput would fall with n; it is at least what
the other accesses have added so far, over n - 1. How near the limit is cannot be seen from below
it, so the middle is taken: from n to 2n each adds the least, and from there the middle of both.
(At the limit, where all lies on one line through the origin, both are the same.)

Two in flight say what one other access costs and nothing of a limit: an access meets another one
with the chance 1 - 1/n, and four in flight follow in that proportion.

What is rare (beyond ``_RARE``) is a stall of a host or of a scheduler. It is in the latency once,
however long the queue behind it is; so those ranks grow as ``_RARE`` does.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from analysis.calibration.histogram import Pairs, ascending, at_rank

_RARE: Final = 0.95
"""Rank beyond which a latency is mostly a stall. ASSUMED; of seven numbers of jobs on one disk."""
_FIRST: Final = 2


@dataclass(frozen=True, slots=True)
class Crowded:
    """Latencies by how many accesses are in flight."""

    levels: Mapping[int, Pairs]
    """As measured."""
    beyond: int
    """Twice the most that were measured."""
    then: Pairs
    """The latency with ``beyond`` in flight; not measured."""
    further: Pairs
    """What each access beyond that adds, rank by rank; not measured."""
    least_ns: float
    """What each access adds to the median at the limit, at least."""
    most_ns: float
    """The same at most: with so much throughput no longer grows."""


def crowded(alone: Pairs, levels: Mapping[int, Pairs]) -> Crowded:
    """Returns levels with what comes beyond.

    Args:
        alone: latencies of one access.
        levels: latencies by number in flight, from 2; their ranks are those of ``alone``.
    """
    measured = dict(sorted(levels.items()))
    known = {1: alone} | measured
    last = max(measured)
    if last == _FIRST:
        known[2 * last] = _by_chance(alone, measured[last])
    slopes = [_slopes(known, place) for place in range(len(alone))]
    ranks = [rank for rank, _ in alone]
    common = max(place for place, rank in enumerate(ranks) if rank <= _RARE)
    slopes = [slopes[min(place, common)] for place in range(len(ranks))]
    middle = [(least + most) / 2 for least, most in slopes]
    then = known.get(2 * last) or ascending(
        (rank, round(ns + last * least))
        for (rank, ns), (least, _) in zip(measured[last], slopes, strict=True)
    )
    least, most = (
        at_rank(tuple(zip(ranks, (round(each[side]) for each in slopes), strict=True)), 0.5)
        for side in (0, 1)
    )
    return Crowded(
        levels=measured,
        beyond=2 * last,
        then=then,
        further=ascending((rank, round(ns)) for rank, ns in zip(ranks, middle, strict=True)),
        least_ns=least,
        most_ns=most,
    )


def _by_chance(alone: Pairs, two: Pairs) -> Pairs:
    """Returns the latency with four in flight, if others cost as often as they are met."""
    times = (1 - 1 / (2 * _FIRST)) / (1 - 1 / _FIRST)
    return ascending(
        (rank, round(ns + times * (ns_of_two - ns)))
        for (rank, ns), (_, ns_of_two) in zip(alone, two, strict=True)
    )


def _slopes(known: Mapping[int, Pairs], place: int) -> tuple[float, float]:
    """Returns what each access adds to one rank at the limit, at least and at most."""
    *_, before, last = known
    first, near, here = (known[number][place][1] for number in (1, before, last))
    most = here / last
    least = max(0.0, (here - first) / (last - 1), (here - near) / (last - before))
    return min(least, most), most
