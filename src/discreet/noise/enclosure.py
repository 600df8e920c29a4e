"""Certified bounds of exp and log in integers: the arithmetic under every exact sampler.

A number y is *enclosed at b bits* by integers ``low <= 2**b * y <= high``. All functions work
on Python integers, round outward, and are therefore bounds whatever the platform's floating
point does. Proof: ``proofs/enclosure.md``.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

GUARD = 32
_HALVINGS = 8


def exp_minus(x: Fraction, bits: int) -> tuple[int, int]:
    """Enclose ``exp(-x)`` for a rational ``x >= 0``.

    Contract: ``low <= 2**bits * exp(-x) <= high`` and ``high - low <= 2``.

    >>> low, high = exp_minus(Fraction(1), 20)
    >>> low <= 2**20 * 0.36787944117144233 <= high
    True
    """
    if x.numerator > x.denominator * (bits + 2):
        # exp(-x) < exp(-(bits + 2)) < 2**-bits: nothing to resolve at this precision.
        return 0, 1
    halvings = _HALVINGS + (x.numerator // x.denominator).bit_length()
    work = bits + GUARD + halvings
    reduced = (x.numerator << (work - halvings)) // x.denominator
    # exp(-r) for r = reduced / 2**work: an alternating series, floored term by term.
    term = total = 1 << work
    n = 0
    while term:
        n += 1
        term = (term * reduced >> work) // n
        total += -term if n & 1 else term
    # Each floored term is low by less than 2 units, the cut tail by less than 1, and r itself
    # by less than 1 unit, through which exp(-r) moves by less than 1.
    slack = 2 * n + 3
    low, high = total - slack, total + slack
    for _ in range(halvings):
        low = low * low >> work
        high = (high * high >> work) + 1
    drop = work - bits
    return low >> drop, -(-high >> drop)


def multiply(a: tuple[int, int], b: tuple[int, int], bits: int) -> tuple[int, int]:
    """Enclose the product of two enclosed numbers that are not negative."""
    return a[0] * b[0] >> bits, -(-a[1] * b[1] >> bits)


def log_inverse(low: int, high: int, bits: int) -> tuple[int, int]:
    """Enclose ``-log(y)`` for ``y`` in ``(0, 1]`` enclosed by ``0 < low <= high`` at ``bits``."""
    return _log_ratio(1 << bits, min(high, 1 << bits), bits)[0], _log_ratio(1 << bits, low, bits)[1]


def _log_ratio(numerator: int, denominator: int, bits: int) -> tuple[int, int]:
    """Enclose ``log(numerator / denominator)`` for ``numerator >= denominator > 0``."""
    doublings = (numerator // denominator).bit_length() - 1
    rest = _twice_artanh(
        numerator - (denominator << doublings), numerator + (denominator << doublings), bits
    )
    two = _log_two(bits)
    return doublings * two[0] + rest[0], doublings * two[1] + rest[1]


@lru_cache(maxsize=16)
def _log_two(bits: int) -> tuple[int, int]:
    return _twice_artanh(1, 3, bits)


def _twice_artanh(p: int, q: int, bits: int) -> tuple[int, int]:
    """Enclose ``log((1 + p/q) / (1 - p/q))`` for ``0 <= p/q <= 1/3``."""
    work = bits + GUARD
    ratio = (p << work) // q
    square = ratio * ratio >> work
    power, total, n = ratio, 0, 1
    while power:
        total += power // n
        power = power * square >> work
        n += 2
    # At most 4 units lost per term, and the tail is below the first power that vanished.
    low = 2 * total
    high = 2 * (total + 4 * n + 4)
    return low >> GUARD, -(-high >> GUARD)
