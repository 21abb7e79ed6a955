"""Which ids sysbench's ``--rand-type`` draws, with the default options of each distribution.

======== ======================================================================================
uniform  all ids as often
gaussian a bell in the middle: the mean of twelve uniform draws
special  three in four in the middle percent, the others in such a bell; the draw that decides which
         is used again for the id, so the lowest quarter of that percent is spared
pareto   low ids: one fifth of the ids gets four fifths of the draws, and so does a fifth of those
zipfian  low ids: the n-th as often as n to the power of -0.8
======== ======================================================================================

Source: akopytov/sysbench src/sb_rand.c (1.1, ``special`` of 1.0.20). Zipf's law is drawn by
rejection-inversion: Hörmann and Derflinger, ACM Transactions on Modeling and Computer Simulation,
6(3), 1996.
"""

from collections.abc import Callable, Mapping, Sequence
from math import erf, floor, fsum, log, sqrt
from typing import Final, NamedTuple

from sim.scenario.schema.arrival import RandType
from sim.streams import Stream
from sim.workload.layout import BlockPart, parts_between

_ITERATIONS: Final = 12
"""``--rand-spec-iter``."""
_SPECIAL_SHARE: Final = 0.75
"""``--rand-spec-res``."""
_SPECIAL_WIDTH: Final = 0.01
"""``--rand-spec-pct``."""
_SPECIAL_FROM: Final = 0.5 + (0.5 - _SPECIAL_SHARE) * _SPECIAL_WIDTH
_SPECIAL_TO: Final = 0.5 + 0.5 * _SPECIAL_WIDTH
"""Where those are, in shares of the table. Not a tuple: mypyc loses a constant one of floats."""
_PARETO_H: Final = 0.2
"""``--rand-pareto-h``."""
_PARETO_POWER: Final = log(_PARETO_H) / log(1 - _PARETO_H)
_ZIPF_EXPONENT: Final = 0.8
"""``--rand-zipfian-exp``."""

_SPREAD: Final = 1 / _ITERATIONS
"""Standard deviation of the bell over the ids' span: the mean of n uniform draws has a variance of
1 / 12 n, and n is 12."""

_NARROWING: Final = 4
"""Ratio of two neighbouring parts of a table whose low ids are hot."""


class IdLaw(NamedTuple):
    """One distribution of ids."""

    draw: Callable[[Stream, int], int]
    """From so many rows, an id from 1 on."""
    share_below: Callable[[float, int], float]
    """The share of the draws that fall into the first share of so many rows."""
    borders: Callable[[float], Sequence[float]]
    """Where parts of a table that are read differently meet, for the share that a block has."""

    def read_parts(self, rows: int, rows_of_block: int) -> Sequence[BlockPart]:
        """Returns how reads are spread over a table's blocks."""
        borders = [0.0, *self.borders(min(1.0, rows_of_block / rows)), 1.0]
        return parts_between(borders, [self.share_below(share, rows) for share in borders])


def _uniform(stream: Stream, rows: int) -> int:
    return int(stream.random() * rows) + 1


def _gaussian(stream: Stream, rows: int) -> int:
    return 1 + int(_bell(stream) * rows)


def _special(stream: Stream, rows: int) -> int:
    span = rows - 1
    chance = stream.random()
    if chance < 1 - _SPECIAL_SHARE:
        return 1 + int(_bell(stream) * span)
    middle = chance * (span * _SPECIAL_WIDTH + 1)
    return 1 + min(span, int(middle + span / 2 - span * _SPECIAL_WIDTH / 2))


def _bell(stream: Stream) -> float:
    # Rounded once, so that no version of Python sums differently.
    return fsum([stream.random() for _ in range(_ITERATIONS)]) / _ITERATIONS


def _pareto(stream: Stream, rows: int) -> int:
    return 1 + int(rows * stream.random() ** _PARETO_POWER)


def _zipfian(stream: Stream, rows: int) -> int:
    """Draws from an area that covers every id's bar, until a draw falls into one."""
    last = _zipf_area(rows + 0.5)
    while True:
        area = last + stream.random() * (_ZIPF_BEGIN - last)
        id_ = min(rows, max(1, floor(_zipf_at(area) + 0.5)))
        if area >= _zipf_area(id_ + 0.5) - id_**-_ZIPF_EXPONENT:
            return id_


def _zipf_area(at: float) -> float:
    """Returns the area beneath x to the power of minus the exponent, from 1 to ``at``."""
    return float((at ** (1 - _ZIPF_EXPONENT) - 1) / (1 - _ZIPF_EXPONENT))


_ZIPF_BEGIN: Final = _zipf_area(1.5) - 1
"""Where the area of the first id begins: all of its draws are taken."""


def _zipf_at(area: float) -> float:
    return float(max(0.0, 1 + area * (1 - _ZIPF_EXPONENT)) ** (1 / (1 - _ZIPF_EXPONENT)))


def _bell_below(share: float, _: int) -> float:
    if share in (0.0, 1.0):
        return share
    return (1 + erf((share - 0.5) / (_SPREAD * sqrt(2)))) / 2


def _special_below(share: float, rows: int) -> float:
    special = min(1.0, max(0.0, (share - _SPECIAL_FROM) / (_SPECIAL_TO - _SPECIAL_FROM)))
    return _SPECIAL_SHARE * special + (1 - _SPECIAL_SHARE) * _bell_below(share, rows)


def _zipf_below(share: float, rows: int) -> float:
    if not share:
        return 0.0
    ids = max(1.0, share * rows)
    return (_zipf_area(ids + 0.5) - _ZIPF_BEGIN) / (_zipf_area(rows + 0.5) - _ZIPF_BEGIN)


def _bell_borders(_: float) -> Sequence[float]:
    return [0.5 + spreads * _SPREAD for spreads in range(-3, 4)]


def _special_borders(block: float) -> Sequence[float]:
    return sorted([*_bell_borders(block), _SPECIAL_FROM, _SPECIAL_TO])


def _borders_of_low_ids(block: float) -> Sequence[float]:
    borders = []
    border = 1 / _NARROWING
    while border > block:
        borders.append(border)
        border /= _NARROWING
    return borders[::-1]


ID_LAWS: Final[Mapping[RandType, IdLaw]] = {
    "uniform": IdLaw(_uniform, lambda share, _: share, lambda _: ()),
    "gaussian": IdLaw(_gaussian, _bell_below, _bell_borders),
    "special": IdLaw(_special, _special_below, _special_borders),
    "pareto": IdLaw(
        _pareto, lambda share, _: float(share ** (1 / _PARETO_POWER)), _borders_of_low_ids
    ),
    "zipfian": IdLaw(_zipfian, _zipf_below, _borders_of_low_ids),
}
