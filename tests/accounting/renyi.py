"""Rényi divergences to many digits, by other means than the library's: exact sums, fine grids."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, localcontext
from math import comb

from tests.accounting.normal import pi

DIGITS = 60

Curve = Callable[[Decimal], Decimal]


def _set(context: Context) -> None:
    context.prec, context.Emax, context.Emin = DIGITS, MAX_EMAX, MIN_EMIN


def finite(p: Sequence[Decimal], q: Sequence[Decimal], alpha: Decimal) -> Decimal:
    """D_alpha of two laws on finitely many outcomes."""
    with localcontext() as context:
        _set(context)
        moment = sum(
            (a * ((alpha - 1) * (a / b).ln()).exp() for a, b in zip(p, q, strict=True) if a),
            Decimal(0),
        )
        return moment.ln() / (alpha - 1)


def two_sided_geometric(epsilon: Decimal, steps: int) -> tuple[list[Decimal], list[Decimal]]:
    """The laws at 0 and ``steps`` of decay ``epsilon/steps``; outcomes beyond an end are one."""
    with localcontext() as context:
        _set(context)
        a = (-epsilon / steps).exp()
        law = [(1 - a) / (1 + a) * a**x for x in range(steps + 1)]
        law[0] = 1 / (1 + a)
        law[-1] = a**steps / (1 + a)
        return law, law[::-1]


def response(epsilon: Decimal, categories: int) -> tuple[list[Decimal], list[Decimal]]:
    """k-ary randomized response at two true answers."""
    with localcontext() as context:
        _set(context)
        high = epsilon.exp()
        whole = high + categories - 1
        rest = [1 / whole] * (categories - 2)
        return [high / whole, 1 / whole, *rest], [1 / whole, high / whole, *rest]


def laplace(epsilon: Decimal, alpha: Decimal) -> Decimal:
    """The closed form, with digits to spare for its cancellation."""
    with localcontext() as context:
        _set(context)
        up, down = ((alpha - 1) * epsilon).exp(), (-alpha * epsilon).exp()
        moment = (alpha * up + (alpha - 1) * down) / (2 * alpha - 1)
        return moment.ln() / (alpha - 1)


def sampled_at_integer(curve: Curve, rate: Decimal, alpha: int) -> Decimal:
    """Thm 3.33 as printed (004a:E4)."""
    with localcontext() as context:
        _set(context)
        moment = (1 - rate) ** (alpha - 1) * (1 + (alpha - 1) * rate)
        for k in range(2, alpha + 1):
            weight = comb(alpha, k) * (1 - rate) ** (alpha - k) * rate**k
            moment += weight * ((k - 1) * curve(Decimal(k))).exp()
        return moment.ln() / (alpha - 1)


def sampled_gaussian(mu: float, rate: float, alpha: float, *, added: bool = False) -> Decimal:
    """D_alpha of (1-q) N(0,1) + q N(mu,1) and N(0,1), in this order, or with ``added`` reversed.

    A Riemann sum of step 0.15 or finer, far beyond where the integrand matters.
    """
    with localcontext() as context:
        _set(context)
        m, q, a = Decimal(mu), Decimal(rate), Decimal(alpha)
        power = 1 - a if added else a
        step = min(Decimal("0.15"), Decimal("0.15") / m)
        first, last = int(-16 / step), int((max(power, Decimal(1)) * m + 16) / step)
        total = Decimal(0)
        for j in range(first, last + 1):
            u = j * step
            mixture = 1 - q + q * (m * u - m * m / 2).exp()
            total += (power * mixture.ln() - u * u / 2).exp()
        moment = total * step / (2 * pi(DIGITS)).sqrt()
        return moment.ln() / (a - 1)


def discrete_gaussian(sigma: Decimal, shift: int, alpha: Decimal) -> Decimal:
    """Exact up to a tail below the last digit."""
    with localcontext() as context:
        _set(context)
        reach = int(17 * sigma * (alpha + 1)) + shift + 20
        weight = {
            x: (-(x * x) / (2 * sigma * sigma)).exp()
            for x in map(Decimal, range(-reach, reach + 1))
        }
        moment = sum(
            (w * ((alpha - 1) * ((x - shift) ** 2 - x * x) / (2 * sigma * sigma)).exp())
            for x, w in weight.items()
        )
        return Decimal(moment / sum(weight.values())).ln() / (alpha - 1)
