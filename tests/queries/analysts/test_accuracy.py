"""Bounds on the games' errors in closed form."""

import math

import numpy as np
import pytest

from discreet.accounting.zcdp import zcdp_rho
from discreet.queries.analysts.accuracy import (
    analyst_entropy,
    expected_alpha,
    query_entropy,
    sampled_alpha,
)
from discreet.queries.analysts.expected_game import expected_data_ranges


def test_the_budget_at_one_and_a_millionth() -> None:
    assert zcdp_rho(1, 1e-6) == pytest.approx(0.024356, abs=1e-6)


def test_ranges_of_the_expected_game_start_at_zero_and_add_up() -> None:
    ranges = expected_data_ranges(rounds=4, step_x=2, step_q=1, records=5)
    shifts = [math.tanh(j / 20) for j in range(3)]
    assert ranges == pytest.approx([0, 2 * shifts[0], 2 * sum(shifts[:2]), 2 * sum(shifts)])


def test_the_error_bound_is_the_sum_of_regrets_and_sampling() -> None:
    common = {"cells": 4096, "rounds": 400, "reach_x": 500, "reach_q": 64, "points": 4000}
    entropy = query_entropy(queries=1e5, s=61_859)
    found = sampled_alpha(entropy=entropy, draws=989_600, beta=0.05, **common)
    regrets = math.log(4096) / 500 + 500 / 3200 + math.log(2e5 / 61_859) / 64 + 64 / 3200
    drawn = math.sqrt(math.log(40) / 8000) + math.sqrt(math.log(40) / (2 * 989_600))
    assert found == pytest.approx(2 * (regrets + drawn))
    assert expected_alpha(entropy=entropy, beta=0.05, **common) < found


def test_bounds_take_arrays() -> None:
    s = np.array([10.0, 100.0])
    found = sampled_alpha(
        cells=16,
        entropy=analyst_entropy(analysts=1000, s=s, most=5),
        rounds=np.inf,
        reach_x=np.array([1.0, 2.0]),
        reach_q=3,
        points=100,
        draws=100,
        beta=0.1,
    )
    assert found.shape == (2,)
    assert found[0] > found[1]
