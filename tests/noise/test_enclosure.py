"""Integer enclosures of exp and log against 160-digit decimals."""

from __future__ import annotations

import random
from fractions import Fraction

import pytest

from discreet.noise import enclosure
from discreet.noise.enclosure import log_inverse, multiply
from tests.noise.oracle import BLUR, exp_minus, log

BITS = (1, 8, 53, 64, 200, 360)


def arguments() -> list[Fraction]:
    drawn = random.Random(11)
    spread = [
        Fraction(drawn.getrandbits(60), 1 << drawn.randrange(10, 70)) % 400 for _ in range(150)
    ]
    odd = [Fraction(drawn.randrange(1, 10**9), drawn.randrange(1, 10**9)) for _ in range(150)]
    edges = [Fraction(n) + Fraction(d, 1 << 80) for n in range(1, 70) for d in (-1, 0, 1)]
    tiny = [Fraction(1, 10**k) for k in (1, 5, 17, 50, 300)]
    return [Fraction(0), *tiny, *edges, *[x for x in spread + odd if x < 400]]


def enclosed(truth: Fraction, low: int, high: int, bits: int) -> bool:
    blur = BLUR * (1 << bits)
    return low - blur <= truth * (1 << bits) <= high + blur


@pytest.mark.parametrize("bits", BITS)
def test_the_exponential_lies_within_and_the_bounds_within_two(bits: int) -> None:
    for x in arguments():
        low, high = enclosure.exp_minus(x, bits)
        assert enclosed(exp_minus(x), low, high, bits), x
        assert 0 <= low <= high <= low + 2, x


@pytest.mark.parametrize("bits", [64, 128, 2048, 20_000])
def test_bounds_stay_within_two_at_high_precision(bits: int) -> None:
    for x in (Fraction(0), Fraction(1, 3), Fraction(bits, 3), Fraction(bits + 2)):
        low, high = enclosure.exp_minus(x, bits)
        assert 0 <= low <= high <= low + 2


@pytest.mark.parametrize("bits", [1, 64, 1000])
def test_higher_precision_refines_lower(bits: int) -> None:
    for x in arguments():
        low, high = enclosure.exp_minus(x, bits)
        finer_low, finer_high = enclosure.exp_minus(x, bits + 64)
        assert low << 64 <= finer_high, x
        assert finer_low <= high << 64, x


@pytest.mark.parametrize("bits", [1, 64, 500])
def test_what_cannot_be_resolved_lies_between_nothing_and_a_unit(bits: int) -> None:
    for x in (Fraction(bits + 3), Fraction(10**9), Fraction(10**300), Fraction(10**5000, 7)):
        assert enclosure.exp_minus(x, bits) == (0, 1)
    at_switch = Fraction(bits + 2)
    beyond = at_switch + Fraction(1, 1 << 90)
    for x in (at_switch, beyond):
        low, high = enclosure.exp_minus(x, bits)
        assert enclosed(exp_minus(x), low, high, bits)


def test_the_exponential_of_zero_encloses_one() -> None:
    low, high = enclosure.exp_minus(Fraction(0), 64)
    assert low <= 1 << 64 <= high


def test_products_round_outward() -> None:
    drawn = random.Random(3)
    for _ in range(2000):
        bits = drawn.randrange(1, 80)
        a, b = (sorted(drawn.getrandbits(bits + 1) for _ in range(2)) for _ in range(2))
        low, high = multiply((a[0], a[1]), (b[0], b[1]), bits)
        assert low << bits <= a[0] * b[0] < (low + 1) << bits
        assert (high - 1) << bits < a[1] * b[1] <= high << bits


@pytest.mark.parametrize("bits", [8, 64, 200])
def test_the_logarithm_lies_within(bits: int) -> None:
    drawn = random.Random(5)
    one = 1 << bits
    numbers = [1, 2, 3, one // 3, one // 2, one // 2 + 1, one - 1, one]
    numbers += [drawn.randrange(1, one + 1) for _ in range(100)]
    for y in numbers:
        low, high = log_inverse(y, y, bits)
        assert enclosed(-log(Fraction(y, one)), low, high, bits), y
        assert 0 <= low <= high <= low + bits + 4, y
        wider_low, wider_high = log_inverse(max(1, y - 1), y + 1, bits)
        assert wider_low <= low <= high <= wider_high


def test_the_logarithm_of_one_is_nothing() -> None:
    low, high = log_inverse(1 << 64, (1 << 64) + 5, 64)
    assert low == 0
    assert high <= 1


def test_logarithm_and_exponential_are_inverse() -> None:
    for x in (Fraction(1, 7), Fraction(2), Fraction(30)):
        low, high = log_inverse(*enclosure.exp_minus(x, 160), 160)
        assert low <= x * 2**160 <= high
