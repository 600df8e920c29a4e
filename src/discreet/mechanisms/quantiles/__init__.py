"""Quantiles, minima and maxima from exact histograms on a public grid."""

from discreet.mechanisms.quantiles.choice import (
    EXPONENTIAL,
    PERMUTE_AND_FLIP,
    ByExponential,
    ByPermuteAndFlip,
    RankChoice,
)
from discreet.mechanisms.quantiles.extremes import Maximum, Minimum, extreme_rank
from discreet.mechanisms.quantiles.joint import JointQuantiles
from discreet.mechanisms.quantiles.plan import plan_concentrated_quantiles, plan_quantiles
from discreet.mechanisms.quantiles.quantile import Quantile
from discreet.mechanisms.quantiles.recursive import RecursiveQuantiles
from discreet.mechanisms.quantiles.several import IndependentQuantiles, Several
from discreet.mechanisms.quantiles.tree import EstimatedRanks, QuantileTree

__all__ = [
    "EXPONENTIAL",
    "PERMUTE_AND_FLIP",
    "ByExponential",
    "ByPermuteAndFlip",
    "EstimatedRanks",
    "IndependentQuantiles",
    "JointQuantiles",
    "Maximum",
    "Minimum",
    "Quantile",
    "QuantileTree",
    "RankChoice",
    "RecursiveQuantiles",
    "Several",
    "extreme_rank",
    "plan_concentrated_quantiles",
    "plan_quantiles",
]
