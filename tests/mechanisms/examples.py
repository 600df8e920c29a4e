"""One way to build every mechanism, and what its parameters may not be."""

from fractions import Fraction
from typing import Any

from discreet import mechanisms as m

EXAMPLES: dict[type[Any], dict[str, Any]] = {
    m.Laplace: {"epsilon": 1, "sensitivity": 2},
    m.Gaussian: {"epsilon": 1, "delta": 1e-6, "sensitivity": 2},
    m.DiscreteLaplace: {"epsilon": 1, "sensitivity": 2},
    m.DiscreteGaussian: {"rho": 0.5, "sensitivity": 2},
    m.TruncatedGeometric: {"epsilon": 1, "size": 20},
    m.Exponential: {"epsilon": 1, "sensitivity": 2},
    m.PermuteAndFlip: {"epsilon": 1, "sensitivity": 2},
    m.NoisyMax: {"epsilon": 1, "sensitivity": 2},
    m.RandomizedResponse: {"epsilon": 1, "categories": 4},
    m.Warner: {"keep": Fraction(3, 4)},
    m.AboveThreshold: {"epsilon": 1, "threshold": 10, "sensitivity": 2},
    m.Sparse: {"epsilon_each": 1, "cutoff": 3, "threshold": 10, "sensitivity": 2},
    m.NumericSparse: {"epsilon": 1, "cutoff": 3, "threshold": 10, "sensitivity": 2},
}
POSITIVE = {"epsilon", "epsilon_each", "rho", "sensitivity"}
COUNTS = {"size", "categories", "cutoff"}
PROBABILITIES = {"delta", "keep"}
