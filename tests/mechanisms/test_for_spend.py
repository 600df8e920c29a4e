"""What a spend buys: the noise of its privacy definition, shares that add up, an epsilon."""

from fractions import Fraction

import pytest

import discreet as dp
from discreet import events
from discreet.core.guarantee import ZCDP, ApproxDP, Guarantee, PureDP
from discreet.core.parameters import Number
from discreet.errors import InvalidParameter
from discreet.mechanisms import DiscreteGaussian, DiscreteLaplace, Exponential, Gaussian, Laplace
from discreet.mechanisms.for_spend import (
    LaplaceInRho,
    additive_readings,
    additive_spend,
    deviation,
    divided,
    epsilon_for,
    gaussian_for,
    largest_epsilon,
    least_error,
    noise_for,
    noise_of,
    readings,
    share_of,
)
from discreet.noise import SYSTEM, Seeded

APPROXIMATE = dp.ApproxDP(epsilon=1, delta=1e-6)
BOTH = readings(APPROXIMATE)


@pytest.mark.parametrize(
    ("spend", "kind", "sensitivity"),
    [
        (dp.PureDP(epsilon=0.5), DiscreteLaplace, 3),
        (dp.ZCDP(rho=0.1), DiscreteGaussian, 2),
        (APPROXIMATE, DiscreteLaplace, 3),
        (dp.ApproxDP(epsilon=1, delta=0), DiscreteLaplace, 3),
        (dp.ApproxDP(epsilon=1, delta=0.3), Gaussian, 2),
    ],
)
def test_noise_is_that_of_the_spend_at_the_norm_of_its_noise(
    spend: Guarantee, kind: type, sensitivity: int
) -> None:
    noise = noise_for(spend, l1=3, l2=2, randomness=SYSTEM)
    assert type(noise) is kind
    assert noise.sensitivity == sensitivity


def test_of_two_noises_that_a_spend_permits_the_one_of_less_deviation_is_taken() -> None:
    """Where the L1 norm is twelve times the L2 norm, as of 144 marginals, normal noise."""
    many = noise_for(APPROXIMATE, l1=144, l2=12, randomness=SYSTEM)
    assert type(many) is Gaussian
    for noise in (noise_of(each, l1=144, l2=12, randomness=SYSTEM) for each in BOTH):
        assert deviation(many) <= deviation(noise)


@pytest.mark.parametrize(
    "spend",
    [
        dp.ZCDP(rho=4),
        dp.ApproxDP(epsilon=20, delta=1e-3, by=ZCDP),
        dp.ApproxDP(epsilon=1, delta=0.6, by=ZCDP),
    ],
)
def test_laplace_noise_in_rho_costs_no_more_rho_and_no_more_epsilon(spend: Guarantee) -> None:
    """At (1, .6) Gaussian noise costs so much rho that Laplace noise would have an epsilon of 3."""
    laplace, own = readings(spend)
    assert isinstance(laplace, LaplaceInRho)
    one, other = (noise_of(each, l1=3, l2=3, randomness=SYSTEM) for each in (laplace, own))
    assert isinstance(one, DiscreteLaplace)
    assert one.event.zcdp().rho <= other.event.zcdp().rho
    if isinstance(spend, ApproxDP):
        assert one.event.epsilon(delta=0) <= spend.epsilon
    assert noise_for(spend, l1=3, l2=3, randomness=SYSTEM) in (one, other)


def test_what_is_paid_in_rho_is_shared_as_rho() -> None:
    spend = dp.ApproxDP(epsilon=1, delta=1e-6, by=ZCDP)
    assert additive_readings(spend) == (additive_spend(spend),)
    assert len(additive_readings(APPROXIMATE)) == 2


def test_of_equal_errors_the_first_reading_is_taken_and_a_single_one_is_not_measured() -> None:
    assert least_error(BOTH, lambda each: each, lambda _: 1.0) is BOTH[0]
    assert least_error(BOTH[1:], lambda each: each, lambda _: 1 / 0) is BOTH[1]


def test_a_pure_step_and_noise_for_the_rest_cost_the_spend_together() -> None:
    for spend in (dp.PureDP(epsilon=1), dp.ApproxDP(epsilon=1, delta=0.3), dp.ZCDP(rho=0.5)):
        step, left = divided(spend, Fraction(1, 4))
        noise = noise_for(left, l1=1, l2=1, randomness=SYSTEM)
        epsilon = epsilon_for(step, lambda each: events.Pure(epsilon=each))
        event = events.Pure(epsilon=epsilon) + noise.event
        match spend:
            case PureDP():
                assert event.epsilon(delta=0) == 1
            case ZCDP():
                assert event.zcdp().rho <= 0.5
            case ApproxDP():
                assert isinstance(noise, Gaussian)
                assert event.epsilon(delta=0.3) <= 1


def test_steps_that_stand_for_reals_get_laplace_noise() -> None:
    noise = noise_for(dp.PureDP(epsilon=0.5), l1=3, l2=2, randomness=SYSTEM, whole=False)
    assert type(noise) is Laplace
    assert noise.sensitivity == 3
    gaussian = noise_for(dp.ZCDP(rho=0.1), l1=3, l2=2, randomness=SYSTEM, whole=False)
    assert gaussian == noise_for(dp.ZCDP(rho=0.1), l1=3, l2=2, randomness=SYSTEM)


def test_the_noise_costs_the_spend() -> None:
    pure = noise_for(dp.PureDP(epsilon=0.5), l1=3, l2=2, randomness=SYSTEM)
    assert pure.event.epsilon(delta=0) == 0.5
    assert noise_for(dp.ZCDP(rho=0.1), l1=3, l2=2, randomness=SYSTEM).event.zcdp().rho <= 0.1
    assert noise_for(APPROXIMATE, l1=3, l2=2, randomness=SYSTEM).event.epsilon(delta=1e-6) <= 1


@pytest.mark.parametrize(
    "spend",
    [
        dp.PureDP(epsilon=0),
        dp.ZCDP(rho=0),
        dp.ApproxDP(epsilon=0, delta=1e-6),
        dp.ApproxDP(epsilon=0, delta=0),
        dp.RenyiDP(alpha=2, epsilon=1),
    ],
)
def test_what_buys_no_noise_is_refused(spend: Guarantee) -> None:
    with pytest.raises(InvalidParameter, match="spend_notion"):
        noise_for(spend, l1=1, l2=1, randomness=SYSTEM)
    with pytest.raises(InvalidParameter, match="spend_notion"):
        additive_spend(spend)
    with pytest.raises(InvalidParameter, match="gaussian_spend"):
        gaussian_for(spend, l2=1, randomness=SYSTEM)


def test_a_pure_spend_buys_no_gaussian_noise() -> None:
    with pytest.raises(InvalidParameter, match="gaussian_spend"):
        gaussian_for(dp.PureDP(epsilon=1), l2=1, randomness=SYSTEM)


def test_shares_add_up_to_the_spend_exactly() -> None:
    parts = [share_of(dp.PureDP(epsilon=0.3), Fraction(k, 6)) for k in (1, 2, 3)]
    shares = [Fraction(part.epsilon) for part in parts if isinstance(part, PureDP)]
    assert sum(shares, Fraction(0)) == Fraction(0.3)
    third = share_of(dp.ZCDP(rho=0.3), Fraction(1, 3))
    assert third == dp.ZCDP(rho=Fraction(0.3) / 3)
    assert share_of(APPROXIMATE, 1) == additive_spend(APPROXIMATE)


@pytest.mark.parametrize("rho", [1e-6, 0.1, 3.0, 700.0])
def test_an_epsilon_is_the_largest_that_is_paid_for(rho: float) -> None:
    def event(epsilon: Number) -> events.Event:
        return Exponential(epsilon=epsilon, sensitivity=1).event

    found = largest_epsilon(event, dp.ZCDP(rho=rho))
    assert event(found).zcdp().rho <= rho
    assert event(found * (1 + 1e-9)).zcdp().rho > rho
    assert epsilon_for(dp.ZCDP(rho=rho), event) == found
    assert epsilon_for(dp.PureDP(epsilon=0.25), event) == Fraction(1, 4)


def test_noise_of_a_test_is_priced_as_if_it_were_private() -> None:
    def event(epsilon: Number) -> events.Event:
        return Exponential(epsilon=epsilon, sensitivity=1, randomness=Seeded(1)).event

    least = 0.8**0.5  # by epsilon**2 / 8, which is above the price
    assert least < largest_epsilon(event, dp.ZCDP(rho=0.1)) < 1.01 * least
