"""Report noisy max: the index and the gap are free, the winning value is not."""

import math
from collections import Counter
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from discreet import events
from discreet.audit import (
    BrokenTwin,
    DiscreteLaw,
    Finding,
    LearnedEvents,
    audit,
    check_pair,
    min_epsilon,
    outcome,
    repeated,
    three_sided,
)
from discreet.mechanisms import GENERAL, MONOTONE, NoisyMax, Scores, grid
from discreet.mechanisms.noisy_max import _first_and_gap
from discreet.noise import Noiseless, Seeded
from tests.mechanisms import laws


def scale(epsilon: float, scores: Scores) -> float:
    return float(NoisyMax(epsilon=epsilon, sensitivity=1, scores=scores)._scale())


PAIRS = [(0, 0, 0), (1, 0, 3), (2, 5, 2), (0, 0, 9)]


@pytest.mark.parametrize("epsilon", [0.5, 2])
@pytest.mark.parametrize("scores", [GENERAL, MONOTONE])
def test_the_index_loses_at_most_epsilon_by_integration(epsilon: float, scores: Scores) -> None:
    noise = scale(epsilon, scores)
    assert noise == pytest.approx((2 if scores is GENERAL else 1) / epsilon)
    moves = (-1, 1) if scores is GENERAL else (0, 1)
    worst = 0.0
    for here in PAIRS:
        for move in product(moves, repeat=3):
            there = tuple(s + m for s, m in zip(here, move, strict=True))
            pair = (laws.noisy_max(x, noise) for x in (here, there))
            worst = max(worst, min_epsilon(*pair))
    assert worst <= epsilon + 1e-7
    assert worst >= epsilon / 2


def test_the_index_alone_attains_epsilon_in_the_limit() -> None:
    noise = scale(1, GENERAL)
    far = [laws.noisy_max(s, noise) for s in ((0, -100), (-1, -99))]
    assert min_epsilon(*far) == pytest.approx(1, abs=0.05)
    assert min_epsilon(*far) <= 1 + 1e-7


@pytest.mark.parametrize("scores", [GENERAL, MONOTONE])
def test_the_gap_comes_free(scores: Scores) -> None:
    epsilon = 1.0
    noise = scale(epsilon, scores)
    moves = [(-1, 1), (1, -1), (1, 1)] if scores is GENERAL else [(0, 1), (1, 0), (1, 1)]
    worst = 0.0
    for here in ((0, 0), (2, 0), (0, 7)):
        for move in moves:
            there = (here[0] + move[0], here[1] + move[1])
            pair = [laws.noisy_max_with_gap(x, noise, cells=60) for x in (here, there)]
            worst = max(worst, min_epsilon(*pair))
    assert worst <= epsilon + laws.ATOL
    assert worst >= 0.95 * epsilon, "nearly attained far out"


def test_the_winning_value_is_not_free() -> None:
    # 000a:C6: P(noisy max <= 0) is 2**-m for counts 0**m and (exp(-epsilon)/2)**m for 1**m.
    m, epsilon = 5, 1.0
    noise = scale(epsilon, MONOTONE)
    nobody = laws.laplace_cdf(0, noise) ** m
    everybody = laws.laplace_cdf(-1, noise) ** m
    assert nobody / everybody == pytest.approx(148.4, abs=0.05)
    assert nobody / everybody == pytest.approx(math.exp(m * epsilon))
    assert math.log(nobody / everybody) > epsilon, "releasing it is refuted"


class TestWorkedNumbers:
    def test_two_counts(self) -> None:  # 000a:C6
        noise = scale(1, MONOTONE)
        assert noise == 1
        wrong = laws.noisy_max((3, 0), noise)[1]
        assert wrong == pytest.approx((0.5 + 3 / 4) * math.exp(-3), abs=1e-9)
        assert wrong == pytest.approx(0.062234, abs=5e-7)

    def test_three_counts(self) -> None:  # 000a:C6
        law = laws.noisy_max((5, 4, 2), scale(1, MONOTONE))
        assert law == pytest.approx([0.70417, 0.26451, 0.03132], abs=5e-6)

    def test_the_fruit_table_under_replacement(self) -> None:  # boosting-and-analysts:L2
        # Apple 1, orange 4, banana 3. Noise of 1/epsilon is 2 epsilon when a row is replaced.
        noise = scale(1, MONOTONE)
        table, moved = (1, 4, 3), (2, 3, 3)
        loss = min_epsilon(laws.noisy_max(table, noise), laws.noisy_max(moved, noise))
        assert 1 < loss <= 2
        # A witness that nearly attains it: an option far behind.
        witness = [laws.noisy_max(x, noise) for x in ((40, 0), (39, 1))]
        assert min_epsilon(*witness) == pytest.approx(2, abs=0.06)
        assert min_epsilon(*witness) <= 2 + 1e-7
        # By add/remove it is epsilon, and with the noise of general scores replacement is too.
        added = [laws.noisy_max(x, noise) for x in ((40, 0), (40, 1))]
        assert min_epsilon(*added) <= 1 + 1e-7
        sound = [laws.noisy_max(x, scale(1, GENERAL)) for x in ((40, 0), (39, 1))]
        assert min_epsilon(*sound) <= 1 + 1e-7


class TestReleases:
    @pytest.mark.parametrize("numbers", [int, float])
    def test_they_follow_the_law_and_no_other(
        self, numbers: type, source: Seeded, alpha: float
    ) -> None:
        mechanism = NoisyMax(epsilon=1, sensitivity=1, scores=MONOTONE, randomness=source)
        counts = [numbers(count) for count in (5, 4, 2)]

        def law(noise: float) -> DiscreteLaw:
            return DiscreteLaw.of(dict(enumerate(laws.noisy_max((5, 4, 2), noise))))

        judged = three_sided(
            lambda n: [mechanism.release(counts) for _ in range(n)],
            law(1),
            [law(0.7), law(1.4)],
            alpha=alpha,
        )
        assert judged.passes, judged

    def test_gaps_follow_their_law(self, source: Seeded, alpha: float) -> None:
        mechanism = NoisyMax(epsilon=1, sensitivity=1, randomness=source)

        def law(noise: float) -> DiscreteLaw:
            return DiscreteLaw.of(laws.noisy_max_with_gap((3, 2), noise, cells=25))

        def draw(n: int) -> list[tuple[int, int]]:
            drawn = (mechanism.release_with_gap([3, 2]) for _ in range(n))
            return [(winner, min(25, math.floor(gap))) for winner, gap in drawn]

        judged = three_sided(draw, law(2), [law(1.6), law(2.5)], alpha=alpha)
        assert judged.passes, judged

    def test_half_the_noise_is_refuted_by_the_auditor(self, source: Seeded, alpha: float) -> None:
        def build(epsilon: float) -> NoisyMax:
            return NoisyMax(epsilon=epsilon, sensitivity=1, randomness=source)

        def auditor(mechanism: NoisyMax) -> Finding:
            return audit(
                repeated(mechanism.release),
                [1, -1, 0],
                [0, 0, 1],
                epsilon=1,
                delta=0,
                events=LearnedEvents(outcome),
                trials=3000,
                confidence=1 - alpha,
            )

        twin = BrokenTwin("noisy max", build(1), build(4), why="a quarter of the noise")
        check_pair(twin, auditor)

    def test_large_scores_that_are_close_are_told_apart(self) -> None:
        # The grid of epsilon one reaches 2**31 from the best score, not from zero.
        mechanism = NoisyMax(epsilon=1, sensitivity=1)
        for base in (3 * 10**9, 2**60, 1e12):
            winners = {mechanism.release([base, base + 200, base]) for _ in range(20)}
            assert winners == {1}
            _, gap = mechanism.release_with_gap([base, base + 200])
            assert gap == pytest.approx(200, abs=100)

    def test_ties_are_broken_by_continuous_noise(self, source: Seeded) -> None:
        mechanism = NoisyMax(epsilon=1e9, sensitivity=1e-9, randomness=source)
        won = Counter(mechanism.release([7, 7, 6]) for _ in range(2000))
        assert set(won) == {0, 1}
        assert abs(won[0] - 1000) < 6 * math.sqrt(500)

    def test_comparisons_reveal_digits_until_they_are_certain(self, source: Seeded) -> None:
        # All on one step: only the fractions decide, and the lead is below one step.
        zeros = np.zeros(4, dtype=np.int64)
        won = Counter(_first_and_gap(zeros, zeros.copy(), Fraction(3), source) for _ in range(2000))
        assert {gap for _, gap in won} == {0}
        assert {winner for winner, _ in won} == {0, 1, 2, 3}
        assert max(won.values()) - min(won.values()) < 12 * math.sqrt(500)

    def test_a_tie_in_steps_is_decided_by_digits_too(
        self, source: Seeded, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def zeros(scale: Fraction, size: int, source: Seeded) -> NDArray[np.int64]:
            return np.zeros(size, dtype=np.int64)

        monkeypatch.setattr("discreet.mechanisms.noisy_max.rounded_laplace", zeros)
        mechanism = NoisyMax(epsilon=1, sensitivity=1, randomness=source)
        won = Counter(mechanism.release([7, 7, 6]) for _ in range(400))
        assert set(won) == {0, 1}
        assert abs(won[0] - 200) < 6 * math.sqrt(100)

    def test_one_candidate(self) -> None:
        assert NoisyMax(epsilon=1, sensitivity=1).release_with_gap([3.5]) == (0, 0.0)

    def test_test_mode_is_marked_and_exact(self) -> None:
        silent = NoisyMax(epsilon=1, sensitivity=1, randomness=Noiseless())
        assert silent.release_with_gap([1, 9, 4]) == (1, 5.0)
        assert isinstance(silent.event, events.Unprotected)
        assert NoisyMax(epsilon=1, sensitivity=1).event == events.NoisyMax(epsilon=1)

    @pytest.mark.parametrize("scores", [GENERAL, MONOTONE])
    def test_rounding_is_paid_for(self, scores: Scores) -> None:
        # Half a step and half a step plus an odd sensitivity: ties go to even, one step more.
        step = 2.0 ** grid.real_exponent(Fraction(1), Fraction(scores.value), 1)
        mechanism = NoisyMax(epsilon=1, sensitivity=1 + step, scores=scores)
        values, moved = np.array([64.0, step / 2]), np.array([64.0, 1 + 3 * step / 2])
        steps = []
        for here in (values, moved):
            behind, _, scale, used = mechanism._noisy(here)
            assert used == step
            steps.append(behind)
        apart = int(np.abs(steps[0] - steps[1]).max())
        assert apart == Fraction(1 + step) / Fraction(step) + 1
        # The shift of one noise: this, and as much again where others may move the other way.
        assert scores.value * apart / scale <= mechanism.epsilon
        assert scores.value * (apart - 1) / scale < mechanism.epsilon

    @pytest.mark.parametrize("numbers", [int, float])
    def test_neighbours_stay_close_in_steps(self, numbers: type) -> None:
        for sensitivity in (1, 7, 10**6):
            exact = Fraction(sensitivity)
            exponent = grid.real_exponent(exact, exact * 3, 1)
            values: NDArray[Any] = np.array([0, 3, 1]).astype(numbers)
            moved = values + np.array([1, -1, 1]) * sensitivity
            apart = grid.steps_behind(values, exponent) - grid.steps_behind(moved, exponent)
            # Up to one common shift, which the arg-max does not see.
            assert np.ptp(apart) <= 2 * (math.ceil(exact / Fraction(2) ** exponent) + 1)
