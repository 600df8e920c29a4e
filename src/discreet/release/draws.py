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


def known(value: object) -> Released | None:
    """A known number as a plain int or float; None for anything that is no number."""
    if hasattr(value, "interval"):
        return None
    number = finite("the number", value)
    return number if isinstance(number, int | float) else float(number)


def cut(ends: Range, within: Range) -> Range:
    """The part of an interval that lies in a range; the nearest point if there is none."""
    low, high = within
    return min(max(ends[0], low), high), max(min(ends[1], high), low)


def whole_part(width: float) -> int:
    """The largest whole number within ``width``, forgiving the rounding of a float."""
    return math.floor(width * (1 + 2.0**-40) + 2.0**-40)


def merged(terms: Iterable[Term]) -> tuple[Term, ...]:
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
