"""Many quantiles: rounds, ties, order, and the loss of whole transcripts by enumeration."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from discreet import events
from discreet.audit import BrokenTwin, check_pair
from discreet.core.arrays import Ints
from discreet.mechanisms.quantiles import (
    EXPONENTIAL,
    PERMUTE_AND_FLIP,
    IndependentQuantiles,
    Quantile,
    RankChoice,
    RecursiveQuantiles,
)
from discreet.mechanisms.quantiles.segments import RankHistogram, Segment
from discreet.noise import Noiseless, Seeded
from tests.mechanisms.quantiles import enumeration
from tests.mechanisms.quantiles.enumeration import BOTH, Counts, Loss

QUARTILES = [0.25, 0.5, 0.75]
Build = Callable[[RankChoice], RecursiveQuantiles]


def recipe(*, bins: int = 3, rows: int = 1, epsilon: float = 1, levels: Any = QUARTILES) -> Build:
    return lambda by: RecursiveQuantiles(
        levels=levels,
        candidates=range(bins),
        rank_sensitivity=rows,
        epsilon=epsilon,
        by=by,
        places=2,
    )


def worst(
    build: Build, by: RankChoice, pairs: Sequence[tuple[Counts, Counts]], claimed: float
) -> Loss:
    """The largest change of a transcript's log-chance."""
    known: dict[Counts, dict[tuple[int, ...], float]] = {}
    for counts in {counts for pair in pairs for counts in pair}:
        known[counts] = enumeration.transcripts(build, by, counts)
    ends = [enumeration.transcript_loss(known[here], known[there]) for here, there in pairs]
    return Loss(max(max(-low, high) for low, high in ends), claimed)


@pytest.mark.parametrize("by", BOTH)
@pytest.mark.parametrize(("rows", "change"), [(1, 1), (2, 2), (2, 1)])
def test_transcripts_lose_in_proportion_to_the_rows(by: RankChoice, rows: int, change: int) -> None:
    """Also where a person's two rows fall into two segments of a round."""
    pairs = list(enumeration.pairs(3, 3, change))
    assert worst(recipe(rows=rows), by, pairs, change / rows).passes


@pytest.mark.parametrize("by", BOTH)
def test_uneven_levels_too(by: RankChoice) -> None:
    build = recipe(levels=[0.1, 0.3, 0.9], epsilon=3, rows=2)
    assert worst(build, by, list(enumeration.pairs(3, 2, 2)), 3).passes


class TestTwins:
    FAR = ((20, 0, 20), (20, 0, 21)), ((20, 1, 20), (20, 1, 22)), ((0, 20, 20), (0, 21, 20))

    def refuted(self, by: RankChoice, sound: Build, broken: Build, why: str) -> None:
        pair = BrokenTwin("recursive quantiles", sound, broken, why)
        check_pair(pair, lambda build: worst(build, by, list(self.FAR), 1))

    @pytest.mark.parametrize("by", BOTH)
    def test_charging_each_round_with_all_of_epsilon(self, by: RankChoice) -> None:
        self.refuted(by, recipe(rows=2), recipe(rows=2, epsilon=2), "rounds do not share")

    def test_rows_on_both_sides(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """A run kept whole on both sides counts in two segments of the next round."""
        pairs = [((6, 0, 0, 0, 0, 0, 6), (6, 0, 0, 1, 0, 0, 6))]
        build = recipe(bins=7, epsilon=2)

        def divide(
            self: RankHistogram, segment: Segment, steps: Ints, places: int
        ) -> tuple[Segment, Segment]:
            bins = segment.first + steps // places
            group = np.arange(len(bins))
            low = np.maximum(self.below[group, bins], segment.least)
            high = np.minimum(self.upto[group, bins], segment.most)
            return (
                Segment(segment.first, segment.least, bins, high),
                Segment(bins, low, segment.last, segment.most),
            )

        def auditor(division: Callable[..., tuple[Segment, Segment]]) -> Loss:
            monkeypatch.setattr(RankHistogram, "divide", division)
            return worst(build, EXPONENTIAL, pairs, 2)

        check_pair(
            BrokenTwin("division", RankHistogram.divide, divide, "rows in two segments"), auditor
        )


def test_a_replaced_row_may_lose_more() -> None:
    """Why nothing is claimed for replaced rows: here one loses more than epsilon."""
    pairs = [((7, 0, 0, 0, 0, 0, 6), (6, 0, 0, 0, 0, 0, 7))]
    assert not worst(recipe(bins=7, epsilon=2), EXPONENTIAL, pairs, 2).passes


class TestDivision:
    @pytest.mark.parametrize("places", [1, 2, 5, 64])
    def test_one_row_more_is_one_more_on_one_side(self, places: int) -> None:
        def cut(tied: int, step: int) -> tuple[int, int]:
            ranks = RankHistogram.of(np.array([[tied]]))
            lower, upper = ranks.divide(ranks.whole(), np.array([step]), places)
            sides = lower.most - lower.least, upper.most - upper.least
            return int(sides[0][0]), int(sides[1][0])

        for step in range(places):
            for tied in range(70):
                moves = np.subtract(cut(tied + 1, step), cut(tied, step))
                assert sorted(moves.tolist()) == [0, 1]

    def test_segments_hold_all_rows_between_them(self) -> None:
        counts = np.array([[3, 0, 7, 5], [1, 1, 1, 1]])
        ranks = RankHistogram.of(counts)
        lower, upper = ranks.divide(ranks.whole(), np.array([2 * 4 + 1, 3]), 4)
        assert (lower.most == upper.least).all()
        assert lower.most.tolist() == [3 + 7 * 3 // 8, 1 * 7 // 8]
        assert upper.most.tolist() == [15, 4]


class TestEvents:
    @pytest.mark.parametrize(("number", "rounds"), [(1, 1), (2, 2), (3, 2), (4, 3), (7, 3), (8, 4)])
    def test_rounds_are_those_of_the_catalogue(self, number: int, rounds: int) -> None:
        levels = [Fraction(i, number + 1) for i in range(1, number + 1)]
        build = recipe(levels=levels)(PERMUTE_AND_FLIP)
        assert build.rounds == rounds
        one = events.PermuteAndFlip(epsilon=Fraction(1, rounds))
        assert build.event == one * rounds
        depth = max(map(len, _paths(levels)))
        assert depth == rounds

    def test_a_round_of_the_exponential_mechanism_is_of_bounded_range(self) -> None:
        build = recipe(rows=2)
        assert build(EXPONENTIAL).event.zcdp().rho == pytest.approx(2 * 0.5**2 / 8, rel=5e-3)
        assert (
            build(EXPONENTIAL).event_for(rows=1) == events.Exponential(epsilon=Fraction(1, 4)) * 2
        )
        single = recipe(rows=2, levels=[0.5])
        for here, there in enumeration.pairs(3, 3, 2):
            low, high = enumeration.transcript_loss(
                enumeration.transcripts(single, EXPONENTIAL, here),
                enumeration.transcripts(single, EXPONENTIAL, there),
            )
            assert high - low <= 1 + 1e-12


def _paths(levels: list[Fraction]) -> list[tuple[Fraction, ...]]:
    if not levels:
        return [()]
    middle = len(levels) // 2
    below = [*_paths(levels[:middle]), *_paths(levels[middle + 1 :])]
    return [(levels[middle], *path) for path in below]


class TestAnswers:
    @pytest.mark.parametrize("by", BOTH)
    @pytest.mark.parametrize("kind", [IndependentQuantiles, RecursiveQuantiles])
    def test_they_never_decrease(self, kind: type[Any], by: RankChoice, source: Seeded) -> None:
        levels = [i / 8 for i in range(1, 8)]
        mechanism = kind(
            levels=levels,
            candidates=range(50),
            rank_sensitivity=1,
            epsilon=0.5,
            by=by,
            randomness=source,
        )
        counts = np.tile(np.arange(50), (40, 1))
        answers = mechanism.release(counts)
        assert answers.shape == (40, 7)
        assert answers.dtype == np.int64
        assert (np.diff(answers) >= 0).all()
        assert mechanism.release(counts[0]).shape == (7,)
        assert mechanism.release(counts[:0]).shape == (0, 7)

    @pytest.mark.parametrize("kind", [IndependentQuantiles, RecursiveQuantiles])
    def test_ample_budget_gives_the_quantiles(self, kind: type[Any]) -> None:
        values = np.concatenate((np.zeros(600), np.arange(1, 401)))  # six tenths are zero
        counts = np.bincount(values.astype(np.int64), minlength=401)
        levels = [0.1, 0.25, 0.5, 0.55, 0.75, 0.9, 0.99]
        mechanism = kind(levels=levels, candidates=range(401), rank_sensitivity=1, epsilon=1e4)
        expected = [max(0, round(1000 * q) - 600) for q in levels]
        assert np.abs(mechanism.release(counts) - expected).max() <= 600 / 128 + 2

    def test_without_noise_and_without_rows(self) -> None:
        silent = RecursiveQuantiles(
            levels=QUARTILES,
            candidates=range(100),
            rank_sensitivity=1,
            epsilon=1,
            randomness=Noiseless(),
        )
        counts = np.ones(100, dtype=np.int64)
        assert np.abs(silent.release(counts) - [24, 49, 74]).max() <= 1
        noisy = recipe(bins=5)(PERMUTE_AND_FLIP)
        assert noisy.release(np.zeros((3, 5), dtype=np.int64)).shape == (3, 3)

    def test_one_level_is_one_quantile(self, source: Seeded) -> None:
        """The only level is not divided, so both ways are the plain mechanism."""
        counts = np.array([3, 1, 0, 2, 4])
        plain = Quantile(q=0.3, candidates=range(5), rank_sensitivity=1, epsilon=1)
        build = recipe(bins=5, levels=[0.3])
        for by in BOTH:
            found = enumeration.transcripts(build, by, tuple(counts.tolist()))
            assert np.exp([found[j,] for j in range(5)]) == pytest.approx(
                enumeration.law_of(by, plain.scores(counts)[0].tolist(), float(plain.rate()))
            )
