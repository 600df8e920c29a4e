"""A released number as what it is: an unknown truth plus known noise, ready for arithmetic.

The noise is a linear combination of independent draws, each known by an :class:`Atom`. So numbers
can be added, subtracted and scaled, within one release and across several, and the interval of the
result is that of the noise it really has: draws that two numbers share meet once, and ``x - x`` has
none at all.

>>> from discreet.mechanisms.distributions.distribution import DiscreteLaplaceDistribution
>>> from discreet.release.draws import Atom
>>> law = DiscreteLaplaceDistribution(scale=2, step=1)
>>> north = Estimate(123, ((Atom("r1", "n", 0), 1, law),))
>>> south = Estimate(77, ((Atom("r1", "n", 1), 1, law),))
>>> north
123 ± 6 (95 %)
>>> (north + south) - south == north
True

A quotient of two released numbers, such as a mean, is a :class:`Ratio` with Fieller's interval: it
holds the truth, that of the numbers to which noise was added, at the stated confidence at every
sample size, whatever noise the two share. Where
the denominator cannot be told from zero, the whole range is stated: nothing shorter would be true.

>>> north / (north + south)
0.615, 0.594 to 0.637 (95 %)
>>> 1 - north / (north + south)
0.385, 0.363 to 0.406 (95 %)

Sums of ratios of different denominators are a :class:`Contrast`: is the mean of A above that of B?
The error of a ratio is exactly ``(e_s - R e_n) / n``, where e_s and e_n are the noises of numerator
and denominator, n the released denominator and R the true ratio. The *delta method* puts the
released ratio in the place of R, and the half-width of the linear combination of draws that
results is the interval's. It is close where every denominator is far from zero compared with its
noise. Elsewhere a *box* is used: one interval for each part, at a confidence such that all of them
hold together, added up. The box always holds, and is wider.

Source: modern-data:C2.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, overload

import numpy as np

from discreet.core.parameters import Number, probability
from discreet.release.draws import (
    ANYWHERE,
    CONFIDENCE,
    Range,
    Released,
    Term,
    around,
    cut_interval_to_range,
    read_known_number,
    shared_noise,
    sum_terms_by_atom,
    whole_part,
)
from discreet.release.format import above, below, decimals, format_number, percent
from discreet.release.intervals.linear import half_width, half_widths
from discreet.release.intervals.ratio import ratio_ends

FAR = 4
"""From how many half-widths on a denominator counts as far from zero.

Simulated at this distance, over Laplace and normal noise and means anywhere in their bounds, first
order holds the truth 94 to 98 times in 100, where a box would hold it 99.8 times."""


@dataclass(frozen=True, repr=False)
class Estimate:
    """A number that was released, or a linear combination of such numbers.

    Contract: ``terms`` holds each atom once, with the factor by which its draw entered ``value``
    and the law it was drawn from; different atoms are independent. ``within`` is where the truth
    lies for public reasons, such as a count not being negative; it cuts intervals, never values.

    Guarantee: the interval at some confidence holds the truth at least that often over the noise:
    the number that noise was added to, after clamping and bounding.
    """

    value: Released
    terms: tuple[Term, ...] = ()
    within: Range = ANYWHERE

    __array_ufunc__: ClassVar[None] = None  # numpy's numbers leave the arithmetic to us

    @property
    def std(self) -> float:
        """The standard deviation of the noise."""
        return math.hypot(*(factor * distribution.std for _, factor, distribution in self.terms))

    def half_width(self, *, confidence: float = CONFIDENCE) -> Released:
        """How far the truth may be from the value; whole for whole numbers with whole noise."""
        level = float(probability("confidence", confidence))
        if not self.terms:
            return 0
        width = half_width(
            [(factor, distribution) for _, factor, distribution in self.terms], confidence=level
        )
        return whole_part(width) if self.is_whole() else width

    def interval(self, *, confidence: float = CONFIDENCE) -> Range:
        """Lower and upper end, where the truth can lie, and never closer than the half-width."""
        return around(self.value, self.half_width(confidence=confidence), self.within)

    def is_whole(self) -> bool:
        """Whether it is a whole number with whole noise."""
        return isinstance(self.value, int) and all(
            isinstance(factor, int) and float(distribution.step).is_integer()
            for _, factor, distribution in self.terms
        )

    def __add__(self, other: object) -> Estimate:
        """The sum, with an estimate or a known number."""
        if isinstance(other, Estimate):
            return Estimate(
                self.value + other.value,
                sum_terms_by_atom((*self.terms, *other.terms)),
                (self.within[0] + other.within[0], self.within[1] + other.within[1]),
            )
        number = read_known_number(other)
        if number is None:
            return NotImplemented
        low, high = self.within
        return Estimate(self.value + number, self.terms, (low + number, high + number))

    __radd__ = __add__

    @classmethod
    def total(cls, parts: Sequence[Estimate]) -> Estimate:
        """The sum of estimates, added up in one step."""
        return cls(
            sum(each.value for each in parts),
            sum_terms_by_atom(term for each in parts for term in each.terms),
            (sum(each.within[0] for each in parts), sum(each.within[1] for each in parts)),
        )

    def __neg__(self) -> Estimate:
        return self * -1

    def __sub__(self, other: object) -> Estimate:
        number = read_known_number(other)
        if number is not None:
            return self + -number
        return self + -other if isinstance(other, Estimate) else NotImplemented

    def __rsub__(self, other: object) -> Estimate:
        return -self + other

    def __mul__(self, other: object) -> Estimate:
        """The estimate times a known number."""
        number = read_known_number(other)
        if number is None:
            return NotImplemented
        if number == 0:
            return Estimate(0 * self.value, (), (0, 0))
        terms = tuple(
            (atom, factor * number, distribution) for atom, factor, distribution in self.terms
        )
        ends = sorted((self.within[0] * number, self.within[1] * number))
        return Estimate(self.value * number, terms, (ends[0], ends[1]))

    __rmul__ = __mul__

    @overload
    def __truediv__(self, other: Estimate) -> Ratio: ...

    @overload
    def __truediv__(self, other: Number) -> Estimate: ...

    def __truediv__(self, other: object) -> Estimate | Ratio:
        """By a known number: an estimate. By an estimate: a ratio."""
        if isinstance(other, Estimate):
            return Ratio(self, other)
        number = read_known_number(other)
        if number is None:
            return NotImplemented
        terms = tuple(
            (atom, factor / number, distribution) for atom, factor, distribution in self.terms
        )
        ends = sorted((self.within[0] / number, self.within[1] / number))
        return Estimate(self.value / number, terms, (ends[0], ends[1]))

    def __rtruediv__(self, other: object) -> Ratio:
        number = read_known_number(other)
        return NotImplemented if number is None else Ratio(Estimate(number), self)

    def __float__(self) -> float:
        return float(self.value)

    def __repr__(self) -> str:
        """``123 ± 6 (95 %)``, or the ends where they are cut."""
        width = self.half_width()
        low, high = self.interval()
        places = decimals(width)
        value = format_number(self.value, places)
        if (low, high) == (self.value - width, self.value + width):
            return f"{value} ± {above(width, places)} ({percent(CONFIDENCE)})"
        return f"{value}, {below(low, places)} to {above(high, places)} ({percent(CONFIDENCE)})"


@dataclass(frozen=True, repr=False)
class Ratio:
    """``offset + numerator / denominator``, of two estimates that may share noise.

    Contract: ``within`` is where the true value lies for public reasons, such as between the
    declared bounds of the column of a mean; it cuts value and interval.

    Guarantee: as of an estimate, the interval holds the truth at least as often as it says.
    """

    numerator: Estimate
    denominator: Estimate
    offset: float = 0.0
    within: Range = ANYWHERE

    __array_ufunc__: ClassVar[None] = None

    @property
    def value(self) -> float:
        """The quotient; NaN where the released denominator is zero or has an impossible sign."""
        above, below = float(self.numerator.value), float(self.denominator.value)
        low, high = self.denominator.within
        if below == 0 or (low >= 0 and below < 0) or (high <= 0 and below > 0):
            return math.nan
        return float(min(max(self.offset + above / below, self.within[0]), self.within[1]))

    def interval(self, *, confidence: float = CONFIDENCE) -> Range:
        """Lower and upper end by Fieller's method, cut to where the truth can lie."""
        level = float(probability("confidence", confidence))
        lower, upper = ratio_ends(
            [self.numerator.value],
            [self.denominator.value],
            shared_noise(self.numerator.terms, self.denominator.terms),
            offset=self.offset,
            confidence=level,
            within=self.within,
        )
        return lower[0], upper[0]

    def __add__(self, other: object) -> Ratio | Contrast:
        """With a known number, or a ratio of the same denominator: a ratio. Else a contrast."""
        if isinstance(other, Ratio) and other.denominator == self.denominator:
            return self.plus(other)
        if isinstance(other, Ratio | Estimate | Contrast):
            return Contrast.of(self) + other
        number = read_known_number(other)
        if number is None:
            return NotImplemented
        low, high = self.within
        return replace(self, offset=self.offset + number, within=(low + number, high + number))

    __radd__ = __add__

    def plus(self, other: Ratio) -> Ratio:
        """The sum with a ratio of the same denominator."""
        return Ratio(
            self.numerator + other.numerator,
            self.denominator,
            self.offset + other.offset,
            (self.within[0] + other.within[0], self.within[1] + other.within[1]),
        )

    def __neg__(self) -> Ratio:
        return self * -1

    def __sub__(self, other: object) -> Ratio | Contrast:
        if isinstance(other, Ratio | Estimate | Contrast):
            return self + -other
        number = read_known_number(other)
        return NotImplemented if number is None else self + -number

    def __rsub__(self, other: object) -> Ratio | Contrast:
        return -self + other

    def __mul__(self, other: object) -> Ratio:
        """The ratio times a known number."""
        number = read_known_number(other)
        if number is None:
            return NotImplemented
        within = (Estimate(0, within=self.within) * number).within
        return Ratio(self.numerator * number, self.denominator, self.offset * number, within)

    __rmul__ = __mul__

    def __truediv__(self, other: object) -> Ratio:
        number = read_known_number(other)
        return NotImplemented if number is None else self * (1 / number)

    def __float__(self) -> float:
        return self.value

    def __repr__(self) -> str:
        """``41.23, 40.10 to 42.44 (95 %)``."""
        low, high = self.interval()
        places = decimals((high - low) / 2)
        ends = f"{below(low, places)} to {above(high, places)}"
        return f"{format_number(self.value, places)}, {ends} ({percent(CONFIDENCE)})"


@dataclass(frozen=True, repr=False)
class Contrast:
    """A sum of ratios of different denominators, plus an estimate.

    Guarantee: where a denominator is within ``FAR`` of its half-widths, the interval holds the
    truth at least as often as it says. Otherwise it is approximate, to first order in the noise of
    the denominators: in simulations it holds the truth 94 to 98 times in 100 at .95.
    """

    ratios: tuple[Ratio, ...]
    rest: Estimate

    __array_ufunc__: ClassVar[None] = None

    @classmethod
    def of(cls, part: Ratio | Estimate) -> Contrast:
        """A ratio or an estimate by itself."""
        if isinstance(part, Estimate):
            return cls((), part)
        return cls((part,), Estimate(0, within=(0, 0)))

    @property
    def value(self) -> float:
        """The sum of the released values; NaN if one of them has none."""
        return math.fsum((self.rest.value, *(part.value for part in self.ratios)))

    @property
    def within(self) -> Range:
        """Where the truth lies for public reasons."""
        ranges = (self.rest.within, *(part.within for part in self.ratios))
        return sum(low for low, _ in ranges), sum(high for _, high in ranges)

    def interval(self, *, confidence: float = CONFIDENCE) -> Range:
        """Lower and upper end: by the delta method where it is close, else by a box."""
        level = float(probability("confidence", confidence))
        noise = self.first_order(level)
        if noise is None:
            ends = self._box(level)
        else:
            width = width_of(noise, level)
            ends = (self.value - width, self.value + width)
        return cut_interval_to_range(ends, self.within)

    def first_order(self, confidence: float) -> Estimate | None:
        """An estimate with the noise of the sum to first order; None where that is not close."""
        if all(is_far(part.denominator, confidence) for part in self.ratios):
            return self._linearised()
        return None

    def _linearised(self) -> Estimate:
        """An estimate with the noise that the sum has, to first order."""
        parts = [self.rest]
        for part in self.ratios:
            size = part.denominator.value
            plain = part.numerator.value / size
            parts.append((part.numerator - part.denominator * plain) * (1 / size))
        return Estimate.total(parts)

    def _box(self, confidence: float) -> Range:
        parts: list[Ratio | Estimate] = [*self.ratios]
        if self.rest.terms:
            parts.append(self.rest)
        each = 1 - (1 - confidence) / len(parts)
        ends = [part.interval(confidence=each) for part in parts]
        fixed = 0 if self.rest.terms else self.rest.value
        return fixed + sum(low for low, _ in ends), fixed + sum(high for _, high in ends)

    def __add__(self, other: object) -> Contrast:
        """With anything released, or a known number; ratios of one denominator become one."""
        if isinstance(other, Ratio | Estimate):
            other = Contrast.of(other)
        if not isinstance(other, Contrast):
            number = read_known_number(other)
            return NotImplemented if number is None else Contrast(self.ratios, self.rest + number)
        ratios = list(self.ratios)
        for part in other.ratios:
            for place, ratio in enumerate(ratios):
                if ratio.denominator == part.denominator:
                    ratios[place] = ratio.plus(part)
                    break
            else:
                ratios.append(part)
        return Contrast(tuple(ratios), self.rest + other.rest)

    __radd__ = __add__

    def __neg__(self) -> Contrast:
        return self * -1

    def __sub__(self, other: object) -> Contrast:
        if isinstance(other, Ratio | Estimate | Contrast):
            return self + -other
        number = read_known_number(other)
        return NotImplemented if number is None else self + -number

    def __rsub__(self, other: object) -> Contrast:
        return -self + other

    def __mul__(self, other: object) -> Contrast:
        """Times a known number."""
        number = read_known_number(other)
        if number is None:
            return NotImplemented
        return Contrast(tuple(part * number for part in self.ratios), self.rest * number)

    __rmul__ = __mul__

    def __truediv__(self, other: object) -> Contrast:
        number = read_known_number(other)
        return NotImplemented if number is None else self * (1 / number)

    def __float__(self) -> float:
        return self.value

    def __repr__(self) -> str:
        """``1.27, -0.44 to 2.98 (95 %)``."""
        low, high = self.interval()
        places = decimals((high - low) / 2)
        ends = f"{below(low, places)} to {above(high, places)}"
        return f"{format_number(self.value, places)}, {ends} ({percent(CONFIDENCE)})"


def width_of(noise: Estimate, confidence: float) -> float:
    """The half-width in the form for many rows, which is quick where grids are coarse."""
    if not noise.terms:
        return 0.0
    factors = np.array([[factor for _, factor, _ in noise.terms]])
    laws = [distribution for _, _, distribution in noise.terms]
    return float(half_widths(np.vstack((factors, 2 * factors)), laws, confidence)[0])


def is_far(denominator: Estimate, confidence: float) -> bool:
    """Whether an estimate is far from zero, compared with its noise."""
    size = abs(denominator.value)
    return size > 0 and size >= FAR * denominator.half_width(confidence=confidence)
