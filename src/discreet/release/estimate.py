"""A released number as what it is: an unknown truth plus known noise.

The noise is a linear combination of independent draws, each known by an :class:`Atom`. So numbers
can be added, subtracted and scaled, within one release and across several, and the interval of the
result is that of the noise it really has: draws that two numbers share meet once, and ``x - x`` has
none at all.

>>> from discreet.mechanisms.distributions.distribution import DiscreteLaplaceDistribution
>>> law = DiscreteLaplaceDistribution(scale=2, step=1)
>>> north = Estimate(123, ((Atom("r1", "n", 0), 1, law),))
>>> south = Estimate(77, ((Atom("r1", "n", 1), 1, law),))
>>> north
123 ± 6 (95 %)
>>> (north + south) - south == north
True
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, NamedTuple, TypeAlias, overload

from discreet.core.parameters import Number, finite, probability
from discreet.release.format import above, below, decimals, percent, shown

if TYPE_CHECKING:
    from discreet.mechanisms.distributions.distribution import Law
    from discreet.release.ratio import Ratio

Released: TypeAlias = int | float
Range: TypeAlias = tuple[Released, Released]

CONFIDENCE = 0.95
ANYWHERE: Range = (-math.inf, math.inf)


class Atom(NamedTuple):
    """The identity of one draw of noise: which release drew it, for which measure and cell."""

    release: str
    measure: str
    cell: int


Term: TypeAlias = "tuple[Atom, Released, Law]"


@dataclass(frozen=True, repr=False)
class Estimate:
    """A number that was released, or a linear combination of such numbers.

    Contract: ``terms`` holds each atom once, with the factor by which its draw entered ``value``
    and the law it was drawn from; different atoms are independent. ``within`` is where the truth
    lies for public reasons, such as a count not being negative; it cuts intervals, never values.

    Guarantee: the interval at some confidence holds the truth at least that often over the noise.
    It says nothing about sampling, clamping or bounding.
    """

    value: Released
    terms: tuple[Term, ...] = ()
    within: Range = ANYWHERE

    __array_ufunc__: ClassVar[None] = None  # numpy's numbers leave the arithmetic to us

    @property
    def std(self) -> float:
        """The standard deviation of the noise."""
        return math.hypot(*(factor * law.std for _, factor, law in self.terms))

    def half_width(self, *, confidence: float = CONFIDENCE) -> Released:
        """How far the truth may be from the value; whole for whole numbers with whole noise."""
        from discreet.release.intervals.linear import half_width

        level = float(probability("confidence", confidence))
        if not self.terms:
            return 0
        width = half_width([(factor, law) for _, factor, law in self.terms], confidence=level)
        return whole_part(width) if self._is_whole() else width

    def interval(self, *, confidence: float = CONFIDENCE) -> Range:
        """Lower and upper end, cut to where the truth can lie."""
        width = self.half_width(confidence=confidence)
        return cut((self.value - width, self.value + width), self.within)

    def _is_whole(self) -> bool:
        return isinstance(self.value, int) and all(
            isinstance(factor, int) and float(law.step).is_integer()
            for _, factor, law in self.terms
        )

    def __add__(self, other: object) -> Estimate:
        """The sum, with an estimate or a known number."""
        if isinstance(other, Estimate):
            return Estimate(
                self.value + other.value,
                _merged((*self.terms, *other.terms)),
                (self.within[0] + other.within[0], self.within[1] + other.within[1]),
            )
        number = known(other)
        if number is None:
            return NotImplemented
        low, high = self.within
        return Estimate(self.value + number, self.terms, (low + number, high + number))

    __radd__ = __add__

    def __neg__(self) -> Estimate:
        return self * -1

    def __sub__(self, other: object) -> Estimate:
        number = known(other)
        if number is not None:
            return self + -number
        return self + -other if isinstance(other, Estimate) else NotImplemented

    def __rsub__(self, other: object) -> Estimate:
        return -self + other

    def __mul__(self, other: object) -> Estimate:
        """The estimate times a known number."""
        number = known(other)
        if number is None:
            return NotImplemented
        if number == 0:
            return Estimate(0 * self.value, (), (0, 0))
        terms = tuple((atom, factor * number, law) for atom, factor, law in self.terms)
        ends = sorted((self.within[0] * number, self.within[1] * number))
        return Estimate(self.value * number, terms, (ends[0], ends[1]))

    __rmul__ = __mul__

    @overload
    def __truediv__(self, other: Estimate) -> Ratio: ...

    @overload
    def __truediv__(self, other: Number) -> Estimate: ...

    def __truediv__(self, other: object) -> Estimate | Ratio:
        """By a known number: an estimate. By an estimate: a ratio."""
        from discreet.release.ratio import Ratio

        if isinstance(other, Estimate):
            return Ratio(self, other)
        number = known(other)
        if number is None:
            return NotImplemented
        terms = tuple((atom, factor / number, law) for atom, factor, law in self.terms)
        ends = sorted((self.within[0] / number, self.within[1] / number))
        return Estimate(self.value / number, terms, (ends[0], ends[1]))

    def __rtruediv__(self, other: object) -> Ratio:
        from discreet.release.ratio import Ratio

        number = known(other)
        return NotImplemented if number is None else Ratio(Estimate(number), self)

    def __float__(self) -> float:
        return float(self.value)

    def __repr__(self) -> str:
        """``123 ± 6 (95 %)``, or the ends where they are cut."""
        width = self.half_width()
        low, high = self.interval()
        places = decimals(width)
        value = shown(self.value, places)
        if (low, high) == (self.value - width, self.value + width):
            return f"{value} ± {above(width, places)} ({percent(CONFIDENCE)})"
        return f"{value}, {below(low, places)} to {above(high, places)} ({percent(CONFIDENCE)})"


def known(value: object) -> Released | None:
    """A known number as a plain int or float; None for anything that is no number."""
    if isinstance(value, Estimate) or hasattr(value, "interval"):
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


def _merged(terms: Iterable[Term]) -> tuple[Term, ...]:
    """Each atom once, in a canonical order, without those that cancelled."""
    factors: dict[Atom, Released] = {}
    laws: dict[Atom, Law] = {}
    for atom, factor, law in terms:
        factors[atom] = factors.get(atom, 0) + factor
        laws[atom] = law
    return tuple((atom, factors[atom], laws[atom]) for atom in sorted(factors) if factors[atom])
