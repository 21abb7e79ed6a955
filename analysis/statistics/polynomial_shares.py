"""Shares of variance from a polynomial fit: the same samples say far more if the output is smooth.

Sobol' indices taken straight from blocks need hundreds of them; simulations give sixteen. A
polynomial in Legendre's orthonormal basis has its shares in its coefficients: those with one factor
alone are its own share, those with it at all its total share. What the fit leaves over, luck
included, is in the whole variance and in no input's share. How far it may be trusted is q2: the
part of the variance that it predicts of samples left out of the fit, one at a time.

Source: Sudret, Reliability Engineering & System Safety 93 (2008) 964-979.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations_with_replacement
from math import comb
from typing import Final

import numpy as np
from numpy.polynomial.legendre import legval
from numpy.typing import NDArray
from scipy.special import ndtri

from analysis.statistics.intervals import CONFIDENCE, Array
from analysis.statistics.sensitivity import Shares

_DEGREES: Final = (1, 2, 3)
_SAMPLES_A_TERM: Final = 2
"""A fit has at most half as many terms as samples."""

_RESAMPLES: Final = 200


@dataclass(frozen=True, slots=True)
class Fit(Shares):
    """Shares from a polynomial: own of terms with the factor alone, total of all with it."""

    degree: int
    """The one with the best q2."""
    q2: float
    """Part of the variance that is predicted of samples left out."""


def polynomial_shares(shares: Array, values: Array, seed: int) -> Fit | None:
    """Returns the shares of variance that a polynomial gives, or None if there are too few samples.

    Args:
        shares: of the factors' ranges, of shape (blocks, points, factors).
        values: of shape (blocks, points); a block with NaN is left out; they must vary.
        seed: of the bootstrap.
    """
    whole = ~np.isnan(values).any(axis=1)
    shares, values = shares[whole], values[whole]
    factors = shares.shape[2]
    fits = [
        (_q2(_basis(shares, _terms(factors, degree)), values.ravel()), degree)
        for degree in _DEGREES
        if _SAMPLES_A_TERM * comb(factors + degree, degree) <= values.size
    ]
    if not fits:
        return None
    q2, degree = max(fits)
    terms = _terms(factors, degree)
    basis = _basis(shares, terms).reshape(*values.shape, len(terms))
    own, total = _shares_of(basis, values, terms)
    rng = np.random.Generator(np.random.PCG64(seed))
    drawn = [
        np.stack(_shares_of(basis[rows], values[rows], terms))
        for rows in rng.integers(len(values), size=(_RESAMPLES, len(values)))
    ]
    half = float(ndtri(0.5 + CONFIDENCE / 2)) * np.std(drawn, axis=0, ddof=1)
    return Fit(own, half[0], total, half[1], degree, q2)


def _terms(factors: int, degree: int) -> NDArray[np.int64]:
    """Returns the powers of each term, of shape (terms, factors), the constant first."""
    picks = (
        pick
        for size in range(degree + 1)
        for pick in combinations_with_replacement(range(factors), size)
    )
    return np.array(
        [np.bincount(np.array(pick, dtype=np.int64), minlength=factors) for pick in picks]
    )


def _basis(shares: Array, terms: NDArray[np.int64]) -> Array:
    """Returns each term at each sample, of shape (samples, terms); orthonormal on [0, 1]."""
    x = 2.0 * shares.reshape(-1, shares.shape[-1]) - 1.0
    columns = np.ones((len(x), len(terms)))
    for term, powers in enumerate(terms):
        for factor, power in enumerate(powers):
            weights = np.zeros(power + 1)
            weights[power] = np.sqrt(2.0 * power + 1.0)
            columns[:, term] *= legval(x[:, factor], weights)
    return columns


def _q2(basis: Array, values: Array) -> float:
    """Returns the part of the variance predicted of samples left out, one at a time."""
    hat = basis @ np.linalg.pinv(basis)
    residual = (values - hat @ values) / np.maximum(1.0 - np.diag(hat), 1e-9)
    return float(1.0 - np.mean(residual**2) / np.var(values))


def _shares_of(basis: Array, values: Array, terms: NDArray[np.int64]) -> tuple[Array, Array]:
    """Returns own and total shares, of shape (factors,) each."""
    flat, wanted = basis.reshape(-1, basis.shape[-1]), values.ravel()
    coefficients = np.linalg.lstsq(flat, wanted, rcond=None)[0]
    left_over = float(np.mean((wanted - flat @ coefficients) ** 2))
    squares, taking_part = coefficients**2, terms > 0
    variance = float(squares[1:].sum()) + left_over
    alone = taking_part & (taking_part.sum(axis=1) == 1)[:, None]
    own, total = (np.asarray(squares @ part, dtype=np.float64) for part in (alone, taking_part))
    variance = max(variance, float(np.finfo(np.float64).tiny))
    return own / variance, total / variance
