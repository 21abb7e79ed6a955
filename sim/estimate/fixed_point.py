"""A figure that follows from itself, such as a wait that makes the load which makes the wait."""

from collections.abc import Callable
from math import inf
from typing import Final

_STEPS: Final = 40
_SLOW: Final = 2
"""Steps, one after the other, that leave more than half of what is possible."""

_FURTHEST: Final = 2.0
"""Times a guess that the next one may be, while nothing is known to lie above."""


def fixed_point(
    image: Callable[[float], float],
    near: float,
    *,
    close: float,
    least: float = 0.0,
    most: float = inf,
) -> float:
    """Returns x = image(x), by secants that stay between what is too little and what is too much.

    The answer is what ``image`` was asked last: what it keeps of that question is the answer's.

    Args:
        image: what follows from a figure; it rises less steeply than the figure, or falls.
        near: a first guess between the two bounds; the nearer, the fewer steps.
        close: share of x by which ``image(x)`` may differ from it.
        least: the answer is at least this, whatever follows from less.
        most: the answer is at most this, whatever follows from more.
    """
    at, slope = near, -1.0
    beyond = image(at) - at
    tried = {at}
    slow = 0
    for _ in range(_STEPS):
        if abs(beyond) <= close * at:
            break
        width = most - least
        if beyond > 0:
            least = at
        else:
            most = at
        if most - least <= close * at:
            break
        slow = slow + 1 if width < inf and most - least > width / 2 else 0
        before, ahead = at, beyond
        by_secant = before - beyond / slope if slope < 0 else inf
        furthest = _FURTHEST * before if most == inf else most
        at = min(furthest, max(least, by_secant))
        if at in tried or slow > _SLOW:  # A cliff: secants come no nearer from one of its sides.
            at, slow = (least + most) / 2, 0
        tried.add(at)
        beyond = image(at) - at
        slope = (beyond - ahead) / (at - before)
    return at
