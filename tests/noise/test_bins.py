"""Bins, thinned exactly: the accepted law as an identity, and every branch of the decision."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray

from discreet.audit import DiscreteLaw, accepts
from discreet.noise import Seeded, bins, enclosure
from discreet.noise.bins import MARGIN, SATURATION, BinnedDistribution, Bins, rungs
from discreet.noise.gaussian import BinnedDiscreteGaussian, BinnedRoundedGaussian
from discreet.noise.laplace import (
    BinnedDiscreteLaplace,
    BinnedGeometric,
    BinnedRoundedLaplace,
    bin_bits,
)
from tests.noise import oracle
from tests.noise.oracle import SUITE, Mass, Told, exp_minus, integer_given, told_integer

SIX = Fraction(6)
SMALL: dict[str, tuple[BinnedDistribution, Mass]] = {
    "discrete laplace": (BinnedDiscreteLaplace(SIX, 2), oracle.discrete_laplace(SIX)),
    "rounded laplace": (BinnedRoundedLaplace(SIX, 2), oracle.rounded_laplace(SIX)),
    "geometric": (BinnedGeometric(Fraction(11, 2), 3), oracle.geometric(Fraction(11, 2))),
    "discrete gaussian": (BinnedDiscreteGaussian(SIX, 2), oracle.discrete_gaussian(SIX)),
    "rounded gaussian": (BinnedRoundedGaussian(SIX, 1), oracle.rounded_gaussian(SIX)),
    "gaussian without places": (
        BinnedRoundedGaussian(Fraction(40), 0),
        oracle.rounded_gaussian(Fraction(40)),
    ),
}
CASES = pytest.mark.parametrize(("law", "mass"), SMALL.values(), ids=SMALL.keys())
SCALES = [Fraction(s) for s in (32, 100, 128, 255.9, 256, 1e6, 2**31, 2**32, 2**33, 2**40, 2**55)]
KINDS: list[Callable[[Fraction, int], BinnedDistribution]] = [
    BinnedDiscreteLaplace,
    BinnedRoundedLaplace,
    BinnedGeometric,
    BinnedDiscreteGaussian,
    BinnedRoundedGaussian,
]
USED = [
    kind(scale, bin_bits(scale))
    for kind in KINDS
    for scale in SCALES
    if bin_bits(scale) or kind is BinnedRoundedGaussian
]
EACH = pytest.mark.parametrize("law", USED, ids=str)


def proposals(law: BinnedDistribution, count: int) -> dict[int, list[tuple[int, int]]]:
    """For each integer the bins and places that propose it."""
    starts, ways = law.values(count).tolist(), law.directions(count).tolist()
    found: dict[int, list[tuple[int, int]]] = {}
    for index, (start, way) in enumerate(zip(starts, ways, strict=True)):
        for place in range(1 << law.place_bits):
            found.setdefault(start + way * place, []).append((index, place))
    return found


@CASES
def test_weight_times_acceptance_is_the_law_up_to_one_constant(
    law: BinnedDistribution, mass: Mass
) -> None:
    weights = law.weights(100)
    count = len(weights.low)
    width = 1 << law.place_bits
    least, most = Fraction(0), None
    for value, ways in proposals(law, count).items():
        alone = value == 0 and int(law.directions(1)[0]) == 0
        assert len(ways) == (width if alone else 1)
        index, place = ways[0]
        if law.fraction_bits:
            shares = _kept_share(law, index, place)
        else:
            shares = exp_minus(law.exponent(index, Fraction(place)))
        truth = mass(value) * (1 if alone else width)
        if truth < Fraction(1, 1 << 90):
            continue
        low, high = weights.low[index] * shares / truth, weights.high[index] * shares / truth
        least, most = max(least, low), high if most is None else min(most, high)
    assert most is not None
    assert least <= most * (1 + Fraction(1, 1 << 80))
    assert most <= least * (1 + Fraction(1, 1 << 60))


def _kept_share(law: BinnedDistribution, index: int, place: int) -> Fraction:
    """The integral of exp(-t) over a unit place, or over the whole bin of zero, over its length."""
    assert isinstance(law, BinnedRoundedGaussian)
    sigma, half = law.scale, Fraction(1, 2)
    if index == 0:
        return 2 * sigma * oracle.normal_integral(half / sigma)
    start = law._magnitude(index)
    near, far = (start + place) / sigma, (start + place + 1) / sigma
    between = oracle.normal_integral(far) - oracle.normal_integral(near)
    return sigma * between / exp_minus(start * start / (2 * sigma * sigma))


@pytest.mark.parametrize("place_bits", [0, 1, 4])
def test_the_density_of_a_rounded_law_is_right_at_every_real_place(place_bits: int) -> None:
    law = BinnedRoundedGaussian(Fraction(40), place_bits)
    twice, width = 2 * law.scale * law.scale, 1 << law.place_bits
    for index in range(9):
        for place in (Fraction(0), Fraction(1, 3), Fraction(width) - Fraction(1, 100)):
            into = place if index else place / (2 * width)
            start = law._magnitude(index)
            assert law.exponent(index, place) == ((start + into) ** 2 - start**2) / twice
    starts = [law._magnitude(index) for index in range(0, 21, 2)]
    assert starts[0] == 0
    assert starts[1:] == [Fraction(1, 2) + h * width for h in range(10)]
    assert [law._magnitude(index) for index in range(1, 21, 2)] == starts[1:]


@EACH
def test_places_kept_at_sight_would_be_kept_by_every_coin(law: BinnedDistribution) -> None:
    drawn = Bins(law)
    always, starts, directions = drawn._columns
    assert len(always) <= bins.FAR
    units, width = 1 << drawn._coin_bits, Fraction(1 << law.place_bits)
    assert len(always) == len(starts) == len(directions)
    for index in range(0, len(always), max(1, len(always) // 150)):
        low, high = enclosure.exp_minus(law.exponent(index, width), 64)
        sure = int(always[index])
        assert sure * 2**64 <= low * units
        assert high * units < (sure + 2) * 2**64, "needlessly careful"


@EACH
def test_place_and_coin_share_no_bit_and_fit_their_word(law: BinnedDistribution) -> None:
    drawn = Bins(law)
    assert law.place_bits + drawn._coin_bits <= (32 if drawn._narrow else 64)
    assert 6 <= drawn._coin_bits <= 8
    assert law.place_bits <= 52, "places must be exact in double precision"


@EACH
def test_proposals_are_start_plus_place_in_whole_numbers(law: BinnedDistribution) -> None:
    drawn = Bins(law)
    source = Told(seed=3)
    out = np.empty(500, dtype=np.int64)
    rejected = drawn._attempt(out, source)
    words = np.frombuffer(source.given[0], dtype=np.uint64)
    indices = drawn._table._lookup(words)[0]
    word = np.uint32 if drawn._narrow else np.uint64
    places = np.frombuffer(source.given[1], dtype=word).astype(np.uint64)
    starts = law.values(int(indices.max()) + 1).tolist()
    ways = law.directions(len(starts)).tolist()
    expected = [
        starts[i] + ways[i] * (p % (1 << law.place_bits))
        for i, p in zip(indices.tolist(), places.tolist(), strict=True)
    ]
    assert out.tolist() == expected
    always = drawn._columns[0]
    coins = (places >> np.uint64((32 if drawn._narrow else 64) - drawn._coin_bits)).astype(np.int64)
    doubtful = len(source.given[2]) // 8 if len(source.given) > 2 else 0
    assert doubtful == (coins >= always[indices]).sum()
    assert (coins[rejected] >= always[indices[rejected]]).all()


@EACH
def test_double_precision_stays_within_a_quarter_of_the_margin(law: BinnedDistribution) -> None:
    rng = np.random.default_rng(8)
    size = 400
    seen = len(law.weights(64).low)
    index = np.concatenate([rng.integers(0, seen, size), rng.integers(0, bins.FAR, size)])
    place = rng.integers(0, 1 << law.place_bits, 2 * size)
    half = Fraction(1, 2 << law.fraction_bits) if law.fraction_bits else Fraction(0)
    fraction = rng.integers(0, 1 << law.fraction_bits, 2 * size)
    middle = place.astype(np.float64)
    if law.fraction_bits:
        middle += (fraction.astype(np.uint64) + 0.5) * 2.0**-law.fraction_bits
    rough = np.exp(-law.exponents(index, middle))
    for i in range(2 * size):
        exact = int(place[i]) + Fraction(int(fraction[i]), 1 << law.fraction_bits)
        for end in {exact, exact + 2 * half}:
            low, high = enclosure.exp_minus(law.exponent(int(index[i]), end), 80)
            here = Fraction(rough[i]) * 2**80
            assert max(here - low, high - here) < Fraction(MARGIN) / 4 * 2**80


def test_words_in_double_precision_stay_within_a_quarter_of_the_margin() -> None:
    words = np.array([0, 1, 2**53 + 1, 2**63 - 1, 2**64 - 1025, 2**64 - 1], dtype=np.uint64)
    for word, rough in zip(words.tolist(), (words * 2.0**-64).tolist(), strict=True):
        assert abs(Fraction(rough) - Fraction(word, 2**64)) + Fraction(1, 2**64) < MARGIN / 4


@pytest.mark.parametrize("law", [*USED, *(law for law, _ in SMALL.values())], ids=str)
def test_exact_arithmetic_decides_as_double_precision_does(
    law: BinnedDistribution, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn = Bins(law)
    size = 3000
    fast = drawn.draw(size, Seeded(17))
    monkeypatch.setattr(bins, "MARGIN", 2.0)
    assert (drawn.draw(size, Seeded(17)) == fast).all()


@CASES
def test_words_near_the_threshold_are_decided_on_the_right_side(
    law: BinnedDistribution, mass: Mass
) -> None:
    del mass
    drawn = Bins(law)
    shift = law.fraction_bits
    refined = 0
    for index in range(7):
        for place in {0, (1 << law.place_bits << shift) // 3, (1 << law.place_bits << shift) - 1}:
            border = int(exp_minus(law.exponent(index, Fraction(place, 1 << shift))) * 2**64)
            for word in range(max(border - 4, 0), min(border + 5, 2**64)):
                for ahead in (0, 2**63, 2**64 - 1):
                    source = Told([told_integer(ahead, 64)], seed=word & 0xFFFF)
                    kept = drawn._decide(index, place, word, source)
                    refined += len(source.given)
                    given = [integer_given(g, 64) for g in source.given]
                    whole, spot = word, place
                    for more in given[:: 2 if shift else 1]:
                        whole = whole << 64 | more
                    for more in given[1::2] if shift else ():
                        spot = spot << 64 | more
                    rounds = len(given) // (2 if shift else 1)
                    bits, deep = 64 * (1 + rounds), shift + 64 * rounds if shift else 0
                    end = Fraction(spot + (1 if shift and kept else 0), 1 << deep)
                    chance = exp_minus(law.exponent(index, end)) * 2**bits
                    blur = oracle.BLUR * 2**bits
                    assert whole + 1 <= chance + blur if kept else whole >= chance - blur
    assert refined


@CASES
def test_far_bins_are_left_to_exact_arithmetic_however_clear_the_coin(
    law: BinnedDistribution, mass: Mass, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Double precision is not trusted where exponents may have lost their digits."""
    del mass
    drawn = Bins(law)
    asked: list[int] = []

    def decide(index: int, place: int, word: int, source: object) -> bool:
        del place, word, source
        asked.append(index)
        return True

    monkeypatch.setattr(bins, "FAR", 3)
    monkeypatch.setattr(drawn, "_decide", decide)
    numbers = np.array([0, 1, 2, 3, 4, 3, 7], dtype=np.int64)
    nothing = np.zeros(len(numbers), dtype=np.int64)
    coins = np.full(len(numbers), (1 << drawn._coin_bits) // 2, dtype=np.int16)
    drawn._consider(numbers, nothing, coins, Seeded(3))
    assert [index for index in asked if index >= 3] == [3, 4, 3, 7]
    always = drawn._prepare(6)[0]
    assert (always[3:] == -1).all(), "no place of a far bin is kept at sight"


def small_law(mass: Mass) -> DiscreteLaw:
    return DiscreteLaw.on_integers(lambda z: float(mass(z)), low=-400, high=400)


@CASES
@pytest.mark.parametrize("forced", ["nothing", "exact", "far", "short"])
def test_every_branch_draws_the_stated_law(
    law: BinnedDistribution,
    mass: Mass,
    forced: str,
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
) -> None:
    size = 100_000 if forced in ("nothing", "short") else 6000
    if forced == "exact":
        monkeypatch.setattr(bins, "MARGIN", 2.0)
    if forced == "far":
        monkeypatch.setattr(bins, "FAR", 5)
    drawn = Bins(law, guide_bits=7, word_bits=12) if forced == "short" else Bins(law)
    if forced == "short":
        drawn._columns = drawn._prepare(3)
    sample = drawn.draw(size, Seeded(23))
    alpha = SUITE.alpha(request.node.nodeid)
    assert accepts(sample, small_law(mass), alpha=alpha).passes


class Chosen:
    """A table that returns the bins it was told."""

    def __init__(self, indices: NDArray[np.int64]) -> None:
        self.indices = indices

    def draw(self, size: int, source: object) -> NDArray[np.int64]:
        del source
        return self.indices[:size]


@pytest.mark.parametrize("kind", KINDS)
def test_bins_beyond_64_bits_saturate_and_never_wrap(
    kind: Callable[[Fraction, int], BinnedDistribution], monkeypatch: pytest.MonkeyPatch
) -> None:
    law = kind(Fraction(1 << 55), 50)
    drawn = Bins(law)
    indices = np.arange(0, 40_000, 7, dtype=np.int64)
    monkeypatch.setattr(drawn, "_table", Chosen(indices))
    monkeypatch.setattr(drawn, "_consider", lambda b, p, c, s: np.ones(len(b), dtype=bool))
    values = drawn.draw(len(indices), Seeded(1))
    ways = law.directions(40_000)[indices]
    alone = isinstance(law, BinnedRoundedLaplace | BinnedRoundedGaussian)
    rung = indices if kind is BinnedGeometric else (indices - alone) >> 1
    assert (np.sign(values) * ways >= 0).all()
    assert (np.abs(values[rung >= 1 << 12]) == SATURATION).all()
    below = (rung < 1 << 12) & (rung >= 0)
    assert (np.abs(values[below]) >= rung[below] << 50).all()
    assert (np.abs(values[below]) <= (rung[below] + 1) << 50).all()


@pytest.mark.parametrize("place_bits", [0, 2, 26, 50])
def test_rungs_climb_and_then_rest(place_bits: int) -> None:
    numbers = np.array([0, 1, 5, 2**12 - 1, 2**12, 2**40, 2**62], dtype=np.int64)
    exact = [min(int(n) << place_bits, SATURATION) for n in numbers]
    assert rungs(numbers, place_bits).tolist() == exact


def test_fresh_columns_of_another_thread_do_not_disturb_a_draw() -> None:
    drawn = Bins(BinnedDiscreteLaplace(SIX, 2))
    short, long = drawn._prepare(2), drawn._prepare(300)
    for columns in (short, long, short):
        drawn._columns = columns
        assert len(drawn.draw(5000, Seeded(4))) == 5000
    assert all(
        (first == second[:2]).all() for first, second in ((short[i], long[i]) for i in range(3))
    )


def test_one_set_of_bins_serves_every_call() -> None:
    law = BinnedDiscreteLaplace(Fraction(1000), 4)
    assert bins._cached(law) is bins._cached(BinnedDiscreteLaplace(Fraction(1000), 4))
    assert bins._cached(law) is not bins._cached(BinnedRoundedLaplace(Fraction(1000), 4))
    assert bins.draw(law, 0, Seeded(1)).shape == (0,)
