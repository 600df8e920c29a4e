"""Numbers of the catalogue that other tests do not have, each against the code it is about."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import discreet as dp
from discreet import events, learn
from discreet.learn.hedge import printed_rate
from discreet.learn.optimisers.gradient_descent import descent_rate, printed_multiplier
from discreet.learn.optimisers.objective_perturbation import _two_sided
from discreet.noise import Noiseless, rounded_euclidean

PURE = dp.PureDP(epsilon=1)


def test_the_linear_term_of_objective_perturbation_has_its_moments() -> None:
    """004b:C3: at p = 10, L = ε = 1 the length of b is Gamma(10, 2): 20, and 440 squared.

    The mean of 4000 lengths has a deviation of .1, that of squares 4.5: five of each.
    """
    drawn = rounded_euclidean(2 * 2**20, 10, 4000, dp.noise.Seeded(3)) / 2**20
    lengths = np.linalg.norm(drawn, axis=1)
    assert lengths.mean() == pytest.approx(20, abs=0.5)
    assert (lengths**2).mean() == pytest.approx(440, abs=23)


@pytest.mark.parametrize(("ridge", "deviation"), [(5, 4.584748), (0.5, 13.20506)])
def test_the_deviation_of_a_normal_linear_term(ridge: float, deviation: float) -> None:
    """modern-learn:12, logistic loss at (1, 1e-6), with the determinant as it is bounded there."""
    rest = 1 + math.log(1 - 0.25 / ridge)
    assert _two_sided(rest, 1e-6) == pytest.approx(deviation, rel=1e-4)


def test_the_path_of_a_thousand_steps_and_its_excess() -> None:
    """004b:C6: what the printed multiplier really costs, and the bound (6.47)."""
    event = events.Gaussian(printed_multiplier(1000, 0.5, 1e-6)) * 1000
    assert event.epsilon(delta=1e-6) == pytest.approx(0.369106, rel=1e-4)
    steps = 100_000
    noise = math.sqrt(10) * printed_multiplier(steps, 1, 1e-5)
    rate = descent_rate(1, 1, steps, rows=1000, noise=noise)
    assert 1 / (rate * steps) == pytest.approx(16.13253, rel=1e-6)


def test_an_item_is_in_one_node_more_than_the_printed_tree_counts() -> None:
    """004b:C9: with noise for ⌈lg n⌉ nodes two items cost 1.0602 at a claim of one."""
    assert printed_multiplier(11, 1, 1e-5) == pytest.approx(16.59170, abs=1e-5)
    printed = events.Gaussian(printed_multiplier(1, 1, 1e-5)) * 2
    assert printed.epsilon(delta=1e-5) == pytest.approx(1.0602, abs=1e-4)
    leader = learn.FollowTheLeader(
        loss=learn.LogisticLoss(),
        clip=1.0,
        ridge=1.0,
        within=learn.EuclideanBall(1),
        passes=learn.Epochs(epochs=1, batches=2),
        sums=learn.TreeAggregation(),
        dimension=1,
        privacy=learn.Privacy(dp.ApproxDP(epsilon=1, delta=1e-5), dp.Row()),
    )
    assert leader.event.epsilon(delta=1e-5) <= 1


@pytest.mark.parametrize(("steps", "gap"), [(10, 0.3874), (100, 0.3697), (1000, 0.3681)])
def test_constant_steps_leave_a_third_of_the_gap(steps: int, gap: float) -> None:
    """004b:C12: steps of 1/T on a linear function, against those that are taken here."""
    left = 1.0
    for _ in range(steps - 1):
        left *= 1 - 1 / steps
    assert left == pytest.approx(gap, abs=1e-4)


@pytest.mark.parametrize("steps", [10, 100, 1000])
def test_falling_steps_keep_the_gap_of_frank_wolfe(steps: int) -> None:
    """At most 2Γ/(T + 2) above the least, Γ = 4 for each row (004b:C12, C14)."""
    rng = np.random.default_rng(12)
    x, true = rng.uniform(-1, 1, (50, 20)), np.zeros(20)
    true[:3] = 0.5, -0.3, 0.1
    privacy = learn.Privacy(dp.PureDP(epsilon=10**6), dp.Row(), Noiseless())
    found = learn.FrankWolfe(steps=steps, radius=1.0, privacy=privacy).minimise(x, x @ true)
    assert ((x @ (found - true)) ** 2).sum() / 2 <= 2 * 4 * 50 / (steps + 2)


def test_choices_of_vertices_have_less_noise_than_the_printed_ones() -> None:
    """004b:C13 with its missing n: 210.2609 for a hundred steps at (1, 1e-6)."""
    printed = 2 * math.sqrt(8 * 100 * math.log(1e6))
    assert printed == pytest.approx(210.2609, abs=1e-4)
    privacy = learn.Privacy(dp.ApproxDP(epsilon=1, delta=1e-6), dp.Row())
    made = learn.FrankWolfe(steps=100, radius=1.0, privacy=privacy)
    assert 2 * 2 / float(made.epsilon_each) < printed  # Gumbel noise of the same scores


def test_experts_by_advanced_composition() -> None:
    """000b:B33, B34: .509 for the printed rate, and 1.036 where losses span two; .9683 in all."""
    rounds, eta = 10_000, printed_rate(10_000, 1, 1e-6)

    def composed(each: float) -> float:
        return each * math.sqrt(2 * rounds * math.log(1e6)) + rounds * each * math.expm1(each)

    assert composed(2 * eta) == pytest.approx(0.509, abs=1e-3)
    assert composed(4 * eta) == pytest.approx(1.036, abs=1e-3)
    bound = math.sqrt(128 * math.log(1e6)) * math.log(10) / math.sqrt(rounds)
    assert bound == pytest.approx(0.9683, abs=1e-4)
    made = learn.Hedge(experts=10, rounds=rounds, spend=dp.ApproxDP(epsilon=1, delta=1e-6))
    assert made.regret < 0.4846 < bound
    assert (events.Exponential(epsilon=2 * eta) * rounds).epsilon(delta=1e-6) < composed(2 * eta)


def test_ten_statistical_queries_have_half_the_printed_noise() -> None:
    """000b:B32: Lap(m/(εn)) each, 2.929 of that the largest; centred at one half it is half."""
    assert sum(1 / k for k in range(1, 11)) == pytest.approx(2.929, abs=1e-3)
    asked: Any = learn.StatisticalQueries(np.zeros((5, 1)), 10, learn.Privacy(PURE, dp.Row()))
    assert asked.noise.scale(1) / 2 == pytest.approx(10 / 2 / 0.95)
