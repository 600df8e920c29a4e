"""Sums of noises whose grids are coarse: exact tails, by enumeration or on a common grid.

Source: modern-data:C1. Proof: ``proofs/intervals.md``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction

import numpy as np

from discreet.core.arrays import Floats
from discreet.mechanisms.distributions.symmetric import Distribution

Terms = Sequence[tuple[float, Distribution]]

_LARGEST = 1 << 21
_GRID = 1 << 19
_FORGOTTEN = 1e-7
_ROUNDING = 1e-11
_AT_ONCE = 1 << 17
_TABULATED = 1 << 16
_UPWARD = 1 + 1e-8


def pair_half_widths(
    coefficients: Floats,
    laws: tuple[Distribution, Distribution],
    alpha: float,
    bracket: tuple[Floats, Floats],
    *,
    tolerance: float,
) -> Floats:
    """Per cell an h with P(|c1 Z1 + c2 Z2| > h) <= alpha, by exact enumeration and bisection.

    Contract: ``coefficients`` (cells x 2) have no zeros; the bracket holds the least such h.

    Guarantee: never below the least h, and above it by at most ``tolerance`` of h or of a step.
    """
    low, high = (end.copy() for end in bracket)
    least = np.min(coefficients * [distribution.step for distribution in laws], axis=1)
    fine, coarse = sorted((0, 1), key=lambda i: laws[i].spread / laws[i].step)[::-1]
    values, masses, forgotten = _atoms(laws[coarse], 0.1 * tolerance * alpha)
    places = coefficients[:, coarse, None] / (coefficients[:, fine, None] * laws[fine].step)
    unit = 1 / (coefficients[:, fine] * laws[fine].step)
    above = _steps_above(laws[fine], alpha, len(coefficients) * len(values))
    while True:
        active = np.flatnonzero(high - low > tolerance * np.maximum(high, least))
        if active.size == 0:
            # Beyond rounding errors in the comparison with the atoms.
            return high * (1 + 1e-12)
        middle = 0.5 * (low[active] + high[active])
        tail = np.empty(len(active))
        chunks = 1 + len(active) * len(values) // _AT_ONCE
        for part in np.array_split(np.arange(len(active)), chunks):
            rows = active[part]
            steps = np.floor((middle[part] * unit[rows])[:, None] - places[rows] * values)
            tail[part] = 2 * (above(steps) @ masses) + forgotten
        reached = tail <= alpha
        high[active[reached]] = middle[reached]
        low[active[~reached]] = middle[~reached]


def common_step(terms: Terms) -> float | None:
    """The largest u of which every c * step is a whole multiple, if such a grid is useful."""
    units = dict.fromkeys((c, distribution.step) for c, distribution in terms)
    steps = [abs(Fraction(c)) * Fraction(step) for c, step in units]
    unit = steps[0]
    for step in steps[1:]:
        unit = Fraction(
            math.gcd(unit.numerator * step.denominator, step.numerator * unit.denominator),
            unit.denominator * step.denominator,
        )
    size = 2 * _radius(terms, 0.01) / float(unit)
    return float(unit) if size <= _LARGEST else None


def raised_off_grid(width: float, steps: Iterable[Fraction]) -> float:
    """A multiple of the common measure of ``steps``, raised a little unless it is a whole number.

    Sums of whole numbers are exact in doubles, so that a count's interval is whole too; others are
    rounded on the way, and a value on the border must not fall out by it.

    >>> raised_off_grid(68.0, [Fraction(1), Fraction(2)]), raised_off_grid(68.0, [Fraction(1, 3)])
    (68.0, 68.00000068)
    """
    return width if all(step.denominator == 1 for step in steps) else width * _UPWARD


def common_half_width(terms: Terms, alpha: float, unit: float) -> float:
    """The least multiple h of ``unit`` with P(|X| > h) <= alpha, all terms on that grid.

    The product of characteristic functions at the frequencies of a discrete Fourier transform is
    the transform of the law wrapped around; what is wrapped is negligible and counted as beyond.
    """
    reach = math.ceil(_radius(terms, alpha) / unit)
    size = 1 << (2 * reach + 1).bit_length()
    t = np.arange(size // 2 + 1, dtype=np.float64) * (2 * math.pi / (size * unit))
    product = np.ones(size // 2 + 1)
    for (c, distribution), power in _count_equal_terms(terms):
        product *= distribution.characteristic(c * t) ** power
    return _least(np.fft.irfft(product, size), alpha, 1) * unit


def gridded_half_width(terms: Terms, alpha: float) -> float:
    """An h with P(|X| > h) <= alpha, each term first rounded to one fine grid.

    Guarantee: never below the least h; the rounding of all terms together, at most half a grid
    step each, is added.
    """
    radius = _radius(terms, alpha)
    unit = 2 * radius / _GRID
    edges = (np.arange(_GRID // 2 + 1, dtype=np.float64) - 0.5) * unit
    product = np.ones(_GRID // 2 + 1)
    for (c, distribution), power in _count_equal_terms(terms):
        above = distribution.above(edges / abs(c))
        mass = np.zeros(_GRID)
        mass[: _GRID // 2] = above[:-1] - above[1:]
        mass[0] = 1 - 2 * above[1]
        mass[_GRID // 2 + 1 :] = mass[_GRID // 2 - 1 : 0 : -1]
        product *= np.fft.rfft(mass).real ** power
    rounded = _least(np.fft.irfft(product, _GRID), alpha, 1 + len(terms)) * unit
    return rounded + len(terms) * unit / 2


def _least(mass: Floats, alpha: float, times: int) -> int:
    """Least m such that at most alpha lies beyond m, of a symmetric law wrapped around.

    What was wrapped or left out, ``times`` the forgotten share, and the rounding errors of the
    transform count as beyond. Where alpha is less than those alone, all that is kept is inside.
    """
    half = len(mass) // 2
    both = 2 * np.maximum(mass[:half], 0.0)
    beyond = np.append(both[:0:-1].cumsum()[::-1], 0.0)
    reached = beyond + times * _FORGOTTEN * alpha + _ROUNDING <= alpha
    return int(np.argmax(np.append(reached, True)))


def _count_equal_terms(terms: Terms) -> list[tuple[tuple[float, Distribution], int]]:
    """Equal terms once, with how many there are."""
    counts: dict[tuple[float, Distribution], int] = {}
    for c, distribution in terms:
        counts[abs(c), distribution] = counts.get((abs(c), distribution), 0) + 1
    return list(counts.items())


def _radius(terms: Terms, alpha: float) -> float:
    """How far out at most the forgotten share of alpha lies.

    A sum of log-concave variables is more than t deviations out with probability at most
    exp(1 - t), and the noises are no further from those than they may be apart.
    """
    known = {law: law.companion for law in {distribution for _, distribution in terms}}
    companions = [(c, known[distribution]) for c, distribution in terms]
    variance = math.fsum(c * c * (2 * k.exponential**2 + k.normal**2) for c, k in companions)
    apart = math.fsum(abs(c) * k.apart for c, k in companions)
    return math.sqrt(variance) * (1 - math.log(_FORGOTTEN * alpha)) + apart


def _steps_above(
    distribution: Distribution, alpha: float, asked: int
) -> Callable[[Floats], Floats]:
    """P(Z > j steps) for whole j, from a table if that is short beside the ``asked`` numbers."""
    reach = distribution.exceeded(1e-3 * _FORGOTTEN * alpha) / distribution.step + 1
    if reach > min(_TABULATED, asked):
        return lambda steps: distribution.above(steps * distribution.step)
    whole = np.arange(-reach, reach + 1)
    table = distribution.above(whole * distribution.step)
    table[0] = 1.0

    def look_up(steps: Floats) -> Floats:
        places = np.clip(steps + reach, 0, 2 * reach).astype(np.intp)
        return np.take(table, places)

    return look_up


def _atoms(distribution: Distribution, forgotten: float) -> tuple[Floats, Floats, float]:
    """Values and probabilities of all atoms but a share, and that share."""
    reach = round(distribution.exceeded(forgotten) / distribution.step)
    edges = distribution.above((np.arange(reach + 2, dtype=np.float64) - 0.5) * distribution.step)
    mass = edges[:-1] - edges[1:]
    masses = np.concatenate((mass[:0:-1], mass))
    values = np.arange(-reach, reach + 1, dtype=np.float64) * distribution.step
    return values, masses, distribution.tail(reach * distribution.step)
