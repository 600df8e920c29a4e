"""Versions of one number combine into a better one, with an interval that holds."""

import numpy as np
import pytest

from discreet.core.errors import InvalidParameter
from discreet.release.intervals import (
    DiscreteGaussianDistribution,
    DiscreteLaplaceDistribution,
    Distribution,
    RoundedGaussian,
    RoundedLaplace,
    inverse_variance,
)
from tests.release.intervals.draws import FINE, draw, held, too_short

VERSIONS: list[list[Distribution]] = [
    [RoundedLaplace(4, FINE), RoundedLaplace(2, FINE)],
    [DiscreteLaplaceDistribution(1, 1), DiscreteLaplaceDistribution(0.5, 1)],
    [DiscreteLaplaceDistribution(10, 1), DiscreteGaussianDistribution(3, 1)],
    [RoundedLaplace(4, 1), RoundedGaussian(2, 1), DiscreteLaplaceDistribution(3, 1)],
    [RoundedLaplace(2, 1)],
]


def test_worked_numbers() -> None:  # modern-data:A3
    both = inverse_variance([80.0, 100.0], [RoundedGaussian(1, FINE), RoundedGaussian(2, FINE)])
    assert float(both.values) == pytest.approx(84)
    assert both.weights == pytest.approx((0.8, 0.2))
    assert both.std == pytest.approx(0.8**0.5)
    assert both.half_width(0.95) == pytest.approx(1.959964 * 0.8**0.5, rel=1e-6)


@pytest.mark.parametrize("laws", VERSIONS)
def test_the_combination_is_better_and_covered(laws: list[Distribution]) -> None:
    trials = 100_000
    generator = np.random.default_rng(1)
    both = inverse_variance(
        np.stack([7 + draw(distribution, trials, generator) for distribution in laws]), laws
    )
    assert sum(both.weights) == pytest.approx(1)
    assert both.std <= min(distribution.std for distribution in laws)
    assert float(both.values.std()) == pytest.approx(both.std, rel=0.02)
    for confidence in (0.5, 0.95):
        assert not too_short(held(both.intervals(confidence), 7.0), trials, confidence)
    assert both.half_width(0.5) < both.half_width(0.95)


def test_one_version_is_itself() -> None:
    distribution = DiscreteLaplaceDistribution(2, 1)
    alone = inverse_variance([[3.0, 4.0]], [distribution])
    assert alone.values.tolist() == [3, 4]
    assert alone.half_width(0.95) == distribution.half_width(0.95)


@pytest.mark.parametrize(
    ("values", "count"), [([], 0), ([1.0], 0), ([1.0, 2.0], 1), ([[1.0], [2.0]], 3), (5.0, 1)]
)
def test_misshapen_versions_are_refused(values: object, count: int) -> None:
    with pytest.raises(InvalidParameter) as caught:
        inverse_variance(values, [RoundedLaplace(1, 1)] * count)  # type: ignore[arg-type]
    assert caught.value.code == "versions_misshapen"
