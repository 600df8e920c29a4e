"""The least rho of purely private events: the supremum of D_alpha / alpha over all orders.

With u = alpha - 1/2 the product alpha (alpha - 1) is u**2 - 1/4. Where the log-moment of the loss
is concave in u**2, the supremum is its slope at 1/4, the Kullback-Leibler divergence:

    any pure event          epsilon tanh(epsilon / 2)
    Laplace noise           epsilon - 1 + exp(-epsilon)
    geometric noise         epsilon - (1 - exp(-epsilon)) d / sinh(d),    d = epsilon / steps

For a bounded range it is x - 1 - ln x with x = epsilon / (1 - exp(-epsilon)), proved up to an
epsilon of 24. For randomized response among more than 2 + 4 exp(epsilon / 2) categories the
supremum is at a higher order, and is searched for between certified bounds.

Numerics: results are above the truth by a relative 1e-12 (by 1e-7 where searched), and never above
epsilon**2 / 2, which is all that is left to say of epsilons below 1e-8.

Source: modern-data:N2. Proof: ``proofs/tight_rho.md``.
"""

from __future__ import annotations

import math
from fractions import Fraction

from discreet.core.parameters import rounded_down, rounded_up

_MARGIN = 1e-12
_SMALL = 1e-8
_PROVED_RANGE = 24.0
_SHORT = 1e-7
_TERMS = 24


def pure_rho(epsilon: Fraction) -> Fraction:
    """Of any pure event: that of binary randomized response."""
    e = rounded_up(epsilon)
    return _above(e * math.tanh(e / 2), epsilon)


def laplace_rho(epsilon: Fraction) -> Fraction:
    """Of continuous Laplace noise."""
    return _above(_past_linear(rounded_up(epsilon)), epsilon)


def geometric_rho(epsilon: Fraction, steps: int) -> Fraction:
    """Of discrete Laplace noise at a sensitivity of ``steps`` grid steps."""
    e, k = rounded_up(epsilon), rounded_down(steps)
    if e < _SMALL:
        return pure_rho(epsilon)
    return _above(_past_linear(e) - math.expm1(-e) * _past_sine(e / k), epsilon)


def bounded_range_rho(epsilon: Fraction) -> Fraction:
    """Of a mechanism whose log-probabilities move within a range of epsilon."""
    e = rounded_up(epsilon)
    if e > _PROVED_RANGE:
        return pure_rho(epsilon)
    if e < _SMALL:
        return epsilon**2 / 8
    excess = _past_linear(e) / -math.expm1(-e)
    return min(_above(_past_logarithm(excess), epsilon), epsilon**2 / 8)


def response_rho(epsilon: Fraction, categories: int) -> Fraction:
    """Of randomized response among so many categories."""
    e = rounded_up(epsilon)
    if e < _SMALL or math.isinf(e) or categories == 2:
        return pure_rho(epsilon)
    # Log-moment, but for a constant: ln(a + cosh(u epsilon)).
    a = rounded_down(categories - 2) * math.exp(-e / 2) / 2
    if a <= 2 * (1 - _MARGIN):
        return _above(_slope(e / 2, e, a), epsilon)
    return min(_above(_steepest(e, a), epsilon), pure_rho(epsilon))


def _steepest(e: float, a: float) -> float:
    """A bound of the slopes of all chords from u = 1/2: the tangent short of where they meet.

    The log-moment is convex in u**2 up to a turn and concave from there on. Between the turn and
    the point where the tangent passes through the start, tangents are above every chord.
    """

    def early(x: float) -> bool:
        return _slope(x, e, a) * (1 - _MARGIN) > _chord(x, e, a)

    low = max(_turn(a), e / 2)
    if not early(low * (1 + _SHORT)):
        # The turn is at the start or before it: slopes fall from there on.
        return _slope(low, e, a) * (1 + _SHORT)
    high = 2 * low
    while early(high):
        low, high = high, 2 * high
    while high > low * (1 + _SHORT):
        middle = (low + high) / 2
        low, high = (middle, high) if early(middle) else (low, middle)
    return _slope(low, e, a)


def _turn(a: float) -> float:
    """The u epsilon at which the slope is steepest, or a little more."""
    low, high = 0.0, 1.0

    def rises(x: float) -> bool:
        """Whether x exceeds the root of a (x cosh x - sinh x) = sinh x cosh x - x, or not yet."""
        fall = math.exp(-2 * x)
        left = a * math.exp(-x) * (x * (1 + fall) - (1 - fall))
        return left > (1 - fall * fall) / 2 - 2 * x * fall

    while rises(high):
        low, high = high, 2 * high
    while high > low * (1 + 1e-9) and high > 1e-6:
        middle = (low + high) / 2
        low, high = (middle, high) if rises(middle) else (low, middle)
    return high


def _slope(x: float, e: float, a: float) -> float:
    """The derivative of ln(a + cosh x) in u**2, at x = u e."""
    fall = math.exp(-x)
    return e * (e / (2 * x)) * -math.expm1(-2 * x) / (1 + 2 * a * fall + fall * fall)


def _chord(x: float, e: float, a: float) -> float:
    """The slope of the chord from u = 1/2 to u = x / e."""
    start = e / 2
    rest = math.exp(-start)
    # cosh x - cosh s = 2 sinh((x + s)/2) sinh((x - s)/2), over a + cosh s.
    rise = -math.expm1(-(x + start)) * -math.expm1(-(x - start)) / (1 + 2 * a * rest + rest * rest)
    log = x - start + math.log(rise + math.exp(-(x - start)))
    near = math.log1p(rise * math.exp(x - start)) if x - start < 1 else log
    return near * (e / (x - start)) * (e / (x + start))


def _past_linear(e: float) -> float:
    """e - 1 + exp(-e), without cancellation."""
    if e >= 1:
        return e + math.expm1(-e)
    tail = 1.0
    for n in range(_TERMS, 2, -1):
        tail = 1 - e / n * tail
    return e * e / 2 * tail


def _past_sine(d: float) -> float:
    """1 - d / sinh d, without cancellation."""
    if d >= 1:
        return 1 + 2 * math.exp(-d) * d / math.expm1(-2 * d)
    tail = 1.0
    for n in range(_TERMS, 3, -2):
        tail = 1 + d * d / (n * (n + 1)) * tail
    return d * d * d / 6 * tail / math.sinh(d)


def _past_logarithm(y: float) -> float:
    """y - ln(1 + y), without cancellation."""
    if y >= 1:
        return y - math.log1p(y)
    z = y / (2 + y)
    odd = math.fsum(z ** (2 * k) / (2 * k + 3) for k in range(_TERMS))
    return 2 * z * z / (1 - z) - 2 * z**3 * odd


def _above(value: float, epsilon: Fraction) -> Fraction:
    """The value raised by more than its error, unless what always holds is less."""
    quadratic = epsilon * epsilon / 2
    raised = value * (1 + _MARGIN)
    if rounded_up(epsilon) < _SMALL or not math.isfinite(raised):
        return quadratic
    return min(Fraction(raised), quadratic)
