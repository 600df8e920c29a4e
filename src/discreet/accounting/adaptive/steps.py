"""Exact amounts: whole numbers of steps so fine that nothing ordinary needs rounding.

A budget that is spent ten thousand times must add up without error, and without fractions whose
denominators grow. So amounts are whole numbers of steps of 1/STEPS. Every float is a whole number
of steps, and so is every fraction with a denominator up to 1000 and every decimal of ordinary
length. Other charges round up, other limits down, by less than 10**-1000.

Proof: ``proofs/filters.md``.
"""

from __future__ import annotations

import math
import sys
from fractions import Fraction
from typing import TypeAlias

STEPS = math.lcm(*range(1, 1001)) * 10**400 * 2**1074
"""Steps in one unit of epsilon, delta or rho."""

_LARGEST = int(sys.float_info.max) * STEPS

Amounts: TypeAlias = tuple[int, ...]
"""One number of steps for each component of a currency, such as epsilon and delta."""


def steps_up(value: Fraction) -> int:
    """The least number of steps that is not below ``value``: for charges."""
    return -(-value.numerator * STEPS // value.denominator)


def steps_down(value: Fraction) -> int:
    """The largest number of steps that is not above ``value``: for limits."""
    return value.numerator * STEPS // value.denominator


def number_up(steps: int) -> float:
    """The least float that is not below so many steps: for what was spent."""
    if steps > _LARGEST:
        return math.inf
    nearest = steps / STEPS  # correctly rounded by Python, whatever the size of the integers
    numerator, denominator = nearest.as_integer_ratio()
    below = numerator * STEPS < steps * denominator
    return math.nextafter(nearest, math.inf) if below else nearest


def number_down(steps: int) -> float:
    """The largest float that is not above so many steps: for what remains."""
    if steps > _LARGEST:
        return sys.float_info.max
    nearest = steps / STEPS
    numerator, denominator = nearest.as_integer_ratio()
    above = numerator * STEPS > steps * denominator
    return math.nextafter(nearest, -math.inf) if above else nearest


def plus(left: Amounts, right: Amounts) -> Amounts:
    """Component by component."""
    return tuple(a + b for a, b in zip(left, right, strict=True))


def minus(left: Amounts, right: Amounts) -> Amounts:
    """Component by component."""
    return tuple(a - b for a, b in zip(left, right, strict=True))


def highest(left: Amounts, right: Amounts) -> Amounts:
    """The larger of each component: parallel composition takes maxima one by one."""
    return tuple(map(max, left, right))


def lowest(left: Amounts, right: Amounts) -> Amounts:
    """The smaller of each component."""
    return tuple(map(min, left, right))
