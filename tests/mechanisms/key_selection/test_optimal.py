"""The optimal rule: its law, its privacy to the last digit, that nothing beats it, and twins."""

import math
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from discreet import events
from discreet.core.errors import InvalidData, InvalidParameter
from discreet.mechanisms.key_selection import OptimalSelection
from discreet.mechanisms.key_selection.optimal import KeepProbability
from discreet.noise import Noiseless, Seeded
from discreet.noise.bernoulli import _enclosed_coin, bernoulli_enclosed

ORACLE = {
    1: 1e-5,
    2: 3.71828e-5,
    5: 8.5791e-4,
    8: 0.0173427,
    10: 0.128183,
    11: 0.348448,
    12: 0.760311,
    13: 0.911827,
    14: 0.967567,
    16: 0.995616,
    20: 0.999925,
    23: 1.0,
}


def recursion(epsilon: float, delta: float, last: int) -> list[float]:
    """The rule as it is defined, without the library."""
    grow, pi = math.exp(epsilon), [0.0]
    while len(pi) <= last:
        pi.append(min(grow * pi[-1] + delta, 1 - (1 - pi[-1] - delta) / grow, 1.0))
    return pi


def hockey_stick(p: Fraction, q: Fraction, factor: Fraction) -> Fraction:
    """max over events of P - factor Q, for the two outcomes named and not named."""
    return max(p - factor * q, Fraction(0)) + max((1 - p) - factor * (1 - q), Fraction(0))


def test_worked_numbers() -> None:
    rule = OptimalSelection(epsilon=1, delta=1e-5)
    for people, chance in ORACLE.items():
        assert rule.keep_probability(people) == pytest.approx(chance, rel=1e-5)
    assert rule.keep_probability(22) < 1
    assert rule.keep_probability(0) == 0
    turns = {(1, 1e-5): 11, (0.5, 1e-5): 21, (0.1, 1e-5): 86, (1, 1e-8): 18, (2, 1e-6): 7}
    for (epsilon, delta), turn in turns.items():
        assert OptimalSelection(epsilon=epsilon, delta=delta).coin.turn == turn


@given(st.floats(0.01, 5), st.floats(1e-12, 0.3), st.integers(1, 40), st.integers(0, 3))
@settings(max_examples=60, deadline=None)
def test_the_closed_form_is_the_recursion(
    epsilon: float, delta: float, step: int, start: int
) -> None:
    pi = recursion(epsilon, delta, start + 40 * step)
    people = np.arange(start, start + 40 * step, step)
    found = OptimalSelection(epsilon=epsilon, delta=delta).coin.probabilities(people)
    assert found == pytest.approx([pi[n] for n in people], abs=1e-9, rel=1e-9)


@pytest.mark.parametrize(("epsilon", "delta"), [(1, 1e-5), (0.1, 1e-8), (3, 1e-2), (0.5, 0.2)])
def test_enclosures_are_tight_and_hold_the_doubles(epsilon: float, delta: float) -> None:
    coin = KeepProbability(Fraction(epsilon), Fraction(delta))
    for people in {0, 1, 2, coin.turn - 1, coin.turn, coin.turn + 1, 2 * coin.turn, 3 * coin.turn}:
        low, high = coin.enclosed(people, 200)
        assert 0 <= high - low <= 2
        (double,) = coin.probabilities(np.array([people]))
        assert abs(Fraction(float(double)) - Fraction(low, 2**200)) < 2**-41


@pytest.mark.parametrize(("epsilon", "delta"), [(1, 1e-5), (0.1, 1e-8), (3, 1e-2)])
def test_neighbours_are_delta_apart_exactly(epsilon: float, delta: float) -> None:
    """In rationals with 300 digits to spare: the larger of both directions is delta, never more."""
    coin, bits = KeepProbability(Fraction(epsilon), Fraction(delta)), 1000
    grow = Fraction(1 << bits, _exp_minus(epsilon, bits))
    slack = Fraction(1, 1 << 900)
    laws = [Fraction(coin.enclosed(n, bits)[0], 1 << bits) for n in range(2 * coin.turn + 4)]
    tight = 0
    for fewer, more in pairwise(laws):
        worst = max(hockey_stick(more, fewer, grow), hockey_stick(fewer, more, grow))
        assert worst <= Fraction(delta) + slack
        tight += abs(worst - Fraction(delta)) <= slack
        assert fewer <= more
    assert tight >= 2 * coin.turn - 1, "equality holds until the last few"


def _exp_minus(epsilon: float, bits: int) -> int:
    from discreet.noise.enclosure import exp_minus

    return exp_minus(Fraction(epsilon), bits)[0]


@given(st.floats(0.05, 3), st.floats(1e-8, 0.1), st.lists(st.floats(0, 1), min_size=1, max_size=30))
@settings(max_examples=100, deadline=None)
def test_no_private_rule_is_above_it(epsilon: float, delta: float, shares: list[float]) -> None:
    grow, other = math.exp(epsilon), [0.0]
    for share in shares:  # any rule: somewhere between the least and most that privacy allows
        most = min(grow * other[-1] + delta, 1 - (1 - other[-1] - delta) / grow, 1.0)
        other.append(share * most)
    best = OptimalSelection(epsilon=epsilon, delta=delta).coin.probabilities(np.arange(len(other)))
    assert all(a <= b + 1e-12 for a, b in zip(other, best, strict=True))


def test_coins_have_the_stated_law(alpha: float, source: Seeded) -> None:
    rule = OptimalSelection(epsilon=1, delta=0.01, randomness=source)
    for people in (0, 1, 3, 5, 9):
        heads = int(rule.release(np.full(200_000, people)).chosen.sum())
        chance = rule.keep_probability(people)
        low, high = binom.interval(1 - alpha / 5, 200_000, chance) if 0 < chance < 1 else (0, 0)
        assert low <= heads <= max(high, 200_000 * (chance == 1))


def test_where_the_first_bits_leave_doubt_exact_bounds_decide() -> None:
    """A word on the very border is decided by further bits, both ways, with the right odds."""
    third = Fraction(1, 3)

    def enclosed(_: int, bits: int) -> tuple[int, int]:
        return math.floor(third * 2**bits), math.ceil(third * 2**bits)

    border = 2**64 // 3
    assert _enclosed_coin(enclosed, 0, border - 1, Seeded(1)) is True
    assert _enclosed_coin(enclosed, 0, border + 1, Seeded(1)) is False
    decided = {_enclosed_coin(enclosed, 0, border, Seeded(seed)) for seed in range(20)}
    assert decided == {True, False}
    near = np.array([1 / 3] * 4)
    assert bernoulli_enclosed(near, enclosed, Noiseless()).all()


def test_groups_share_the_price_and_replace_doubles_them() -> None:
    rule = OptimalSelection(epsilon=1, delta=1e-5, groups=5, swaps=2)
    assert rule.coin == KeepProbability(Fraction(1, 10), Fraction(1e-5) / 10)
    assert rule.event == events.KeySelection(epsilon=1, delta=1e-5, groups=5, swaps=2)
    assert events.from_json(rule.event.to_json()) == rule.event


def test_a_public_minimum_costs_nothing_and_is_kept() -> None:
    rule = OptimalSelection(epsilon=1, delta=1e-5, min_people=20)
    assert rule.people_for(0.5) == 31
    assert rule.keep_probability(19) == 0
    assert rule.keep_probability(20) == OptimalSelection(epsilon=1, delta=1e-5).keep_probability(1)
    assert not rule.release(np.full(1000, 19)).chosen.any()


def test_without_noise_the_likelier_outcome_is_taken() -> None:
    rule = OptimalSelection(epsilon=1, delta=1e-5, randomness=Noiseless())
    assert rule.release(np.array([0, 11, 12])).chosen.tolist() == [False, False, True]
    assert isinstance(rule.event, events.Unprotected)


def test_bad_input() -> None:
    given: dict[str, Any] = {"epsilon": 1, "delta": 1e-5}
    for wrong in ({"epsilon": 0}, {"delta": 0}, {"delta": 1}, {"groups": 0}, {"min_people": 0}):
        with pytest.raises(InvalidParameter):
            OptimalSelection(**(given | wrong))
    with pytest.raises(InvalidParameter) as refusal:
        OptimalSelection(epsilon=1e-9, delta=1e-9)
    assert refusal.value.code == "keys_out_of_reach"
    for counts in ([-1], [0.5], [[1]]):
        with pytest.raises(InvalidData):
            OptimalSelection(epsilon=1, delta=1e-5).release(np.array(counts))


def test_counting_rows_instead_of_people_is_a_broken_twin() -> None:
    """One person with ten rows of a key moves the count by ten: delta grows by thousands."""
    rule = OptimalSelection(epsilon=1, delta=1e-5)
    alone = rule.keep_probability(10)
    assert alone > 10_000 * 1e-5, "against nobody, who is never named"
    assert rule.keep_probability(1) == pytest.approx(1e-5)


def test_a_start_above_zero_is_a_broken_twin() -> None:
    """Naming keys of nobody, even rarely, tells nothing; naming one person's at 2 delta does."""
    coin = KeepProbability(Fraction(1), Fraction(1, 10**5))
    twin = [min(2 * float(coin.probabilities(np.array([n]))[0]), 1.0) for n in range(3)]
    assert twin[1] - math.e * twin[0] > 1.5e-5
