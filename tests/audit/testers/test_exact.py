import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.audit import Violation, min_delta, violates
from discreet.audit.testers import exp_bounds, worst_ratio
from discreet.core.errors import InvalidParameter

QUARTER, HALF = Fraction(1, 4), Fraction(1, 2)
YES = {"yes": 3 * QUARTER, "no": QUARTER}
NO = {"yes": QUARTER, "no": 3 * QUARTER}
LN3_UP = math.log(3)  # the float nearest ln 3 lies above it
LN3_DOWN = math.nextafter(LN3_UP, 0)


def test_randomised_response_obeys_the_first_float_above_ln3_and_breaks_the_one_below() -> None:
    assert violates(YES, NO, epsilon=LN3_UP) is None
    assert violates(YES, NO, epsilon=LN3_DOWN) == Violation(
        frozenset({"yes"}), 3 * QUARTER, QUARTER
    )
    assert worst_ratio(YES, NO) == 3


def test_an_excess_of_one_part_in_ten_to_the_hundred_is_seen() -> None:
    speck = Fraction(1, 10**100)
    p, q = {0: HALF + speck, 1: HALF - speck}, {0: HALF, 1: HALF}
    assert violates(p, q, epsilon=0) == Violation(frozenset({0}), HALF + speck, HALF)
    assert violates(p, q, epsilon=Fraction(1, 10**99)) is None


def test_a_ratio_that_agrees_with_e_to_200_digits_is_decided_on_both_sides() -> None:
    q = {0: Fraction(1, 100), 1: Fraction(99, 100)}
    below, above = (edge / 100 for edge in exp_bounds(Fraction(1, 10), digits=200))
    assert violates({0: below, 1: 1 - below}, q, epsilon=Fraction(1, 10)) is None
    assert violates({0: above, 1: 1 - above}, q, epsilon=Fraction(1, 10)) is not None


def test_the_violation_is_found_in_either_direction() -> None:
    p, q = {0: HALF, 1: HALF}, {0: Fraction(9, 10), 1: Fraction(1, 10)}
    assert violates(p, q, epsilon=1, delta=Fraction(1, 5)) is not None
    found = violates(q, p, epsilon=1, delta=Fraction(1, 5))
    assert found == Violation(frozenset({1}), Fraction(1, 10), HALF)


def test_delta_buys_exactly_its_own_size() -> None:
    p, q = {0: HALF, 1: HALF}, {0: Fraction(9, 10), 1: Fraction(1, 10)}
    assert violates(p, q, epsilon=0, delta=Fraction(4, 10)) is None
    assert violates(p, q, epsilon=0, delta=Fraction(4, 10) - Fraction(1, 10**50)) is not None


def test_an_outcome_on_one_side_only_breaks_every_pure_claim() -> None:
    assert violates({0: 1}, {0: HALF, 1: HALF}, epsilon=10**6) is not None
    assert worst_ratio({0: 1}, {0: HALF, 1: HALF}) == math.inf


def test_the_enclosure_of_e_is_tight_and_on_both_sides() -> None:
    e = Fraction("2.71828182845904523536028747135266249775724709369995957496696762772")
    low, high = exp_bounds(Fraction(1), digits=50)
    assert low < e < high
    assert high - low < Fraction(1, 10**48)
    assert exp_bounds(Fraction(0), digits=5) == (Fraction(1), Fraction(1))


@given(st.fractions(0, 20), st.integers(5, 40))
def test_enclosures_of_the_exponential_are_nested(x: Fraction, digits: int) -> None:
    low, high = exp_bounds(x, digits=digits)
    inner_low, inner_high = exp_bounds(x, digits=2 * digits)
    assert low <= inner_low <= inner_high <= high


@given(st.lists(st.integers(1, 9), min_size=3, max_size=3), st.floats(0, 2), st.floats(0, 0.5))
def test_exact_and_floating_answers_agree_away_from_the_boundary(
    weights: list[int], epsilon: float, delta: float
) -> None:
    p = {i: Fraction(w, sum(weights)) for i, w in enumerate(weights)}
    q = {0: QUARTER, 1: QUARTER, 2: HALF}
    gap = min_delta(p, q, epsilon=epsilon) - delta
    if abs(gap) > 1e-12:
        assert (violates(p, q, epsilon=epsilon, delta=delta) is not None) == (gap > 0)


def test_floats_are_refused_where_exactness_is_promised() -> None:
    with pytest.raises(InvalidParameter, match="law_not_rational"):
        violates({0: 0.5, 1: 0.5}, {0: 0.5, 1: 0.5}, epsilon=1)
    with pytest.raises(InvalidParameter, match="not_a_law"):
        violates({0: HALF}, {0: HALF, 1: HALF}, epsilon=1)
