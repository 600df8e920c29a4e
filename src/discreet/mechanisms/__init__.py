"""Mechanisms are values: build one, read its event and its error, release a number or an array.

None of them debits a budget. Samplers are in :mod:`discreet.noise`, prices in
:mod:`discreet.accounting`, mechanisms for many queries at once in :mod:`discreet.queries`.
"""

from discreet.mechanisms.accuracy import laplace_sum_error
from discreet.mechanisms.discrete_gaussian import DiscreteGaussian
from discreet.mechanisms.discrete_laplace import DiscreteLaplace
from discreet.mechanisms.exponential import Exponential, PermuteAndFlip
from discreet.mechanisms.gaussian import Gaussian
from discreet.mechanisms.laplace import Laplace
from discreet.mechanisms.noisy_max import NoisyMax
from discreet.mechanisms.randomized_response import RandomizedResponse, Warner
from discreet.mechanisms.scores import GENERAL, MONOTONE, Scores
from discreet.mechanisms.sparse_vector import AboveThreshold, NumericSparse, Sparse
from discreet.mechanisms.truncated_geometric import TruncatedGeometric

__all__ = [
    "GENERAL",
    "MONOTONE",
    "AboveThreshold",
    "DiscreteGaussian",
    "DiscreteLaplace",
    "Exponential",
    "Gaussian",
    "Laplace",
    "NoisyMax",
    "NumericSparse",
    "PermuteAndFlip",
    "RandomizedResponse",
    "Scores",
    "Sparse",
    "TruncatedGeometric",
    "Warner",
    "laplace_sum_error",
]
