"""Proposals that are nowhere much rarer than wanted, and the coin that corrects them."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from discreet.audit import DiscreteLaw, accepts
from discreet.noise import Seeded, dominated_choice, scaled_exp_coin
from tests.noise.oracle import SUITE, Told, told_integer

WEIGHTS = np.array([3.0, 0.0, 1e-300, 5.0, 2.0])


class TestProposals:
    def test_the_stated_chances_are_those_of_the_words(self) -> None:
        """Each option owns a range of words, in order, and together they own all of them."""
        shares = [math.floor(weight / 10 * 2**50) + 1 for weight in WEIGHTS]
        total = sum(shares)
        bits = (total - 1).bit_length()
        edges = np.cumsum([0, *shares]).tolist()
        for place, (low, high) in enumerate(pairwise(edges)):
            for word in (low, high - 1):
                told = Told([np.array([word << (64 - bits)], dtype=np.uint64).tobytes()])
                assert dominated_choice(WEIGHTS, told) == (place, Fraction(high - low, total))

    @pytest.mark.parametrize("size", [1, 2, 7, 100_000])
    def test_none_is_much_rarer_than_wanted(self, size: int) -> None:
        weights = np.exp(np.random.default_rng(size).normal(scale=30, size=size))
        exact = sum(map(Fraction, weights.tolist()))
        source = Seeded(size)
        for _ in range(20):
            place, chance = dominated_choice(weights, source)
            wanted = Fraction(float(weights[place])) / exact
            assert chance >= wanted * (1 - Fraction(1, 1 << 22))
            assert chance >= Fraction(1, 1 << 51)

    def test_its_law(self, request: pytest.FixtureRequest) -> None:
        source = Seeded(5)
        sample = [dominated_choice(WEIGHTS, source)[0] for _ in range(20_000)]
        law = DiscreteLaw.of({0: 0.3, 3: 0.5, 4: 0.2})
        assert accepts(sample, law, alpha=SUITE.alpha(request.node.nodeid)).passes


class TestCoin:
    @pytest.mark.parametrize(
        ("factor", "exponent"),
        [
            (Fraction(1, 3), Fraction(0)),
            (Fraction(2), Fraction(1)),
            (Fraction(3, 1 << 70), Fraction(1, 7)),
            (Fraction(10) ** 400, Fraction(922)),
            (Fraction(1, 10**300), Fraction(2)),
        ],
    )
    def test_the_border_is_where_it_belongs(self, factor: Fraction, exponent: Fraction) -> None:
        """Words surely below are heads, words surely above are tails."""
        chance = math.exp(math.log(factor.numerator) - math.log(factor.denominator) - exponent)
        for word in (0, 1, *(round(2**64 * chance * f) for f in (0.999, 1.001)), 2**64 - 1):
            if not 0 <= word < 2**64 or abs(word - 2**64 * chance) < 2:
                continue
            source = Told([told_integer(word, 64)])
            assert scaled_exp_coin(factor, exponent, source) == (word < 2**64 * chance)

    def test_a_word_on_the_border_asks_for_more_bits(self) -> None:
        border = (1 << 64) // 3
        for more, heads in ((0, True), (2**64 - 1, False)):
            source = Told([told_integer(border, 64), told_integer(more, 64)])
            assert scaled_exp_coin(Fraction(1, 3), Fraction(0), source) is heads
            assert len(source.given) == 2

    def test_certain_heads(self) -> None:
        assert all(scaled_exp_coin(Fraction(1), Fraction(0), Seeded(i)) for i in range(20))
