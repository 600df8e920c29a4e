"""Exact noise on integer grids. The only place in discreet where randomness is drawn."""

from discreet.noise.bernoulli import bernoulli, bernoulli_exp
from discreet.noise.gaussian import discrete_gaussian, rounded_gaussian
from discreet.noise.laplace import discrete_laplace, geometric, rounded_laplace
from discreet.noise.lazy import LazyLaplace
from discreet.noise.race import winner
from discreet.noise.randomness import SYSTEM, Noiseless, Seeded, Source, System
from discreet.noise.sampling import (
    fixed_size_sample,
    permutation,
    poisson_sample,
    uniform_integers,
)

__all__ = [
    "SYSTEM",
    "LazyLaplace",
    "Noiseless",
    "Seeded",
    "Source",
    "System",
    "bernoulli",
    "bernoulli_exp",
    "discrete_gaussian",
    "discrete_laplace",
    "fixed_size_sample",
    "geometric",
    "permutation",
    "poisson_sample",
    "rounded_gaussian",
    "rounded_laplace",
    "uniform_integers",
    "winner",
]
