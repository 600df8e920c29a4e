"""What a spend buys: the noise of its privacy definition, shares that add up, an epsilon."""

from fractions import Fraction

import pytest

import discreet as dp
from discreet import events
from discreet.core.guarantee import Guarantee, PureDP
from discreet.core.parameters import Number
from discreet.errors import InvalidParameter
from discreet.mechanisms import DiscreteGaussian, DiscreteLaplace, Exponential, Gaussian, Laplace
from discreet.mechanisms.for_spend import (
    additive_spend,
    epsilon_for,
    gaussian_for,
    largest_epsilon,
    noise_for,
    share_of,
)
from discreet.noise import SYSTEM, Seeded

APPROXIMATE = dp.ApproxDP(epsilon=1, delta=1e-6)


@pytest.mark.parametrize(
    ("spend", "kind", "sensitivity"),
    [
        (dp.PureDP(epsilon=0.5), DiscreteLaplace, 3),
        (dp.ZCDP(rho=0.1), DiscreteGaussian, 2),
        (APPROXIMATE, Gaussian, 2),
    ],
)
def test_noise_is_that_of_the_spend_at_the_norm_of_its_noise(
    spend: Guarantee, kind: type, sensitivity: int
) -> None:
    noise = noise_for(spend, l1=3, l2=2, randomness=SYSTEM)
    assert type(noise) is kind
    assert noise.sensitivity == sensitivity


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
        dp.ApproxDP(epsilon=1, delta=0),
        dp.ApproxDP(epsilon=0, delta=1e-6),
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

    assert largest_epsilon(event, dp.ZCDP(rho=0.1)) == pytest.approx(0.8**0.5, rel=1e-6)
