"""The exponential mechanism and permute-and-flip: laws, losses, prices and worked numbers."""

import math
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

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
from discreet.core.errors import InvalidData
from discreet.mechanisms import GENERAL, MONOTONE, Exponential, PermuteAndFlip, Scores
from discreet.mechanisms.selection import Selection
from discreet.noise import Noiseless, Seeded
from tests.mechanisms import laws

Law = Callable[[Sequence[float], float], list[float]]
BOTH: list[tuple[type[Selection], Law]] = [
    (Exponential, laws.exponential),
    (PermuteAndFlip, laws.permute_and_flip),
]
SMALL = [tuple(map(float, scores)) for scores in product(range(3), repeat=3)]


def neighbours(scores: Sequence[float], kind: Scores) -> list[tuple[float, ...]]:
    moves = (-1, 0, 1) if kind is GENERAL else (0, 1)
    return [
        tuple(s + m for s, m in zip(scores, move, strict=True)) for move in product(moves, repeat=3)
    ]


@pytest.mark.parametrize(("kind", "law"), BOTH)
@pytest.mark.parametrize("scores", [GENERAL, MONOTONE])
@pytest.mark.parametrize("epsilon", [0.1, 1, 3])
def test_the_loss_is_at_most_epsilon_by_enumeration(
    kind: type[Selection], law: Law, scores: Scores, epsilon: float
) -> None:
    rate = float(kind(epsilon=epsilon, sensitivity=1, scores=scores).rate())
    assert rate == pytest.approx(epsilon / (2 if scores is GENERAL else 1))
    worst = max(
        min_epsilon(law(here, rate), law(there, rate))
        for here in SMALL
        for there in neighbours(here, scores)
    )
    assert worst <= epsilon + laws.ATOL
    if scores is GENERAL:
        assert worst > epsilon * 0.4
    behind = 60 / epsilon
    far = (0.0, -behind, -behind), (-1.0, 1 - behind, 1 - behind)
    tight = min_epsilon(law(far[0], rate), law(far[1], rate))
    if scores is GENERAL:
        assert tight == pytest.approx(epsilon, abs=1e-6), "attained by an option far behind"


@pytest.mark.parametrize(("kind", "law"), BOTH)
def test_the_monotone_rate_on_general_scores_is_a_broken_twin(
    kind: type[Selection], law: Law
) -> None:
    # Counts are monotone under add/remove; under replace-one two of them move apart.
    rate = float(kind(epsilon=1, sensitivity=1, scores=MONOTONE).rate())
    assert min_epsilon(law((0, -60), rate), law((-1, -59), rate)) == pytest.approx(2, abs=1e-6)
    added = min_epsilon(law((0, -60), rate), law((0, -59), rate))
    assert added <= 1 + laws.ATOL


@pytest.mark.parametrize(("kind", "law"), BOTH)
def test_twice_the_rate_is_refuted(kind: type[Selection], law: Law) -> None:
    rate = 2 * float(kind(epsilon=1, sensitivity=1).rate())
    assert min_epsilon(law((0, -60), rate), law((-1, -59), rate)) > 1.9


def test_half_the_sensitivity_is_refuted_by_the_auditor(source: Seeded, alpha: float) -> None:
    def build(sensitivity: float) -> PermuteAndFlip:
        return PermuteAndFlip(epsilon=1.5, sensitivity=sensitivity, randomness=source)

    def auditor(mechanism: PermuteAndFlip) -> Finding:
        return audit(
            repeated(mechanism.release),
            [0, -2],
            [-1, -1],
            epsilon=1.5,
            delta=0,
            events=LearnedEvents(outcome),
            trials=4000,
            confidence=1 - alpha,
        )

    check_pair(BrokenTwin("permute-and-flip", build(1), build(0.25), why="a quarter"), auditor)


@given(st.lists(st.integers(0, 6), min_size=2, max_size=5), st.floats(0.05, 3))
def test_permute_and_flip_is_the_argmax_with_exponential_noise(
    scores: list[int], rate: float
) -> None:
    # 000a:C9, modern-data:N2: the book takes it for the exponential mechanism.
    flipped = laws.permute_and_flip(scores, rate)
    assert flipped == pytest.approx(laws.argmax_with_exponential_noise(scores, rate), abs=1e-7)
    assert math.fsum(flipped) == pytest.approx(1, abs=1e-12)
    loss = [max(scores) - s for s in scores]
    exponential = laws.exponential(scores, rate)
    assert np.dot(loss, flipped) <= np.dot(loss, exponential) + 1e-9, "never worse"


class TestWorkedNumbers:
    def rate(self, epsilon: float, sensitivity: float, scores: Scores = GENERAL) -> float:
        return float(Exponential(epsilon=epsilon, sensitivity=sensitivity, scores=scores).rate())

    def test_the_book_exponential(self) -> None:  # 000a:C7
        law = laws.exponential((0, 1, 3), self.rate(1, 1))
        assert law == pytest.approx([0.14024, 0.23122, 0.62853], abs=5e-6)

    def test_the_book_one_sided_noise(self) -> None:  # 000a:C9
        rate = self.rate(1, 1)
        law = laws.permute_and_flip((0, 1, 3), rate)
        assert law == pytest.approx([0.09788, 0.17026, 0.73186], abs=5e-6)
        assert laws.permute_and_flip((3, 0), rate)[1] == pytest.approx(0.11157, abs=5e-6)
        assert math.exp(-rate * 3) / 2 == pytest.approx(0.11157, abs=5e-6)
        theorem = laws.exponential((0, 1, 3), rate)
        assert max(abs(a - b) for a, b in zip(law, theorem, strict=True)) > 0.1, "3.13 is false"

    def test_utility_of_the_best_of_two(self) -> None:  # 000a:C8
        rate = self.rate(1, 1)
        assert 2 * math.exp(-rate * 3) == pytest.approx(0.4463, abs=5e-5)
        assert laws.exponential((3, 0), rate)[1] == pytest.approx(0.1824, abs=5e-5)
        # The same bound, asked the other way round.
        mechanism = Exponential(epsilon=1, sensitivity=1)
        assert mechanism.error(confidence=1 - 2 * math.exp(-1.5), candidates=2) == pytest.approx(3)

    def test_modern_permute_and_flip(self) -> None:  # modern-data:N2
        scores = (0, -1, -2)
        flipped, chosen = (
            law(scores, self.rate(1, 1)) for law in (laws.permute_and_flip, laws.exponential)
        )
        assert flipped == pytest.approx([0.587172, 0.266077, 0.146751], abs=5e-7)
        assert chosen == pytest.approx([0.506480, 0.307196, 0.186324], abs=5e-7)
        assert -np.dot(scores, flipped) == pytest.approx(0.559580, abs=2e-6)
        assert -np.dot(scores, chosen) == pytest.approx(0.679843, abs=2e-6)

    def test_pumpkins(self) -> None:  # 000a:C10, corrected: at $1.00 all four buy
        bids, prices = (1, 1, 1, 3.01), (1, 3, 3.01, 3.02)
        revenue = [p * sum(bid >= p for bid in bids) for p in prices]
        assert revenue == pytest.approx([4.00, 3.00, 3.01, 0])
        law = laws.exponential(revenue, self.rate(1, 3.02))
        assert law == pytest.approx([0.3113, 0.2638, 0.2643, 0.1606], abs=5e-5)

    def test_pumpkins_again(self) -> None:  # 004a:B8
        law = laws.exponential((3.00, 2.02, 3.01), self.rate(1, 3.01))
        assert law == pytest.approx([0.35070, 0.29801, 0.35128], abs=5e-6)

    def test_pumpkins_of_the_lecture(self) -> None:  # boosting-and-analysts:L3
        rate = self.rate(0.2, 2)
        assert laws.exponential((3, 2), rate) == pytest.approx([0.5125, 0.4875], abs=5e-5)
        assert laws.exponential((100, 20), rate) == pytest.approx([0.982, 0.018], abs=5e-4)
        # Tail: P(u < OPT - t) < |R| exp(-epsilon t / 2 sensitivity).
        assert laws.exponential((100, 20), rate)[1] < 2 * math.exp(-rate * 80)

    def test_a_loss_of_at_most_alpha_with_confidence(self) -> None:  # 004a:B8, 000a:C8
        mechanism = Exponential(epsilon=0.5, sensitivity=2)
        assert mechanism.error(confidence=0.9, candidates=50) == pytest.approx(8 * math.log(500))


class TestPrices:
    def test_bounded_range_is_worth_a_quarter_to_the_exponential_mechanism_only(self) -> None:
        delta = 1e-6
        exponential = (Exponential(epsilon=0.1, sensitivity=1).event * 100).epsilon(delta=delta)
        flipped = (PermuteAndFlip(epsilon=0.1, sensitivity=1).event * 100).epsilon(delta=delta)
        assert exponential < flipped

    def test_permute_and_flip_priced_like_the_exponential_mechanism_is_refuted(self) -> None:
        # modern-data:N2: (1/2, 1/2) against (1 - e^-1/2, e^-1/2) at epsilon one.
        rate = float(PermuteAndFlip(epsilon=1, sensitivity=1).rate())
        even, moved = (laws.permute_and_flip(scores, rate) for scores in ((0, 0), (1, -1)))
        assert even == pytest.approx([0.5, 0.5])
        assert moved == pytest.approx([1 - math.exp(-1) / 2, math.exp(-1) / 2])
        divergence = math.fsum(p * math.log(p / q) for p, q in zip(even, moved, strict=True))
        assert divergence == pytest.approx(0.25506, abs=5e-6)
        assert divergence > 1 / 8, "epsilon**2/8 is refuted"
        assert divergence <= 1 / 2
        assert PermuteAndFlip(epsilon=1, sensitivity=1).event == events.PermuteAndFlip(epsilon=1)

    @pytest.mark.parametrize(
        ("epsilon", "rho"), [(0.1, 0.004761), (0.5, 0.099625), (1, 0.329659), (2, 0.974419)]
    )
    def test_worst_rho_of_two_candidates(self, epsilon: float, rho: float) -> None:
        # modern-data:N2: sup over orders of D_alpha / alpha over all gaps moved by 2 sensitivity.
        rate = epsilon / 2

        def renyi(p: list[float], q: list[float], alpha: float) -> float:
            if alpha == 1:
                return math.fsum(a * math.log(a / b) for a, b in zip(p, q, strict=True))
            total = math.fsum(a**alpha * b ** (1 - alpha) for a, b in zip(p, q, strict=True))
            return math.log(total) / (alpha - 1)

        worst = 0.0
        for gap in np.linspace(-3, 3, 61):
            p, q = (laws.permute_and_flip((g, 0), rate) for g in (gap, gap - 2))
            for a, b in ((p, q), (q, p)):
                worst = max(
                    worst, *(renyi(a, b, alpha) / alpha for alpha in (1, 1.05, 1.2, 1.5, 2))
                )
        assert epsilon**2 / 8 < worst <= rho * (1 + 1e-4)
        assert worst >= rho * 0.9
        assert worst <= epsilon * math.tanh(epsilon / 2)
        if epsilon == 1:
            assert epsilon * math.tanh(epsilon / 2) == pytest.approx(0.462117, abs=5e-7)

    def test_the_exponential_mechanism_stays_within_an_eighth(self) -> None:
        pairs = [
            (here, there, 1 / kind.value)
            for kind in (GENERAL, MONOTONE)
            for here in SMALL
            for there in neighbours(here, kind)
        ]
        for here, there, rate in pairs:
            p, q = laws.exponential(here, rate), laws.exponential(there, rate)
            divergence = math.fsum(a * math.log(a / b) for a, b in zip(p, q, strict=True))
            assert divergence <= 1 / 8 + laws.ATOL
            losses = [math.log(a / b) for a, b in zip(p, q, strict=True)]
            assert max(losses) - min(losses) <= 1 + laws.ATOL, "bounded range"


class TestReleases:
    SCORES = (0, 1, 3, -2)

    @pytest.mark.parametrize(("kind", "law"), BOTH)
    @pytest.mark.parametrize("numbers", [int, float])
    def test_they_follow_the_law_and_no_other(
        self,
        kind: type[Selection],
        law: Law,
        numbers: type,
        source: Seeded,
        alpha: float,
    ) -> None:
        mechanism = kind(epsilon=1, sensitivity=1, randomness=source)
        scores = [numbers(score) for score in self.SCORES]

        def stated(rate: float) -> DiscreteLaw:
            return DiscreteLaw.of(dict(enumerate(law(self.SCORES, rate))))

        judged = three_sided(
            lambda n: [mechanism.release(scores) for _ in range(n)],
            stated(0.5),
            [stated(0.5 / 0.8), stated(0.5 / 1.25)],
            alpha=alpha,
        )
        assert judged.passes, judged

    @pytest.mark.parametrize(("kind", "law"), BOTH)
    def test_ties_are_fair_and_far_scores_exact(
        self, kind: type[Selection], law: Law, source: Seeded
    ) -> None:
        mechanism = kind(epsilon=1, sensitivity=1, randomness=source)
        tied = Counter(mechanism.release([2**60, 2**60, 0]) for _ in range(2000))
        assert set(tied) == {0, 1}
        assert abs(tied[0] - 1000) < 6 * math.sqrt(500)
        # Doubles cannot tell these apart; integers can.
        near = Counter(mechanism.release([2**60, 2**60 + 40]) for _ in range(300))
        assert near[1] == 300

    @pytest.mark.parametrize(("kind", "law"), BOTH)
    def test_scores_beyond_64_bits_are_clamped_alike_in_every_width(
        self, kind: type[Selection], law: Law
    ) -> None:
        silent = kind(epsilon=1, sensitivity=1, randomness=Noiseless())
        top = 2**61
        for scores in ([top, 2**70], [2**63 - 1, top], np.array([2**64 - 1, top], dtype=np.uint64)):
            assert silent.release(scores) == 0

    def test_one_candidate_and_none(self) -> None:
        for kind, _ in BOTH:
            assert kind(epsilon=1, sensitivity=1).release([4.5]) == 0
            with pytest.raises(InvalidData, match="scores_not_a_vector"):
                kind(epsilon=1, sensitivity=1).release([[1, 2]])
            with pytest.raises(InvalidData, match="scores_not_a_vector"):
                kind(epsilon=1, sensitivity=1).release(3)

    @pytest.mark.parametrize(("kind", "law"), BOTH)
    def test_test_mode_is_marked(self, kind: type[Selection], law: Law) -> None:
        for randomness in (Seeded(3), Noiseless()):
            event = kind(epsilon=1, sensitivity=1, randomness=randomness).event
            assert isinstance(event, events.Unprotected)
        assert kind(epsilon=1, sensitivity=1, randomness=Noiseless()).release([1, 5, 2]) == 1
