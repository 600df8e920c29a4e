"""Exact noise on integer grids. The only place in discreet where randomness is drawn."""

from discreet.noise.bernoulli import bernoulli, bernoulli_exp
from discreet.noise.cauchy import rounded_cauchy
from discreet.noise.coins import packed_coins
from discreet.noise.dominated import dominated_choice, scaled_exp_coin
from discreet.noise.gaussian import discrete_gaussian, rounded_gaussian
from discreet.noise.laplace import discrete_laplace, geometric, rounded_laplace
from discreet.noise.lazy import LazyLaplace
from discreet.noise.log_linear import log_linear
from discreet.noise.norm import rounded_euclidean, rounded_max_norm
from discreet.noise.race import winner
from discreet.noise.randomness import SYSTEM, Noiseless, Seeded, Source, System
from discreet.noise.sampling import (
    fixed_size_sample,
    permutation,
    poisson_sample,
    uniform_integers,
    uniform_multiset,
    weighted_choice,
)
from discreet.noise.shares import laplace_share
from discreet.noise.stopping import stopping_times

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
    "dominated_choice",
    "fixed_size_sample",
    "geometric",
    "laplace_share",
    "log_linear",
    "packed_coins",
    "permutation",
    "poisson_sample",
    "rounded_cauchy",
    "rounded_euclidean",
    "rounded_gaussian",
    "rounded_laplace",
    "rounded_max_norm",
    "scaled_exp_coin",
    "stopping_times",
    "uniform_integers",
    "uniform_multiset",
    "weighted_choice",
    "winner",
]
