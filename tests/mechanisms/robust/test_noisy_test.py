"""The test that decides whether there is an answer: its threshold, its law, its privacy."""

import math
from decimal import Decimal
from fractions import Fraction

import pytest

from discreet.audit import BrokenTwin, DiscreteLaw, check_pair, three_sided
from discreet.core.errors import InvalidParameter
from discreet.mechanisms.robust import NO_ANSWER, NoAnswer, NoisyTest
from discreet.mechanisms.robust.noisy_test import log_inverse_above
from discreet.noise import Noiseless, Seeded
from tests.mechanisms.robust import laws


@pytest.mark.parametrize("chance", [Fraction(1, 10**6), Fraction(1, 3), Fraction(1, 10**300)])
def test_logarithms_are_rounded_up_and_hardly(chance: Fraction) -> None:
    true = -(Decimal(chance.numerator) / Decimal(chance.denominator)).ln()
    above = log_inverse_above(chance)
    assert (
        true
        < Decimal(above.numerator) / Decimal(above.denominator)
        < true * (1 + Decimal(2) ** -50)
    )


def test_a_chance_of_one_needs_no_threshold() -> None:
    assert log_inverse_above(Fraction(1)) == log_inverse_above(Fraction(3)) == 0


@pytest.mark.parametrize("epsilon", [0.01, 0.5, 1, 7, 300])
@pytest.mark.parametrize("chance", [1e-12, 5e-7, 0.3])
@pytest.mark.parametrize("sensitivity", [1, 2, Fraction(7, 3)])
def test_a_value_at_its_limit_passes_no_more_often_than_stated(
    epsilon: float, chance: float, sensitivity: float
) -> None:
    test = NoisyTest.with_false_pass(
        epsilon=epsilon, chance=chance, limit=5, sensitivity=sensitivity
    )
    assert chance * (1 - 3e-6) < test.pass_probability(5) <= chance


def test_pass_probability_is_half_delta_e_to_the_epsilon_d_then_rises_to_one() -> None:
    epsilon, delta = 0.5, 1e-6
    test = NoisyTest.with_false_pass(epsilon=epsilon, chance=delta / 2)
    limit = math.log(1 / delta) / epsilon
    assert test.pass_probability(0) == pytest.approx(delta / 2, rel=1e-5)
    for d in (1, 10, 27):
        assert test.pass_probability(d) == pytest.approx(
            delta / 2 * math.exp(epsilon * d), rel=1e-5
        )
    for d in (28, 40, 80):
        beyond = 1 - math.exp(-epsilon * (d - limit)) / 2
        assert test.pass_probability(d) == pytest.approx(beyond, rel=1e-5)


def test_the_books_threshold_of_ln_squared_n_lets_half_n_to_the_minus_epsilon_ln_n_pass() -> None:
    n, epsilon = 1000, 1.0
    test = NoisyTest(epsilon=epsilon, threshold=math.log(n) ** 2)
    assert test.pass_probability(0) == pytest.approx(0.5 * n ** (-epsilon * math.log(n)), rel=1e-5)
    assert test.pass_probability(0) == pytest.approx(9.46e-22, rel=1e-3)


@pytest.mark.parametrize("confidence", [0.1, 0.5, 0.95, 0.999])
def test_the_least_value_is_the_first_that_passes_often_enough(confidence: float) -> None:
    test = NoisyTest.with_false_pass(epsilon=0.7, chance=1e-4, limit=1)
    least = test.least_value(confidence=confidence)
    assert test.pass_probability(least - 1) < confidence <= test.pass_probability(least)


def test_verdicts_have_the_stated_law() -> None:
    def verdicts(scale: float) -> DiscreteLaw:
        yes = NoisyTest(epsilon=1 / scale, threshold=4).pass_probability(3)
        return DiscreteLaw.of({True: yes, False: 1 - yes})

    source, test = Seeded(11), NoisyTest(epsilon=1, threshold=4)
    result = three_sided(
        lambda size: [test.passes(3, source) for _ in range(size)],
        verdicts(1),
        [verdicts(0.8), verdicts(1.25)],
        alpha=1e-9,
    )
    assert result.passes


def test_verdicts_are_private_and_half_the_noise_is_caught() -> None:
    def law(test: NoisyTest) -> laws.Excess:
        def verdict(value: int) -> laws.Law:
            yes = test.pass_probability(value)
            return {True: yes, False: 1 - yes}

        return laws.worst(verdict, [(d, d + 1) for d in range(40)], epsilon=1, delta=0)

    twin = BrokenTwin(
        "noisy test",
        sound=NoisyTest.with_false_pass(epsilon=1, chance=1e-3),
        broken=NoisyTest.with_false_pass(epsilon=2, chance=1e-3),
        why="noise of half the scale",
    )
    check_pair(twin, law)


def test_far_values_always_pass_or_fail_without_overflow() -> None:
    test = NoisyTest(epsilon=1, threshold=0)
    assert test.passes(10**100, Seeded(1))
    assert not test.passes(-(10**100), Seeded(1))


def test_noise_beyond_the_sampler_is_refused_when_built() -> None:
    with pytest.raises(InvalidParameter) as refusal:
        NoisyTest(epsilon=2.0**-60, threshold=0)
    assert refusal.value.code == "scale_out_of_range"


def test_no_answer_is_false_frozen_and_says_only_that_a_test_failed() -> None:
    assert not NO_ANSWER
    assert NoAnswer() == NO_ANSWER
    assert NO_ANSWER.reason == "test failed"
    with pytest.raises(AttributeError):
        NO_ANSWER.reason = "the third row"  # type: ignore[misc]


@pytest.mark.parametrize("threshold", [5, Fraction(9, 2), 0])
def test_a_sum_on_the_threshold_fails_and_the_next_step_passes(threshold: Fraction | int) -> None:
    test = NoisyTest(epsilon=1, threshold=threshold)
    assert not test.passes(math.floor(threshold), Noiseless())
    assert test.passes(math.floor(threshold) + 1, Noiseless())
