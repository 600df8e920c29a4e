"""Composition theorems in closed form, against the numbers of the documents."""

import math
from itertools import product

import numpy as np
import pytest

from discreet.accounting.optimal import optimal_epsilon
from discreet.core.errors import InvalidParameter
from discreet.theory.composition import (
    Theorem,
    advanced_epsilon,
    basic_delta,
    basic_epsilon,
    capacity,
    composed_epsilon,
    concentrated_epsilon,
    improved_epsilon,
    printed_share,
    share_of,
)


def test_the_theorem_as_printed_and_improved() -> None:
    assert advanced_epsilon(epsilon=0.1, times=100, slack=1e-5) == pytest.approx(5.8502, abs=5e-5)
    assert improved_epsilon(epsilon=0.1, times=100, slack=1e-5) == pytest.approx(5.2981, abs=5e-5)
    assert basic_epsilon([0.1] * 100) == pytest.approx(10)


def test_when_advanced_composition_begins_to_pay() -> None:
    printed = [
        k
        for k in range(1, 60)
        if advanced_epsilon(epsilon=0.1, times=k, slack=1e-5) < basic_epsilon([0.1] * k)
    ]
    concentrated = [
        k
        for k in range(1, 60)
        if concentrated_epsilon([0.1] * k, slack=1e-6) < basic_epsilon([0.1] * k)
    ]
    assert (printed[0], concentrated[0]) == (29, 31)


def test_mixed_approximate_mechanisms() -> None:
    assert composed_epsilon([0.1] * 100, [1e-9] * 100, delta=1e-6) == pytest.approx(
        5.77653, abs=5e-6
    )
    assert composed_epsilon([0.1, 0.2], [0, 0], delta=1e-6) == basic_epsilon([0.1, 0.2])
    assert composed_epsilon([0.1], [1e-5], delta=1e-6) == math.inf
    assert composed_epsilon([0.1], [1e-6], delta=1e-6) == 0.1
    assert basic_delta([1e-9] * 100) == pytest.approx(1e-7)
    with pytest.raises(InvalidParameter, match="lengths_differ"):
        composed_epsilon([0.1], [], delta=1e-6)


def test_the_corollary_is_verified_before_it_is_returned() -> None:
    share = printed_share(epsilon=1, times=100, slack=1e-6)
    assert share == pytest.approx(0.009512, abs=5e-7)
    assert advanced_epsilon(epsilon=share, times=100, slack=1e-6) == pytest.approx(0.5091, abs=5e-5)
    with pytest.raises(InvalidParameter) as refusal:
        printed_share(epsilon=1, times=100, slack=0.9)
    assert refusal.value.code == "corollary_fails"
    assert refusal.value.received == pytest.approx(1.753, abs=5e-4)


@pytest.mark.parametrize(
    ("theorem", "inverse", "at_801"),
    [(advanced_epsilon, 812.32, 1.01435), (improved_epsilon, 806.20, 1.00654)],
)
def test_the_lifetime_budget(theorem: Theorem, inverse: float, at_801: float) -> None:
    """The text's 1/801 does not follow from its own theorem; optimal composition carries it."""
    slack = math.exp(-32)
    share = share_of(epsilon=1, times=10**4, slack=slack, theorem=theorem)
    assert 1 / share == pytest.approx(inverse, abs=0.01)
    assert theorem(epsilon=share, times=10**4, slack=slack) <= 1
    assert theorem(epsilon=share * (1 + 1e-9), times=10**4, slack=slack) > 1
    assert theorem(epsilon=1 / 801, times=10**4, slack=slack) == pytest.approx(at_801, abs=5e-6)
    optimal = optimal_epsilon(loss=1 / 801, slack=0, times=10**4, delta=slack)
    assert optimal == pytest.approx(0.8905, abs=5e-5)


def test_a_share_is_never_less_than_an_even_one() -> None:
    assert share_of(epsilon=1, times=4, slack=1e-9, theorem=improved_epsilon) == 0.25


def test_capacity_grows_as_the_square_of_the_noise() -> None:
    def most(scale: float) -> int:
        return capacity(epsilon=1, slack=1e-6, scale=scale, theorem=advanced_epsilon)

    for n in (10**4, 10**5):
        assert most(10 * n / 10) == pytest.approx(100 * most(n / 10), rel=0.01)
        assert most(math.sqrt(100 * n)) == pytest.approx(100 * most(math.sqrt(n)), rel=0.02)
        # At least as many as the formula sqrt(8 k ln(1/slack)) / epsilon < n / 10 allows.
        assert most(n / 10) >= (n / 10) ** 2 / (8 * math.log(1e6)) - 1
    k, each = most(100.0), 1 / 100.0
    assert advanced_epsilon(epsilon=each, times=k, slack=1e-6) <= 1
    assert advanced_epsilon(epsilon=each, times=k + 1, slack=1e-6) > 1
    assert capacity(epsilon=0.5, slack=0.1, scale=1, theorem=advanced_epsilon) == 0


@pytest.mark.parametrize(
    ("epsilon", "times", "slack"),
    list(product([1e-3, 0.05, 0.5, 3.0], [1, 7, 300], [0.3, 1e-6, 1e-20])),
)
def test_optimal_composition_is_never_worse(epsilon: float, times: int, slack: float) -> None:
    optimal = optimal_epsilon(loss=epsilon, slack=0, times=times, delta=slack)
    assert optimal <= basic_epsilon([epsilon] * times) * (1 + 1e-9)
    assert optimal <= advanced_epsilon(epsilon=epsilon, times=times, slack=slack) * (1 + 1e-9)
    assert optimal <= improved_epsilon(epsilon=epsilon, times=times, slack=slack) * (1 + 1e-9)
    assert optimal <= concentrated_epsilon([epsilon] * times, slack=slack) * (1 + 1e-9)


def test_no_distinguisher_wins_the_composition_experiment_more_often_than_allowed() -> None:
    """An adversary picks a mechanism in each round by what was seen so far, exactly (000a:D2)."""
    loss, rounds = 0.4, 8
    truthful = math.exp(loss) / (1 + math.exp(loss))
    worlds: list[dict[tuple[int, ...], float]] = [{(): 1.0}, {(): 1.0}]
    for _ in range(rounds):
        for bit in (0, 1):
            grown: dict[tuple[int, ...], float] = {}
            for view, mass in worlds[bit].items():
                # After an odd number of ones the adversary swaps the pair and halves the loss.
                half = sum(view) % 2 == 1
                p = truthful if not half else math.exp(loss / 2) / (1 + math.exp(loss / 2))
                told = bit ^ half
                for report in (0, 1):
                    chance = p if report == told else 1 - p
                    grown[(*view, report)] = mass * chance
            worlds[bit] = grown
    first, second = (np.array([world[view] for view in sorted(world)]) for world in worlds)
    for slack in (0.1, 1e-3):
        bound = optimal_epsilon(loss=loss, slack=0, times=rounds, delta=slack)
        advantage = float(np.maximum(first - second, 0).sum())
        # Balanced success probability minus failure, as (exp(e) - 1 + 2 delta) / (exp(e) + 1).
        assert advantage <= (math.expm1(bound) + 2 * slack) / (math.exp(bound) + 1)
        assert float(np.maximum(first - math.exp(bound) * second, 0).sum()) <= slack


@pytest.mark.parametrize("slack", [0, 1, -0.1, float("nan")])
def test_bad_slack_is_refused(slack: float) -> None:
    with pytest.raises(InvalidParameter):
        advanced_epsilon(epsilon=0.1, times=10, slack=slack)
    with pytest.raises(InvalidParameter):
        concentrated_epsilon([0.1], slack=slack)


def test_very_large_losses_are_infinite_rather_than_an_overflow() -> None:
    assert advanced_epsilon(epsilon=1e4, times=2, slack=1e-6) == math.inf
    assert math.isfinite(improved_epsilon(epsilon=1e4, times=10**7, slack=1e-30))
