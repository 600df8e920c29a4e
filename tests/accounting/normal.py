"""The normal distribution to as many digits as asked for, without floating point."""

from __future__ import annotations

from decimal import Decimal, localcontext
from functools import cache

DIGITS = 50
"""Digits that are right in every result."""


@cache
def pi(digits: int) -> Decimal:
    """Machin's formula in whole numbers."""
    one = 10 ** (digits + 10)

    def arctan_of_inverse(x: int) -> int:
        power, total, n = one // x, 0, 0
        while power:
            term = power // (2 * n + 1)
            total += -term if n % 2 else term
            power //= x * x
            n += 1
        return total

    with localcontext() as context:
        context.prec = digits + 5
        quarter = 4 * arctan_of_inverse(5) - arctan_of_inverse(239)
        return Decimal(4 * quarter) / Decimal(one)


def distribution(x: Decimal, digits: int) -> Decimal:
    """P(N <= x), by the series of Abramowitz and Stegun 26.2.11, absolutely to ``digits``."""
    with localcontext() as context:
        context.prec = digits + int(x * x) + 20
        term = total = x
        k = 1
        while abs(term) > Decimal(10) ** -(digits + 10):
            term = term * x * x / (2 * k + 1)
            total += term
            k += 1
        density = (-x * x / 2).exp() / (2 * pi(context.prec)).sqrt()
        return Decimal("0.5") + density * total


def gaussian_delta(noise_multiplier: float, epsilon: float) -> Decimal:
    """The exact curve at float arguments, which stand for the rationals they store."""
    with localcontext() as context:
        context.prec = 400
        z, e = Decimal(noise_multiplier), Decimal(epsilon)
        upper, lower = 1 / (2 * z) - e * z, -1 / (2 * z) - e * z
        # The result may be as small as exp(-upper**2 / 2), and cancellation costs digits of 1/z.
        digits = DIGITS + int(lower * lower / 4) + 3 * max(0, z.adjusted()) + 10
        context.prec = digits + int(e) + 30
        return distribution(upper, digits + int(e)) - e.exp() * distribution(lower, digits + int(e))


def concentrated_epsilon(rho: float, delta: float) -> Decimal:
    """The infimum over orders of the conversion of 004a:E3(8)."""
    with localcontext() as context:
        context.prec = DIGITS
        r, log_delta = Decimal(rho), Decimal(delta).ln()

        def at(log_excess: Decimal) -> Decimal:
            excess = log_excess.exp()
            alpha = 1 + excess
            return alpha * r + (excess / alpha).ln() - (log_delta + alpha.ln()) / excess

        return _minimum(at)


def concentrated_log_delta(rho: float, epsilon: float) -> Decimal:
    """The logarithm of the infimum over orders of the inverse conversion."""
    with localcontext() as context:
        context.prec = DIGITS
        r, e = Decimal(rho), Decimal(epsilon)

        def at(log_excess: Decimal) -> Decimal:
            excess = log_excess.exp()
            alpha = 1 + excess
            return excess * (alpha * r - e + (excess / alpha).ln()) - alpha.ln()

        return _minimum(at)


def _minimum(at: object) -> Decimal:
    """Ternary search over the logarithm of the order minus one, far beyond float accuracy."""
    assert callable(at)
    low, high = Decimal(-16), Decimal(22)
    while high - low > Decimal("1e-17"):
        left, right = (2 * low + high) / 3, (low + 2 * high) / 3
        if at(left) < at(right):
            high = right
        else:
            low = left
    least: Decimal = at((low + high) / 2)
    return least
