"""Independent truth for the samplers: laws in 200-digit decimals, and sources that can be told.

Nothing here uses the library's own exponentials. Probabilities are ``Fraction`` intervals whose
width is the stated accuracy of the decimal computation.
"""

from __future__ import annotations

import decimal
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from discreet.audit import ContinuousLaw, FalseAlarms
from discreet.noise import Seeded

DIGITS = 200
CONTEXT = decimal.Context(prec=DIGITS, Emin=decimal.MIN_EMIN, Emax=decimal.MAX_EMAX)
BLUR = Fraction(1, 10**120)
"""Bound of every error made below, that of a normal law cut at 16 deviations excepted."""

SUITE = FalseAlarms(total=1e-6, tests=250)
"""The randomised tests that import this fail wrongly with at most this rate in all."""

Interval = tuple[Fraction, Fraction]
Mass = Callable[[int], Fraction]
Floats = NDArray[np.float64]


def decimal_of(x: Fraction) -> decimal.Decimal:
    return CONTEXT.divide(decimal.Decimal(x.numerator), decimal.Decimal(x.denominator))


@lru_cache(maxsize=1 << 16)
def exp_minus(x: Fraction) -> Fraction:
    """exp(-x) for x >= 0, to within BLUR (absolutely, as exp(-x) <= 1)."""
    return Fraction(CONTEXT.exp(decimal_of(-x)))


def log(x: Fraction) -> Fraction:
    return Fraction(CONTEXT.ln(decimal_of(x)))


@lru_cache(maxsize=1 << 12)
def normal_integral(u: Fraction) -> Fraction:
    """The integral of exp(-x**2/2) over [0, u], 0 <= u <= 16, by its alternating series.

    The largest term is below exp(128) < 10**56, so 200 digits leave 144.
    """
    falling = decimal_of(-u * u / 2)
    term = decimal_of(u)
    total, n = term, 0
    while abs(term) > decimal.Decimal("1e-150"):
        n += 1
        term = CONTEXT.divide(CONTEXT.multiply(term, falling), decimal.Decimal(n))
        total = CONTEXT.add(total, CONTEXT.divide(term, decimal.Decimal(2 * n + 1)))
    return Fraction(total)


def geometric(scale: Fraction) -> Mass:
    a = exp_minus(1 / scale)
    return lambda k: (1 - a) * exp_minus(k / scale) if k >= 0 else Fraction(0)


def discrete_laplace(scale: Fraction) -> Mass:
    a = exp_minus(1 / scale)
    return lambda z: (1 - a) / (1 + a) * exp_minus(abs(z) / scale)


def rounded_laplace(scale: Fraction) -> Mass:
    zero, fall = 1 - exp_minus(1 / (2 * scale)), 1 - exp_minus(1 / scale)
    return lambda z: exp_minus((abs(z) - Fraction(1, 2)) / scale) * fall / 2 if z else zero


def discrete_gaussian(scale: Fraction) -> Mass:
    reach = int(25 * scale) + 2
    total = sum(exp_minus(Fraction(z * z) / (2 * scale * scale)) for z in range(-reach, reach + 1))
    return lambda z: exp_minus(Fraction(z * z) / (2 * scale * scale)) / total


@lru_cache(maxsize=1)
def half_normal_total() -> Fraction:
    """The square root of pi/2, with pi by Machin's formula."""
    pi = 16 * _arctangent_of_inverse(5) - 4 * _arctangent_of_inverse(239)
    return Fraction(CONTEXT.sqrt(decimal_of(pi / 2)))


def _arctangent_of_inverse(n: int) -> Fraction:
    terms = range(DIGITS)
    return sum((Fraction((-1) ** k, (2 * k + 1) * n ** (2 * k + 1)) for k in terms), Fraction(0))


def rounded_gaussian(scale: Fraction) -> Mass:
    """Up to 16 standard deviations, beyond which lies less than 2**-184 in all."""
    total = half_normal_total()

    def mass(z: int) -> Fraction:
        far = normal_integral(min((abs(z) + Fraction(1, 2)) / scale, Fraction(16)))
        if z == 0:
            return far / total
        near = normal_integral(min((abs(z) - Fraction(1, 2)) / scale, Fraction(16)))
        return (far - near) / (2 * total)

    return mass


@dataclass
class Told:
    """Hands out the given words first, then those of a seeded stream, and keeps what it gave."""

    words: Iterable[bytes] = ()
    seed: int = 0
    private: bool = False
    given: list[bytes] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._next = iter(self.words)
        self._rest = Seeded(self.seed)

    def bytes(self, count: int) -> bytes:
        word = next(self._next, None)
        if word is None:
            word = self._rest.bytes(count)
        assert len(word) == count, "the sampler asked for another number of bytes than foreseen"
        self.given.append(word)
        return word


def told_integer(value: int, bits: int) -> bytes:
    """The bytes from which ``randomness.integer`` makes ``value``."""
    width = -(-bits // 8)
    return (value << (8 * width - bits)).to_bytes(width, "little")


def integer_given(word: bytes, bits: int) -> int:
    """The integer that ``randomness.integer`` makes of such a word."""
    return int.from_bytes(word, "little") >> (8 * len(word) - bits)


def spread(below: Callable[[Floats], Floats]) -> ContinuousLaw:
    """The law of Z + V, V uniform on [-1/2, 1/2), for whole Z with P(Z <= k) = below(k)."""

    def cdf(x: Floats) -> Floats:
        whole = np.floor(np.asarray(x) + 0.5)
        part = np.asarray(x) + 0.5 - whole
        return (1 - part) * below(whole - 1) + part * below(whole)

    return ContinuousLaw(cdf)


def jittered(draws: NDArray[np.int64]) -> Floats:
    return draws + np.random.default_rng(len(draws)).random(len(draws)) - 0.5
