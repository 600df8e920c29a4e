"""What private key selection costs, and how normal noise and its threshold are calibrated.

A person alone in u of its groups shows there with probability a(u) = 1 - (1 - p)**u, where p is
the chance that a count of one passes the threshold; in the others it moves counts by one under
normal noise. So both laws are mixtures, with weight a(u), of something arbitrary and of two
Gaussian mechanisms at distance sqrt(changed - u), and for every u

    delta >= a(u) + (1 - a(u)) gaussian_delta(sigma / sqrt(changed - u), epsilon)

suffices: the largest of these, not a sum of two shares of delta.

Source: modern-data:P3, P4. Proof: ``proofs/key_selection.md``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from discreet.accounting.approx import APPROX, ApproxPrice
from discreet.accounting.approx_zcdp import APPROXIMATELY_CONCENTRATED, ApproxZCDPPrice
from discreet.accounting.gaussian import gaussian_multiplier
from discreet.core.errors import InvalidParameter, Unpriced
from discreet.core.events.key_selection import (
    ConcentratedThreshold,
    GaussianThreshold,
    GeometricThreshold,
    KeySelection,
)
from discreet.core.parameters import Number, exact, rounded_down, rounded_up
from discreet.core.search import doubled, least_whole

_MARGIN = 1e-12
_FEW = 4096
_LISTED = 1 << 16
_LEAST_DELTA = 1e-290
_SHARES = (0.5, 0.9, 0.99, 0.999, 0.9999, 0.99999)
"""How much of delta the noise alone may use, by turns; the threshold takes what the rest allows."""


@dataclass(frozen=True)
class Calibrated:
    """Normal noise of ``sigma``, rounded, and the least noisy count at which a key is named."""

    sigma: float
    threshold: int


def alone(sigma: float, threshold: int) -> float:
    """The chance that a count of one shows: P(1 + round(noise) >= threshold), rounded up."""
    from scipy.special import log_ndtr  # loaded on first use: SciPy is slow to import

    return min(1.0, math.exp(float(log_ndtr(-(threshold - 1.5) / sigma))) * (1 + _MARGIN))


def bound_showing_chance(tail: float, times: int) -> float:
    """The chance that a unit shows in at least one of ``times`` groups it is alone in."""
    if tail >= 1:
        return 1.0
    return min(1.0, -math.expm1(times * math.log1p(-tail)) * (1 + _MARGIN))


def threshold_delta(
    sigma: float, threshold: int, groups: int, swaps: int, epsilon: Number
) -> float:
    """The delta of a Gaussian threshold at ``epsilon``, rounded up."""
    tail = alone(sigma, threshold)
    if tail >= 1:
        return 1.0
    # More groups it is alone in show it more, and hide it less in the others: where there are very
    # many numbers of them, each stretch is judged by its last for the one and its first for the
    # other.
    last = np.arange(groups + 1) if groups < _LISTED else np.linspace(0, groups, _LISTED).round()
    first = last if groups < _LISTED else np.concatenate(([0.0], last[:-1]))
    shows = np.minimum(-np.expm1(last * math.log1p(-tail)) * (1 + _MARGIN), 1.0)
    hidden = _gaussian_deltas(np.sqrt(groups * swaps - first) / sigma, float(epsilon))
    return float(min(1.0, np.max(shows + (1 - shows) * hidden) * (1 + _MARGIN)))


def _gaussian_deltas(mu: NDArray[np.float64], epsilon: float) -> NDArray[np.float64]:
    """The exact Gaussian curve at several distances, rounded up as in ``accounting/gaussian``."""
    from scipy.special import log_ndtr

    some = np.where(mu > 0, mu, 1.0)
    upper = log_ndtr(some / 2 - epsilon / some)
    lower = epsilon + log_ndtr(-some / 2 - epsilon / some)
    slack = 2e-15 * (1 + epsilon + np.abs(upper) + np.abs(lower))
    curve = np.exp(upper) * (-np.expm1(np.minimum(lower - upper, 0.0)) + slack) * (1 + _MARGIN)
    return np.where(mu > 0, np.minimum(curve, 1.0), 0.0)


@lru_cache(maxsize=256)
def calibrated(epsilon: Fraction, delta: Fraction, groups: int, swaps: int) -> Calibrated:
    """Noise and threshold that find most keys at (epsilon, delta); from public quantities alone.

    Guarantee: ``threshold_delta`` of the result at ``epsilon`` is at most ``delta``.
    """
    spend, target = rounded_down(epsilon), rounded_down(delta)
    if target < _LEAST_DELTA:
        raise Unpriced(
            code="unpriced",
            expectation=f"a delta of at least {_LEAST_DELTA:g} for noise and threshold to share",
            received=target,
            remedy="Choose a larger delta.",
        )
    root = math.sqrt(groups * swaps) * (1 + 2.0**-50)
    best: Calibrated | None = None
    for share in _SHARES:
        sigma = gaussian_multiplier(spend, target * share) * root
        made = Calibrated(sigma, _least_threshold(sigma, groups, swaps, spend, target))
        if best is None or compute_found_key_share(made) > compute_found_key_share(best):
            best = made
    assert best is not None
    return best


def _least_threshold(sigma: float, groups: int, swaps: int, epsilon: float, delta: float) -> int:
    def holds(threshold: int) -> bool:
        return threshold_delta(sigma, threshold, groups, swaps, epsilon) <= delta

    return _least(holds, sigma)


def _least(holds: Callable[[int], bool], sigma: float) -> int:
    """The least threshold that will do: a search that begins where noise of that size ends."""
    start = max(2, int(sigma))
    high = doubled(holds, start)
    return least_whole(holds, 1 if high == start else high // 2, high)


@lru_cache(maxsize=256)
def concentrated(rho: Fraction, delta: Fraction, groups: int, swaps: int) -> Calibrated:
    """Noise of rho-zCDP over ``groups * swaps`` counts, and the least threshold for delta.

    Under Replace each side has at most ``groups`` groups of its own, whatever ``swaps`` is.
    """
    square = Fraction(groups * swaps) / (2 * rho)
    sigma = math.sqrt(rounded_up(square))
    while Fraction(sigma) ** 2 < square:
        sigma = math.nextafter(sigma, math.inf)
    target = rounded_down(delta)

    def holds(threshold: int) -> bool:
        return bound_showing_chance(alone(sigma, threshold), groups) <= target

    return Calibrated(sigma, _least(holds, sigma))


def keep_probabilities(made: Calibrated, counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """P(count + round(noise) >= threshold), for information."""
    from scipy.special import ndtr

    kept: NDArray[np.float64] = np.where(
        counts > 0, ndtr((counts - made.threshold + 0.5) / made.sigma), 0.0
    )
    return kept


def compute_found_key_share(made: Calibrated) -> float:
    """The share of keys found of a long tail: what calibration maximises."""
    counts, shares = tail_of_keys(int(made.threshold + 9 * made.sigma) + 1)
    return float(np.sum(keep_probabilities(made, counts) * shares) + 1 / (counts[-1] + 1))


def tail_of_keys(last: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Numbers of people up to ``last`` and the share of keys that have them, one in n (n + 1).

    Where there are many numbers, some stand for all up to the next.
    """
    if last <= _FEW:
        counts = np.arange(1, last + 1, dtype=np.float64)
    else:
        counts = np.unique(np.round(np.geomspace(1, float(last), _FEW)))
    return counts, 1 / counts - 1 / np.append(counts[1:], last + 1)


def _stated(event: KeySelection) -> ApproxPrice:
    return ApproxPrice(epsilon=exact(event.loss), delta=exact(event.slack))


def _split(event: KeySelection) -> ApproxZCDPPrice:
    """Each changed group is (epsilon/g, delta/g)-private, so (epsilon/g)**2 / 2 apart from it."""
    return ApproxZCDPPrice(exact(event.loss) ** 2 / (2 * event.changed), exact(event.slack))


for _kind in (KeySelection, GeometricThreshold, GaussianThreshold):
    APPROX.prices(_kind)(_stated)
for _kind in (KeySelection, GeometricThreshold):
    APPROXIMATELY_CONCENTRATED.prices(_kind)(_split)


@APPROXIMATELY_CONCENTRATED.prices(GaussianThreshold)
def _gaussian(event: GaussianThreshold) -> ApproxZCDPPrice:
    try:
        made = calibrated(exact(event.loss), exact(event.slack), event.groups, event.swaps)
    except InvalidParameter as refusal:  # no noise is large enough: nobody can have drawn it
        raise Unpriced(
            code="unpriced", expectation=refusal.expectation, remedy=refusal.remedy
        ) from None
    shows = bound_showing_chance(alone(made.sigma, made.threshold), event.groups)
    return ApproxZCDPPrice(event.changed / (2 * exact(made.sigma) ** 2), exact(shows))


@APPROX.prices(ConcentratedThreshold)
def _concentrated_pair(event: ConcentratedThreshold) -> ApproxPrice:
    return ApproxPrice(delta=exact(event.slack), inverse_squares=2 * exact(event.rho))


@APPROXIMATELY_CONCENTRATED.prices(ConcentratedThreshold)
def _concentrated(event: ConcentratedThreshold) -> ApproxZCDPPrice:
    return ApproxZCDPPrice(exact(event.rho), exact(event.slack))
