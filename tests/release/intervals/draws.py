"""Noise drawn with numpy from the laws, and the judgement on a share of trials."""

import math

import numpy as np
from numpy.typing import NDArray

from discreet.release.intervals import (
    DiscreteGaussianDistribution,
    DiscreteLaplaceDistribution,
    Law,
    RoundedGaussian,
    RoundedLaplace,
)

Floats = NDArray[np.float64]

KINDS = (RoundedLaplace, DiscreteLaplaceDistribution, RoundedGaussian, DiscreteGaussianDistribution)
FINE = 2.0**-30

DEVIATIONS = 6
"""A share is judged at six standard deviations: a false alarm once in 10**9 on fresh bits, and
never on the fixed seeds used here."""


def draw(law: Law, size: int, generator: np.random.Generator) -> Floats:
    """Noise of the law in floating point: good for tests, not for privacy."""
    if isinstance(law, RoundedLaplace):
        return np.rint(generator.laplace(scale=law.scale, size=size) / law.step) * law.step
    if isinstance(law, RoundedGaussian):
        return np.rint(generator.normal(scale=law.sigma, size=size) / law.step) * law.step
    if isinstance(law, DiscreteLaplaceDistribution):
        chance = -math.expm1(-law.step / law.scale)
        one, other = generator.geometric(chance, (2, size))
        return np.asarray(one - other, dtype=np.float64) * law.step
    reach = math.ceil(12 * law.spread / law.step) + 1
    steps = np.arange(-reach, reach + 1)
    weights = np.exp(-((steps * law.step / law.spread) ** 2) / 2)
    return generator.choice(steps, size=size, p=weights / weights.sum()) * law.step


def too_short(share: float, trials: int, confidence: float) -> bool:
    """Whether a share of covered trials refutes the level."""
    slack = DEVIATIONS * math.sqrt(confidence * (1 - confidence) / trials)
    return share < confidence - slack


def held(ends: tuple[Floats, Floats], truth: float) -> float:
    """The share of intervals that hold the truth."""
    return float(((ends[0] <= truth) & (truth <= ends[1])).mean())
