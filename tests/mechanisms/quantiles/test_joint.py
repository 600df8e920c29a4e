"""One choice of all quantiles: law, loss and sensitivity by enumeration, oracles, twins.

Enumeration is on eight places for each candidate instead of four thousand million.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cache, partial
from itertools import combinations_with_replacement, pairwise
from typing import Any

import numpy as np
import pytest

from discreet import events
from discreet.audit import BrokenTwin, DiscreteLaw, accepts, check_pair, three_sided
from discreet.core.arrays import Floats, Ints
from discreet.core.errors import InvalidParameter
from discreet.mechanisms.quantiles import (
    PERMUTE_AND_FLIP,
    IndependentQuantiles,
    JointQuantiles,
    joint_table,
)
from discreet.mechanisms.quantiles.blocks import RankBlocks
from discreet.mechanisms.quantiles.cuts import Cuts
from discreet.mechanisms.quantiles.joint_table import CutsInBlock, JointTable
from discreet.mechanisms.quantiles.weighted_sums import ScaledWeights
from discreet.noise import Noiseless, Seeded, Source, scaled_exp_coin
from tests.mechanisms.quantiles import enumeration
from tests.mechanisms.quantiles.enumeration import Counts, Loss

THIRDS = [Fraction(1, 3), Fraction(2, 3)]
UNEVEN = [Fraction(1, 10), Fraction(1, 2), Fraction(4, 5)]
LEVELS = [THIRDS, [Fraction(1, 4), Fraction(1, 2)], UNEVEN]
Lists = dict[tuple[int, ...], float]
Ranks = Callable[[Counts], Ints]


def build(
    levels: Sequence[Fraction] = THIRDS, *, bins: int = 3, rows: int = 1, epsilon: float = 1
) -> JointQuantiles:
    return JointQuantiles(
        levels=levels, candidates=range(bins), rank_sensitivity=rows, epsilon=epsilon
    )


def cuts_of(counts: Counts, digits: int = 2) -> Cuts:
    return Cuts.of(np.array(counts, dtype=np.int64), digits)


def table_of(mechanism: JointQuantiles, counts: Counts, digits: int = 2) -> JointTable:
    """The mechanism's own table, with few places."""
    return JointTable.of(cuts_of(counts, digits), mechanism.levels, mechanism.rate())


def ranks_of(counts: Counts, digits: int = 2) -> Ints:
    """The rank of every cut, as the mechanism has it."""
    cuts = cuts_of(counts, digits)
    return cuts.ranks(np.arange(cuts.places))


@cache
def lists(size: int, levels: int) -> Ints:
    """Every non-decreasing list of so many cuts."""
    return np.array(list(combinations_with_replacement(range(size), levels)))


def costs(ranks: Ints, rows: int, levels: Sequence[Fraction]) -> Ints:
    """The catalogue's utility, negated, of every list, in parts of a row: written out again."""
    parts = math.lcm(*(level.denominator for level in levels))
    shares = np.diff([0, *(int(level * parts) for level in levels), parts])
    every = ranks[lists(len(ranks), len(levels))]
    none, all_rows = np.zeros((len(every), 1), np.int64), np.full((len(every), 1), rows)
    between = np.diff(np.concatenate((none, every, all_rows), axis=1), axis=1)
    found: Ints = np.abs(parts * between - rows * shares).sum(axis=1)
    return found


def law(
    mechanism: JointQuantiles, counts: Counts, *, faster: float = 1, ranks: Ranks = ranks_of
) -> Floats:
    """The chance of every list of cuts, by listing them all."""
    found = costs(ranks(counts), sum(counts), mechanism.levels)
    weights = np.exp(-float(mechanism.rate()) * faster * found)
    chances: Floats = weights / weights.sum()
    return chances


def changes(here: Floats, there: Floats) -> tuple[float, float]:
    """Least and largest change of a log-chance."""
    apart = np.log(here) - np.log(there)
    return float(apart.min()), float(apart.max())


def worst(here: Floats, there: Floats) -> float:
    low, high = changes(here, there)
    return max(-low, high)


class TestCuts:
    @pytest.mark.parametrize("digits", [1, 2, 3])
    def test_ranks_and_places_agree_with_rows_laid_out(self, digits: int) -> None:
        """The i-th row at a candidate is at the reversed digits of i; no more than fit count."""
        size = 1 << digits
        turned = [int(f"{i:0{digits}b}"[::-1], 2) for i in range(size)]
        for counts in [(0, 3, 0, 1), (2 * size + 1, 0, 0, size), (0, 0, 0, 0), (1, 5, 17, 2)]:
            rows = sorted(c * size + p for c, tied in enumerate(counts) for p in turned[:tied])
            upto = np.searchsorted(rows, np.arange(4 * size), side="right").tolist()
            assert ranks_of(counts, digits).tolist() == upto
            found = cuts_of(counts, digits).of_rows(np.arange(1, len(rows) + 1))
            assert found.tolist() == rows

    @pytest.mark.parametrize("digits", [1, 2, 4])
    def test_one_row_more_moves_all_cuts_from_some_place_on_by_one(self, digits: int) -> None:
        for tied in range(1 << digits):
            here, there = (ranks_of((2, n, 1), digits) for n in (tied, tied + 1))
            moved = there - here
            assert set(moved.tolist()) <= {0, 1}
            assert (np.diff(moved) >= 0).all()
            assert not moved[: 1 << digits].any()
            assert moved[2 << digits :].all()

    def test_rows_are_spread_over_a_million_places(self) -> None:
        for tied in (1, 3, 10, 1000, 1 << 30):
            cuts = Cuts.of(np.array([tied]))
            places = np.linspace(0, cuts.places - 1, 500).astype(np.int64)
            wanted = tied * (places + 1) / cuts.places
            assert np.abs(cuts.ranks(places) - wanted).max() <= 1 + math.log2(
                1 + min(tied, 1 << 20)
            )


class TestSensitivity:
    @pytest.mark.parametrize("levels", LEVELS, ids=str)
    def test_a_row_moves_costs_within_the_declared_spread(self, levels: list[Fraction]) -> None:
        mechanism = build(levels)
        gaps = [high - low for low, high in pairwise([Fraction(0), *levels, Fraction(1)])]
        assert mechanism.spread / 2 == 2 * (1 - min(gaps))  # modern-data:Q4
        declared = mechanism.spread * mechanism.parts
        known = {
            counts: costs(ranks_of(counts), rows, levels)
            for rows in range(5)
            for counts in enumeration.histograms(3, rows)
        }
        for here, there in enumeration.pairs(3, 3, 1):
            moves = known[there] - known[here]
            assert 2 * np.abs(moves).max() <= declared
            assert moves.max() - moves.min() <= declared

    def test_the_spread_is_attained(self) -> None:
        """A row in the narrowest interval: before it was too full, or all the others were."""
        levels = [Fraction(2, 5), Fraction(3, 5)]
        before, after = (
            costs(ranks_of(counts), sum(counts), levels)
            for counts in ((4, 0, 0, 0, 4), (4, 0, 1, 0, 4))
        )
        moves, mechanism = after - before, build(levels)
        assert moves.max() - moves.min() == mechanism.spread * mechanism.parts
        assert mechanism.spread == Fraction(16, 5)

    def test_replacing_a_row_moves_costs_by_two(self) -> None:
        """modern-data:Q4, replaced rows: 2 whatever the levels. Two rows are claimed for them."""
        worst = 0
        for here, one in enumeration.pairs(3, 3, 1):
            for more in enumeration.histograms(3, 1):
                other = tuple(np.add(here, more).tolist())
                before, after = (costs(ranks_of(n), sum(n), THIRDS) for n in (one, other))
                worst = max(worst, np.abs(after - before).max())
        assert worst == 2 * 3
        assert build(THIRDS).spread >= 2


class TestLoss:
    @pytest.mark.parametrize("levels", LEVELS, ids=str)
    @pytest.mark.parametrize(("rows", "change"), [(1, 1), (2, 2), (2, 1)])
    def test_in_proportion_to_the_rows_and_of_bounded_range(
        self, levels: list[Fraction], rows: int, change: int
    ) -> None:
        mechanism = build(levels, rows=rows, epsilon=2)
        known = {
            counts: law(mechanism, counts)
            for number in range(4 + change)
            for counts in enumeration.histograms(3, number)
        }
        claimed = 2 * change / rows
        for here, there in enumeration.pairs(3, 3, change):
            low, high = changes(known[here], known[there])
            assert Loss(max(-low, high), claimed).passes
            assert Loss(high - low, claimed).passes, "range"

    def test_its_event(self) -> None:
        mechanism = build(rows=2)
        assert mechanism.event == events.Exponential(epsilon=1)
        assert mechanism.event_for(rows=1) == events.Exponential(epsilon=Fraction(1, 2))
        assert mechanism.event.zcdp().rho == pytest.approx(0.12330, abs=5e-6)
        seeded = JointQuantiles(
            levels=THIRDS, candidates=[1], rank_sensitivity=1, epsilon=1, randomness=Seeded(1)
        )
        assert seeded.event.kind == "Unprotected"


class TestTwins:
    """Four rows between many empty candidates: there the loss comes near to epsilon."""

    def found(self, mechanism: JointQuantiles, change: int, faster: float = 1) -> Loss:
        empty = (0,) * 12
        here, there = (
            law(mechanism, (*empty, 4, *middle, 4, *empty), faster=faster)
            for middle in ((0, 0, 0), (0, change, 0))
        )
        return Loss(worst(here, there), claimed=1)

    def test_as_if_costs_moved_one_way(self) -> None:
        mechanism = build([Fraction(2, 5), Fraction(3, 5)], bins=29)
        assert self.found(mechanism, 1).found > 0.6
        pair = BrokenTwin("joint quantiles", 1.0, 2.0, why="the rate of monotone scores")
        check_pair(pair, lambda faster: self.found(mechanism, 1, faster))

    def test_as_if_each_person_had_one_row(self) -> None:
        sound, broken = (
            build([Fraction(2, 5), Fraction(3, 5)], bins=29, rows=rows) for rows in (2, 1)
        )
        pair = BrokenTwin("joint quantiles", sound, broken, why="a person has two")
        check_pair(pair, lambda mechanism: self.found(mechanism, 2))

    def test_ties_divided_in_proportion(self) -> None:
        """``floor(rows * share)`` moves one cut and not the next: three intervals change."""

        def floors(counts: Counts) -> Ints:
            return counts[0] * (2 * np.arange(8) + 1) // 16

        def dealt(counts: Counts) -> Ints:
            return ranks_of(counts, 3)

        mechanism = build(bins=1, epsilon=8)

        def auditor(ranks: Ranks) -> Loss:
            ends = [
                changes(*(law(mechanism, (n,), ranks=ranks) for n in (tied, tied + 1)))
                for tied in range(8)
            ]
            return Loss(max(high - low for low, high in ends), claimed=8)

        check_pair(BrokenTwin("cuts", dealt, floors, why="rounded one by one"), auditor)


def law_of_blocks(table: JointTable) -> Lists:
    """The chance of every list of blocks by the sums of the table, from the last to the first."""
    found: Lists = {}

    def walk(block: int, level: int, behind: tuple[int, ...], chance: float) -> None:
        for more, share in enumerate(_shares(table.divided(block, level))):
            left, blocks = level - more - 1, (*(block,) * (more + 1), *behind)
            if share and left == 0:
                found[blocks] = chance * share
            elif share:
                for before, part in enumerate(_shares(table.reached(left, block))):
                    walk(before, left, blocks, chance * share * part)

    for block, share in enumerate(_shares(table.ends())):
        walk(block, table.levels, (), share)
    return found


def _shares(weights: ScaledWeights) -> list[float]:
    plain = weights.relative()
    return (plain / plain.sum()).tolist()  # type: ignore[no-any-return]


def listed(mechanism: JointQuantiles, counts: Counts, blocks: RankBlocks) -> Lists:
    """The same by listing, at the least cost of each list of blocks."""
    rate, rows = float(mechanism.rate() * mechanism.parts), sum(counts)
    wanted = [0, *(float(q) * rows for q in mechanism.levels), rows]
    low, high = ([0, *side.tolist(), rows] for side in (blocks.low, blocks.high))
    found: Lists = {}
    for told in combinations_with_replacement(range(len(blocks)), len(mechanism.levels)):
        path = [0, *(block + 1 for block in told), len(blocks) + 1]
        least = 0.0
        for j, (a, b) in enumerate(pairwise(path)):
            share = wanted[j + 1] - wanted[j]
            apart = (0, high[b] - low[b]) if a == b else (low[b] - high[a], high[b] - low[a])
            least += max(apart[0] - share, share - apart[1], 0)
        ways = math.prod(
            math.comb(int(blocks.many[each]) + told.count(each) - 1, told.count(each))
            for each in set(told)
        )
        found[told] = ways * math.exp(-rate * least)
    total = math.fsum(found.values())
    return {told: weight / total for told, weight in found.items()}


class TestTable:
    @pytest.mark.parametrize(
        ("levels", "counts", "epsilon"),
        [
            (THIRDS, (2, 0, 4, 1), 1),
            (UNEVEN, (2, 0, 4, 1), 3),
            (UNEVEN, (0, 0, 0, 0), 1),
            (UNEVEN, (4, 0, 0, 3), 0.2),
            ([Fraction(i, 6) for i in range(1, 6)], (3, 1, 2), 4),
            ([Fraction(1, 2)], (3, 1, 2), 2),
        ],
        ids=str,
    )
    def test_sums_are_those_of_all_lists(
        self, levels: list[Fraction], counts: Counts, epsilon: float
    ) -> None:
        mechanism = build(levels, bins=len(counts), epsilon=epsilon)
        table = table_of(mechanism, counts)
        stated = listed(mechanism, counts, table.blocks)
        assert law_of_blocks(table) == pytest.approx(stated, rel=1e-11)

    def test_blocks_hold_all_cuts_and_their_ranks(self) -> None:
        rng = np.random.default_rng(3)
        for _ in range(30):
            counts = rng.integers(0, 5000, size=20) * (rng.random(20) < 0.5)
            mechanism = build(UNEVEN, bins=20, epsilon=float(rng.uniform(0.001, 3)))
            table = mechanism.table(counts)
            blocks = table.blocks
            assert blocks.first[0] == 0
            assert (blocks.first[1:] == (blocks.first + blocks.many)[:-1]).all()
            assert int(blocks.many.sum()) == table.cuts.places
            for places, side in (
                (blocks.first, blocks.low),
                (blocks.first + blocks.many - 1, blocks.high),
            ):
                ranks = table.cuts.ranks(places)
                assert (blocks.low <= ranks).all()
                assert (ranks <= blocks.high).all()
                assert side is blocks.high or (ranks == side).mean() > 0.9

    def test_costs_are_compared_exactly_however_large(self) -> None:
        """Four thousand million rows at two values, and three between them, at epsilon 50."""
        mechanism = build(THIRDS, bins=4, epsilon=50)
        table = mechanism.table((1 << 31, 3, 0, (1 << 31) + 2))
        best = table.cost(table.draw(Noiseless()))
        assert best <= 4
        assert all(table.cost(table.draw(Seeded(i))) <= best + 6 for i in range(20))

    @pytest.mark.parametrize(
        ("levels", "counts", "epsilon"),
        [(THIRDS, (16, 3, 14), 0.7), (THIRDS, (3, 0, 2), 4), (UNEVEN, (4, 0, 3), 0.5)],
        ids=str,
    )
    def test_every_list_is_kept_with_the_chance_that_makes_its_law(
        self, levels: list[Fraction], counts: Counts, epsilon: float
    ) -> None:
        """None is proposed more rarely than it should be: no chance to be kept exceeds one."""
        digits = 4 if levels is THIRDS else 2
        mechanism = build(levels, bins=3, epsilon=epsilon)
        table = table_of(mechanism, counts, digits)
        proposed, blocks = law_of_blocks(table), table.blocks
        every = lists(3 << digits, len(levels))
        stated = law(mechanism, counts, ranks=partial(ranks_of, digits=digits))
        found = np.empty(len(every))
        for number, places in enumerate(every):
            told = np.searchsorted(blocks.first, places, side="right") - 1
            chance = Fraction(proposed[tuple(told.tolist())])
            groups, ways = [], 1
            for block in dict.fromkeys(told.tolist()):
                many = int((told == block).sum())
                groups.append(CutsInBlock(block, 0, many))
                ways *= math.comb(int(blocks.many[block]) + many - 1, many)
            factor, exponent = table.compute_keep_chance(groups, chance, places)
            kept = float(factor) * math.exp(-float(exponent))
            assert kept <= 1
            found[number] = float(chance) / ways * kept
        assert found / found.sum() == pytest.approx(stated, rel=1e-10)
        assert found.sum() > 0.3, "proposals are kept often enough"


class TestOracles:
    """modern-data:Q4, rows 1, 2 and 3 on [0, 4] at thirds: intervals of the two answers."""

    @pytest.mark.parametrize(
        ("intervals", "stated"),
        [
            ((1, 2), 0.262599),
            ((0, 0), 0.029297),
            ((1, 1), 0.062021),
            ((0, 1), 0.124043),
            ((0, 3), 0.058594),
        ],
    )
    def test_intervals_have_their_chances(self, intervals: tuple[int, ...], stated: float) -> None:
        """The first row at a candidate is at its first place, so intervals are candidates."""
        table = build(bins=4, epsilon=1).table((0, 1, 1, 1))
        assert table.blocks.low.tolist() == table.blocks.high.tolist() == [0, 1, 2, 3]
        assert law_of_blocks(table)[intervals] == pytest.approx(stated, abs=6e-7)

    def test_one_level_is_the_exponential_mechanism_on_intervals(self) -> None:
        """modern-data:Q1, x = 1, …, 9 at one half."""
        found = law(build([Fraction(1, 2)], bins=10), (0, *(1,) * 9)).reshape(10, -1).sum(axis=1)
        stated = [0.005828, 0.015842, 0.043064, 0.117061, 0.318204]
        assert found.tolist() == pytest.approx(stated + stated[::-1], abs=6e-7)


def law_of_lists(mechanism: JointQuantiles, counts: Counts, faster: float = 1) -> DiscreteLaw:
    """On sixteen places each."""
    every = lists(16 * len(counts), len(mechanism.levels)).tolist()
    fine: Ranks = partial(ranks_of, digits=4)
    chances = law(mechanism, counts, faster=faster, ranks=fine).tolist()
    return DiscreteLaw.of(dict(zip(map(tuple, every), chances, strict=True)))


class TestDraws:
    BLOCKS = (16, 3, 14)

    def test_lists_follow_the_stated_law(self, source: Seeded, alpha: float) -> None:
        self.follow((3, 0, 2), 4, [0.5, 2], source, alpha)

    def test_so_do_those_proposed_by_blocks(self, source: Seeded, alpha: float) -> None:
        self.follow(self.BLOCKS, 0.7, [0.5, 2], source, alpha)

    @pytest.mark.slow
    @pytest.mark.parametrize(("counts", "epsilon"), [((3, 0, 2), 4), (BLOCKS, 0.7)])
    def test_nearby_rates_are_told_apart(
        self, counts: Counts, epsilon: float, source: Seeded, alpha: float
    ) -> None:
        self.follow(counts, epsilon, [0.8, 1.25], source, alpha)

    def follow(
        self,
        counts: Counts,
        epsilon: float,
        wrong: list[float],
        source: Seeded,
        alpha: float,
    ) -> None:
        mechanism = build(bins=3, epsilon=epsilon)
        table = table_of(mechanism, counts, 4)
        assert (table.blocks.high > table.blocks.low).any() == (counts == self.BLOCKS)
        judged = three_sided(
            lambda n: [tuple(table.draw(source).tolist()) for _ in range(n)],
            law_of_lists(mechanism, counts),
            [law_of_lists(mechanism, counts, faster) for faster in wrong],
            alpha=alpha,
        )
        assert judged.passes, judged

    @pytest.mark.slow
    def test_without_the_coin_the_law_is_another(
        self, source: Seeded, alpha: float, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Blocks of several ranks are proposed as if all their ranks were the cheapest."""
        mechanism = build(bins=3, epsilon=0.7)
        table = table_of(mechanism, self.BLOCKS, 4)
        stated = law_of_lists(mechanism, self.BLOCKS)

        def auditor(coin: Callable[..., bool]) -> Any:
            monkeypatch.setattr(joint_table, "scaled_exp_coin", coin)
            sample = [tuple(table.draw(source).tolist()) for _ in range(6000)]
            return accepts(sample, stated, alpha=alpha)

        def always(factor: Fraction, exponent: Fraction, source: Source) -> bool:
            return True

        check_pair(BrokenTwin("coin", scaled_exp_coin, always, "none"), auditor)

    def test_groups_and_shapes(self) -> None:
        mechanism = build(UNEVEN, bins=6, epsilon=400)
        counts = np.eye(6, dtype=np.int64) * 40
        found = mechanism.release(counts)
        assert found.tolist() == [[i] * 3 for i in range(6)]
        assert found.dtype == np.int64
        assert mechanism.release(counts[0]).shape == (3,)
        assert mechanism.release(counts[:0]).shape == (0, 3)
        assert mechanism.release(np.zeros((2, 6), dtype=np.int64)).shape == (2, 3)

    def test_without_noise_they_are_the_quantiles(self) -> None:
        silent = JointQuantiles(
            levels=[0.25, 0.5, 0.75],
            candidates=range(100),
            rank_sensitivity=1,
            epsilon=1,
            randomness=Noiseless(),
        )
        assert np.abs(silent.release(np.ones(100, dtype=np.int64)) - [24, 49, 74]).max() <= 1

    def test_never_decreasing_and_absurd_counts(self) -> None:
        mechanism = build(UNEVEN, bins=5, epsilon=0.1)
        found = mechanism.release(np.tile([5, 0, 2, 2, 9], (40, 1)))
        assert (np.diff(found) >= 0).all()
        assert mechanism.release(np.full((2, 5), np.iinfo(np.int64).max)).shape == (2, 3)

    def test_a_value_that_most_rows_share_is_not_missed(self) -> None:
        """A million rows, all but 500 of them zero: the 999th thousandth is zero, for certain."""
        counts = np.zeros(1000, dtype=np.int64)
        counts[0], counts[1:501] = 999_500, 1
        mechanism = build([Fraction(1, 2), Fraction(999, 1000)], bins=1000)
        assert not mechanism.release(np.tile(counts, (20, 1))).any()


class TestAccuracy:
    @pytest.mark.parametrize("levels", [THIRDS, UNEVEN], ids=str)
    @pytest.mark.parametrize("tied", [1, 2, 5])
    def test_stated_rank_errors_hold(self, levels: list[Fraction], tied: int) -> None:
        mechanism = build(levels, bins=40, epsilon=2)
        rng = np.random.default_rng(tied)
        counts = rng.integers(0, tied + 1, size=(60, 40))
        found = mechanism.release(counts)
        upto = np.cumsum(counts, axis=1)
        wanted = upto[:, -1:] * np.array([float(q) for q in levels])
        group = np.arange(60)[:, None]
        high = upto[group, found]
        off = np.maximum(high - counts[group, found] - wanted, wanted - high).max(axis=1)
        for confidence in (0.5, 0.9):
            bound = mechanism.rank_error(confidence=confidence, tied=tied)
            # Fewer fail than are allowed to, but with a chance below 1e-9 (Hoeffding).
            assert np.mean(off > bound) <= 1 - confidence + 0.42

    def test_two_levels_together_are_promised_more_than_apart(self) -> None:
        common: dict[str, Any] = {
            "levels": [0.25, 0.75],
            "candidates": range(1024),
            "rank_sensitivity": 1,
            "epsilon": 1,
        }
        joint, apart = (
            kind(**common).rank_error(confidence=0.95, tied=1)
            for kind in (JointQuantiles, IndependentQuantiles)
        )
        assert joint < apart


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"by": PERMUTE_AND_FLIP}, "not_a_choice"),
        ({"levels": [i / 100 for i in range(1, 100)]}, "too_many_outcomes"),
        (
            {"levels": [i / 33 for i in range(1, 33)], "candidates": range(1 << 16)},
            "too_many_outcomes",
        ),
        ({"levels": [Fraction(1, 999983), Fraction(1, 999979)]}, "levels_too_close"),
        ({"levels": [0.5, 0.5]}, "levels_not_increasing"),
        ({"epsilon": 0}, "not_positive"),
    ],
)
def test_refused(change: dict[str, object], code: str) -> None:
    given = {"levels": THIRDS, "candidates": range(64), "rank_sensitivity": 1, "epsilon": 1}
    with pytest.raises(InvalidParameter) as refusal:
        JointQuantiles(**given | change)  # type: ignore[arg-type]
    assert refusal.value.code == code


def test_levels_without_a_common_denominator_are_rounded_to_a_millionth() -> None:
    mechanism = build([Fraction(1, 999983), Fraction(1, 2) + Fraction(1, 999979)], bins=4)
    assert mechanism.parts <= 10**6
    assert mechanism.levels[1] == Fraction(500001, 10**6)
