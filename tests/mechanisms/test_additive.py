"""Additive mechanisms in a pipeline: what they cost at every distance, and test mode."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet import events
from discreet.accounting import gaussian_delta
from discreet.core.domain import Integers, Reals, Vector
from discreet.core.errors import InvalidParameter, Mismatch, NotPrivate, Unpriced
from discreet.core.events.event import Nothing, from_json
from discreet.core.metric import L1, L2, Hamming, LInf
from discreet.core.space import Space
from discreet.mechanisms import DiscreteGaussian, DiscreteLaplace, Gaussian, Laplace, grid
from discreet.mechanisms.additive import Additive
from discreet.noise import Noiseless, Seeded

LAPLACE = Laplace(epsilon=0.5, sensitivity=2)
GAUSSIAN = Gaussian(epsilon=1, delta=1e-5, sensitivity=2)
GEOMETRIC = DiscreteLaplace(epsilon=0.5, sensitivity=2)
NORMAL = DiscreteGaussian(rho=0.5, sensitivity=2)
EVERY: list[Additive] = [LAPLACE, GAUSSIAN, GEOMETRIC, NORMAL]


def space_of(mechanism: Additive, domain: Integers | Reals | Vector) -> Space:
    return Space(domain, mechanism._metric()())


@pytest.mark.parametrize("mechanism", EVERY)
def test_distance_zero_costs_nothing_and_the_sensitivity_costs_the_event(
    mechanism: Additive,
) -> None:
    for domain in (Integers(), Vector(Integers(), 7)):
        measurement = mechanism.over(space_of(mechanism, domain))
        assert measurement.event(0) == Nothing()
        assert measurement.event(mechanism.sensitivity) == mechanism.event
        for bad in (-1, math.nan, math.inf, True, "1"):
            with pytest.raises(InvalidParameter):
                measurement.event(bad)


@pytest.mark.parametrize("mechanism", EVERY)
def test_other_metrics_are_refused(mechanism: Additive) -> None:
    for metric in (L1(), L2(), LInf()):
        if type(metric) is not mechanism._metric():
            with pytest.raises(Mismatch, match="metric_mismatch"):
                mechanism.over(Space(Vector(Integers(), 3), metric))
    with pytest.raises(Mismatch):
        mechanism.over(Space(Vector(Integers(), 3), Hamming()))


@pytest.mark.parametrize("mechanism", [GEOMETRIC, NORMAL])
def test_discrete_mechanisms_refuse_a_space_of_reals(mechanism: Additive) -> None:
    # 3 would be released and its neighbour 3.5 refused.
    with pytest.raises(Mismatch, match="domain_mismatch"):
        mechanism.over(space_of(mechanism, Reals()))


@pytest.mark.parametrize("mechanism", [LAPLACE, GAUSSIAN])
def test_in_a_space_of_reals_whole_numbers_are_reals_too(mechanism: Additive) -> None:
    # Reals() contains 3 and 3.5, at distance one half: the answer's kind must not tell them apart.
    released = mechanism.over(space_of(mechanism, Reals())).release
    for value in (3, 3.5, 2**62, float(2**62), 10**30):
        assert type(released(value)) is float
    vector = mechanism.over(space_of(mechanism, Vector(Reals(), 2))).release
    assert vector([3, 4]).dtype == np.float64
    exponent = mechanism._exponent(1, float)
    for large in (2**62, 2**70, 10**30):
        whole, real = (grid.real_steps(x, exponent) for x in (large, float(large)))
        assert whole.far[0] == large << -exponent
        assert abs(whole.far[0] - real.far[0]) <= (large >> 52) << -exponent
    # And a space of integers refuses reals, rather than release another kind.
    with pytest.raises(ValueError, match="integers_only"):
        mechanism.over(space_of(mechanism, Integers())).release(3.5)


def epsilon_of(event: Any) -> Fraction:
    return Fraction(event.loss)


@given(
    d_in=st.one_of(st.fractions(Fraction(1, 100), 50), st.floats(1e-12, 50)),
    size=st.integers(1, 50),
)
def test_laplace_shares_bound_the_true_loss_on_the_grid(d_in: Fraction, size: int) -> None:
    distance = Fraction(d_in)
    for element in (Integers(), Reals()):
        kind: type = int if isinstance(element, Integers) else float
        event = LAPLACE.over(space_of(LAPLACE, Vector(element, size))).event(d_in)
        exponent = LAPLACE._exponent(size, kind)
        step = Fraction(2) ** exponent
        # Whole vectors are apart by whole steps; reals by up to a step more per coordinate.
        worst = math.floor(distance) if kind is int else math.floor(distance / step) + size
        loss = worst / LAPLACE._scale_in_steps(exponent, size, kind)
        assert loss <= epsilon_of(event)
        assert epsilon_of(event) <= Fraction(1, 2) * (math.ceil(distance) / 2 + Fraction(1, 2**19))
        # Never below the continuous price of the distance itself, for reals.
        if kind is float:
            assert epsilon_of(event) >= distance / 4 * (1 - Fraction(1, 2**19))


@given(d_in=st.fractions(Fraction(1, 100), 50), size=st.integers(1, 50))
def test_gaussian_shares_bound_the_true_loss_on_the_grid(d_in: Fraction, size: int) -> None:
    for element in (Integers(), Reals()):
        kind: type = int if isinstance(element, Integers) else float
        event = GAUSSIAN.over(space_of(GAUSSIAN, Vector(element, size))).event(d_in)
        assert isinstance(event, events.Gaussian)
        exponent = GAUSSIAN._exponent(size, kind)
        rounding = 0.0 if kind is int else math.sqrt(size)
        worst = float(d_in) / 2.0**exponent + rounding
        sigma = float(GAUSSIAN._scale_in_steps(exponent, size, kind))
        assert float(event.noise_multiplier) <= sigma / worst * (1 + 1e-12)
        assert float(event.noise_multiplier) >= sigma / worst * (1 - 1e-9)


@given(d_in=st.one_of(st.integers(1, 30), st.floats(0.01, 30)))
def test_geometric_shares_say_how_many_steps(d_in: float) -> None:
    event = GEOMETRIC.over(space_of(GEOMETRIC, Integers())).event(d_in)
    assert isinstance(event, events.DiscreteLaplace)
    assert event.steps == math.ceil(d_in)
    # The scale behind the event is that of the noise, whatever the distance.
    assert event.steps / epsilon_of(event) == GEOMETRIC._scale_in_steps(0, 1, int) == 4


@given(d_in=st.fractions(Fraction(1, 10), 30))
def test_discrete_gaussian_shares_keep_their_sigma(d_in: Fraction) -> None:
    event = NORMAL.over(space_of(NORMAL, Integers())).event(d_in)
    assert isinstance(event, events.DiscreteGaussian)
    assert event.sigma == 2
    assert Fraction(event.noise_multiplier) * d_in == 2


def test_a_larger_distance_is_never_cheaper() -> None:
    for mechanism in EVERY:
        measurement = mechanism.over(space_of(mechanism, Vector(Integers(), 3)))
        prices = [measurement.event(d).epsilon(delta=1e-6) for d in (0.5, 1, 1.5, 2, 3, 4, 10)]
        assert prices == sorted(prices)


def test_an_array_is_one_release() -> None:
    assert LAPLACE.event == events.Laplace(epsilon=0.5)
    assert GAUSSIAN.event == events.Gaussian(GAUSSIAN.noise_multiplier)
    assert gaussian_delta(GAUSSIAN.noise_multiplier, 1) <= 1e-5


class TestTestMode:
    @pytest.mark.parametrize("randomness", [Seeded(1), Noiseless()])
    @pytest.mark.parametrize(
        ("kind", "parameters"),
        [
            (Laplace, {"epsilon": 1}),
            (Gaussian, {"epsilon": 1, "delta": 1e-5}),
            (DiscreteLaplace, {"epsilon": 1}),
            (DiscreteGaussian, {"rho": 1}),
        ],
    )
    def test_its_events_have_no_price(
        self, kind: type[Any], parameters: dict[str, Any], randomness: Seeded | Noiseless
    ) -> None:
        mechanism = kind(sensitivity=1, randomness=randomness, **parameters)
        private = kind(sensitivity=1, **parameters)
        measurement = mechanism.over(Space(Integers(), mechanism._metric()()))
        for event in (mechanism.event, measurement.event(1), measurement.event(3)):
            assert isinstance(event, events.Unprotected)
            assert type(randomness).__name__ in event.reason
            assert "1" not in event.reason, "the seed stays out of the record"
            for priced in (event, event * 3, event + private.event):
                with pytest.raises((NotPrivate, Unpriced)):
                    priced.epsilon(delta=1e-6)
                with pytest.raises((NotPrivate, Unpriced)):
                    priced.delta(epsilon=1)
            assert from_json(event.to_json()) == event
        assert mechanism.event.instead_of == private.event

    def test_noiseless_returns_the_rounded_truth(self) -> None:
        for kind in (Laplace, DiscreteLaplace):
            assert kind(epsilon=1, sensitivity=1, randomness=Noiseless()).release(41) == 41
        silent = Laplace(epsilon=1, sensitivity=1, randomness=Noiseless())
        assert silent.release(0.1) == pytest.approx(0.1, abs=2.0**-30)

    def test_seeds_repeat_and_the_system_does_not(self) -> None:
        def draw(**options: Any) -> list[int]:
            drawn: list[int] = Laplace(epsilon=0.01, sensitivity=1, **options).release([0] * 50)
            return list(drawn)

        assert draw(randomness=Seeded(7)) == draw(randomness=Seeded(7))
        assert draw(randomness=Seeded(7)) != draw(randomness=Seeded(8))
        assert draw() != draw()
