"""The least mu of purely private events: the Gaussian trade-off curve that touches their own.

A pair with trade-off function f is mu-GDP exactly if mu is at least the supremum over levels a of
Phi^-1(1 - a) - Phi^-1(f(a)), attained at a corner of f, or where f is curved:

    any pure event          2 q(exp(-epsilon) / (1 + exp(-epsilon))),      q(p) = Phi^-1(1 - p)
    bounded range           that of epsilon / 2
    Laplace noise           2 q(exp(-epsilon / 2) / 2)
    geometric noise         q(r**m / (1 + r)) + q(r**n / (1 + r)),   m, n halves of steps + 1
    response among k        q(1 / w) - q(exp(epsilon) / w),          w = exp(epsilon) + k - 1

with r = exp(-epsilon / steps). Composed, squares add up.

Numerics: above the truth by a relative 1e-12, response among many by 1e-14 of its two parts.

Source: 004a:D6. Proof: ``proofs/tight_mu.md``.
"""

from __future__ import annotations

import math

_MARGIN = 1 + 1e-12
_CANCEL = 1e-14


def pure_mu(epsilon: float) -> float:
    """Of any pure event: that of binary randomized response."""
    return 2 * _normal(epsilon + math.log1p(math.exp(-epsilon)), math.tanh(epsilon / 2))


def bounded_range_mu(epsilon: float) -> float:
    """Of a mechanism whose log-probabilities move within a range of epsilon."""
    return pure_mu(epsilon / 2)


def laplace_mu(epsilon: float) -> float:
    """Of continuous Laplace noise."""
    return 2 * _normal(epsilon / 2 + math.log(2), -math.expm1(-epsilon / 2))


def geometric_mu(epsilon: float, steps: float) -> float:
    """Of discrete Laplace noise at a sensitivity of ``steps`` grid steps."""
    if math.isinf(epsilon):
        return math.inf
    decay = epsilon / steps
    whole = 1 + math.exp(-decay)
    less, more = steps // 2, (steps - 1) // 2  # one below either half of steps + 1

    def part(m: float) -> float:
        # exp(-(m + 1) decay) / whole, and how far twice it is from one.
        gap = -math.expm1(-(m + 1) * decay) - math.exp(-decay) * math.expm1(-m * decay)
        return _normal((m + 1) * decay + math.log(whole), gap / whole)

    return part(less) + part(more)


def response_mu(epsilon: float, categories: float) -> float:
    """Of randomized response among so many categories."""
    if math.isinf(epsilon):
        return math.inf
    rest = math.log1p((categories - 1) * math.exp(-epsilon))
    lie, truth = _quantile(epsilon + rest), _quantile(rest)
    found = (lie - truth) * _MARGIN + _CANCEL * (abs(lie) + abs(truth) + 1)
    return min(found, pure_mu(epsilon))


def _normal(exponent: float, gap: float) -> float:
    """Phi^-1(1 - p) for a p of at most a half, raised: p = exp(-exponent), 1 - 2 p = gap."""
    from scipy.special import erfinv  # loaded on first use: SciPy is slow to import

    found = math.sqrt(2) * float(erfinv(gap)) if gap < 0.5 else _quantile(exponent)
    return found * _MARGIN


def _quantile(exponent: float) -> float:
    """Phi^-1(1 - p), p = exp(-exponent)."""
    from scipy.special import ndtri_exp

    return -float(ndtri_exp(-exponent))
