"""Noise drawn with numpy from the laws, and the judgement on a share of trials."""

import math

import numpy as np
from numpy.typing import NDArray

from discreet.release.intervals import (
    DiscreteGaussianDistribution,
    DiscreteLaplaceDistribution,
    Distribution,
    RoundedGaussian,
    RoundedLaplace,
)

Floats = NDArray[np.float64]

KINDS = (RoundedLaplace, DiscreteLaplaceDistribution, RoundedGaussian, DiscreteGaussianDistribution)
FINE = 2.0**-30

DEVIATIONS = 6
"""A share is judged at six standard deviations: a false alarm once in 10**9 on fresh bits, and
never on the fixed seeds used here."""


def draw(distribution: Distribution, size: int, generator: np.random.Generator) -> Floats:
    """Noise of the law in floating point: good for tests, not for privacy."""
    if isinstance(distribution, RoundedLaplace):
        return (
            np.rint(generator.laplace(scale=distribution.scale, size=size) / distribution.step)
            * distribution.step
        )
    if isinstance(distribution, RoundedGaussian):
        return (
            np.rint(generator.normal(scale=distribution.sigma, size=size) / distribution.step)
            * distribution.step
        )
    if isinstance(distribution, DiscreteLaplaceDistribution):
        chance = -math.expm1(-distribution.step / distribution.scale)
        one, other = generator.geometric(chance, (2, size))
        return np.asarray(one - other, dtype=np.float64) * distribution.step
    reach = math.ceil(12 * distribution.spread / distribution.step) + 1
    steps = np.arange(-reach, reach + 1)
    weights = np.exp(-((steps * distribution.step / distribution.spread) ** 2) / 2)
    return generator.choice(steps, size=size, p=weights / weights.sum()) * distribution.step


def too_short(share: float, trials: int, confidence: float) -> bool:
    """Whether a share of covered trials refutes the level."""
    slack = DEVIATIONS * math.sqrt(confidence * (1 - confidence) / trials)
    return share < confidence - slack


def held(ends: tuple[Floats, Floats], truth: float) -> float:
    """The share of intervals that hold the truth."""
    return float(((ends[0] <= truth) & (truth <= ends[1])).mean())
