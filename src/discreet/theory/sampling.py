"""What sampling and shuffling earn, in closed form: looser than the prices, for comparison.

No price rests on these: ``accounting`` sums what they bound. Rounded up (the floor: down).

Source: 004a:E7, 004a:E8, 004a:E10; modern-learn:7 (shuffling).
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from discreet.accounting.rdp.curve import MARGIN
from discreet.core.errors import InvalidParameter
from discreet.core.parameters import Number, count, exact, positive, probability, rounded_up
from discreet.theory.calculator import calculator

if TYPE_CHECKING:
    from discreet.accounting.rdp.curve import RenyiCurve
    from discreet.core.arrays import Floats

_ROUNDING = 1e-12


@calculator
def sampled_mean_error(*, rate: Number, units: int, sigma: Number) -> float:
    """Mean squared error of a noisy mean of values in [-1, 1] over a Poisson sample (004a:E10).

    The sum over the sample is divided by rate times n, and noise of deviation ``sigma`` added:
    sigma**2 + (1 - rate) / (rate n). Amplified, it costs about what the full data would.
    """
    q = exact(probability("rate", rate)) if rate != 1 else Fraction(1)
    noise = exact(positive("sigma", sigma)) ** 2
    return rounded_up(noise + (1 - q) / (q * count("units", units)))


@calculator
def analytic_bound(curve: RenyiCurve, rate: float, order: float, omega: float) -> float:
    """The bound of 004a:E7 (Prop 3.40), for rates up to 1 - 1/e and any ``omega`` >= ``order``.

    (1/(alpha-1)) log(1 + (e/2) alpha (alpha-1) q**2 (e**D_2 - 1) + ((alpha-1) q)**omega
    e**((omega-1) D_omega)). May exceed the unsampled curve.
    """
    if rate > 1 - math.exp(-1) or omega < order:
        return math.inf
    below = order - 1
    second, last = (float(value) for value in curve(np.array([2.0, omega])))
    middle = 1 + math.log(order * below / 2) + 2 * math.log(rate) + math.log(math.expm1(second))
    far = omega * math.log(below * rate) + (omega - 1) * last
    return float(np.logaddexp(0.0, np.logaddexp(middle, far))) / below * (1 + MARGIN)


@calculator
def amplification_floor(base: Floats, rate: float, orders: Floats) -> Floats:
    """No sampling at ``rate`` brings a curve below D_alpha - alpha/(alpha-1) log(1/q) (004a:E8)."""
    return base * (1 - MARGIN) + orders / (orders - 1) * math.log(rate) * (1 + MARGIN)


@calculator
def closed_form_epsilon(*, loss: Number, people: int, delta: Number) -> float:
    """The explicit bound of amplification by shuffling: several times looser than its price.

    ln(1 + tanh(loss/2) (8 sqrt(exp(loss) ln(4/delta) / n) + 8 exp(loss) / n)), refused unless
    loss <= ln(n / (16 ln(4/delta))). No price rests on it.
    """
    each = float(positive("loss", loss))
    n = count("people", people)
    log = math.log(4 / probability("delta", delta))
    if not n > 16 * log or each > math.log(n / (16 * log)):
        raise InvalidParameter(
            code="closed_form_invalid",
            expectation="a local epsilon of at most ln(n / (16 ln(4/delta)))",
            received=(each, n),
            remedy="Use shuffled_epsilon, which has no such condition.",
        )
    grown = 8 * math.sqrt(math.exp(each) * log / n) + 8 * math.exp(each) / n
    return math.log1p(math.tanh(each / 2) * grown) * (1 + _ROUNDING)
