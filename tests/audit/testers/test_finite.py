import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.audit import FiniteMechanism, hockey_stick, min_delta, min_epsilon
from discreet.core.errors import InvalidParameter

P, Q = [0.5, 0.5], [0.9, 0.1]
LN2, LN3 = math.log(2), math.log(3)
WARNER = FiniteMechanism({0: {"yes": 0.25, "no": 0.75}, 1: {"yes": 0.75, "no": 0.25}})


def test_hockey_stick_of_the_textbook_pair_is_three_tenths() -> None:
    assert hockey_stick(P, Q, epsilon=LN2) == pytest.approx(0.3)
    assert hockey_stick(Q, P, epsilon=LN2) == 0
    assert min_delta(Q, P, epsilon=LN2) == pytest.approx(0.3)


def test_mappings_and_arrays_give_the_same_answer() -> None:
    p, q = dict(zip("ab", P, strict=True)), dict(zip("ba", reversed(Q), strict=True))
    assert min_delta(p, q, epsilon=LN2) == min_delta(np.array(P), np.array(Q), epsilon=LN2)


def test_delta_at_epsilon_zero_is_total_variation_and_vanishes_only_for_equal_laws() -> None:
    assert min_delta(P, Q, epsilon=0) == pytest.approx(0.4)
    assert min_delta(P, P, epsilon=0) == 0


def test_an_outcome_possible_on_one_side_only_makes_epsilon_infinite() -> None:
    assert min_epsilon({"a": 1.0}, {"a": 0.5, "b": 0.5}) == math.inf
    assert min_delta({"a": 1.0}, {"a": 0.5, "b": 0.5}, epsilon=LN2) == pytest.approx(0.5)


def test_an_outcome_impossible_on_both_sides_is_ignored() -> None:
    assert min_epsilon([0.5, 0.5, 0], [0.5, 0.5, 0]) == 0


def test_a_huge_epsilon_does_not_overflow() -> None:
    assert hockey_stick([0.5, 0.5], [1.0, 0.0], epsilon=10_000) == 0.5


def test_warner_randomised_response_passes_ln3_and_fails_below() -> None:
    assert WARNER.epsilon([(0, 1)]) == pytest.approx(LN3)
    assert WARNER.delta([(0, 1)], epsilon=LN3) == pytest.approx(0, abs=1e-15)
    assert WARNER.delta([(0, 1)], epsilon=LN3 - 0.01) > 1e-3


def test_the_worst_pair_of_neighbours_decides() -> None:
    steps = FiniteMechanism.from_matrix([[0.5, 0.5], [0.6, 0.4], [0.9, 0.1]])
    assert steps.epsilon([(0, 1), (1, 2)]) == pytest.approx(math.log(4))


def test_exponential_mechanism_on_scores_0_1_3_keeps_its_epsilon_for_score_changes_of_one() -> None:
    def law(scores: tuple[float, ...]) -> dict[int, float]:
        weights = [math.exp(score / 2) for score in scores]
        return {i: weight / sum(weights) for i, weight in enumerate(weights)}

    assert list(law((0, 1, 3)).values()) == pytest.approx([0.14024, 0.23122, 0.62853], abs=1e-5)
    for other in [(1, 0, 2), (1, 1, 2), (0, 2, 4), (1, 2, 4)]:
        assert min_epsilon(law((0, 1, 3)), law(other)) <= 1 + 1e-12


@pytest.mark.parametrize("law", [[0.5, 0.4], [1.5, -0.5], [math.nan, 1.0], [Fraction(1, 3)] * 2])
def test_what_is_not_a_law_is_refused(law: list[float]) -> None:
    with pytest.raises(InvalidParameter):
        min_epsilon(law, [0.5, 0.5])


def test_arrays_of_different_length_and_mixed_forms_are_refused() -> None:
    with pytest.raises(InvalidParameter, match="laws_differ_in_length"):
        min_epsilon([1.0], [0.5, 0.5])
    with pytest.raises(InvalidParameter, match="laws_differ_in_kind"):
        min_epsilon({0: 1.0}, [1.0])


def test_a_probability_too_small_for_floats_is_refused_rather_than_taken_for_zero() -> None:
    tiny = Fraction(1, 2**2000)
    with pytest.raises(InvalidParameter, match="probability_underflows"):
        min_epsilon({0: 1 - tiny, 1: tiny}, {0: 1 - 2 * tiny, 1: 2 * tiny})


def test_negative_epsilon_is_refused() -> None:
    with pytest.raises(InvalidParameter, match="negative"):
        hockey_stick(P, Q, epsilon=-1)


@st.composite
def stochastic(draw: st.DrawFn, rows: int, columns: int) -> list[list[float]]:
    weights = st.lists(st.integers(0, 20), min_size=columns, max_size=columns)
    table = [draw(weights.filter(any)) for _ in range(rows)]
    return [[weight / sum(row) for weight in row] for row in table]


@given(stochastic(2, 5), stochastic(5, 4), st.floats(0, 3))
def test_no_stochastic_matrix_raises_delta_or_epsilon(
    laws: list[list[float]], matrix: list[list[float]], epsilon: float
) -> None:
    before = FiniteMechanism.from_matrix(laws)
    after = before.then(FiniteMechanism.from_matrix(matrix))
    pairs = [(0, 1)]
    assert after.delta(pairs, epsilon=epsilon) <= before.delta(pairs, epsilon=epsilon) + 1e-12
    assert after.epsilon(pairs) <= before.epsilon(pairs) + 1e-9


@given(stochastic(2, 5), st.floats(0, 3))
def test_delta_is_the_worst_event_over_all_subsets(laws: list[list[float]], epsilon: float) -> None:
    p, q = np.array(laws[0]), np.array(laws[1])
    events = [[bool(bits >> i & 1) for i in range(5)] for bits in range(32)]
    worst = max(p[event].sum() - math.exp(epsilon) * q[event].sum() for event in events)
    assert hockey_stick(p, q, epsilon=epsilon) == pytest.approx(worst, abs=1e-12)


def test_a_channel_without_a_row_for_an_outcome_is_refused() -> None:
    with pytest.raises(InvalidParameter, match="channel_lacks_outcome"):
        WARNER.then(FiniteMechanism({"yes": {1: 1.0}}))


def test_post_processing_keeps_fractions_exact() -> None:
    half = Fraction(1, 2)
    fair = FiniteMechanism({0: {"a": half, "b": half}})
    merged = fair.then(FiniteMechanism({"a": {"c": 1}, "b": {"c": 1}}))
    assert merged.laws[0] == {"c": 1}
