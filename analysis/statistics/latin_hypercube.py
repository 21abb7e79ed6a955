"""Latin hypercube samples: points that cover every range of many evenly, each alone.

Source: McKay, Beckman, Conover, A comparison of three methods for selecting values of input
variables, Technometrics 21(2), 1979; drawn by scipy.stats.qmc.
"""

from __future__ import annotations


def latin_hypercube(samples: int, dimensions: int, seed: int) -> list[list[float]]:
    """Returns ``samples`` points of ``dimensions`` shares in [0, 1).

    Of each dimension every interval [i / samples, (i + 1) / samples) has exactly one point. The
    same arguments give the same points.
    """
    from scipy.stats import qmc  # takes half a second, and few studies ask for it

    drawn = qmc.LatinHypercube(d=dimensions, rng=seed).random(samples)
    return [[float(share) for share in point] for point in drawn]
