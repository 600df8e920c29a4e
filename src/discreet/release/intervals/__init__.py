"""Confidence intervals for noisy answers: exact distributions of the noise, combined exactly.

The distributions are those of :mod:`discreet.mechanisms.distributions`, named here again.
"""

from discreet.mechanisms.distributions.distribution import (
    DiscreteGaussianDistribution,
    DiscreteLaplaceDistribution,
    Distribution,
    RoundedGaussian,
    RoundedLaplace,
    distribution_from_dict,
    distribution_of,
)
from discreet.release.intervals.combine import Combined, inverse_variance
from discreet.release.intervals.correlation import correlation_intervals
from discreet.release.intervals.covariance import covariance_intervals
from discreet.release.intervals.dispersion import stddev_intervals, variance_intervals
from discreet.release.intervals.linear import half_width, half_widths
from discreet.release.intervals.ratio import ratio_intervals
from discreet.release.intervals.smooth import smooth_intervals, trusted

__all__ = [
    "Combined",
    "DiscreteGaussianDistribution",
    "DiscreteLaplaceDistribution",
    "Distribution",
    "RoundedGaussian",
    "RoundedLaplace",
    "correlation_intervals",
    "covariance_intervals",
    "distribution_from_dict",
    "distribution_of",
    "half_width",
    "half_widths",
    "inverse_variance",
    "ratio_intervals",
    "smooth_intervals",
    "stddev_intervals",
    "trusted",
    "variance_intervals",
]
