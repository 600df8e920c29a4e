"""Where sorted rows can be cut in two: at many public places within every candidate.

The i-th row at a candidate stands at the i-th place of a fixed order, the reversed binary digits of
i, which spreads any number of rows evenly. So rows that are equal have different places, and a cut
may fall between any two of them. One row more is one row more at one place: the rank of every cut
from there on grows by one, and no other. Dividing equal rows in proportion, by
``floor(rows * share)``, would not do: one row more then may move a cut and not the next.

Source: modern-data:Q1 (ties), Q4. Proof: ``proofs/joint_quantiles.md``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discreet.core.arrays import Ints

DIGITS = 32
"""Of the places within one candidate, in binary; and of the number of rows that count there."""


@dataclass(frozen=True)
class Cuts:
    """All cuts of one exact histogram, by their places. Private.

    A cut at place p has before it the rows at places up to p: that number is its rank.
    """

    counts: Ints
    upto: Ints
    digits: int

    @classmethod
    def of(cls, counts: Ints, digits: int = DIGITS) -> Cuts:
        """Of exact numbers of rows at each candidate, clamped at ``2**digits``, its places."""
        clamped = np.minimum(counts, 1 << digits)
        return cls(clamped, np.cumsum(clamped), digits)

    @property
    def rows(self) -> int:
        """How many count, of all candidates."""
        return int(self.upto[-1])

    @property
    def places(self) -> int:
        """How many there are, of all candidates."""
        return len(self.counts) << self.digits

    def candidates(self, places: Ints) -> Ints:
        """At which candidate each of these places is."""
        return places >> self.digits

    def ranks(self, places: Ints) -> Ints:
        """How many rows stand at each of these places or before."""
        candidates = self.candidates(places)
        inside = places - (candidates << self.digits)
        tied = self.counts[candidates]
        found = self.upto[candidates] - tied
        # All places up to `inside`, as ranges of ever fewer digits in common; i is in such a range
        # if its own digits, from the last, begin with them.
        limit, begin = inside + 1, np.zeros_like(inside)
        found = np.where(limit == 1 << self.digits, found + tied, found)
        for digit in range(self.digits):
            taken = (limit >> (self.digits - 1 - digit)) & 1
            found += taken * _members(tied, begin, digit + 1)
            begin += taken << digit
        return found

    def of_rows(self, numbers: Ints) -> Ints:
        """The places of rows by their numbers in order, from 1 to ``rows``."""
        candidates = np.searchsorted(self.upto, numbers, side="left")
        tied = self.counts[candidates]
        left = numbers - (self.upto[candidates] - tied)
        inside, begin = np.zeros_like(left), np.zeros_like(left)
        for digit in range(self.digits):
            lower = _members(tied, begin, digit + 1)
            beyond = (left > lower).astype(np.int64)
            left -= beyond * lower
            begin += beyond << digit
            inside += beyond << (self.digits - 1 - digit)
        return (candidates << self.digits) + inside


def _members(tied: Ints, begin: Ints, digits: int) -> Ints:
    """How many of ``0 … tied - 1`` have these last ``digits`` digits."""
    members: Ints = (tied - 1 - begin >> digits) + 1
    return members
