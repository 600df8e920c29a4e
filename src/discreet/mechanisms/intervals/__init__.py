"""Confidence intervals for noisy answers: exact laws of the noise, combined exactly."""

from discreet.mechanisms.intervals.law import (
    DiscreteGaussian,
    DiscreteLaplace,
    Law,
    RoundedGaussian,
    RoundedLaplace,
    law_from_plain,
    law_of,
)
from discreet.mechanisms.intervals.linear import half_width, half_widths
from discreet.mechanisms.intervals.ratio import ratio_intervals

__all__ = [
    "DiscreteGaussian",
    "DiscreteLaplace",
    "Law",
    "RoundedGaussian",
    "RoundedLaplace",
    "half_width",
    "half_widths",
    "law_from_plain",
    "law_of",
    "ratio_intervals",
]
