"""Randomized response: exact losses, unbiased estimates, and the coin of the survey."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import bdtrc, ndtr, xlogy
from scipy.stats import binom

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
    three_sided,
    violates,
)
from discreet.audit.testers import exp_bounds, worst_ratio
from discreet.core.errors import InvalidData, InvalidParameter
from discreet.mechanisms import RandomizedResponse, Warner
from discreet.mechanisms.randomized_response import reach_of_count
from discreet.noise import Noiseless, Seeded

COIN = Warner(keep=Fraction(3, 4))


def channel(keep: Fraction) -> list[dict[Any, Fraction]]:
    return [{0: keep, 1: 1 - keep}, {0: 1 - keep, 1: keep}]


def direct(mechanism: RandomizedResponse, truth: int) -> list[float]:
    k, p = mechanism.categories, mechanism.truth
    return [p if answer == truth else (1 - p) / (k - 1) for answer in range(k)]


class TestWarner:
    def test_the_ratio_is_exactly_three(self) -> None:  # 000a:C1, 004a:A3
        no, yes = channel(Fraction(3, 4))
        assert worst_ratio(no, yes) == 3
        epsilon = COIN.event.epsilon(delta=0)
        assert violates(no, yes, epsilon=epsilon) is None
        assert epsilon == pytest.approx(math.log(3), rel=1e-15)
        assert violates(no, yes, epsilon=math.log(3) - 1e-9) is not None
        more_truthful = channel(Fraction(4, 5))
        assert violates(*more_truthful, epsilon=epsilon) is not None

    @given(
        st.one_of(
            st.fractions(Fraction(1, 2), 1).filter(lambda p: 0.5 < p < 1),
            st.integers(2, 300).map(lambda n: Fraction(1, 2) + Fraction(1, 10**n)),
            st.integers(2, 400).map(lambda n: 1 - Fraction(1, 10**n)),
            st.floats(0.5, 1, exclude_min=True, exclude_max=True),
        )
    )
    def test_epsilon_is_rounded_up_and_never_down(self, keep: Fraction) -> None:
        epsilon = Fraction(Warner(keep=keep).event.loss)  # type: ignore[attr-defined]
        p = Fraction(keep)
        digits = 60 + 2 * len(str(p.denominator))
        low, _ = exp_bounds(epsilon, digits=digits)
        assert low >= p / (1 - p), "the claim covers the true odds"
        _, high = exp_bounds(epsilon * (1 - Fraction(1, 2**50)), digits=digits)
        assert high < p / (1 - p), "and little more"

    def test_the_coin_of_the_survey(self) -> None:  # 004a:B1
        n, yes = 1000, 400
        expected = Fraction(3, 4) * yes + Fraction(1, 4) * (n - yes)
        assert expected == 450
        assert 2 * expected - Fraction(n, 2) == yes
        reports = np.repeat([1, 0], [450, 550])
        assert n * COIN.estimate(reports) == pytest.approx(400)
        # Var = 3n/4: each report has variance 3/16, and the estimate counts it twice.
        assert 4 * n * Fraction(3, 16) == Fraction(3 * n, 4)

    def test_the_variance_of_estimates_from_releases(self, source: Seeded) -> None:
        coin = Warner(keep=Fraction(3, 4), randomness=source)
        truth = np.repeat([1, 0], [400, 600])
        estimates = np.array([1000 * coin.estimate(coin.release(truth)) for _ in range(4000)])
        assert estimates.mean() == pytest.approx(400, abs=6 * math.sqrt(750 / 4000))
        assert estimates.var() == pytest.approx(750, rel=0.15)

    def test_the_standard_error_of_a_survey(self) -> None:  # 000a:C1
        assert COIN.standard_error(share=0.3, people=1000) == pytest.approx(0.03098, abs=5e-6)
        for share in (0, 0.2, 0.5, 1):
            assert COIN.standard_error(share=share, people=1000) <= 1 / math.sqrt(1000)
        for bad in (-0.1, 1.1, math.nan):
            with pytest.raises(InvalidParameter):
                COIN.standard_error(share=bad, people=10)

    def test_releases_follow_the_law_and_no_other(self, source: Seeded, alpha: float) -> None:
        coin = Warner(keep=Fraction(3, 4), randomness=source)

        def law(keep: float) -> DiscreteLaw:
            return DiscreteLaw.of({1: keep, 0: 1 - keep})

        judged = three_sided(
            lambda n: coin.release(np.ones(n, dtype=bool)),
            law(0.75),
            [law(0.6), law(0.85)],
            alpha=alpha,
        )
        assert judged.passes, judged

    def test_a_coin_that_tells_the_truth_too_often_is_refuted(
        self, source: Seeded, alpha: float
    ) -> None:
        def build(keep: Fraction) -> Warner:
            return Warner(keep=keep, randomness=source)

        def auditor(coin: Warner) -> Finding:
            return audit(
                lambda x, n: coin.release(np.full(n, x)),
                0,
                1,
                epsilon=math.log(3),
                delta=0,
                events=LearnedEvents(outcome),
                trials=20_000,
                confidence=1 - alpha,
            )

        twin = BrokenTwin(
            "Warner", build(Fraction(3, 4)), build(Fraction(4, 5)), why="odds of four"
        )
        check_pair(twin, auditor)

    @pytest.mark.parametrize("keep", [0.5, 0.2, Fraction(1, 2), 0.1])
    def test_a_coin_that_lies_as_often_is_refused(self, keep: float) -> None:
        with pytest.raises(InvalidParameter, match="keep_out_of_range"):
            Warner(keep=keep)


class TestRandomizedResponse:
    @pytest.mark.parametrize("categories", [2, 3, 10])
    @pytest.mark.parametrize("epsilon", [0.01, 1, 4])
    def test_the_loss_is_exactly_epsilon(self, epsilon: float, categories: int) -> None:
        # 004a:C5: direct encoding; 000a:C1 with two categories.
        mechanism = RandomizedResponse(epsilon=epsilon, categories=categories)
        rows = [direct(mechanism, truth) for truth in range(categories)]
        assert all(math.fsum(row) == pytest.approx(1) for row in rows)
        worst = max(min_epsilon(a, b) for a in rows for b in rows)
        assert worst == pytest.approx(epsilon, abs=1e-12)
        if categories == 2:
            x = math.exp(epsilon)
            assert mechanism.truth == pytest.approx(x / (1 + x))
        broken = direct(RandomizedResponse(epsilon=1.1 * epsilon, categories=categories), 0)
        assert min_epsilon(broken, broken[1:] + broken[:1]) > epsilon

    @pytest.mark.parametrize("categories", [2, 5])
    def test_releases_follow_the_law_and_no_other(
        self, categories: int, source: Seeded, alpha: float
    ) -> None:
        mechanism = RandomizedResponse(epsilon=1, categories=categories, randomness=source)

        def law(epsilon: float) -> DiscreteLaw:
            built = RandomizedResponse(epsilon=epsilon, categories=categories)
            return DiscreteLaw.of(dict(enumerate(direct(built, 1))))

        judged = three_sided(
            lambda n: mechanism.release(np.ones(n, dtype=np.uint8)),
            law(1),
            [law(0.8), law(1.25)],
            alpha=alpha,
        )
        assert judged.passes, judged

    def test_the_error_of_a_mean(self) -> None:  # 004a:B2
        mechanism = RandomizedResponse(epsilon=1, categories=2)
        printed = 0.04839  # Chebyshev's
        assert mechanism.error(confidence=0.95, people=10**4) == pytest.approx(0.021423, abs=5e-7)
        people = mechanism.people_for(printed, confidence=0.95)
        assert people == 2009
        assert mechanism.error(confidence=0.95, people=people) <= printed
        assert mechanism.error(confidence=0.95, people=people - 1) > printed

    def test_a_coin_for_an_error_asks_hardly_more_than_the_normal_law(self) -> None:
        coin = Warner.for_error(0.05, confidence=0.95, people=10_000)
        contrast = 2 * float(coin.keep) - 1
        people = (1.959964 / (2 * 0.05 * contrast)) ** 2  # what the normal law asks for
        assert people <= 10_000 <= people * 1.03
        assert coin.error(confidence=0.95, people=10_000) <= 0.05
        assert Warner(keep=0.75).error(confidence=0.5, people=1) == pytest.approx(2**0.5)

    def test_the_printed_estimator_is_a_broken_twin(self, source: Seeded) -> None:
        # 004a:B2: it lacks the factor N on its correction.
        mechanism = RandomizedResponse(epsilon=1, categories=2, randomness=source)
        n, mean, p = 1000, 0.3, mechanism.truth
        expected_yes = n * (mean * p + (1 - mean) * (1 - p))
        printed = (expected_yes + p - 1) / ((2 * p - 1) * n)
        assert printed == pytest.approx(0.881, abs=5e-4)
        assert abs(printed - mean) > 0.5, "refuted by its mean"
        truth = np.repeat([1, 0], [300, 700])
        runs = [mechanism.estimate(mechanism.release(truth))[1] for _ in range(2000)]
        deviation = math.sqrt(p * (1 - p) / n) / (2 * p - 1)
        assert np.mean(runs) == pytest.approx(mean, abs=6 * deviation / math.sqrt(2000))

    def test_the_variance_of_direct_encoding(self) -> None:
        # 004a:C5: (x + d - 2) / (x - 1)**2 per user at frequency zero; d = 100, epsilon = 1.
        mechanism = RandomizedResponse(epsilon=1, categories=100)
        lie = (1 - mechanism.truth) / 99
        assert lie * (1 - lie) / mechanism._contrast() ** 2 == pytest.approx(34.113, abs=5e-4)
        # With two categories, per-user variance x / (x - 1)**2 (004a:C3).
        binary = RandomizedResponse(epsilon=1, categories=2)
        p = binary.truth
        assert p * (1 - p) / (2 * p - 1) ** 2 == pytest.approx(0.92067, abs=5e-6)

    @given(st.floats(1e-30, 5), st.integers(2, 50))
    def test_estimates_invert_the_channel_without_cancellation(
        self, epsilon: float, categories: int
    ) -> None:
        mechanism = RandomizedResponse(epsilon=epsilon, categories=categories)
        x = math.expm1(epsilon)
        assert mechanism._contrast() == pytest.approx(x / (x + categories), rel=1e-12)
        assert mechanism.error(confidence=0.9, people=10) > 0

    def test_estimates_sum_to_one(self, source: Seeded) -> None:
        mechanism = RandomizedResponse(epsilon=1, categories=4, randomness=source)
        truth = np.repeat([0, 1, 2, 3], [4000, 3000, 2000, 1000])
        shares = mechanism.estimate(mechanism.release(truth))
        assert shares.sum() == pytest.approx(1)
        assert shares == pytest.approx([0.4, 0.3, 0.2, 0.1], abs=0.12)

    def test_kinds_and_shapes(self) -> None:
        mechanism = RandomizedResponse(epsilon=1, categories=3)
        assert type(mechanism.release(2)) is int
        assert mechanism.release([0, 1, 2]).shape == (3,)
        assert mechanism.release(np.zeros((2, 5), dtype=np.int8)).shape == (2, 5)
        assert set(np.unique(mechanism.release(np.full(500, 2)))) == {0, 1, 2}
        untouched = np.array([1, 2, 0])
        mechanism.release(untouched)
        assert untouched.tolist() == [1, 2, 0]


@pytest.mark.parametrize("mechanism", [COIN, RandomizedResponse(epsilon=1, categories=2)])
class TestBoth:
    @pytest.mark.parametrize(
        "answers", [2, -1, [0, 7654321], 0.5, [1.0], "yes", None, [], [None], [2**70], math.nan]
    )
    def test_what_is_no_category_is_refused_without_being_shown(
        self, mechanism: Warner, answers: Any
    ) -> None:
        for refuse in (mechanism.release, mechanism.estimate):
            with pytest.raises(InvalidData, match="not_a_category") as refused:
                refuse(answers)
            assert refused.value.received is None
            assert "7654321" not in str(refused.value)

    def test_test_mode_is_marked(self, mechanism: Warner) -> None:
        from dataclasses import replace

        for randomness in (Seeded(1), Noiseless()):
            unsafe = replace(mechanism, randomness=randomness)
            assert isinstance(unsafe.event, events.Unprotected)
        assert replace(mechanism, randomness=Noiseless()).release([1, 0, 1]).tolist() == [1, 0, 1]


def largest_tail(people: int, reach: float) -> float:
    """The exact supremum, over all shares of yes, of one side's chance of so far from the mean.

    While the least whole number from the mean plus the reach stays, the chance rises with the
    share: it is largest where they meet.
    """
    whole = np.arange(math.ceil(reach), people + 1, dtype=np.float64)
    return float(np.max(bdtrc(whole - 1, people, (whole - reach) / people), initial=0.0))


PEOPLE = [*range(1, 65), 100, 257, 1000, 4096, 20_000]
TAILS = [0.5, 0.2, 0.05, 0.01, 1e-4, 1e-9]


def test_the_reach_of_a_count_holds_for_every_share_and_is_tight() -> None:
    ratios = []
    for people in PEOPLE:
        for tail in TAILS:
            reach = reach_of_count(people, tail)
            assert largest_tail(people, reach) <= tail / 2 * (1 + 1e-9), (people, tail)
            ratios.append((people, tail, reach))
    for people, tail, reach in ratios:
        if people >= 1000 and tail >= 1e-4:
            assert largest_tail(people, reach - 1.6) > tail / 2, (people, tail)


def test_without_the_one_person_more_the_reach_is_too_short() -> None:
    """The broken twin: the normal law as if it were exact."""
    short = [
        (people, tail)
        for people in PEOPLE
        for tail in TAILS
        if largest_tail(people, reach_of_count(people, tail) - 1) > tail / 2
    ]
    assert len(short) > len(PEOPLE)


@pytest.mark.parametrize("keep", [Fraction(3, 5), Fraction(3, 4), Fraction(9, 10)])
def test_the_reach_holds_for_people_who_differ(keep: Fraction) -> None:
    """A fixed number who would say yes: the law of the sum of two binomials, exactly."""
    p = float(keep)
    for people in (5, 20, 61):
        for yes in range(people + 1):
            one = binom.pmf(np.arange(yes + 1), yes, p)
            two = binom.pmf(np.arange(people - yes + 1), people - yes, 1 - p)
            law = np.convolve(one, two)
            off = np.abs(np.arange(people + 1) - (yes * p + (people - yes) * (1 - p)))
            for tail in (0.2, 0.05, 1e-4):
                stated = Warner(keep=keep).error(confidence=1 - tail, people=people)
                wrong = law[off >= stated * people * (2 * p - 1)].sum()
                assert wrong <= tail * (1 + 1e-9)


@pytest.mark.parametrize(
    "keep", [Fraction(11, 20), Fraction(3, 5), Fraction(3, 4), Fraction(9, 10)], ids=str
)
def test_unlike_chances_spread_less_than_like_ones(keep: Fraction) -> None:
    """Hoeffding's comparison as the reach uses it, in exact fractions: every n up to 12."""
    compared = 0
    for people in range(1, 13):
        for yes in range(people + 1):
            chances = [keep] * yes + [1 - keep] * (people - yes)
            mean = sum(chances, Fraction(0))
            unlike, like = _law_of_sum(chances), _law_of_sum([mean / people] * people)
            for c in range(math.ceil(mean) + 1, people + 1):
                assert sum(unlike[c:]) <= sum(like[c:])
                compared += 1
    assert compared > 200


def _law_of_sum(chances: list[Fraction]) -> list[Fraction]:
    law = [Fraction(1)]
    for chance in chances:
        told = [Fraction(0), *(chance * mass for mass in law)]
        law = [a + (1 - chance) * b for a, b in zip(told, [*law, Fraction(0)], strict=True)]
    return law


def test_the_normal_law_of_the_entropy_is_above_the_tail() -> None:
    """Zubkov and Serov's bound as the reach uses it: every n up to 100, every c above the mean."""
    shares = np.arange(1, 40)[:, None] / 40
    for people in range(1, 101):
        c = np.arange(1, people + 1, dtype=np.float64)[None, :]
        at = (c - 1) / people
        entropy = xlogy(at, at / shares) + xlogy(1 - at, (1 - at) / (1 - shares))
        bound = ndtr(-np.sqrt(2 * people * np.maximum(entropy, 0)))
        above = at > shares
        tail = bdtrc(np.broadcast_to(c - 1, above.shape), people, shares)
        assert (tail <= bound * (1 + 1e-9))[above].all()
