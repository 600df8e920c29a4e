"""Weights of queries: how far data moves them, and how they converge. All laws are exact."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from discreet.audit import min_epsilon
from discreet.noise import Seeded
from discreet.queries.boosting.bounds import shrinkage, step_size
from discreet.queries.boosting.reweighting import STEPS, Reweighting, in_steps

Floats = NDArray[np.float64]
THIRD = Fraction(1, 3)


class Unattenuated(Reweighting):
    """The broken twin: an error counts in full as soon as it passes the threshold."""

    def excess(self, truth: NDArray[np.int64], answers: Floats) -> NDArray[np.int64]:
        beyond = np.abs(truth - in_steps(answers)) > int(Fraction(self.within) * STEPS)
        return np.where(beyond, int(Fraction(self.slack) * STEPS), 0)


def law(weigh: Reweighting, truth: list[float], answers: list[list[float]]) -> Floats:
    steps = in_steps(np.array(truth, dtype=float))
    total = sum(weigh.excess(steps, np.array(each, dtype=float)) for each in answers)
    return weigh.weights(np.asarray(total)).distribution


def book_weights(weigh: Reweighting, errors: list[Floats]) -> Floats:
    """Figure 1 as it is written: exp(-alpha sum of a)."""
    lam, mu = float(weigh.within), float(weigh.slack)
    a = [np.clip(1 - 2 * (d - lam) / mu, -1, 1) for d in errors]
    return np.asarray(np.exp(-step_size(weigh.advantage) * np.sum(a, axis=0)))


def test_weights_are_those_of_the_figure() -> None:
    weigh = Reweighting(2, 5, THIRD)
    truth = [0.0, 3.0, 5.0, 9.0, 30.0]
    answers = [[0.0, 0.0, 0.0, 0.0, 0.0], [1.0, 1.0, 9.0, 2.0, 29.5]]
    errors = [np.abs(np.array(truth) - np.array(each)) for each in answers]
    wanted = book_weights(weigh, errors)
    assert law(weigh, truth, answers) == pytest.approx(wanted / wanted.sum(), rel=1e-12)


def test_the_range_that_is_paid_for_is_attained_and_never_exceeded() -> None:
    """One query's error grows by a record and another's falls, in each of three rounds."""
    weigh = Reweighting(1, 20, THIRD)
    answers = [[0.0, 20.0], [1.0, 19.0], [2.0, 18.0]]
    x, y = law(weigh, [10, 10], answers), law(weigh, [11, 11], answers)
    ratio = np.log(y) - np.log(x)
    assert ratio.max() - ratio.min() == pytest.approx(float(weigh.selector(3).epsilon))
    assert float(weigh.selector(3).epsilon) == pytest.approx(4 * step_size(THIRD) * 3 / 20)


@given(st.integers(0, 2**32 - 1), st.integers(1, 6), st.integers(1, 3))
def test_the_range_holds_for_any_answers(seed: int, rounds: int, records: int) -> None:
    rng = np.random.default_rng(seed)
    weigh = Reweighting(rng.uniform(0, 5), rng.uniform(0.5, 20), THIRD, records)
    truth = rng.integers(0, 30, 8)
    other = np.maximum(truth + rng.integers(-records, records + 1, 8), 0)
    answers = rng.uniform(-5, 40, (rounds, 8)).tolist()
    ratio = np.log(law(weigh, truth.tolist(), answers) / law(weigh, other.tolist(), answers))
    paid = float(weigh.selector(rounds).epsilon)
    assert ratio.max() - ratio.min() <= paid * (1 + 1e-9)
    assert np.abs(ratio).max() <= paid * (1 + 1e-9)


@given(st.integers(0, 2**32 - 1))
def test_a_draw_is_concentrated_as_its_bounded_range_says(seed: int) -> None:
    rng = np.random.default_rng(seed)
    weigh = Reweighting(1, rng.uniform(2, 20), THIRD)
    truth = rng.integers(0, 20, 6)
    other = np.maximum(truth + rng.integers(-1, 2, 6), 0)
    answers = rng.uniform(0, 20, (4, 6)).tolist()
    p, q = law(weigh, truth.tolist(), answers), law(weigh, other.tolist(), answers)
    paid = weigh.selector(4).event.zcdp().rho
    for order in (1.01, 2.0, 8.0, 64.0):
        divergence = math.log(float(np.sum(p**order * q ** (1 - order)))) / (order - 1)
        assert divergence <= order * paid + 1e-12


def test_the_twin_without_attenuation_leaks_what_the_book_says() -> None:
    """A tenth of the queries turn bad when one record comes: a factor of 4.5085 in one draw."""
    eta = math.tanh(1) / 2  # a step of one
    answers = [[0.0] * 10]
    x, y = [4.0] + [3.0] * 9, [3.0] * 10
    twin, sound = Unattenuated(3, 1000, eta), Reweighting(3, 1000, eta)
    leaked = law(twin, x, answers)[0] / law(twin, y, answers)[0]
    assert leaked == pytest.approx(10 / (1 + 9 / math.e**2))
    assert math.log(leaked) == pytest.approx(1.506, abs=5e-4)
    claimed = float(sound.selector(1).epsilon)
    assert claimed == pytest.approx(0.004)
    assert min_epsilon(law(sound, x, answers), law(sound, y, answers)) <= claimed
    assert min_epsilon(law(twin, x, answers), law(twin, y, answers)) > 300 * claimed


def test_the_twins_leak_grows_without_bound_over_rounds_and_does_not_shrink_with_slack() -> None:
    """With two queries, one bad under each data set, the odds move by 4 alpha in every round."""
    x, y = [4.0, 3.0], [3.0, 4.0]
    for slack in (10, 10**6):
        twin = Unattenuated(3, slack, THIRD)
        for rounds in (1, 5, 25):
            p, q = (law(twin, truth, [[0.0, 0.0]] * rounds) for truth in (x, y))
            odds = math.log(p[0] / p[1]) - math.log(q[0] / q[1])
            assert odds == pytest.approx(4 * step_size(THIRD) * rounds)
    assert min_epsilon(p, q) > 10**5 * float(twin.selector(25).epsilon)


@given(st.integers(0, 2**32 - 1), st.sampled_from([0.1, 0.25, THIRD, 0.45]))
def test_weights_converge_when_every_round_is_right_on_most_of_them(
    seed: int, advantage: float
) -> None:
    """Z_t <= (1 - 4 eta**2)**(t/2) |Q|, and no more than Z_T queries have a wrong median."""
    rng = np.random.default_rng(seed)
    weigh = Reweighting(1, 4, advantage)
    many, rounds = 40, 12
    truth = np.full(many, 50.0)
    excesses = np.zeros(many, dtype=np.int64)
    tables: list[Floats] = []
    for turn in range(1, rounds + 1):
        law_now = weigh.weights(excesses).distribution
        # The worst that the promise allows: wrong on as much weight as may be.
        order = rng.permutation(many)
        wrong = order[np.cumsum(law_now[order]) <= 0.5 - float(advantage)]
        answers = truth + rng.uniform(-1, 1, many)
        answers[wrong] += rng.uniform(2, 20, len(wrong)) * rng.choice([-1, 1], len(wrong))
        tables.append(answers)
        excesses += weigh.excess(in_steps(truth), answers)
        total = book_weights(weigh, [np.abs(truth - each) for each in tables]).sum()
        assert total <= many * shrinkage(advantage) ** turn * (1 + 1e-4)
    bad = np.abs(np.median(tables, axis=0) - truth) > 5
    assert bad.sum() <= total


def test_draws_follow_the_weights_and_the_first_are_uniform() -> None:
    """Chi-square-like check with a seed: each frequency within five standard deviations."""
    weigh = Reweighting(0, 10, THIRD, randomness=Seeded(7))
    excesses = in_steps(np.array([0.0, 2.0, 5.0, 10.0]))
    for before, wanted in ((0, np.full(4, 0.25)), (1, weigh.weights(excesses).distribution)):
        seen = np.bincount(weigh.draw(excesses, before, 20_000), minlength=4)
        spread = np.sqrt(20_000 * wanted * (1 - wanted))
        assert (np.abs(seen - 20_000 * wanted) < 5 * spread).all()


def test_answers_that_are_no_numbers_or_too_large_count_as_ends() -> None:
    weigh = Reweighting(0, 2**40, THIRD)
    truth = in_steps(np.array([5.0] * 4))
    found = weigh.excess(truth, np.array([math.nan, math.inf, -math.inf, 1e300])) / STEPS
    np.testing.assert_array_equal(found, [5, 2**32, 2**32, 2**32])
