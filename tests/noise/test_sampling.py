"""Permutations, subsets and uniform integers, by enumeration and by counting."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, combinations_with_replacement, permutations

import numpy as np
import pytest

from discreet.audit import DiscreteLaw, accepts
from discreet.core.errors import InvalidParameter
from discreet.noise import (
    Noiseless,
    Seeded,
    fixed_size_sample,
    permutation,
    poisson_sample,
    uniform_integers,
    uniform_multiset,
    weighted_choice,
)
from tests.noise.oracle import SUITE, Told, told_integer


def test_orders_of_four_are_equally_likely(request: pytest.FixtureRequest) -> None:
    source = Seeded(1)
    sample = [tuple(permutation(4, source).tolist()) for _ in range(30_000)]
    law = DiscreteLaw.of(dict.fromkeys(permutations(range(4)), 1 / 24))
    assert accepts(sample, law, alpha=SUITE.alpha(request.node.nodeid)).passes


def test_every_order_of_keys_gives_its_own_permutation() -> None:
    for keys in permutations((5, 1 << 40, 1 << 63)):
        source = Told([np.array(keys, dtype=np.uint64).tobytes()])
        assert permutation(3, source).tolist() == sorted(range(3), key=lambda i: keys[i])


def test_equal_keys_are_all_drawn_again() -> None:
    clash = np.array([7, 9, 7], dtype=np.uint64).tobytes()
    clear = np.array([3, 1, 2], dtype=np.uint64).tobytes()
    source = Told([clash, clash, clear])
    assert permutation(3, source).tolist() == [1, 2, 0]
    assert len(source.given) == 3


def test_subsets_of_a_size_are_equally_likely(request: pytest.FixtureRequest) -> None:
    source = Seeded(2)
    sample = [tuple(fixed_size_sample(2, 5, source).tolist()) for _ in range(20_000)]
    law = DiscreteLaw.of(dict.fromkeys(combinations(range(5), 2), 0.1))
    assert accepts(sample, law, alpha=SUITE.alpha(request.node.nodeid)).passes


@pytest.mark.parametrize(("size", "of"), [(2, 4), (3, 2), (2, 1), (1, 3)])
def test_multisets_of_a_size_are_equally_likely(
    size: int, of: int, request: pytest.FixtureRequest
) -> None:
    source = Seeded(12)
    sample = [tuple(uniform_multiset(size, of, source).tolist()) for _ in range(8_000)]
    every = list(combinations_with_replacement(range(of), size))
    law = DiscreteLaw.of(dict.fromkeys(every, 1 / len(every)))
    assert accepts(sample, law, alpha=SUITE.alpha(request.node.nodeid)).passes


def test_large_multisets_draw_equal_numbers_again() -> None:
    """Out of 5000 numbers: those of 2 + 3 - 1 more, less their place, where all differ."""
    shift = np.uint64(64 - 13)
    clash, clear = (
        (np.array(words, dtype=np.uint64) << shift).tobytes() for words in ([7, 9, 7], [8, 4999, 4])
    )
    source = Told([clash, clear])
    assert uniform_multiset(3, 5000, source).tolist() == [4, 7, 4997]
    assert len(source.given) == 2


@pytest.mark.parametrize(
    "weights",
    [(1,), (Fraction(1, 3), Fraction(2, 3)), (Fraction(1, 2), Fraction(0), Fraction(1, 2))],
)
def test_weighted_choices_by_enumeration(weights: tuple[Fraction, ...]) -> None:
    """Every word below the common denominator once; words beyond it are drawn again."""
    weights = tuple(map(Fraction, weights))
    below = max(weight.denominator for weight in weights)
    bits = (below - 1).bit_length()
    found = [0] * len(weights)
    for word in range(1 << bits):
        told = [told_integer(word, bits)] if bits else []
        source = Told([*told, *([told_integer(0, bits)] if word >= below else [])])
        place = weighted_choice(weights, source)
        assert len(source.given) == (2 if word >= below else bool(bits))
        found[place] += word < below
    assert [Fraction(number, below) for number in found] == list(weights)


@pytest.mark.parametrize("weights", [(), (Fraction(1, 2),), (Fraction(3, 2), Fraction(-1, 2))])
def test_weights_that_are_no_chances_are_refused(weights: tuple[Fraction, ...]) -> None:
    with pytest.raises(InvalidParameter, match="weights_do_not_fit"):
        weighted_choice(weights)


def test_samples_are_sorted_distinct_and_of_their_size() -> None:
    for size, of in [(0, 0), (0, 5), (5, 5), (30, 1000)]:
        sample = fixed_size_sample(size, of, Seeded(3))
        assert sample.dtype == np.int64
        assert len(sample) == size
        assert (np.diff(sample) > 0).all()
        assert ((sample >= 0) & (sample < of)).all()


def test_everyone_joins_a_poisson_sample_alone(request: pytest.FixtureRequest) -> None:
    """Product probabilities of all subsets of three at rate 1/3."""
    source, rate = Seeded(4), Fraction(1, 3)
    sample = [tuple(poisson_sample(rate, 3, source).tolist()) for _ in range(30_000)]
    law = DiscreteLaw.of(
        {
            subset: rate**k * (1 - rate) ** (3 - k)
            for k in range(4)
            for subset in combinations(range(3), k)
        }
    )
    assert accepts(sample, law, alpha=SUITE.alpha(request.node.nodeid)).passes


@pytest.mark.parametrize("rate", [0, 1])
def test_certain_rates(rate: int) -> None:
    assert len(poisson_sample(rate, 50, Seeded(1))) == 50 * rate


@pytest.mark.parametrize("below", [1, 2, 3, 5, 6, 8, 100, 256])
def test_uniform_integers_by_enumeration(below: int) -> None:
    """Every word by its leading bits: each integer once, and the surplus drawn again."""
    bits = max((below - 1).bit_length(), 1)
    words = np.arange(1 << bits, dtype=np.uint64) << np.uint64(64 - bits)
    surplus = (1 << bits) - below
    again = np.zeros(surplus, dtype=np.uint64)
    source = Told([words.tobytes(), *([again.tobytes()] if surplus else [])])
    drawn = uniform_integers(below, 1 << bits, source)
    assert drawn[:below].tolist() == list(range(below))
    assert not drawn[below:].any()
    assert len(source.given) == (2 if surplus else 1)


@pytest.mark.parametrize("below", [1, 3, 7, 1 << 62, (1 << 61) + 1])
def test_uniform_integers_stay_in_range_at_every_size(below: int) -> None:
    for size in (0, 1, 10_000):
        drawn = uniform_integers(below, size, Seeded(5))
        assert drawn.dtype == np.int64
        assert drawn.shape == (size,)
        assert ((drawn >= 0) & (drawn < below)).all()
    assert uniform_integers(int(np.int64(3)), 2, Seeded(1)).shape == (2,)


def test_numpy_integers_are_accepted() -> None:
    three = np.int64(3)
    assert uniform_integers(three, 5, Seeded(1)).max() < 3  # type: ignore[arg-type]
    assert len(permutation(three, Seeded(1))) == 3  # type: ignore[arg-type]


@pytest.mark.parametrize("below", [0, -1, (1 << 62) + 1, 2.5, True])
def test_ranges_that_are_no_counts_are_refused(below: int) -> None:
    with pytest.raises(InvalidParameter):
        uniform_integers(below, 1)


def test_samples_larger_than_the_population_are_refused() -> None:
    with pytest.raises(InvalidParameter) as refusal:
        fixed_size_sample(6, 5)
    assert refusal.value.code == "sample_too_large"
    with pytest.raises(InvalidParameter):
        fixed_size_sample(-1, 5)
    with pytest.raises(InvalidParameter):
        permutation(-1)


def test_without_randomness_samplers_stop_at_their_first_choice() -> None:
    nothing = Noiseless()
    assert permutation(4, nothing).tolist() == [0, 1, 2, 3]
    assert fixed_size_sample(2, 4, nothing).tolist() == [0, 1]
    assert not uniform_integers(6, 4, nothing).any()
    assert poisson_sample(0.5, 3, nothing).tolist() == [0, 1, 2]
