"""Poisson sampling: each unit joins independently, and the curve shrinks about as rate squared.

At integer orders the bound is sharp for any base curve (004a:E4, Thm 3.33),

    (alpha-1) D <= log(1 + sum over k >= 2 of C(alpha,k) (1-q)**(alpha-k) q**k E(k)),
    E(k) = exp((k-1) R(k)) - 1,

between them by convexity; for a Gaussian base every real order is evaluated directly. Both
directions of add/remove are covered (004a:E5, Thm 3.34, with a proof for orders below two, where
the printed one does not apply: proofs/rdp.md). The result is never above the unsampled curve, the
bound for large orders (004a:E8), or randomized response at the amplified pure epsilon (004a:E1).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from discreet.accounting.rdp.analytic import large_order_bound, mixed
from discreet.accounting.rdp.curve import RenyiCurve, raised
from discreet.accounting.rdp.gaussian import GaussianCurve
from discreet.accounting.rdp.integers import (
    binomial_logs,
    by_chords,
    by_octaves,
    log_sum,
)
from discreet.accounting.rdp.response import ResponseCurve, log1p_exp, log_expm1
from discreet.accounting.rdp.sampled_gaussian import log_surplus

if TYPE_CHECKING:
    from discreet.core.arrays import Floats

_ROUNDING = 2.0**-50
_NEARLY_ONE = 1 - 1e-12


@dataclass(frozen=True)
class PoissonCurve(RenyiCurve):
    """The curve ``base``, on a sample that each unit joins with probability ``rate`` < 1."""

    base: RenyiCurve
    rate: float

    @property
    def ceiling(self) -> float:
        """log(1 + rate (exp(c) - 1)) for the ceiling c of the base."""
        return amplified_ceiling(self.base.ceiling, self.rate)

    def bounds(self, orders: Floats) -> Floats:
        """The least of all bounds that hold."""
        plain = self.base(orders)
        least = np.minimum(plain, large_order_bound(plain, self.rate, orders))
        if math.isfinite(self.ceiling):
            least = np.minimum(least, ResponseCurve(self.ceiling).bounds(orders))
        sharp = np.full_like(orders, math.inf)
        if isinstance(self.base, GaussianCurve):
            logs = log_surplus(self.base.mu(), self.rate, orders)
            sharp = raised(log1p_exp(logs) / (orders - 1))
        missing = np.isinf(sharp)
        if missing.any():
            sharp[missing] = by_chords(orders[missing], self._log_surplus)
        return np.minimum(least, sharp)

    def _log_surplus(self, orders: Floats) -> Floats:
        """The logarithm of the moment less one, at increasing integer orders."""
        losses = _log_surpluses(self.base, int(orders[-1]))

        def octave(part: Floats) -> Floats:
            logs, k = binomial_logs(part, self.rate, 2)
            return log_sum(logs + losses[: k.size])

        return by_octaves(orders, octave)


def poisson(base: RenyiCurve, rate: float) -> RenyiCurve:
    """The sampled curve; at a rate of (nearly) one, the base itself."""
    if isinstance(base, PoissonCurve):
        return poisson(base.base, base.rate * rate * (1 + _ROUNDING))
    return base if rate >= _NEARLY_ONE or base.ceiling == 0 else PoissonCurve(base, rate)


def amplified_ceiling(ceiling: float, rate: float) -> float:
    """The pure epsilon on a sample, rounded up; a random sample of either kind earns it."""
    if math.isinf(ceiling):
        return math.inf
    return float(raised(mixed(np.array(ceiling), rate)))


def _log_surpluses(base: RenyiCurve, most: int) -> Floats:
    """Logs of e**((k-1) R(k)) - 1 for k from 2 to ``most``, rounded up."""
    k = np.arange(2.0, most + 1)
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        logs = log_expm1((k - 1) * base(k))
    logs = np.where(np.isnan(logs), math.inf, logs)
    return np.asarray(logs + _ROUNDING * np.where(np.isfinite(logs), np.abs(logs), 0))
