"""Draws one by one: their stated laws, their doubtful coins, and that they build no table.

The randomised tests fail wrongly with at most a rate of 1e-6 in all.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import TypeAlias

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from discreet.audit import DiscreteLaw, FalseAlarms, accepts, three_sided
from discreet.noise import (
    Seeded,
    Source,
    bins,
    discrete_gaussian,
    discrete_laplace,
    few,
    geometric,
    rounded_gaussian,
    rounded_laplace,
    table,
)
from discreet.noise.bernoulli import exp_coin
from discreet.noise.bins import SATURATION
from discreet.noise.few import FEW, draw_numbers
from tests.noise import oracle, test_gaussian, test_laplace
from tests.noise.oracle import BLUR, Told, integer_given, jittered, spread, told_integer

Floats: TypeAlias = NDArray[np.float64]
Number: TypeAlias = Callable[[Fraction, Source], int]

ALARMS = FalseAlarms(total=1e-6, tests=60)
LAPLACE: dict[str, Number] = {
    "rounded": few.rounded_laplace_number,
    "discrete": few.discrete_laplace_number,
    "geometric": few.geometric_number,
}
GAUSSIAN: dict[str, Number] = {
    "rounded": few.rounded_gaussian_number,
    "discrete": few.discrete_gaussian_number,
}
KINDS = {("laplace", name): number for name, number in LAPLACE.items()} | {
    ("gaussian", name): number for name, number in GAUSSIAN.items()
}
EVERY = pytest.mark.parametrize("kind", KINDS, ids="-".join)


def law(kind: tuple[str, str], scale: float) -> DiscreteLaw:
    family, name = kind
    return test_laplace.law(name, scale) if family == "laplace" else test_gaussian.law(name, scale)


def below(kind: tuple[str, str], scale: float) -> Callable[[Floats], Floats]:
    family, name = kind
    return partial((test_laplace if family == "laplace" else test_gaussian).below, name, scale)


@EVERY
@pytest.mark.parametrize("scale", [1, 1.7, 10])
def test_the_true_law_passes_and_wrong_scales_fail(
    kind: tuple[str, str], scale: float, request: pytest.FixtureRequest
) -> None:
    source = Seeded(301)
    result = three_sided(
        lambda n: draw_numbers(KINDS[kind], Fraction(scale), n, source),
        law(kind, scale),
        [law(kind, 0.8 * scale), law(kind, 1.25 * scale)],
        alpha=ALARMS.alpha(request.node.nodeid),
    )
    assert result.passes, result


@pytest.mark.parametrize("name", LAPLACE)
def test_scales_below_a_step_have_their_law(name: str, request: pytest.FixtureRequest) -> None:
    source = Seeded(302)
    result = three_sided(
        lambda n: draw_numbers(LAPLACE[name], Fraction(0.3), n, source),
        test_laplace.law(name, 0.3),
        [test_laplace.law(name, 0.24), test_laplace.law(name, 0.375)],
        alpha=ALARMS.alpha(request.node.nodeid),
    )
    assert result.passes, result


@EVERY
@pytest.mark.parametrize("scale", [127.5, 1e6, 2.0**55])
def test_large_scales_have_their_law(
    kind: tuple[str, str], scale: float, request: pytest.FixtureRequest
) -> None:
    source = Seeded(303)
    right, small, large = (spread(below(kind, factor * scale)) for factor in (1.0, 0.8, 1.25))
    result = three_sided(
        lambda n: jittered(draw_numbers(KINDS[kind], Fraction(scale), n, source)),
        right,
        [small, large],
        alpha=ALARMS.alpha(request.node.nodeid),
    )
    assert result.passes, result


@EVERY
@pytest.mark.parametrize(("scale", "shift"), [(1e6, 0), (2**55, 0), (2**55, 42)])
def test_low_digits_have_their_law(
    kind: tuple[str, str], scale: float, shift: int, request: pytest.FixtureRequest
) -> None:
    fall = 2**shift / scale if kind[1] == "geometric" else 0.0
    weights = np.exp(-fall * np.arange(8))
    masses = dict(enumerate((weights / weights.sum()).tolist()))
    sample = draw_numbers(KINDS[kind], Fraction(scale), 20_000, Seeded(304)) >> shift & 7
    assert accepts(sample, DiscreteLaw.of(masses), alpha=ALARMS.alpha(request.node.nodeid)).passes


def zero_twice(scale: Fraction, source: Source) -> int:
    """The broken twin: minus zero is kept, so zero comes up twice as often as it may."""
    magnitude = few.geometric_number(scale, source)
    return magnitude if source.bytes(1)[0] & 1 else -magnitude


def test_a_second_zero_is_noticed() -> None:
    sample = draw_numbers(zero_twice, Fraction(2), 20_000, Seeded(305))
    assert not accepts(sample, test_laplace.law("discrete", 2), alpha=1e-9).passes


def test_minus_zero_is_drawn_again() -> None:
    small = 2**64 - 2**62  # of a magnitude of zero, at a scale of one
    told = [told_integer(small << 1 | 1, 65), told_integer(small << 1, 65)]
    source = Told(told)
    assert few.discrete_laplace_number(Fraction(1), source) == 0
    assert len(source.given) == len(told)


@pytest.mark.parametrize("negative", [0, 1])
def test_the_bit_of_the_sign_is_none_of_the_magnitude(negative: int) -> None:
    told = told_integer(2**62 << 1 | negative, 65)  # 2 log 2 is a magnitude of one
    sign = -1 if negative else 1
    assert few.discrete_laplace_number(Fraction(1), Told([told])) == sign
    assert few.rounded_laplace_number(Fraction(1), Told([told])) == sign


def whole_part(scale: Fraction, halves: int, bits: Fraction) -> int:
    """The truth: the whole part of an exponential number, for a U that is no border."""
    return math.floor(-scale * oracle.log(bits) + Fraction(halves, 2))


@pytest.mark.parametrize("halves", [0, 1])
@pytest.mark.parametrize(
    "scale", [Fraction(1), Fraction(3, 7), Fraction(10**6, 3), Fraction(2**50)]
)
@pytest.mark.parametrize("border", [1, 2, 5, 40])
def test_words_near_the_border_of_two_numbers_are_decided_exactly(
    scale: Fraction, halves: int, border: int
) -> None:
    """Every continuation of the bits that were drawn gives the same number."""
    depth = (border * max(1, int(scale)) - Fraction(halves, 2)) / scale
    at = int(oracle.exp_minus(depth) * 2**64)
    refined = 0
    for word in {min(max(at + step, 0), 2**64 - 1) for step in range(-3, 4)}:
        for ahead in (0, 1 << 63, 2**64 - 1):
            source = Told([told_integer(ahead, 64)], seed=word & 0xFF)
            found = few._whole_part(scale, halves, word, source)
            drawn_bits = word
            for told in source.given:
                drawn_bits = drawn_bits << 64 | integer_given(told, 64)
            size = 1 << 64 * (1 + len(source.given))
            refined += bool(source.given)
            ends = [Fraction(3 * drawn_bits + part, 3 * size) for part in (1, 2)]
            assert {whole_part(scale, halves, end) for end in ends} == {found}
    assert refined


@given(
    st.integers(0, 2**64 - 1) | st.integers(0, 2**20),
    st.fractions(Fraction(1, 1000), 2**55, max_denominator=10**6),
    st.sampled_from([0, 1]),
)
def test_doubles_and_integers_agree_on_whole_parts(word: int, scale: Fraction, halves: int) -> None:
    source = Told([told_integer(1 << 63, 64)] * 2, seed=1)
    found = few._whole_part(scale, halves, word, source)
    bits = word
    for told in source.given:
        bits = bits << 64 | integer_given(told, 64)
    middle = Fraction(2 * bits + 1, 2 << 64 * (1 + len(source.given)))
    assert found == whole_part(scale, halves, middle)


def test_a_first_word_of_zero_is_no_end() -> None:
    source = Told([told_integer(1, 64)], seed=3)
    found = few._whole_part(Fraction(1), 0, 0, source)
    assert found == math.floor(2 * 64 * math.log(2))  # or one more bit of it is drawn


@pytest.mark.parametrize("x", [(0, 1), (1, 1), (1, 3), (1, 10**30), (40, 1), (90, 1), (2**20, 1)])
def test_words_near_the_threshold_of_a_coin_are_decided_exactly(x: tuple[int, int]) -> None:
    chance = oracle.exp_minus(Fraction(*x))
    border = int(chance * 2**64)
    refined = 0
    for word in {min(max(border + step, 0), 2**64 - 1) for step in range(-4, 5)}:
        for ahead in (0, 1 << 63, 2**64 - 1):
            source = Told([told_integer(word, 64), told_integer(ahead, 64)], seed=word & 0xFF)
            heads = exp_coin(*x, source)
            whole = 0
            for told in source.given:
                whole = whole << 64 | integer_given(told, 64)
            bits = 64 * len(source.given)
            refined += len(source.given) > 1
            here, blur = chance * 2**bits, BLUR * 2**bits
            assert whole + 1 <= here + blur if heads else whole >= here - blur
    assert refined or x == (2**20, 1)


def test_hopeless_coins_are_tails_however_large_the_exponent() -> None:
    for above in (2**20, 10**400):
        assert not any(exp_coin(above, 1, Seeded(seed)) for seed in range(20))


@given(
    st.integers(0, 10**6),
    st.integers(0, 2**64 - 1),
    st.fractions(1, 1000, max_denominator=10**6),
)
def test_exponents_are_those_of_a_normal_density_and_grow(
    halves: int, place: int, scale: Fraction
) -> None:
    wide = int(scale) + 1

    def exponent(at: int) -> Fraction:
        return Fraction(*few._exponent(halves, at, 64, wide, scale))

    x = (halves + Fraction(place, 1 << 64)) / 2
    proposed = Fraction(halves, 2 * wide)
    peak = scale * scale / (2 * wide * wide)
    assert exponent(place) == x * x / (2 * scale * scale) + peak - proposed
    assert 0 <= exponent(0) <= exponent(place) < exponent(place + 1)


@pytest.mark.parametrize(("halves", "scale"), [(0, 1), (3, 1), (5, 2), (40, 17), (9, 100)])
@pytest.mark.parametrize("place", [0, 1 << 63, 2**64 - 1])
def test_doubtful_places_are_decided_as_the_bits_say(halves: int, scale: int, place: int) -> None:
    """Every continuation of the bits that were drawn decides alike."""
    sigma, wide = Fraction(scale), scale + 1

    def chance(at: int, bits: int) -> Fraction:
        return oracle.exp_minus(Fraction(*few._exponent(halves, at, bits, wide, sigma)))

    border = int(chance(place, 64) * 2**64)
    for word in {min(max(border + step, 0), 2**64 - 1) for step in range(-3, 4)}:
        source = Told([told_integer(place, 64), told_integer(word, 64)], seed=word & 0xFF)
        heads = few._toss_keep_coin(halves, wide, sigma, source)
        places = words = 0
        for told in source.given[::2]:
            places = places << 64 | integer_given(told, 64)
        for told in source.given[1::2]:
            words = words << 64 | integer_given(told, 64)
        bits = 32 * len(source.given)
        if heads:
            assert words + 1 <= (chance(places + 1, bits) + BLUR) * 2**bits
        else:
            assert words >= (chance(places, bits) - BLUR) * 2**bits


@pytest.mark.parametrize("far", [SATURATION + 1, 10**40])
@pytest.mark.parametrize("sign", [1, -1])
def test_draws_beyond_64_bits_saturate(far: int, sign: int) -> None:
    found = draw_numbers(lambda _, __: sign * far, Fraction(1), 2, Seeded(0))
    assert found.tolist() == [sign * SATURATION] * 2
    assert found.dtype == np.int64


@pytest.mark.parametrize(
    "draw", [geometric, discrete_laplace, rounded_laplace, discrete_gaussian, rounded_gaussian]
)
@pytest.mark.parametrize("scale", [math.pi, 1e3 * math.pi, 1e12 * math.pi])
def test_few_draws_of_a_new_law_build_no_table(
    draw: Callable[..., NDArray[np.int64]], scale: float
) -> None:
    """Preparing a law takes milliseconds, and each price has laws of its own."""
    before = table._cached.cache_info().misses, bins._cached.cache_info().misses
    assert draw(scale, FEW, Seeded(1)).shape == (FEW,)
    assert (table._cached.cache_info().misses, bins._cached.cache_info().misses) == before
    assert draw(scale, FEW + 1, Seeded(1)).shape == (FEW + 1,)
    assert (table._cached.cache_info().misses, bins._cached.cache_info().misses) != before
