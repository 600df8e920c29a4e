"""Propose-test-release: any function, and the median."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from discreet.audit import BrokenTwin, ContinuousLaw, DiscreteLaw, accepts, check_pair, three_sided
from discreet.core.errors import InvalidParameter
from discreet.core.events.mechanisms import Approximate
from discreet.mechanisms.robust import NO_ANSWER, NoAnswer, NoisyTest, ProposedMedian
from discreet.mechanisms.robust import ProposeTestRelease as Propose
from discreet.mechanisms.robust.order_statistics import SortedRows
from discreet.noise import Noiseless, Seeded, Source
from tests.mechanisms.robust import laws

EDGES = [x / 2 - 8 for x in range(40)]


def sums(source: Source, distance: float = 100, **changes: float) -> Propose:
    return Propose(
        value=sum,
        distance=lambda rows: distance,
        bounds=(0, 1000),
        **{"bound": 2, "epsilon": 1, "delta": 1e-6, **changes},
        randomness=source,
    )


def test_the_price_is_the_total_and_the_same_with_and_without_an_answer() -> None:
    mechanism = Propose(value=sum, distance=len, bound=1, bounds=(0, 9), epsilon=0.5, delta=1e-6)
    assert mechanism.event == Approximate(epsilon=0.5, delta=1e-6)
    assert isinstance(mechanism.release([]), NoAnswer)
    assert mechanism.event == Approximate(epsilon=0.5, delta=1e-6)


def test_the_test_gets_half_of_epsilon_and_all_of_delta() -> None:
    test = sums(Noiseless()).test
    assert test.epsilon == Fraction(1, 2)
    assert float(test.threshold) == pytest.approx(math.log(1 / 2e-6) / 0.5)
    assert test.pass_probability(0) == pytest.approx(1e-6, rel=1e-5)
    assert test.pass_probability(0) <= 1e-6


def test_answers_have_laplace_noise_of_the_proposed_bound_over_half_of_epsilon() -> None:
    mechanism = sums(Seeded(21))

    def law(scale: float) -> ContinuousLaw:
        return ContinuousLaw(lambda x: np.array([laws.laplace_below((v - 500) / scale) for v in x]))

    result = three_sided(
        lambda size: np.array([mechanism.release([200, 300]) for _ in range(size)]),
        law(4),
        [law(3.2), law(5)],
        alpha=1e-9,
    )
    assert result.passes


def test_answers_come_as_often_as_the_test_says() -> None:
    mechanism = sums(Seeded(22), distance=5, delta=0.01)
    yes = mechanism.test.pass_probability(5)
    law = DiscreteLaw.of({True: yes, False: 1 - yes})
    answered = [mechanism.release([1]) is not NO_ANSWER for _ in range(4000)]
    assert accepts(answered, law, alpha=1e-9).passes


def test_the_error_and_the_distance_needed_hold() -> None:
    mechanism = sums(Seeded(23))
    assert mechanism.error(confidence=0.9) == pytest.approx(4 * math.log(10))
    needed = mechanism.distance_needed(confidence=0.95)
    book = (math.log(1e6) + math.log(20)) / 0.5
    assert needed <= book
    assert mechanism.test.pass_probability(needed) >= 0.95


@pytest.mark.parametrize("strange", [None, math.nan, "x", [1], object()])
def test_strange_values_and_distances_are_total(strange: object) -> None:
    far = Propose(
        value=lambda rows: strange, distance=lambda rows: 99, bound=1, bounds=(3, 9),
        epsilon=1, delta=1e-6, randomness=Noiseless(),
    )  # fmt: skip
    assert far.release([1]) == 3
    near = Propose(
        value=sum, distance=lambda rows: strange, bound=1, bounds=(3, 9),
        epsilon=1, delta=1e-6, randomness=Noiseless(),
    )  # fmt: skip
    assert near.release([1]) is NO_ANSWER


def test_raising_functions_raise_nothing() -> None:
    fails = sums(Noiseless())
    assert replace(fails, value=lambda rows: 1 // 0).release([1]) == 0
    assert replace(fails, distance=lambda rows: 1 // 0).release([1]) is NO_ANSWER


@pytest.mark.parametrize(
    ("distance", "whole"), [(30.9, 30), (26.9, 26), (26, 26), (-4, -4), (math.inf, 10**12)]
)
def test_distances_are_rounded_down(distance: float, whole: int) -> None:
    mechanism = sums(Noiseless(), distance=distance)
    assert (mechanism.release([1]) is NO_ANSWER) == (whole <= mechanism.test.threshold)


@pytest.mark.parametrize(
    ("value", "end"), [(1e300, 1000), (math.inf, 1000), (-7, 0), (-math.inf, 0)]
)
def test_a_value_outside_the_bounds_is_released_as_the_bound_itself(value: float, end: int) -> None:
    """Before the noise, so that a far value shows no more than the end of the range would."""
    for seed in range(20):
        far = replace(sums(Seeded(seed)), value=lambda _: value).release([])
        assert far == replace(sums(Seeded(seed)), value=lambda _: end).release([])
    assert replace(sums(Noiseless()), value=lambda _: value).release([]) == end


def test_answers_stay_within_the_bounds_whatever_the_noise() -> None:
    high = np.array([sums(Seeded(seed)).release([1000]) for seed in range(40)], dtype=float)
    low = np.array([sums(Seeded(seed)).release([0]) for seed in range(40)], dtype=float)
    assert high.max() == 1000 > high.min()
    assert low.min() == 0 < low.max()


@pytest.mark.parametrize("strange", [math.nan, None, "text", [], object()])
def test_no_number_at_all_is_released_as_the_lower_bound(strange: object) -> None:
    for seed in range(5):
        answer = replace(sums(Seeded(seed)), value=lambda _: strange).release([])
        assert answer == replace(sums(Seeded(seed)), value=lambda _: 0).release([])


def test_zero_delta_is_refused() -> None:
    with pytest.raises(InvalidParameter) as refusal:
        ProposedMedian(bound=1, bounds=(0, 1), epsilon=1, delta=0)
    assert refusal.value.code == "delta_not_positive"


class TestMedian:
    def test_all_pairs_of_tiny_tables_are_within_the_price_and_untested_release_is_not(
        self,
    ) -> None:
        """Exact laws on every pair of replace-neighbours: (epsilon, delta), and nothing less."""
        epsilon, delta, bound, width = 1.0, 0.05, 1, 4
        sound = NoisyTest.with_false_pass(epsilon=epsilon / 2, chance=delta)

        def auditor(test: NoisyTest) -> laws.Excess:
            def law(x: laws.Rows) -> laws.Law:
                rows = SortedRows(np.array(x), width)
                yes = test.pass_probability(rows.distance_to_sensitivity(bound))
                noise = laws.laplace_cells(rows.median, bound / (epsilon / 2), EDGES)
                cells = {i: yes * share for i, share in enumerate(noise)}
                return {laws.NO_ANSWER: 1 - yes, **cells}

            pairs = laws.replace_pairs(3, width) + laws.replace_pairs(4, width)
            return laws.worst(law, pairs, epsilon=epsilon, delta=delta)

        low = NoisyTest(epsilon=epsilon / 2, threshold=0)
        check_pair(
            BrokenTwin(
                "proposed median", sound=sound, broken=low, why="nothing pays for accidents"
            ),
            auditor,
        )

    def test_a_stable_median_is_answered_and_an_unstable_one_is_not(self) -> None:
        mechanism = ProposedMedian(
            bound=2, bounds=(0, 1000), epsilon=1, delta=1e-6, randomness=Noiseless()
        )
        assert mechanism.release(np.linspace(400, 600, 20001)) == pytest.approx(500)
        assert mechanism.release([0] * 50 + [1000] * 50) is NO_ANSWER

    def test_a_bound_of_the_whole_range_always_passes_once_there_are_enough_rows(self) -> None:
        mechanism = ProposedMedian(
            bound=10**9, bounds=(0, 10), epsilon=1, delta=1e-6, randomness=Noiseless()
        )
        assert mechanism.release([0] * 50 + [10] * 51) == 10

    def test_missing_and_outlying_rows_are_clamped(self) -> None:
        mechanism = ProposedMedian(
            bound=9, bounds=(2, 5), epsilon=1, delta=0.1, randomness=Noiseless()
        )
        rows = [None, math.nan, -math.inf, "x", 3] * 5 + [4, math.inf] * 10 + [1 << 9999] * 9
        assert mechanism.release(rows) == pytest.approx(4)

    def test_the_error_covers_the_noise(self) -> None:
        mechanism = ProposedMedian(
            bound=1, bounds=(0, 1000), epsilon=1, delta=1e-6, randomness=Seeded(24)
        )
        bound = mechanism.error(confidence=0.9)
        rows = np.linspace(480, 520, 8001)
        answers = [mechanism.release(rows) for _ in range(1000)]
        misses = sum(abs(float(a) - 500) > bound for a in answers if not isinstance(a, NoAnswer))
        assert bound == pytest.approx(2 * math.log(10), rel=1e-6)
        assert 45 < misses < 170

    def test_an_empty_table_is_refused(self) -> None:
        with pytest.raises(InvalidParameter) as refusal:
            ProposedMedian(bound=1, bounds=(0, 1), epsilon=1, delta=0.1).release([])
        assert refusal.value.code == "no_rows"
