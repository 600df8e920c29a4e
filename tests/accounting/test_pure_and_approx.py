"""Pure and approximate accountants: exact sums, upward rounding, and exact laws below them."""

from __future__ import annotations

import itertools
import math
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet import events
from discreet.accounting import APPROX, PURE, Accountant, gaussian_delta
from discreet.audit.testers import hockey_stick
from discreet.core.errors import Unpriced

losses = st.one_of(st.floats(1e-6, 30), st.fractions(Fraction(1, 100), 30))


def randomized_response(epsilon: float, times: int) -> tuple[list[float], list[float]]:
    """The laws of several independent answers to a question whose truth differs."""
    keep = 1 / (1 + math.exp(-epsilon))
    p, q = [], []
    for answers in itertools.product((0, 1), repeat=times):
        lies = sum(answers)
        p.append(keep ** (times - lies) * (1 - keep) ** lies)
        q.append(keep**lies * (1 - keep) ** (times - lies))
    return p, q


@given(st.lists(losses, min_size=1, max_size=6))
def test_epsilons_add_up_exactly_and_round_up_once(values: list[Any]) -> None:
    total = sum(map(Fraction, values))
    event = sum((events.Laplace(epsilon=value) for value in values), start=events.Nothing())
    assert PURE.price(event) == total
    stated = event.epsilon(delta=0)
    assert Fraction(math.nextafter(stated, 0)) < total <= Fraction(stated)


@given(st.floats(1e-3, 30), st.floats(0, 1))
def test_the_delta_of_a_pure_event_is_that_of_randomized_response(
    total: float, share: float
) -> None:
    epsilon = total * share
    with localcontext() as context:
        context.prec = 60
        top, here = Decimal(total).exp(), Decimal(epsilon).exp()
        truth = max(Decimal(0), (top - here) / (top + 1))
        stated = Decimal(PURE.delta(events.Pure(epsilon=total), epsilon))
        assert truth <= stated <= truth * (1 + Decimal("1e-13"))


@pytest.mark.parametrize("times", [1, 2, 5])
@pytest.mark.parametrize("epsilon", [0.1, 0.7, 2.0])
def test_prices_cover_the_exact_laws_of_randomized_response(epsilon: float, times: int) -> None:
    p, q = randomized_response(epsilon, times)
    event = events.RandomizedResponse(epsilon=epsilon, categories=2) * times
    for share in (0, 0.2, 0.5, 0.9, 1):
        at = share * epsilon * times
        truth = hockey_stick(p, q, epsilon=at)
        assert truth <= PURE.delta(event, at) * (1 + 1e-9) + 1e-15
        assert truth <= event.delta(epsilon=at) * (1 + 1e-9) + 1e-15
        if times == 1:
            assert truth == pytest.approx(PURE.delta(event, at), abs=1e-12)


@given(st.floats(0.01, 20), st.floats(0, 1))
def test_prices_cover_the_exact_law_of_laplace(epsilon: float, share: float) -> None:
    """The exact curve of one Laplace release is 1 - exp((e - epsilon)/2) below epsilon."""
    at = share * epsilon
    truth = -math.expm1((at - epsilon) / 2)
    assert events.Laplace(epsilon=epsilon).delta(epsilon=at) >= truth * (1 - 1e-12)


def test_ten_tenths_are_one() -> None:
    assert (events.Laplace(epsilon=Fraction(1, 10)) * 10).epsilon(delta=0) == 1.0
    assert (events.Laplace(epsilon=0.1) * 10).epsilon(delta=0) > 1.0, "0.1 stores more than 1/10"


def test_deltas_add_up() -> None:
    slack = Fraction(1, 10**6)
    event = events.Approximate(epsilon=1, delta=slack) * 3
    assert APPROX.epsilon(event, 3e-6 * (1 + 1e-9)) == 3
    assert APPROX.epsilon(event, 1e-7) == math.inf
    assert APPROX.delta(event, 3) == pytest.approx(3e-6)
    assert Fraction(APPROX.delta(event, 3)) >= 3 * slack
    assert APPROX.delta(event, 2.9) == 1
    assert event.epsilon(delta=3e-6 * (1 + 1e-9)) <= 3


def test_gaussian_and_pure_parts_mix() -> None:
    event = events.Gaussian(2) + events.Laplace(epsilon=0.5)
    assert APPROX.delta(event, 1.5) == pytest.approx(gaussian_delta(2, 1.0))
    assert APPROX.delta(event, 1.5) >= gaussian_delta(2, 1.0)
    assert APPROX.delta(event, 0.4) == 1
    assert APPROX.epsilon(event, 0) == math.inf


@given(st.floats(0.2, 20), st.floats(0.05, 3), st.floats(1e-9, 0.1))
def test_epsilon_and_delta_are_inverse_on_the_safe_side(
    z: float, loss: float, delta: float
) -> None:
    event = events.Gaussian(z) + events.Laplace(epsilon=loss)
    again = APPROX.delta(event, APPROX.epsilon(event, delta))
    assert again <= delta * (1 + 1e-9)


@given(st.lists(losses, min_size=1, max_size=4), st.floats(1e-9, 0.5))
def test_the_best_accountant_answers(values: list[Any], delta: float) -> None:
    event = sum((events.Exponential(epsilon=value) for value in values), start=events.Nothing())
    assert event.epsilon(delta=delta) <= PURE.epsilon(event, delta)
    assert event.epsilon(delta=delta) <= event.epsilon(delta=delta / 2)
    assert event.delta(epsilon=1.0) <= event.delta(epsilon=0.5)


def test_a_third_accountant_can_be_written() -> None:
    class Longest(Accountant[int]):
        """Prices everything by the number of its parts, and certifies nothing."""

        def epsilon(self, event: events.Event, delta: float) -> float:
            return math.inf

        def delta(self, event: events.Event, epsilon: float) -> float:
            return 1.0

    own = Longest()
    own.prices(events.Composed)(lambda event: len(event.parts))
    assert own.price(events.Laplace(epsilon=1) + events.Gaussian(1)) == 2
    with pytest.raises(Unpriced):
        own.price(events.Gaussian(1))
