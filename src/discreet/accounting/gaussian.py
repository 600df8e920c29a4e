"""The exact privacy curve of the continuous Gaussian mechanism, at any epsilon and dimension.

With mu = sensitivity / sigma, and Phi the normal distribution function,

    delta(epsilon) = Phi(mu/2 - epsilon/mu) - exp(epsilon) Phi(-mu/2 - epsilon/mu).

Source: 000a:C5 and 004a:B7 (Balle–Wang form), checked there and here against integration. The
classic calibration sqrt(2 ln(1.25/delta)) holds for epsilon < 1 only and is not used.

Numerics: evaluated in log space; every returned value is on the private side (delta and epsilon
rounded up, multipliers rounded up) by a relative margin of 1e-12, far above the error of
SciPy's ``log_ndtr``.
"""

from __future__ import annotations

import math
from functools import lru_cache

from discreet.core.errors import InvalidParameter
from discreet.core.parameters import (
    Number,
    delta_parameter,
    exact,
    nonnegative,
    positive,
    rounded_down,
)
from discreet.core.search import doubled, least

_MARGIN = 1e-12
_LARGEST_EPSILON = 2.0**1000
_LEAST_MULTIPLIER = 1e-140
_LARGEST_MULTIPLIER = 2.0**1023
_SMALL_STEPS = 64


def gaussian_delta(noise_multiplier: Number, epsilon: Number) -> float:
    """Delta of Gaussian noise of ``noise_multiplier`` sensitivities, rounded up.

    >>> round(gaussian_delta(1, 1), 6)
    0.126937
    """
    z = rounded_down(exact(positive("noise_multiplier", noise_multiplier)))
    spend = rounded_down(exact(nonnegative("epsilon", epsilon)))
    if z < _LEAST_MULTIPLIER:
        return 1.0
    delta = _curve(1 / z, spend) * (1 + _MARGIN)
    # The true value is positive: where it is below the least float, that float is the bound.
    return min(1.0, max(delta, 5e-324))


def gaussian_epsilon(noise_multiplier: Number, delta: Number) -> float:
    """The least epsilon at ``delta``, rounded up; infinite at delta zero."""
    z = rounded_down(exact(positive("noise_multiplier", noise_multiplier)))
    target = rounded_down(exact(delta_parameter("delta", delta)))
    if z < _LEAST_MULTIPLIER or target == 0:
        return math.inf
    if gaussian_delta(z, 0) <= target:
        return 0.0

    def holds(epsilon: float) -> bool:
        return gaussian_delta(z, epsilon) <= target

    high = doubled(holds, 1.0, at_most=_LARGEST_EPSILON)
    return math.inf if high is None else least(holds, 0.0, high, close=0.0)


def gaussian_multiplier(epsilon: Number, delta: Number) -> float:
    """The least noise multiplier that is (epsilon, delta)-private, rounded up.

    >>> round(gaussian_multiplier(1, 1e-5), 5)
    3.73063
    """
    spend = rounded_down(exact(nonnegative("epsilon", epsilon)))
    return _least_multiplier(spend, rounded_down(exact(_positive_delta(delta))))


@lru_cache(maxsize=256)  # the measures of one question share what they spend
def _least_multiplier(spend: float, target: float) -> float:
    def holds(z: float) -> bool:
        return gaussian_delta(z, spend) <= target

    high = doubled(holds, 1.0, at_most=_LARGEST_MULTIPLIER)
    if high is None:
        raise InvalidParameter(
            code="target_out_of_reach",
            expectation="an epsilon or a delta for which some amount of noise suffices",
            received=(spend, target),
            remedy="Choose a larger epsilon or delta: no noise that can be drawn meets this one.",
        )
    low = high
    while holds(low):
        low /= 2
    multiplier = least(holds, low, high, close=0.0)
    # Rounding leaves the curve not quite monotone: take the price that will be charged as judge.
    # At tiny epsilons it is flat for long stretches: after some steps they grow.
    step, taken = 2.0**-50, 0
    while gaussian_epsilon(multiplier, target) > spend:
        multiplier *= 1 + step
        taken += 1
        step = step if taken < _SMALL_STEPS else 2 * step
    return multiplier


def _curve(mu: float, epsilon: float) -> float:
    from scipy.special import log_ndtr  # loaded on first use: SciPy is slow to import

    upper = float(log_ndtr(mu / 2 - epsilon / mu))
    if math.isinf(upper):  # not even the part from which something is taken away is a float
        return 0.0
    lower = epsilon + float(log_ndtr(-mu / 2 - epsilon / mu))
    # Both logarithms are off by some ulps of themselves. That is all there is to lose where the
    # terms nearly agree, and it is added back.
    slack = 2e-15 * (1 + epsilon + abs(upper) + abs(lower))
    return math.exp(upper) * (-math.expm1(min(lower - upper, 0.0)) + slack)


def _positive_delta(delta: Number) -> Number:
    slack = delta_parameter("delta", delta)
    if slack == 0:
        raise InvalidParameter(
            code="delta_zero",
            expectation="delta > 0, since Gaussian noise is never purely private",
            received=slack,
            remedy="Choose delta > 0, or use Laplace noise.",
        )
    return slack
