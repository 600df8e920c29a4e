"""Quantiles, minima and maxima from exact histograms on a public grid."""

from discreet.mechanisms.quantiles.choice import (
    EXPONENTIAL,
    PERMUTE_AND_FLIP,
    ByExponential,
    ByPermuteAndFlip,
    RankChoice,
)
from discreet.mechanisms.quantiles.extremes import Maximum, Minimum, extreme_rank
from discreet.mechanisms.quantiles.plan import plan_quantiles
from discreet.mechanisms.quantiles.quantile import Quantile
from discreet.mechanisms.quantiles.recursive import RecursiveQuantiles
from discreet.mechanisms.quantiles.several import IndependentQuantiles, Several

__all__ = [
    "EXPONENTIAL",
    "PERMUTE_AND_FLIP",
    "ByExponential",
    "ByPermuteAndFlip",
    "IndependentQuantiles",
    "Maximum",
    "Minimum",
    "Quantile",
    "RankChoice",
    "RecursiveQuantiles",
    "Several",
    "extreme_rank",
    "plan_quantiles",
]
