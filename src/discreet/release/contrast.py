"""Sums and differences of ratios and estimates: is the mean of A above that of B?

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
from dataclasses import dataclass
from typing import ClassVar

from discreet.core.parameters import probability
from discreet.release.estimate import CONFIDENCE, Estimate, Range, cut, known
from discreet.release.format import above, below, decimals, percent, shown
from discreet.release.ratio import Ratio

FAR = 10
"""From how many half-widths on a denominator counts as far from zero."""


@dataclass(frozen=True, repr=False)
class Contrast:
    """A sum of ratios of different denominators, plus an estimate.

    Guarantee: where a denominator is within ``FAR`` of its half-widths, the interval holds the
    truth at least as often as it says. Otherwise it is approximate, to first order in the noise of
    the denominators: in simulations it misses the stated confidence by at most .002 at .95.
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
        if all(_is_far(part.denominator, level) for part in self.ratios):
            width = _width(self._linearised(), level)
            ends = (self.value - width, self.value + width)
        else:
            ends = self._box(level)
        return cut(ends, self.within)

    def _linearised(self) -> Estimate:
        """An estimate with the noise that the sum has, to first order."""
        total = self.rest
        for part in self.ratios:
            size = part.denominator.value
            plain = part.numerator.value / size
            total = total + (part.numerator - part.denominator * plain) * (1 / size)
        return total

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
            number = known(other)
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
        number = known(other)
        return NotImplemented if number is None else self + -number

    def __rsub__(self, other: object) -> Contrast:
        return -self + other

    def __mul__(self, other: object) -> Contrast:
        """Times a known number."""
        number = known(other)
        if number is None:
            return NotImplemented
        return Contrast(tuple(part * number for part in self.ratios), self.rest * number)

    __rmul__ = __mul__

    def __truediv__(self, other: object) -> Contrast:
        number = known(other)
        return NotImplemented if number is None else self * (1 / number)

    def __float__(self) -> float:
        return self.value

    def __repr__(self) -> str:
        """``1.27, -0.44 to 2.98 (95 %)``."""
        low, high = self.interval()
        places = decimals((high - low) / 2)
        ends = f"{below(low, places)} to {above(high, places)}"
        return f"{shown(self.value, places)}, {ends} ({percent(CONFIDENCE)})"


def _width(noise: Estimate, confidence: float) -> float:
    """The half-width in the form for many rows, which is quick where grids are coarse."""
    import numpy as np

    from discreet.release.intervals.linear import half_widths

    if not noise.terms:
        return 0.0
    factors = np.array([[factor for _, factor, _ in noise.terms]])
    laws = [law for _, _, law in noise.terms]
    return float(half_widths(np.vstack((factors, 2 * factors)), laws, confidence)[0])


def _is_far(denominator: Estimate, confidence: float) -> bool:
    size = abs(denominator.value)
    return size > 0 and size >= FAR * denominator.half_width(confidence=confidence)
