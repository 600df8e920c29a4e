"""The bias of cutting off at zero: what it adds on average, by the public law of the noise.

By symmetry it is E max(0, Z - x), the integral of P(Z > t) from x on; P(Z > t) is constant between
multiples of the step.

Source: 004b:A17, 004d:D21.
"""

from __future__ import annotations

import math

import numpy as np

from discreet.core.arrays import Floats
from discreet.core.parameters import finite
from discreet.mechanisms.distributions.symmetric import Distribution

_FINE = 4096
"""Terms for one spread of the law from which on strides of several steps are summed as one."""
_FAR = 50
"""Spreads beyond which what is left of any of the laws is below exp(-50)."""


def cut_bias(law: Distribution, truth: float = 0.0) -> float:
    """E max(0, ``truth`` + Z) - ``truth`` for noise Z of a law: never below zero.

    Contract: what is cut is one number with its own noise. Counts that are cut together, and then
    made to add up, share these biases among them: there it is the bias before they do.

    Numerics: exact up to floating point for spreads of at most 4096 steps, else to 1e-7 of itself.

    >>> from discreet.mechanisms.distributions.distribution import RoundedLaplace
    >>> [round(cut_bias(RoundedLaplace(scale=1, step=2**-20), x), 3) for x in (0, 1, 2)]
    [0.5, 0.184, 0.068]
    """
    value = float(finite("truth", truth))
    far, step = abs(value), law.step
    spread = max(law.spread / step, 1.0)
    start = float(math.floor(far / step))
    stride = 2 * int(spread / (2 * _FINE)) + 1  # odd: its middle is a step
    terms = np.arange(int(_FAR * spread / stride) + 1, dtype=np.float64)
    middles: Floats = start + 1 + stride // 2 + stride * terms
    beyond = float(np.sum(law.above(middles * step))) * stride
    rest = (start + 1) * step - far
    kept = rest * float(law.above(np.array([start * step]))[0]) + step * beyond
    return max(0.0, -value) + kept
