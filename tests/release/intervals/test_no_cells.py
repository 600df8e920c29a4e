"""Where no cell is left, as after LIMIT 0, every interval is an empty one and nothing fails."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

from discreet.release.intervals import (
    DiscreteLaplaceDistribution,
    Distribution,
    RoundedGaussian,
    RoundedLaplace,
    correlation_intervals,
    covariance_intervals,
    half_widths,
    ratio_intervals,
    smooth_intervals,
    stddev_intervals,
    variance_intervals,
)
from discreet.release.intervals.linear import half_width_bounds

FINE = 2.0**-30
NOISES: dict[str, Callable[[int], Distribution]] = {
    "Laplace": lambda k: RoundedLaplace(3.0 + k, FINE),
    "coarse Laplace": lambda k: RoundedLaplace(3.0 + k, 1.0),
    "Gaussian": lambda k: RoundedGaussian(3.0 + k, FINE),
    "whole numbers": lambda k: DiscreteLaplaceDistribution(2.0 + k, 1),
    "Laplace and Gaussian": lambda k: (RoundedLaplace, RoundedGaussian)[k % 2](3.0, FINE),
}
MOMENTS: dict[str, tuple[Callable[..., Any], int, Any]] = {
    "variance": (variance_intervals, 3, 25),
    "standard deviation": (stddev_intervals, 3, 25),
    "covariance": (covariance_intervals, 4, (25, 25)),
    "correlation": (correlation_intervals, 6, (25, 25)),
}


def nothing(*shape: int) -> Any:
    return np.zeros((0, *shape))


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("moment", MOMENTS)
def test_moments_of_no_cells_have_no_intervals(moment: str, noise: str) -> None:
    intervals, many, high = MOMENTS[moment]
    laws = [NOISES[noise](k) for k in range(many)]
    ends = intervals(*[nothing()] * many, laws, confidence=0.95, high=high)
    assert [end.shape for end in ends] == [(0,), (0,)]


@pytest.mark.parametrize("noise", NOISES)
def test_ratios_of_no_cells_have_no_intervals(noise: str) -> None:
    laws = [NOISES[noise](k) for k in range(2)]
    ends = ratio_intervals(nothing(), nothing(), *laws, confidence=0.95, low=-1, high=1)
    assert [end.shape for end in ends] == [(0,), (0,)]


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("many", [1, 2, 3, 8])
def test_sums_for_no_cells_have_no_widths(many: int, noise: str) -> None:
    laws = [NOISES[noise](k) for k in range(many)]
    ways = (
        partial(half_widths, nothing(many), laws, 0.95),
        partial(half_width_bounds, nothing(many), laws, 0.95),
        partial(smooth_intervals, nothing(), nothing(many), laws, confidence=0.95),
    )
    assert {np.asarray(way()).size for way in ways} == {0}
