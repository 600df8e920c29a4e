"""The constants of boosting, against the catalogue's numbers."""

import math
from fractions import Fraction
from typing import Any

import pytest

from discreet.core.errors import InvalidParameter
from discreet.queries.boosting.bounds import (
    draws_rho,
    rounds_needed,
    shrinkage,
    slack_at,
    slack_at_pure,
    step_size,
)

THIRD = Fraction(1, 3)

B3: dict[str, Any] = {"sample": 50, "rounds": 20, "advantage": THIRD}


def test_the_step_and_what_it_leaves() -> None:
    assert step_size(THIRD) == pytest.approx(0.8047190, abs=5e-8)
    assert step_size(THIRD) ** 2 == pytest.approx(0.6475726, abs=5e-8)
    assert shrinkage(THIRD) == pytest.approx(0.7454, abs=5e-5)


@pytest.mark.parametrize("advantage", [0, Fraction(1, 2), -0.1, 0.7])
def test_an_advantage_lies_between_none_and_a_half(advantage: float) -> None:
    with pytest.raises(InvalidParameter, match="advantage"):
        step_size(advantage)


@pytest.mark.parametrize("queries", [2, 10, 1000, 10**6])
@pytest.mark.parametrize("advantage", [0.05, 0.2, THIRD, 0.45])
def test_rounds_are_the_least_that_bring_the_total_weight_below_one(
    queries: int, advantage: float
) -> None:
    rounds = rounds_needed(queries=queries, advantage=advantage)
    assert queries * shrinkage(advantage) ** rounds < 1
    assert rounds == 2 or queries * shrinkage(advantage) ** (rounds - 1) >= 1


def test_rounds_for_a_thousand_queries_are_fewer_than_in_both_texts() -> None:
    """63 as printed, 32 by exp(-2 eta**2 t), 24 by the product that the proof starts from."""
    eta = float(THIRD)
    assert math.ceil(math.log(1000) / eta**2) == 63
    assert math.floor(math.log(1000) / (2 * eta**2)) + 1 == 32
    assert rounds_needed(queries=1000, advantage=THIRD) == 24


def test_the_slack_of_draws_priced_by_their_own_range() -> None:
    slack = slack_at(rho=0.00875, **B3)
    assert float(slack) == pytest.approx(4275.5, abs=0.05)
    assert 0.00875 * (1 - 1e-9) < draws_rho(slack=slack, **B3) <= Fraction(0.00875)


def test_pure_draws_add_up_to_epsilon() -> None:
    slack = slack_at_pure(epsilon=2, sensitivity=3, **B3)
    each = [4 * step_size(THIRD) * before * 3 / slack for before in range(1, 20)]
    assert 50 * sum(each) == pytest.approx(2)
