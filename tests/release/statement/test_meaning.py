"""What a guarantee means for one person: against the best attack there is."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import discreet as dp
from discreet.accounting.gaussian import gaussian_epsilon
from discreet.accounting.zcdp import zcdp_epsilon
from discreet.release.statement.meaning import EpsilonDelta, pairs


class TestMeaning:
    """Against the best attack there is, on the mechanisms themselves."""

    @pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
    def test_randomised_response_reaches_the_bounds_exactly(self, epsilon: float) -> None:
        """Say the truth with odds e^epsilon: no test of one person does better or worse."""
        truth = 1 / (1 + math.exp(-epsilon))
        pair = EpsilonDelta(epsilon, 0.0)
        assert pair.power(1 - truth) == pytest.approx(truth)
        assert pair.guess(0.5) == pytest.approx(truth)
        for prior in (0.01, 0.5, 0.9):
            belief = prior * truth / (prior * truth + (1 - prior) * (1 - truth))
            assert pair.posterior(prior) == pytest.approx(belief)

    @pytest.mark.parametrize("delta", [0.0, 0.01, 0.2])
    def test_the_extremal_mechanism_reaches_the_power(self, delta: float) -> None:
        """Kairouz, Oh and Viswanath: with probability delta tell all, else randomised response."""
        epsilon = 0.7
        odds = math.exp(epsilon)
        there = np.array([delta, (1 - delta) * odds / (1 + odds), (1 - delta) / (1 + odds), 0])
        gone = there[::-1]
        pair = EpsilonDelta(epsilon, delta)
        for first in range(3):
            alarms, power = gone[: first + 1].sum(), there[: first + 1].sum()
            assert power == pytest.approx(pair.power(float(alarms)))
        for prior in (0.01, 0.3, 0.5):
            best = np.maximum(prior * there, (1 - prior) * gone).sum()
            assert pair.guess(prior) == pytest.approx(best)

    def test_one_half_and_epsilon_one_give_731(self) -> None:
        assert EpsilonDelta(1.0, 0.0).posterior(0.5) == pytest.approx(0.73106, abs=5e-6)

    @pytest.mark.parametrize(
        "guarantee",
        [
            dp.PureDP(epsilon=0.5),
            dp.ApproxDP(epsilon=0.5, delta=1e-6),
            dp.ZCDP(rho=0.1),
            dp.RenyiDP(alpha=8, epsilon=1),
            dp.GaussianDP(mu=1),
        ],
        ids=lambda g: type(g).__name__,
    )
    def test_every_definition_implies_pairs(self, guarantee: Any) -> None:
        for pair in pairs(guarantee):
            assert 0 < pair.epsilon < 20
            assert 0.05 < pair.power(0.05) <= 1

    def test_gaussian_and_concentrated_pairs_agree_with_the_accountants(self) -> None:
        assert pairs(dp.GaussianDP(mu=0.5))[1].epsilon == gaussian_epsilon(2, 1e-7)
        assert pairs(dp.ZCDP(rho=0.1))[1].epsilon == zcdp_epsilon(0.1, 1e-7)
