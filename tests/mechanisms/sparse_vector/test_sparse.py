"""Sparse and NumericSparse: conversations of several yeses, their prices and their accuracy."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from discreet import events
from discreet.audit import (
    ContinuousLaw,
    three_sided,
)
from discreet.audit.testers import scaled
from discreet.core.errors import Exhausted, InvalidParameter
from discreet.core.events.event import from_json
from discreet.mechanisms import MONOTONE, AboveThreshold, Laplace, NumericSparse, Sparse
from discreet.mechanisms.sparse_vector.numeric_sparse import numeric_error
from discreet.noise import Noiseless, Seeded


def pure(**others: object) -> Sparse:
    return Sparse.pure(epsilon=1, cutoff=10, threshold=0, sensitivity=1, **others)


class TestSparse:
    def test_worked_numbers(self) -> None:  # 000a:E3
        assert pure().epsilon_each == Fraction(1, 10)
        assert pure().error(confidence=0.95, questions=1000) == pytest.approx(1031.9, abs=0.05)
        # delta = 1e-6: sigma = sqrt(32 c ln(1/delta)) / epsilon is 2 / epsilon_each.
        each = 1 / math.sqrt(8 * 10 * math.log(1e6))
        printed = Sparse(epsilon_each=each, cutoff=10, threshold=0, sensitivity=1)
        assert printed.error(confidence=0.95, questions=1000) == pytest.approx(3430.7, abs=0.05)
        # For ten yeses the printed noise is more than the accountants need (compare with pure).
        approximate = Sparse.approximate(
            epsilon=1, delta=1e-6, cutoff=10, threshold=0, sensitivity=1
        )
        assert float(approximate.epsilon_each) >= each
        assert float(approximate.epsilon_each) >= 0.1 * (1 - 1e-12)

    def test_the_price_is_the_sum_of_its_rounds(self) -> None:
        assert pure().event == events.SparseVector(epsilon=Fraction(1, 10), cutoff=1) * 10
        assert pure().event.epsilon(delta=0) == 1
        assert pure().open().event == pure().event
        one = Sparse.pure(epsilon=1, cutoff=1, threshold=0, sensitivity=1)
        assert one.event == AboveThreshold(epsilon=1, threshold=0, sensitivity=1).event

    @pytest.mark.parametrize(
        ("epsilon", "delta", "cutoff"), [(1, 1e-6, 500), (0.5, 1e-9, 3), (8, 1e-2, 50)]
    )
    def test_approximate_prices_are_checked_and_nearly_used_up(
        self, epsilon: float, delta: float, cutoff: int
    ) -> None:
        mechanism = Sparse.approximate(
            epsilon=epsilon, delta=delta, cutoff=cutoff, threshold=0, sensitivity=1
        )
        assert mechanism.event.epsilon(delta=delta) <= epsilon
        assert mechanism.event.epsilon(delta=delta) >= epsilon * 0.999
        assert float(mechanism.epsilon_each) >= epsilon / cutoff * (1 - 1e-12)
        if cutoff == 500:
            assert float(mechanism.epsilon_each) > 2 * epsilon / cutoff

    def test_delta_zero_belongs_to_pure(self) -> None:
        with pytest.raises(InvalidParameter, match="delta_zero"):
            Sparse.approximate(epsilon=1, delta=0, cutoff=2, threshold=0, sensitivity=1)

    def test_the_cut_off_holds_in_every_way_of_asking(self) -> None:
        for at_once in (True, False):
            session = pure().open()
            yes = 0
            for _ in range(10):
                answers = session.ask_all([1e9, -1e9, 1e9]) if at_once else [session.ask(1e9)]
                yes += sum(answers)
                if session.positive_answers_left == 0:
                    break
            assert yes == 10
            assert session.positive_answers_left == 0
            with pytest.raises(Exhausted, match="cutoff_reached"):
                session.ask(0)
            with pytest.raises(Exhausted, match="cutoff_reached"):
                session.ask_all([0, 1])

    def test_answers_stop_at_the_cut_off(self) -> None:
        session = pure().open()
        assert session.ask_all([1e9] * 50) == [True] * 10
        long = pure(scores=MONOTONE).open()
        asked = np.full(40_000, -1e9)
        asked[[5, 20_000]] = 1e9
        answers = long.ask_all(asked)
        assert np.flatnonzero(answers).tolist() == [5, 20_000]
        assert len(answers) == 40_000
        assert long.positive_answers_left == 8

    def test_each_yes_brings_a_fresh_threshold(self, source: Seeded) -> None:
        # All values at the threshold. Let p be the chance of a yes given the noisy threshold:
        # E p = 1/2 and E p(1 - p) = 5/24 (000a:E1), so that after a yes the next question has
        # a yes with 1/2 for a fresh threshold and E p**2 / E p = 7/12 for the old one.
        mechanism = Sparse(epsilon_each=1, cutoff=2, threshold=0, sensitivity=1, randomness=source)
        runs = [mechanism.open().ask_all([0.0, 0.0]) for _ in range(6000)]
        again = [answers[1] for answers in runs if answers[0]]
        assert abs(sum(again) / len(again) - 1 / 2) < 0.04

    def test_large_cut_offs_have_an_accuracy_too(self) -> None:
        many = Sparse(epsilon_each=1, cutoff=10**15, threshold=0, sensitivity=1)
        expected = 8 * (math.log(10) + math.log(2e15 / 1e-3))
        assert many.error(confidence=0.999, questions=10) == pytest.approx(expected, rel=1e-9)

    def test_test_mode_is_marked(self) -> None:
        for randomness in (Seeded(1), Noiseless()):
            mechanism = pure(randomness=randomness)
            assert isinstance(mechanism.event, events.Unprotected)
            assert isinstance(mechanism.open().event, events.Unprotected)
        assert pure(randomness=Noiseless()).open().ask_all([1, -1, 2]) == [True, False, True]


class TestNumericSparse:
    MECHANISM = NumericSparse(epsilon=1, cutoff=4, threshold=0, sensitivity=1)

    def test_eight_ninths_compare_and_one_ninth_releases(self) -> None:  # 000a:E4
        comparisons, values = self.MECHANISM.comparisons(), self.MECHANISM.values()
        assert comparisons.epsilon_each == Fraction(2, 9)
        assert values.epsilon == Fraction(1, 36)
        assert values.scale() == pytest.approx(36, rel=1e-5), "9 c / epsilon"
        assert self.MECHANISM.event.epsilon(delta=0) == 1
        parts = (
            events.SparseVector(epsilon=Fraction(2, 9), cutoff=1) * 4
            + events.Laplace(epsilon=Fraction(1, 36)) * 4
        )
        assert self.MECHANISM.event == parts
        assert from_json(parts.to_json()) == parts

    def test_pure_accuracy(self) -> None:  # 000a:E4
        expected = 9 * 4 * (math.log(1000) + math.log(4 * 4 / 0.05))
        stated = self.MECHANISM.error(confidence=0.95, questions=1000)
        assert stated == pytest.approx(expected, rel=1e-6)

    def test_the_printed_accuracy_with_delta_fails_and_the_corrected_one_holds(self) -> None:
        # 000a:E4: k = c = 1, beta = .05, delta = 1e-6, epsilon = 1.
        root, beta = math.sqrt(512), 0.05
        base = math.sqrt(math.log(2 / 1e-6)) * (root + 1)
        printed = math.log(4 / beta) * base
        assert printed == pytest.approx(394.37, abs=5e-3)
        scale = math.sqrt(32 * math.log(2e6)) * (root + 1) / 2
        assert scale == pytest.approx(254.55, abs=5e-3)
        assert math.exp(-printed / scale) == pytest.approx(0.2124, abs=5e-5)
        assert math.exp(-printed / scale) > beta, "the printed bound is refuted"
        first = root / (root + 1)
        threshold_scale = math.sqrt(32 * math.log(2e6)) / first
        comparisons = Sparse(epsilon_each=2 / threshold_scale, cutoff=1, threshold=0, sensitivity=1)
        values = Laplace(epsilon=1 / scale, sensitivity=1)
        corrected = numeric_error(comparisons, values, tail=beta / 2, questions=1)
        assert corrected == pytest.approx(939.0, abs=0.05)
        assert math.exp(-corrected / scale) <= beta / 2
        formula = max(math.log(4 / beta), math.sqrt(8) * math.log(2 / beta)) * base
        assert corrected == pytest.approx(formula, rel=1e-5)
        assert comparisons.error(confidence=1 - beta / 2, questions=1) == pytest.approx(printed)

    @pytest.mark.parametrize("cutoff", [1, 20, 500])
    def test_a_total_with_delta_is_kept_and_used_up(self, cutoff: int) -> None:
        terms: dict[str, Any] = {"cutoff": cutoff, "threshold": 0, "sensitivity": 1}
        numeric = NumericSparse.approximate(epsilon=1, delta=1e-6, **terms)
        assert 0.999 < numeric.event.epsilon(delta=1e-6) <= 1
        pure = NumericSparse(epsilon=1, **terms)
        assert float(numeric.epsilon) >= 1
        stated = numeric.error(confidence=0.95, questions=100)
        assert stated <= pure.error(confidence=0.95, questions=100) * (1 + 1e-9)
        if cutoff == 1:  # 000a:E4, whose corrected error of the book's split is 939.0
            assert numeric.error(confidence=0.95, questions=1) < 40
        with pytest.raises(InvalidParameter, match="delta_zero"):
            NumericSparse.approximate(epsilon=1, delta=0, **terms)

    def test_values_have_fresh_noise_of_the_stated_law(self, source: Seeded, alpha: float) -> None:
        mechanism = NumericSparse(
            epsilon=9, cutoff=1, threshold=0, sensitivity=1, randomness=source
        )
        law = ContinuousLaw(lambda x: np.where(x < 0, np.exp(x), 2 - np.exp(-x)) / 2)

        def draw(n: int) -> list[float]:
            drawn = (mechanism.open().ask(10**6) for _ in range(n))
            return [value - 10**6 for value in drawn if value is not None]

        judged = three_sided(draw, law, [scaled(law, 0.6), scaled(law, 1.6)], alpha=alpha)
        assert judged.passes, judged

    def test_the_compared_value_released_again_is_a_broken_twin(self, source: Seeded) -> None:
        # Given a yes, the compared noise is biased upward; fresh noise is not.
        rng = np.random.default_rng(3)
        sound = NumericSparse(epsilon=9, cutoff=1, threshold=0, sensitivity=1, randomness=source)

        def fresh(value: float, n: int) -> list[float]:
            return [x if (x := sound.open().ask(value)) is not None else -1e9 for _ in range(n)]

        def reused(value: float, n: int) -> list[float]:
            secret, noisy = rng.laplace(0, 0.25, n), value + rng.laplace(0, 0.5, n)
            answers: list[float] = np.where(noisy >= secret, noisy, -1e9).tolist()
            return answers

        unbiased = [x for x in fresh(0.0, 3000) if x > -1e8]
        biased = [x for x in reused(0.0, 3000) if x > -1e8]
        assert abs(np.mean(unbiased)) < 6 * math.sqrt(2 / len(unbiased))
        assert np.mean(biased) > 0.3

    def test_no_value_comes_with_a_no(self) -> None:
        session = self.MECHANISM.open()
        assert session.ask(-1e9) is None
        assert session.positive_answers_left == 4
        for _ in range(4):
            assert session.ask(10**9) == pytest.approx(1e9, abs=5000)
        assert session.positive_answers_left == 0
        with pytest.raises(Exhausted, match="cutoff_reached"):
            session.ask(1)
        assert session.event == self.MECHANISM.event

    def test_whole_values_come_back_as_reals(self) -> None:
        # A float whatever the kind of the question, which could differ between neighbours.
        for value in (10**9, 1e9, 2**62, 2**70):
            answer = self.MECHANISM.open().ask(value)
            assert type(answer) is float
            assert answer == pytest.approx(value, abs=5000 + value * 2.0**-52)

    def test_test_mode_is_marked(self) -> None:
        silent = NumericSparse(
            epsilon=1, cutoff=1, threshold=0, sensitivity=1, randomness=Noiseless()
        )
        assert isinstance(silent.event, events.Unprotected)
        assert silent.open().ask(2.5) == pytest.approx(2.5, abs=1e-6)
