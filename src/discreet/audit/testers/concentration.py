"""Concentration bounds and the sample sizes they imply.

Each tail bounds one side; double it for both, or pass half the failure probability to its
inverse. ``failure`` is the probability that the bound may be exceeded.

Source: Dwork and Roth, Theorems 3.1-3.4 and Lemma 3.19 (000a:B1, B2).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from discreet.core.errors import InvalidParameter
from discreet.core.parameters import Number, count, finite, nonnegative, positive, probability


def hoeffding_tail(samples: int, *, deviation: Number) -> float:
    """Pr[mean > μ + t] ≤ exp(−2·m·t²), for m independent variables in [0, 1].

    >>> round(hoeffding_tail(100, deviation=0.1), 5)
    0.13534
    """
    t = float(nonnegative("deviation", deviation))
    return math.exp(-2 * count("samples", samples) * t * t)


def hoeffding_samples(*, deviation: Number, failure: Number) -> int:
    """The least m whose tail is at most ``failure``.

    >>> hoeffding_samples(deviation=0.05, failure=0.05 / 2)
    738
    """
    t = float(positive("deviation", deviation))
    return _least(lambda m: hoeffding_tail(m, deviation=t), _log(failure) / (2 * t * t), failure)


def chernoff_upper_tail(samples: int, *, mean: Number, deviation: Number) -> float:
    """Pr[mean of m > (1 + t)·μ] ≤ exp(−m·μ·t²/3), for 0 ≤ t ≤ 1.

    The text sets no limit on t, but the bound is false for large t (from about 1.82 on).
    """
    t = _fraction("deviation", deviation)
    return math.exp(-count("samples", samples) * _fraction("mean", mean) * t * t / 3)


def chernoff_upper_samples(*, mean: Number, deviation: Number, failure: Number) -> int:
    """The least m whose upper multiplicative tail is at most ``failure``."""
    mu, t = float(positive("mean", mean)), float(positive("deviation", deviation))
    guess = 3 * _log(failure) / (mu * t * t)
    return _least(lambda m: chernoff_upper_tail(m, mean=mu, deviation=t), guess, failure)


def chernoff_lower_tail(samples: int, *, mean: Number, deviation: Number) -> float:
    """Pr[mean of m < (1 − t)·μ] ≤ exp(−m·μ·t²/2), for 0 ≤ t ≤ 1."""
    t = _fraction("deviation", deviation)
    return math.exp(-count("samples", samples) * _fraction("mean", mean) * t * t / 2)


def chernoff_lower_samples(*, mean: Number, deviation: Number, failure: Number) -> int:
    """The least m whose lower multiplicative tail is at most ``failure``."""
    mu, t = float(positive("mean", mean)), float(positive("deviation", deviation))
    guess = 2 * _log(failure) / (mu * t * t)
    return _least(lambda m: chernoff_lower_tail(m, mean=mu, deviation=t), guess, failure)


def azuma_tail(widths: Sequence[Number], *, deviation: Number) -> float:
    """Pr[f > E f + t] ≤ exp(−2t²/Σc²), if changing variable i moves f by at most c_i."""
    t = float(nonnegative("deviation", deviation))
    squares = math.fsum(float(nonnegative("width", c)) ** 2 for c in widths)
    if squares == 0:
        return 0.0 if t > 0 else 1.0
    return math.exp(-2 * t * t / squares)


def azuma_samples(*, width: Number, deviation: Number, failure: Number) -> int:
    """The least m for which a sum of m, each moving it by ``width``, exceeds its mean by m·t.

    That is: Pr[f > E f + m·t] ≤ exp(−2·m·t²/c²) ≤ ``failure``.
    """
    c, t = float(positive("width", width)), float(positive("deviation", deviation))
    guess = _log(failure) * c * c / (2 * t * t)
    return _least(lambda m: math.exp(-2 * m * t * t / (c * c)), guess, failure)


def martingale_tail(z: Number) -> float:
    """Pr[ΣC_i > k·β + z·√k·a] ≤ exp(−z²/2), if |C_i| ≤ a with conditional mean at most β."""
    return math.exp(-(float(nonnegative("z", z)) ** 2) / 2)


def martingale_sum(steps: int, *, drift: Number, bound: Number, failure: Number) -> float:
    """What ΣC_i exceeds with probability at most ``failure``: k·β + a·√(2k·ln(1/failure))."""
    k, a = count("steps", steps), float(nonnegative("bound", bound))
    return k * float(finite("drift", drift)) + a * math.sqrt(2 * k * _log(failure))


def martingale_steps(*, bound: Number, deviation: Number, failure: Number) -> int:
    """The least k for which ΣC_i > k·(β + t) has probability at most ``failure``."""
    a, t = float(positive("bound", bound)), float(positive("deviation", deviation))
    guess = 2 * a * a * _log(failure) / (t * t)
    return _least(lambda k: martingale_tail(t * math.sqrt(k) / a), guess, failure)


def stirling_bounds(n: int) -> tuple[float, float]:
    """An enclosure of n!: √(2πn)·(n/e)^n times e^(1/(12n+1)) and e^(1/(12n)).

    >>> low, high = stirling_bounds(10)
    >>> round(low, 1), round(high, 1)
    (3628560.1, 3628810.1)
    """
    if count("n", n) > 170:
        raise InvalidParameter(
            code="out_of_range",
            expectation="n of at most 170, whose factorial fits a float",
            received=n,
            remedy="Use math.lgamma for larger n.",
        )
    main = math.sqrt(2 * math.pi * n) * (n / math.e) ** n
    return main * math.exp(1 / (12 * n + 1)), main * math.exp(1 / (12 * n))


def _log(failure: Number) -> float:
    return -math.log(float(probability("failure", failure)))


def _fraction(name: str, value: Number) -> float:
    number = float(nonnegative(name, value))
    if number > 1:
        raise InvalidParameter(
            code="out_of_range",
            expectation=f"{name} to lie in [0, 1]",
            received=value,
            remedy=f"Choose {name} between 0 and 1; the bound is not proved beyond.",
        )
    return number


def _least(tail: Callable[[int], float], guess: float, failure: Number) -> int:
    """The least whole number with tail ≤ failure, near the closed form ``guess``."""
    size = max(1, math.ceil(guess) - 1)
    while tail(size) > failure:
        size += 1
    return size
