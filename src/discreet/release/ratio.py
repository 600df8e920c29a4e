"""A quotient of two released numbers, such as a mean: its interval is Fieller's.

It holds the truth at the stated confidence at every sample size, whatever noise the two numbers
share. Where the denominator cannot be told from zero, the whole range is stated: nothing shorter
would be true.

>>> from discreet.release.estimate import Atom
>>> from discreet.mechanisms.distributions.distribution import DiscreteLaplaceDistribution
>>> law = DiscreteLaplaceDistribution(scale=2, step=1)
>>> north = Estimate(123, ((Atom("r1", "n", 0), 1, law),))
>>> south = Estimate(77, ((Atom("r1", "n", 1), 1, law),))
>>> north / (north + south)
0.615, 0.594 to 0.637 (95 %)
>>> 1 - north / (north + south)
0.385, 0.363 to 0.406 (95 %)
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

from discreet.core.parameters import probability
from discreet.release.estimate import (
    ANYWHERE,
    CONFIDENCE,
    Estimate,
    Range,
    Released,
    known,
)
from discreet.release.fieller import ratio_ends
from discreet.release.format import above, below, decimals, percent, shown

if TYPE_CHECKING:
    from discreet.mechanisms.distributions.distribution import Law
    from discreet.release.contrast import Contrast


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
            shared_noise(self.numerator, self.denominator),
            offset=self.offset,
            confidence=level,
            within=self.within,
        )
        return lower[0], upper[0]

    def __add__(self, other: object) -> Ratio | Contrast:
        """With a known number, or a ratio of the same denominator: a ratio. Else a contrast."""
        from discreet.release.contrast import Contrast

        if isinstance(other, Ratio) and other.denominator == self.denominator:
            return self.plus(other)
        if isinstance(other, Ratio | Estimate | Contrast):
            return Contrast.of(self) + other
        number = known(other)
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
        from discreet.release.contrast import Contrast

        if isinstance(other, Ratio | Estimate | Contrast):
            return self + -other
        number = known(other)
        return NotImplemented if number is None else self + -number

    def __rsub__(self, other: object) -> Ratio | Contrast:
        return -self + other

    def __mul__(self, other: object) -> Ratio:
        """The ratio times a known number."""
        number = known(other)
        if number is None:
            return NotImplemented
        within = (Estimate(0, within=self.within) * number).within
        return Ratio(self.numerator * number, self.denominator, self.offset * number, within)

    __rmul__ = __mul__

    def __truediv__(self, other: object) -> Ratio:
        number = known(other)
        return NotImplemented if number is None else self * (1 / number)

    def __float__(self) -> float:
        return self.value

    def __repr__(self) -> str:
        """``41.23, 40.10 to 42.44 (95 %)``."""
        low, high = self.interval()
        places = decimals((high - low) / 2)
        ends = f"{below(low, places)} to {above(high, places)}"
        return f"{shown(self.value, places)}, {ends} ({percent(CONFIDENCE)})"


def shared_noise(
    numerator: Estimate, denominator: Estimate
) -> list[tuple[Released, Released, Law]]:
    """Every draw behind either number, with its factor in both; the numerator's come first."""
    below = {atom: factor for atom, factor, _ in denominator.terms}
    noises = [(factor, below.pop(atom, 0), law) for atom, factor, law in numerator.terms]
    return noises + [(0, factor, law) for atom, factor, law in denominator.terms if atom in below]
