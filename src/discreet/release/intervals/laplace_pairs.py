"""Half-widths of sums of two Laplace variables, in closed form: averages above all need them.

For scales a >= b the tail is

    P(|X| > h) = (a**2 exp(-h/a) - b**2 exp(-h/b)) / (a**2 - b**2)
               = exp(-h/a) (1 + w h f(d)),   w = b / (a (a + b)),  d = h (a - b) / (a b)

with f(d) = (1 - exp(-d)) / d. The second form has no difference that cancels, for any two scales.

Source: modern-data:C1. Proof: ``proofs/intervals.md``.
"""

from __future__ import annotations

import math

import numpy as np

from discreet.core.arrays import Floats
from discreet.mechanisms.distributions.symmetric import Companion

_ROUNDS = 30
_CONVERGED = 1e-6
"""Newton's method squares the error, so the step after this one would be below rounding."""
_SMALL = 1e-300


def is_laplace(companion: Companion) -> bool:
    """Whether a companion is a Laplace variable and nothing else."""
    plain = companion.weight == 1 and companion.normal == 0 and companion.uniform == 0
    return plain and companion.exponential > 0


def laplace_pairs(first: Floats, second: Floats, alpha: float) -> Floats:
    """Per cell the h with P(|X| > h) = alpha, for sums of two Laplace variables of these scales.

    By Newton's method on the logarithm of the tail, which is concave: from the second step on every
    iterate is at or above the solution.

    Guarantee: accurate to 1e-9 relatively for alpha from 1e-12 to .9.
    """
    scale = np.maximum(first, second)
    safe = np.where(scale > 0, scale, 1.0)
    b = np.minimum(first, second) / safe  # in units of the larger scale, which is one there
    b = np.maximum(b, _SMALL)
    weight, rate = b / (1 + b), (1 - b) / b
    h = np.full(b.shape, -math.log(alpha))
    with np.errstate(under="ignore"):
        for _ in range(_ROUNDS):
            d = h * rate
            part = -np.expm1(-d)
            ratio = np.divide(part, d, out=np.ones_like(d), where=d > 1e-12)
            inside = 1 + weight * h * ratio
            # exp(h) times minus the derivative of the tail.
            density = inside - weight * (1 - part)
            step = inside / density * (np.log(inside / alpha) - h)
            h = np.maximum(h + step, 0.1 * h)
            if np.all(np.abs(step) <= _CONVERGED * h):
                break
    return np.where(scale > 0, h * safe, 0.0)
