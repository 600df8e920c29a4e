"""Coins, by enumeration of their words and at their thresholds."""

from __future__ import annotations

from fractions import Fraction
from importlib import import_module

import numpy as np
import pytest

from discreet.audit import DiscreteLaw, accepts, three_sided
from discreet.core.errors import InvalidParameter
from discreet.core.parameters import Number
from discreet.noise import Noiseless, Seeded, bernoulli, bernoulli_exp, enclosure
from discreet.noise.bins import MARGIN
from tests.noise.oracle import BLUR, SUITE, Told, exp_minus, integer_given, told_integer

coins = import_module("discreet.noise.bernoulli")
EVERY = np.arange(1 << 16, dtype=np.uint16)
PROBABILITIES = [
    Fraction(0),
    Fraction(1),
    Fraction(1, 2),
    Fraction(1, 3),
    Fraction(2, 3),
    Fraction(1, 1 << 16),
    Fraction(1, 1 << 40),
    1 - Fraction(1, 1 << 40),
    Fraction(0.1),
    Fraction(5e-324),
    Fraction(1, 10**400),
]


@pytest.mark.parametrize("p", PROBABILITIES)
def test_all_first_words_give_the_floor_and_one_is_left_open(p: Fraction) -> None:
    border = int(p * 65536)
    source = Told([EVERY.tobytes()])
    heads = bernoulli(p, 1 << 16, source)
    assert heads[:border].all()
    assert not heads[border + 1 :].any()
    open_word = p * 65536 != border
    assert (len(source.given) > 1) == open_word
    assert open_word or heads.sum() == border


@pytest.mark.parametrize("p", [Fraction(1, 3), Fraction(1, 1 << 24), Fraction(0.1), Fraction(5, 7)])
def test_the_open_word_is_decided_exactly(p: Fraction) -> None:
    """Following bits compare U with p wherever the first that differ may lie."""
    digits = [int(p * 2 ** (64 * k)) % 2**64 for k in (1, 2, 3)]
    for depth in range(3):
        for step in (-1, 1):
            word = digits[depth] + step
            if not 0 <= word < 2**64:
                continue
            told = [told_integer(d, 64) for d in [*digits[:depth], word]]
            assert coins._rational_coin(p, Told(told)) == (step < 0)


@pytest.mark.parametrize("p", [Fraction(1, 3), Fraction(0.1), Fraction(9, 10)])
def test_heads_come_up_as_often_as_stated(p: Fraction, request: pytest.FixtureRequest) -> None:
    def law(chance: float) -> DiscreteLaw:
        return DiscreteLaw.of({True: chance, False: 1 - chance})

    source = Seeded(31)
    result = three_sided(
        lambda n: bernoulli(p, n, source),
        law(float(p)),
        [law(0.8 * float(p)), law(1 - 0.8 * (1 - float(p)))],
        alpha=SUITE.alpha(request.node.nodeid),
    )
    assert result.passes, result


@pytest.mark.parametrize("p", [-0.1, 1.1, Fraction(10**20 + 1, 10**20), float("nan"), "1", True])
def test_what_is_not_a_probability_is_refused(p: Number) -> None:
    with pytest.raises(InvalidParameter):
        bernoulli(p, 1)


def test_without_randomness_coins_stop() -> None:
    for p in PROBABILITIES:
        assert bernoulli(p, 3, Noiseless()).all() == (p > 0)


EXPONENTS = [
    Fraction(0),
    Fraction(1, 10**30),
    Fraction(1, 3),
    Fraction(2),
    Fraction(40),
    Fraction(90),
]


@pytest.mark.parametrize("x", EXPONENTS)
def test_words_near_the_threshold_of_an_exponential_coin_are_decided_exactly(x: Fraction) -> None:
    border = int(exp_minus(x) * 2**64)
    refined = 0
    for word in {min(max(border + step, 0), 2**64 - 1) for step in range(-4, 5)}:
        for ahead in (0, 1 << 63, 2**64 - 1):
            source = Told([told_integer(ahead, 64)], seed=word & 0xFF)
            heads = coins._exp_coin(x, word, source)
            whole, bits = word, 64
            for given in source.given:
                whole, bits = whole << 64 | integer_given(given, 64), bits + 64
            refined += len(source.given)
            chance, blur = exp_minus(x) * 2**bits, BLUR * 2**bits
            assert whole + 1 <= chance + blur if heads else whole >= chance - blur
    assert refined


def test_exact_arithmetic_decides_as_double_precision_does(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(2)
    x = rng.exponential(1.5, 4000)
    fast = bernoulli_exp(x, lambda i: Fraction(x[i]), Seeded(3))
    monkeypatch.setattr(coins, "MARGIN", 2.0)
    assert (bernoulli_exp(x, lambda i: Fraction(x[i]), Seeded(3)) == fast).all()


@pytest.mark.parametrize("x", [0.1, 1.0, 3.0])
def test_exponential_coins_come_up_as_often_as_stated(
    x: float, request: pytest.FixtureRequest
) -> None:
    chance = float(np.exp(-x))
    sample = bernoulli_exp(np.full(200_000, x), lambda _: Fraction(x), Seeded(32))
    law = DiscreteLaw.of({True: chance, False: 1 - chance})
    wrong = DiscreteLaw.of({True: 0.8 * chance, False: 1 - 0.8 * chance})
    alpha = SUITE.alpha(request.node.nodeid)
    assert accepts(sample, law, alpha=alpha).passes
    assert not accepts(sample, wrong, alpha=alpha).passes


def test_certain_and_hopeless_coins() -> None:
    x = np.array([0.0, 2.0**20, np.inf])
    heads = np.array(
        [
            bernoulli_exp(x, lambda i: Fraction((0, 2**20, 10**400)[i]), Seeded(s))
            for s in range(200)
        ]
    )
    assert heads[:, 0].all()
    assert not heads[:, 1:].any()
    ones = Told([b"\xff" * 8])
    assert bernoulli_exp(np.zeros(1), lambda _: Fraction(0), ones).all()
    zeros = Told([bytes(8)])
    assert not bernoulli_exp(np.array([2.0**20]), lambda _: Fraction(2**20), zeros).any()


def test_double_precision_stays_within_a_quarter_of_the_margin() -> None:
    """np.exp at arguments off by the permitted 2**-48 of themselves."""
    rng = np.random.default_rng(6)
    x = np.concatenate([rng.exponential(s, 2000) for s in (1e-6, 0.01, 1, 10, 200)])
    for shift in (1 - 2.0**-48, 1.0, 1 + 2.0**-48):
        rough = np.exp(-x * shift)
        for argument, value in zip(x.tolist(), rough.tolist(), strict=True):
            low, high = enclosure.exp_minus(Fraction(argument), 64)
            here = Fraction(value) * 2**64
            assert max(here - low, high - here) < MARGIN / 4 * 2**64
