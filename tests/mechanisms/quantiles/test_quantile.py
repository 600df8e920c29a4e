"""One quantile: its law and loss by enumeration, its events, its twins, its oracles."""

import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest

from discreet import events
from discreet.audit import BrokenTwin, DiscreteLaw, check_pair, three_sided
from discreet.core.events.event import from_json
from discreet.core.events.mechanisms import Unprotected
from discreet.mechanisms.quantiles import (
    EXPONENTIAL,
    PERMUTE_AND_FLIP,
    Maximum,
    Minimum,
    Quantile,
    RankChoice,
)
from discreet.mechanisms.quantiles.quantile import RankMechanism
from discreet.noise import Noiseless, Seeded
from tests.mechanisms.quantiles import enumeration
from tests.mechanisms.quantiles.enumeration import BOTH, Counts, Loss, law, loss


def build(
    by: RankChoice = PERMUTE_AND_FLIP,
    *,
    q: float = 0.5,
    bins: int = 4,
    rows: int = 1,
    epsilon: float = 1,
) -> Quantile:
    return Quantile(q=q, candidates=range(bins), rank_sensitivity=rows, epsilon=epsilon, by=by)


def every(by: RankChoice, rows: int, epsilon: float) -> list[RankMechanism]:
    return [
        *(build(by, q=q, rows=rows, epsilon=epsilon) for q in (0.5, 0.25, 0.9)),
        *(
            kind(candidates=range(4), rank_sensitivity=rows, epsilon=epsilon, by=by)
            for kind in (Maximum, Minimum)
        ),
    ]


@pytest.mark.parametrize("by", BOTH)
@pytest.mark.parametrize(("rows", "change"), [(1, 1), (2, 1), (2, 2), (3, 2)])
@pytest.mark.parametrize("epsilon", [0.5, 3])
def test_the_loss_is_in_proportion_to_the_rows_by_enumeration(
    by: RankChoice, rows: int, change: int, epsilon: float
) -> None:
    for mechanism in every(by, rows, epsilon):
        known = {
            counts: law(mechanism, counts)
            for number in range(5 + change)
            for counts in enumeration.histograms(4, number)
        }
        changes = [
            [math.log(a / b) for a, b in zip(known[here], known[there], strict=True)]
            for here, there in enumeration.pairs(4, 4, change)
        ]
        claimed = epsilon * change / rows
        assert Loss(max(abs(x) for row in changes for x in row), claimed).passes
        if by == EXPONENTIAL:
            assert Loss(max(max(row) - min(row) for row in changes), claimed).passes, "range"


class TestTwins:
    """Many empty candidates between two runs: there the loss comes near to epsilon."""

    HERE = (40, *(0,) * 22, 40)
    THERE = (40, *(0,) * 22, 41)
    TWICE = (40, *(0,) * 22, 42)

    def found(self, mechanism: RankMechanism, other: Counts, *, faster: float = 1) -> Loss:
        here, there = (law(mechanism, counts, faster=faster) for counts in (self.HERE, other))
        return Loss(loss(here, there), claimed=1)

    @pytest.mark.parametrize("by", BOTH)
    def test_the_loss_comes_near_epsilon(self, by: RankChoice) -> None:
        assert self.found(build(by, bins=24), self.THERE).found > 0.9
        assert self.found(build(by, bins=24, rows=2), self.TWICE).found > 0.9

    @pytest.mark.parametrize("by", BOTH)
    def test_forgetting_how_many_rows_a_person_has(self, by: RankChoice) -> None:
        sound, broken = (build(by, bins=24, rows=rows) for rows in (2, 1))
        pair = BrokenTwin("quantile", sound, broken, why="as if each person had one row")
        check_pair(pair, lambda mechanism: self.found(mechanism, self.TWICE))

    @pytest.mark.parametrize("by", BOTH)
    def test_forgetting_that_scores_move_both_ways(self, by: RankChoice) -> None:
        median = build(by, bins=24)
        pair = BrokenTwin("quantile", 1.0, 2.0, why="the rate for monotone scores")
        check_pair(pair, lambda faster: self.found(median, self.THERE, faster=faster))

    def test_permute_and_flip_is_not_of_bounded_range(self) -> None:
        def spread(by: RankChoice) -> float:
            here, there = (law(build(by), counts) for counts in ((2, 0, 0, 2), (2, 0, 0, 3)))
            ratios = [math.log(a / b) for a, b in zip(here, there, strict=True)]
            return max(ratios) - min(ratios)

        assert spread(EXPONENTIAL) <= 1 + 1e-12 < spread(PERMUTE_AND_FLIP)


class TestEvents:
    def test_each_way_has_its_own_price(self) -> None:
        flip, exponential = build(), build(EXPONENTIAL)
        assert flip.event == events.PermuteAndFlip(epsilon=1)
        assert exponential.event == events.Exponential(epsilon=1)
        assert exponential.event.zcdp().rho == pytest.approx(0.12330, abs=5e-6)
        # modern-data:N2: never an eighth, but tanh(1/2) as for randomized response.
        assert flip.event.zcdp().rho > 0.46
        assert from_json(flip.event.to_json()) == flip.event

    def test_fewer_rows_cost_in_proportion(self) -> None:
        mechanism = build(rows=4)
        assert mechanism.event_for(rows=1) == events.PermuteAndFlip(epsilon=Fraction(1, 4))
        assert mechanism.event_for(rows=4) == mechanism.event

    def test_test_mode_is_marked(self) -> None:
        seeded = Quantile(
            q=0.5, candidates=[1, 2], rank_sensitivity=1, epsilon=1, randomness=Seeded(1)
        )
        assert isinstance(seeded.event, Unprotected)


class TestOracles:
    """modern-data:Q1 and Q2, where a candidate lies between every two rows."""

    ROWS = np.arange(1, 10)

    def test_probabilities_of_intervals(self) -> None:
        counts = np.zeros(21, dtype=np.int64)
        counts[2 * self.ROWS] = 1  # candidates are 0, 1/2, 1, …
        median = Quantile(
            q=0.5,
            candidates=np.arange(21) / 2,
            rank_sensitivity=1,
            epsilon=1,
            by=EXPONENTIAL,
        )
        between = np.array(law(median, tuple(counts.tolist())))[1::2]
        stated = [0.005828, 0.015842, 0.043064, 0.117061, 0.318204]
        assert between / between.sum() == pytest.approx(stated + stated[::-1], abs=5e-7)

    def test_probabilities_of_intervals_where_a_row_is_replaced(self) -> None:
        """modern-data:Q1 for replaced rows: two rows change, each in its own direction."""
        counts = np.zeros(21, dtype=np.int64)
        counts[2 * self.ROWS] = 1
        median = Quantile(
            q=0.5,
            candidates=np.arange(21) / 2,
            rank_sensitivity=2,
            epsilon=1,
            by=EXPONENTIAL,
        )
        between = np.array(law(median, tuple(counts.tolist())))[1::2]
        stated = [0.029006, 0.047823, 0.078847, 0.129996, 0.214328]
        assert between / between.sum() == pytest.approx(stated + stated[::-1], abs=5e-7)
        moved = [0] * 21
        for here in range(21):
            there = counts.copy()
            there[[2, here]] += [-1, 1]
            moved[here] = int(np.abs(median.scores(there) - median.scores(counts)).max())
        assert max(moved) == median.target.parts, "a replaced row moves a score by one"

    def test_nine_fives_are_five(self) -> None:
        counts = (0, 0, 0, 0, 0, 9, 0, 0, 0, 0, 0)
        for by in BOTH:
            assert law(build(by, bins=11), counts)[5] > 0.99

    def test_no_rows_are_a_uniform_draw(self) -> None:
        for mechanism in every(PERMUTE_AND_FLIP, 1, 1.0):
            assert law(mechanism, (0, 0, 0, 0)) == pytest.approx([0.25] * 4)


class TestDraws:
    COUNTS = (3, 1, 0, 2, 4)

    @pytest.mark.parametrize("by", BOTH)
    def test_groups_follow_the_stated_law(
        self, by: RankChoice, source: Seeded, alpha: float
    ) -> None:
        mechanism = Quantile(
            q=0.25,
            candidates=range(10, 15),
            rank_sensitivity=2,
            epsilon=2,
            by=by,
            randomness=source,
        )

        def stated(faster: float) -> DiscreteLaw:
            found = law(mechanism, self.COUNTS, faster=faster)
            return DiscreteLaw.of(dict(zip(range(10, 15), found, strict=True)))

        judged = three_sided(
            lambda n: mechanism.release(np.tile(self.COUNTS, (n, 1))).tolist(),
            stated(1),
            [stated(1 / 0.8), stated(1 / 1.25)],
            alpha=alpha,
        )
        assert judged.passes, judged

    def test_far_candidates_keep_their_law(self, source: Seeded) -> None:
        """Those behind by more than 9 log-odds are drawn in two steps."""
        counts = np.array([0] * 4000 + [20])
        mechanism = Quantile(
            q=0.5, candidates=range(4001), rank_sensitivity=1, epsilon=0.5, randomness=source
        )
        trials = 2000
        far = sum(mechanism.release(np.tile(counts, (trials, 1))) < 4000)
        gap = 20 * 0.5  # ten rows deep against ten rows away
        chance = PERMUTE_AND_FLIP.failure(gap, 4001)
        assert abs(far - trials * chance) < 6 * math.sqrt(trials * chance)

    @pytest.mark.parametrize("by", BOTH)
    def test_groups_are_independent_and_of_their_own(self, by: RankChoice) -> None:
        mechanism = build(by, bins=6, epsilon=400)
        counts = np.eye(6, dtype=np.int64) * 7
        assert mechanism.release(counts).tolist() == list(range(6))
        empty = mechanism.release(np.zeros((0, 6), dtype=np.int64))
        assert empty.shape == (0,)

    @pytest.mark.parametrize("by", BOTH)
    def test_without_noise_it_is_the_quantile(self, by: RankChoice) -> None:
        values = np.array([2, 2, 3, 5, 8])
        counts = np.bincount(values, minlength=10)
        for q, expected in ((0.5, 3), (0.25, 2), (0.9, 8), (0.01, 2)):
            silent = Quantile(
                q=q,
                candidates=range(10),
                rank_sensitivity=1,
                epsilon=1,
                by=by,
                randomness=Noiseless(),
            )
            assert silent.release(counts) == expected

    def test_whole_candidates_give_whole_answers(self) -> None:
        large = [2**62, 2**62 + 1]
        answer = Quantile(q=0.5, candidates=large, rank_sensitivity=1, epsilon=1).release([0, 900])
        assert answer == 2**62 + 1
        assert isinstance(answer, int)
        real = Quantile(q=0.5, candidates=[0.5, 1.5], rank_sensitivity=1, epsilon=1)
        assert isinstance(real.release([5, 900]), float)
        assert real.release(np.array([[5, 900]])).dtype == np.float64

    def test_many_blocks_agree_with_one(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("discreet.mechanisms.quantiles.quantile.BLOCK", 12)
        mechanism = build(bins=5, epsilon=400)
        counts = np.tile(np.eye(5, dtype=np.int64) * 9, (7, 1))
        assert mechanism.release(counts).tolist() == list(range(5)) * 7

    def test_absurd_counts_do_not_overflow(self) -> None:
        mechanism = build(q=0.123457, bins=3)
        most = np.iinfo(np.int64).max
        tally = Counter(mechanism.release(np.full((50, 3), most)).tolist())
        assert set(tally) == {0}
        assert mechanism.release(np.array([0, 2**64 - 1, 0], dtype=np.uint64)) == 1
