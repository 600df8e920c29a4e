"""What events say beyond epsilon and delta."""

import pytest

from discreet import events
from discreet.accounting import GAUSSIAN, PRIVACY_LOSS, PURE
from discreet.core.errors import InvalidParameter, Mismatch, Unpriced


def test_bounds_enclose_the_exact_value_of_a_gaussian() -> None:
    lower, upper = events.Gaussian(1).epsilon_bounds(delta=1e-6)
    assert lower <= 4.886554117462212 <= upper
    assert upper - lower < 1e-8


def test_envelopes_have_no_lower_value() -> None:
    assert (events.Exponential(epsilon=0.1) * 10).epsilon_bounds(delta=1e-6)[0] == 0
    sampled = events.Gaussian(0.5).subsample(size=1, of=100)
    assert sampled.epsilon_bounds(delta=1e-5)[0] == 0
    assert sampled.epsilon_bounds(delta=1e-5)[1] == pytest.approx(3.02536, rel=1e-3)


def test_gaussian_privacy_is_certified_or_refused() -> None:
    assert events.Gaussian(2).gdp().mu == pytest.approx(0.5)
    assert (events.Gaussian(2) * 4).gdp().mu == pytest.approx(1)
    # Each touches the Gaussian curve where both errors are equal.
    assert events.Pure(epsilon=1).gdp().mu == pytest.approx(1.2320353853, rel=1e-9)
    assert events.Laplace(epsilon=1).gdp().mu == pytest.approx(1.0300639976, rel=1e-9)
    with pytest.raises(Unpriced):
        events.Gaussian(2).subsample(rate=0.1).gdp()


def test_one_accountant_can_be_chosen() -> None:
    many = events.Laplace(epsilon=0.1) * 100
    pure = many.with_accountant(PURE).epsilon(delta=1e-6)
    tight = many.with_accountant(PRIVACY_LOSS).epsilon(delta=1e-6)
    assert tight < many.with_accountant(GAUSSIAN).epsilon(delta=1e-6) < pure
    assert many.epsilon(delta=1e-6) <= tight


def test_rates_of_one_and_sums_are_plain() -> None:
    laplace = events.Laplace(epsilon=1)
    assert laplace.subsample(rate=1) is laplace
    assert sum([laplace, laplace]) == laplace + laplace


def test_samplers_of_different_relations_do_not_mix() -> None:
    poisson = events.Gaussian(1).subsample(rate=0.1)
    fixed = events.Gaussian(1).subsample(size=1, of=10)
    with pytest.raises(Mismatch, match="relation_mismatch"):
        _ = poisson + fixed
    with pytest.raises(Mismatch, match="relation_mismatch"):
        fixed.subsample(rate=0.5)
    with pytest.raises(InvalidParameter, match="sampler_unclear"):
        events.Gaussian(1).subsample(rate=0.1, size=3)
