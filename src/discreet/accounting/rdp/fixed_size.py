"""Samples of fixed size without replacement, for replaced units, at integer orders.

Wang, Balle and Kasiviswanathan (2019), modern-learn:8. With q = size / of, for any base curve R
about *replaced* units and its ceiling c,

    (alpha-1) D <= log(1 + q**2 C(alpha,2) min(4 (e**R(2) - 1), e**R(2) m_2)
                        + sum over j >= 3 of q**j C(alpha,j) e**((j-1) R(j)) m_j),

m_j = min(2, (e**c - 1)**j). Between integers by convexity, and never above the unsampled curve or
randomized response at the amplified pure epsilon. Proved in proofs/rdp.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from discreet.accounting.rdp.curve import RenyiCurve
from discreet.accounting.rdp.integers import by_chords, by_octaves, choose_logs, log_sum
from discreet.accounting.rdp.poisson import amplified_ceiling
from discreet.accounting.rdp.response import ResponseCurve, log_expm1
from discreet.core.parameters import rounded_up

if TYPE_CHECKING:
    from discreet.core.arrays import Floats

_ROUNDING = 2.0**-50


@dataclass(frozen=True)
class FixedSizeCurve(RenyiCurve):
    """The curve ``base``, on ``size`` units drawn from ``of``; both about replaced units."""

    base: RenyiCurve
    size: int
    of: int

    @property
    def rate(self) -> float:
        """The share of units in the sample, rounded up."""
        return rounded_up(Fraction(self.size, self.of))

    @property
    def ceiling(self) -> float:
        """As for Poisson sampling."""
        return amplified_ceiling(self.base.ceiling, self.rate)

    def bounds(self, orders: Floats) -> Floats:
        """The least of all bounds that hold."""
        least = self.base(orders)
        if math.isfinite(self.ceiling):
            least = np.minimum(least, ResponseCurve(self.ceiling).bounds(orders))
        return np.minimum(least, by_chords(orders, self._log_surplus))

    def _log_surplus(self, orders: Floats) -> Floats:
        """The logarithm of the moment less one, at increasing integer orders."""
        terms = self._terms(int(orders[-1]))

        def octave(part: Floats) -> Floats:
            logs, j = choose_logs(part, 2)
            return log_sum(logs + terms[: j.size])

        return by_octaves(orders, octave)

    def _terms(self, most: int) -> Floats:
        """Logs of everything but the binomials, for j from 2 to ``most``, rounded up."""
        j = np.arange(2.0, most + 1)
        curve = self.base(j)
        factor = np.full_like(j, math.log(2))
        if math.isfinite(self.base.ceiling):
            ratio = log_expm1(np.array(self.base.ceiling))
            factor = np.minimum(factor, j * float(ratio))
        losses = (j - 1) * curve + factor
        with np.errstate(over="ignore"):
            losses[0] = min(losses[0], math.log(4) + float(log_expm1(curve[0])))
        size = np.abs(losses) + j * abs(math.log(self.rate)) + 4
        return losses + j * math.log(self.rate) + 8 * _ROUNDING * size


def fixed_size(base: RenyiCurve, size: int, of: int) -> RenyiCurve:
    """The sampled curve; where all are drawn, the base itself."""
    return base if size == of or base.ceiling == 0 else FixedSizeCurve(base, size, of)
