"""The draws of noise that a released number is made of, and the ranges in which truths lie."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple, TypeAlias

from discreet.core.parameters import finite
from discreet.mechanisms.distributions.distribution import Distribution

Released: TypeAlias = int | float
Range: TypeAlias = tuple[Released, Released]

CONFIDENCE = 0.95
ANYWHERE: Range = (-math.inf, math.inf)


class Atom(NamedTuple):
    """The identity of one draw of noise: which release drew it, for which measure and cell."""

    release: str
    measure: str
    cell: int


Term: TypeAlias = tuple[Atom, Released, Distribution]


def read_known_number(value: object) -> Released | None:
    """A known number as a plain int or float; None for anything that is no number."""
    if hasattr(value, "interval"):
        return None
    number = finite("the number", value)
    return number if isinstance(number, int | float) else float(number)


def around(value: Released, width: Released, within: Range) -> Range:
    """The interval of a number, in a range: that of the nearest possible one, if it lies beyond.

    So it is never shorter than ``width``: noise that led far below zero says that a count is
    small, and not that it is zero for certain.

    >>> around(40, 6, (0, math.inf)), around(-2, 6, (0, math.inf)), around(-90, 6, (0, math.inf))
    ((34, 46), (0, 6), (0, 6))
    """
    low, high = within
    centre = min(max(value, low), high)
    return max(centre - width, low), min(centre + width, high)


def cut_interval_to_range(ends: Range, within: Range) -> Range:
    """The part of an interval that lies in a range, and half its length where its middle does not.

    >>> [cut_interval_to_range(ends, (2, 9)) for ends in ((1, 5), (-9, -5), (-math.inf, 1))]
    [(2, 5), (2, 4.0), (2, 9)]
    """
    low, high = within
    half = (ends[1] - ends[0]) / 2
    if not math.isfinite(half):
        return (max(ends[0], low), min(ends[1], high)) if _meet(ends, within) else within
    middle = ends[0] + half
    lower, upper = max(ends[0], low), min(ends[1], high)
    if middle < low:
        return low, min(max(upper, low + half), high)
    if middle > high:
        return max(min(lower, high - half), low), high
    return lower, upper


def _meet(one: Range, other: Range) -> bool:
    return one[0] <= other[1] and other[0] <= one[1]


def whole_part(width: float) -> int:
    """The largest whole number within ``width``, forgiving the rounding of a float."""
    return math.floor(width * (1 + 2.0**-40) + 2.0**-40)


def sum_terms_by_atom(terms: Iterable[Term]) -> tuple[Term, ...]:
    """Each atom once, in a canonical order, without those that cancelled."""
    factors: dict[Atom, Released] = {}
    laws: dict[Atom, Distribution] = {}
    for atom, factor, distribution in terms:
        factors[atom] = factors.get(atom, 0) + factor
        laws[atom] = distribution
    return tuple((atom, factors[atom], laws[atom]) for atom in sorted(factors) if factors[atom])


def shared_noise(
    numerator: Sequence[Term], denominator: Sequence[Term]
) -> list[tuple[Released, Released, Distribution]]:
    """Every draw behind either number, with its factor in both; the numerator's come first."""
    below = {atom: factor for atom, factor, _ in denominator}
    noises = [
        (factor, below.pop(atom, 0), distribution) for atom, factor, distribution in numerator
    ]
    return noises + [
        (0, factor, distribution) for atom, factor, distribution in denominator if atom in below
    ]
