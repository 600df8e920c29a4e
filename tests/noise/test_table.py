"""Exact inversion, by enumeration: every word of a small table, and every word that matters."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate

import numpy as np
import pytest
from numpy.typing import NDArray

from discreet.noise import Seeded, table
from discreet.noise.gaussian import BinnedDiscreteGaussian, BinnedRoundedGaussian, RoundedCells
from discreet.noise.laplace import BinnedDiscreteLaplace, BinnedGeometric, BinnedRoundedLaplace
from discreet.noise.table import CHUNK, GuideTable, OutcomeDistribution, OutcomeWeights, borders
from tests.noise import oracle
from tests.noise.oracle import Mass, Told, told_integer

THIRD, ONE, MORE, SEVEN = Fraction(1, 3), Fraction(1), Fraction(5, 2), Fraction(7)
SCALES = (THIRD, ONE, MORE, SEVEN)


def cases(scale: Fraction) -> dict[str, tuple[OutcomeDistribution, Mass]]:
    return {
        "discrete laplace": (BinnedDiscreteLaplace(scale, 0), oracle.discrete_laplace(scale)),
        "rounded laplace": (BinnedRoundedLaplace(scale, 0), oracle.rounded_laplace(scale)),
        "geometric": (BinnedGeometric(scale, 0), oracle.geometric(scale)),
        "discrete gaussian": (BinnedDiscreteGaussian(scale, 0), oracle.discrete_gaussian(scale)),
        "rounded gaussian": (RoundedCells(scale), oracle.rounded_gaussian(scale)),
    }


LAWS = {f"{name} {scale}": case for scale in SCALES for name, case in cases(scale).items()}
CASES = pytest.mark.parametrize(("law", "mass"), LAWS.values(), ids=LAWS.keys())
SLACK = Fraction(1, 1 << 170)
"""Above every error of the oracle, normal laws cut at 16 deviations included."""


def distribution(
    law: OutcomeDistribution, mass: Mass, bits: int
) -> tuple[list[int], list[Fraction]]:
    """Values and the true distribution function of all outcomes that matter at ``bits``."""
    values = [int(v) for v in law.values(len(borders(law, bits)[0]))]
    return values, list(accumulate(mass(v) for v in values))


def inside(word: int, bits: int, index: int, below: list[Fraction]) -> bool:
    """Whether all U that start with the word belong to the outcome."""
    least = below[index - 1] if index else Fraction(0)
    return (
        least - SLACK <= Fraction(word, 1 << bits)
        and Fraction(word + 1, 1 << bits) <= below[index] + SLACK
    )


@CASES
def test_every_word_and_extension_of_a_small_table_gets_its_outcome(
    law: OutcomeDistribution, mass: Mass
) -> None:
    bits = 8
    small = GuideTable(law, guide_bits=4, word_bits=bits)
    values, below = distribution(law, mass, 64)
    index_of = {value: index for index, value in enumerate(values)}
    decided = dict.fromkeys(values, Fraction(0))
    doubt = Fraction(0)
    indices, sure = small._lookup(np.arange(1 << bits, dtype=np.uint64))
    for word in range(1 << bits):
        if sure[word]:
            assert inside(word, bits, int(indices[word]), below)
            decided[values[indices[word]]] += Fraction(1, 1 << bits)
            continue
        for extension in range(1 << bits):
            source = Told([told_integer(extension, bits)], seed=extension)
            value = small._decide(word, source)
            whole, length = word, bits
            for given in source.given:
                whole = whole << length | oracle.integer_given(given, length)
                length *= 2
            assert inside(whole, length, index_of[value], below)
            if length == 2 * bits:
                decided[value] += Fraction(1, 1 << length)
            else:
                doubt += Fraction(1, 1 << 2 * bits)
    assert sum(decided.values()) + doubt == 1
    assert doubt <= Fraction(3 * len(values), 1 << 2 * bits)
    for value in values:
        assert decided[value] - SLACK <= mass(value) <= decided[value] + doubt + SLACK


@pytest.mark.parametrize(
    ("name", "guide_bits", "word_bits"),
    [
        ("discrete laplace 1", 4, 4),
        *((name, 7, 10) for name in LAWS),
        *((name, 16, 64) for name in LAWS),
    ],
)
def test_the_guide_table_gives_the_outcome_of_every_cell(
    name: str, guide_bits: int, word_bits: int
) -> None:
    law, mass = LAWS[name]
    small = GuideTable(law, guide_bits=guide_bits, word_bits=word_bits)
    values, below = distribution(law, mass, 64)
    every = np.arange(CHUNK, dtype=np.uint16)
    source = Told([every.tobytes()])
    drawn = small.draw(CHUNK, source)
    guide = small._guide_table()
    cells = every >> (16 - guide_bits)
    straddling = guide[cells] == table._UNDECIDED
    assert straddling.sum() <= 2 * len(values) << (16 - guide_bits)
    index_of = {value: index for index, value in enumerate(values)}
    for value in np.unique(drawn[~straddling]).tolist():
        run = np.flatnonzero(guide == value)
        for cell in (int(run[0]), int(run[-1])):
            assert inside(cell, guide_bits, index_of[value], below)
    assert (drawn[~straddling] == guide[cells[~straddling]]).all()
    shift = word_bits - guide_bits
    fine = np.frombuffer(source.given[1], dtype=np.uint64)
    assert len(fine) == straddling.sum()
    for cell, more, value in zip(
        cells[straddling].tolist(), fine.tolist(), drawn[straddling].tolist(), strict=True
    ):
        word = cell << shift | more >> (64 - shift)
        outcome = index_of[value]
        least = below[outcome - 1] if outcome else Fraction(0)
        assert least <= Fraction(word + 1, 1 << word_bits) + SLACK
        assert Fraction(word, 1 << word_bits) <= below[outcome] + SLACK


@CASES
def test_words_at_the_borders_of_the_real_table_fall_on_the_right_side(
    law: OutcomeDistribution, mass: Mass
) -> None:
    real = GuideTable(law)
    values, below = distribution(law, mass, 128)
    near = {
        min(max(int(border * 2**64) + step, 0), 2**64 - 1)
        for border in [Fraction(0), *below]
        for step in range(-3, 4)
    }
    words = sorted(near)
    asked = 0
    index_of = {value: index for index, value in enumerate(values)}
    for word in words:
        source = Told(seed=word & 0xFFFF)
        value = int(real._from_words(np.array([word], dtype=np.uint64), source)[0])
        whole, length = word, 64
        for given in source.given:
            whole = whole << length | oracle.integer_given(given, length)
            length *= 2
        asked += len(source.given)
        assert inside(whole, length, index_of[value], below)
    assert asked, "no word needed further bits"


WIDE: dict[str, OutcomeDistribution] = {
    "tiny laplace": BinnedRoundedLaplace(Fraction(1, 10**300), 0),
    "tiny geometric": BinnedGeometric(Fraction(1, 10**5), 0),
    "tiny discrete gaussian": BinnedDiscreteGaussian(Fraction(1, 10**300), 0),
    "tiny gaussian": RoundedCells(Fraction(1, 10**300)),
    "small gaussian": RoundedCells(Fraction(1, 50)),
    "widest table": BinnedDiscreteLaplace(Fraction(127), 0),
    "widest integral": RoundedCells(Fraction(31.999)),
    "widest laplace": BinnedRoundedLaplace(Fraction(1 << 55), 50),
    "widest geometric": BinnedGeometric(Fraction(1 << 55), 50),
    "widest gaussian": BinnedRoundedGaussian(Fraction(1 << 55), 50),
    "widest discrete gaussian": BinnedDiscreteGaussian(Fraction(1 << 55), 50),
    **{name: law for name, (law, _) in LAWS.items()},
}


@pytest.mark.parametrize("law", WIDE.values(), ids=WIDE.keys())
@pytest.mark.parametrize("bits", [4, 8, 64, 128, 320])
def test_doubt_shrinks_to_two_words_per_border_however_fine_the_words(
    law: OutcomeDistribution, bits: int
) -> None:
    surely, maybe = borders(law, bits)
    assert all(0 <= s <= m <= s + 2 for s, m in zip(surely, maybe, strict=True))
    assert surely == sorted(surely)
    assert maybe == sorted(maybe)
    assert surely[-1] >= 2**bits - 2


@pytest.mark.parametrize("law", WIDE.values(), ids=WIDE.keys())
def test_finer_borders_lie_within_coarser_ones_and_outcomes_keep_their_order(
    law: OutcomeDistribution,
) -> None:
    for coarse, fine in [(4, 8), (8, 64), (64, 128), (128, 256)]:
        surely, maybe = borders(law, coarse)
        finer_surely, finer_maybe = borders(law, fine)
        assert len(finer_surely) >= len(surely)
        shift = fine - coarse
        for i in range(len(surely)):
            assert surely[i] << shift <= finer_maybe[i]
            assert finer_surely[i] <= maybe[i] << shift
        assert (law.values(len(finer_surely))[: len(surely)] == law.values(len(surely))).all()


@CASES
@pytest.mark.parametrize("bits", [8, 64, 150])
def test_borders_enclose_the_true_distribution_function(
    law: OutcomeDistribution, mass: Mass, bits: int
) -> None:
    surely, maybe = borders(law, bits)
    below = accumulate(mass(int(v)) for v in law.values(len(surely)))
    for low, truth, high in zip(surely, below, maybe, strict=True):
        assert low - SLACK * 2**bits <= truth * 2**bits <= high + SLACK * 2**bits


@CASES
@pytest.mark.parametrize("bits", [1, 8, 64])
def test_weights_enclose_the_law_and_the_tail_covers_the_rest(
    law: OutcomeDistribution, mass: Mass, bits: int
) -> None:
    weights = law.weights(bits)
    masses = [mass(int(v)) for v in law.values(len(weights.low))]
    common = max(low / p for low, p in zip(weights.low, masses, strict=True))
    assert all(common * (p - SLACK) <= h for h, p in zip(weights.high, masses, strict=True))
    assert common * (1 - sum(masses) - SLACK) <= weights.tail
    assert weights.tail <= sum(weights.low) >> bits


@dataclass(frozen=True)
class Known:
    """A law with finitely many outcomes and whole weights."""

    parts: tuple[int, ...]

    def weights(self, bits: int) -> OutcomeWeights:
        del bits
        return OutcomeWeights(self.parts, self.parts, 0)

    def values(self, count: int) -> NDArray[np.int64]:
        return np.arange(count, dtype=np.int64)


@pytest.mark.parametrize("parts", [(1,), (1, 1), (1, 2, 5), (0, 3, 0, 1), (5, 0), (2**70, 1)])
def test_whole_weights_with_nothing_beyond_them_are_drawn_exactly(parts: tuple[int, ...]) -> None:
    law = Known(parts)
    below = [Fraction(c, sum(parts)) for c in accumulate(parts)]
    real = GuideTable(law)
    words = [0, 1, 2**64 - 2, 2**64 - 1, *(int(b * 2**64) - d for b in below for d in (0, 1))]
    for word in words:
        word = min(max(word, 0), 2**64 - 1)  # noqa: PLW2901
        source = Told(seed=7)
        value = int(real._from_words(np.array([word], dtype=np.uint64), source)[0])
        whole, length = word, 64
        for given in source.given:
            whole = whole << length | oracle.integer_given(given, length)
            length *= 2
        assert parts[value] > 0
        assert inside(whole, length, value, below)
    assert set(real.draw(10_000, Seeded(1)).tolist()) <= {i for i, p in enumerate(parts) if p}


@dataclass(frozen=True)
class Shown:
    """Whole weights of which a coarse look shows the first few; ``spare`` widens what is said.

    The weights beyond those shown weigh less than the tail that is told of them, and each is
    enclosed by bounds as far apart as ``spare``.
    """

    parts: tuple[int, ...]
    few: int
    spare: int = 0
    from_bits: int = 16

    def weights(self, bits: int) -> OutcomeWeights:
        if bits >= self.from_bits:
            return OutcomeWeights(self.parts, self.parts, 0)
        shown = self.parts[: self.few]
        low = [max(0, part - self.spare) for part in shown]
        high = [part + self.spare for part in shown]
        return OutcomeWeights(low, high, sum(self.parts[self.few :]) + self.spare)

    def values(self, count: int) -> NDArray[np.int64]:
        return np.arange(count, dtype=np.int64)


COARSE = [
    Shown((60, 20, 30, 50), 2),
    Shown((60, 20, 30, 50), 2, 15),
    Shown((3, 1, 2, 200), 3, 1),
    Shown((100, 7, 0, 93), 1, 40),
    Shown((5, 250), 1, 4),
]


@pytest.mark.parametrize("law", COARSE, ids=str)
def test_borders_hold_however_much_a_coarse_look_leaves_to_the_tail(law: Shown) -> None:
    truth = [Fraction(c, sum(law.parts)) for c in accumulate(law.parts)]
    for bits in (2, 4, 8, 15):
        surely, maybe = borders(law, bits)
        assert len(surely) == law.few
        for low, share, high in zip(surely, truth, maybe, strict=False):
            assert low <= share * 2**bits <= high


@pytest.mark.parametrize("law", COARSE, ids=str)
@pytest.mark.parametrize("guide_bits", [3, 8])
def test_a_heavy_tail_is_drawn_exactly_by_enumeration(law: Shown, guide_bits: int) -> None:
    """Every word of eight bits, and every extension to sixteen, where the law is known in full."""
    small = GuideTable(law, guide_bits=guide_bits, word_bits=8)
    below = [Fraction(c, sum(law.parts)) for c in accumulate(law.parts)]
    indices, sure = small._lookup(np.arange(1 << 8, dtype=np.uint64))
    for word in range(1 << 8):
        if sure[word]:
            assert inside(word, 8, int(indices[word]), below)
            continue
        for extension in range(0, 1 << 8, 5):
            source = Told([told_integer(extension, 8)], seed=extension)
            value = small._decide(word, source)
            whole, length = word, 8
            for given in source.given:
                whole = whole << length | oracle.integer_given(given, length)
                length *= 2
            assert inside(whole, length, value, below)
    guide = small._guide_table()
    for cell in np.flatnonzero(guide != table._UNDECIDED).tolist():
        assert inside(cell, guide_bits, int(guide[cell]), below)


def test_a_word_on_a_border_belongs_to_the_outcome_above_and_asks_for_no_more_bits() -> None:
    even = GuideTable(Known((1, 1)))
    source = Told()
    words = np.array([2**63 - 1, 2**63], dtype=np.uint64)
    assert even._from_words(words, source).tolist() == [0, 1]
    assert not source.given
    late = GuideTable(Known((1, 2**16 - 1)), word_bits=8)
    for extension, outcome in [(0, 0), (1, 1), (255, 1)]:
        source = Told([told_integer(extension, 8)])
        assert late._decide(0, source) == outcome
        assert len(source.given) == 1, "the first extension lies on a border or off it"


def test_the_last_word_is_decided_by_its_own_bits() -> None:
    """At 64 bits the border of the last outcome is one more than a word can hold."""
    law = Known((2**64 - 1, 1))
    last = np.array([2**64 - 1, 2**64 - 2], dtype=np.uint64)
    assert GuideTable(law)._from_words(last, Told(seed=3)).tolist() == [1, 0]


@pytest.mark.parametrize("size", [0, 1, 4095, 4096, CHUNK, CHUNK + 1, 3 * CHUNK - 1])
def test_draws_of_every_size_are_whole(size: int) -> None:
    drawn = GuideTable(BinnedDiscreteLaplace(MORE, 0)).draw(size, Seeded(5))
    assert drawn.shape == (size,)
    assert drawn.dtype == np.int64
    assert size == 0 or (np.abs(drawn) < 300).all()


def test_one_table_serves_every_call_and_laws_of_one_scale_do_not_mix() -> None:
    source = Seeded(2)
    assert (table.draw(BinnedGeometric(MORE, 0), 5000, source) >= 0).all()
    assert (table.draw(BinnedDiscreteLaplace(MORE, 0), 5000, source) < 0).any()
    assert table._cached(BinnedGeometric(MORE, 0)) is table._cached(
        BinnedGeometric(Fraction(5, 2), 0)
    )


def test_narrow_laws_draw_one_byte_and_wide_ones_two() -> None:
    """Fewer random bits where few of 256 cells hold a border; the law is the same either way."""
    narrow = GuideTable(BinnedDiscreteLaplace(Fraction(3, 10), 0))
    wide = GuideTable(BinnedDiscreteLaplace(Fraction(10), 0))
    counted = [Counting(), Counting()]
    for drawn, source in zip((narrow, wide), counted, strict=True):
        drawn.draw(100_000, source)
    assert 100_000 <= counted[0].used < 150_000
    assert 200_000 <= counted[1].used < 210_000


class Counting:
    """A seeded source that counts the bytes it gave."""

    private = False

    def __init__(self) -> None:
        self.used = 0
        self._source = Seeded(5)

    def bytes(self, count: int) -> bytes:
        self.used += count
        return self._source.bytes(count)
