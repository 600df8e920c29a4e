"""What each row of a person counts in sums, where a person has more rows than the unit allows.

Counts and sums need no whole rows. Instead of leaving rows out, each row of a person with N rows
counts as the fraction T/N of a row, T being the rows that the unit allows: the mean of a sample of
T rows, without the spread of one, and nothing is sorted. Where a group has a limit m of its own,
its n rows count as min(n, m) first. People within their limits count in full.

Fractions are whole numbers of 2**-PLACES, rounded down; so is what a row contributes, towards
zero. Hence a person's rows count as at most T in all and as at most m in a group, exactly: both
sums below are at most the numbers on the right, in integers.

    sum of n * w  <=  sum of min(n, m) * a  <=  T * 2**PLACES       a = floor(T * 2**PLACES / N)
    n * w         <=  min(n, m) * a         <=  m * 2**PLACES       w = floor(a * min(n, m) / n)

Source: contract, "Bounding inside the engine". Proof: ``proofs/relational.md``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from discreet.core.unit import Person
from discreet.relational.bounding.before_joins import Limited
from discreet.relational.bounding.contributions import bounds_of_person, bounds_of_presence
from discreet.relational.bounding.person_rows import Bounded
from discreet.relational.bounding.public_join import JoinedPublic
from discreet.relational.compile.dialect import Dialect
from discreet.relational.plan.features import PerPerson
from discreet.relational.plan.nodes import JoinedPeople, PlanNode, Scan

PLACES = 30
"""Binary places of a weight: a billion rows lose less than one to rounding."""

_MOST = 1 << 44
"""More rows than anybody has; limits beyond it mean nothing."""
_ROOM = 62
_FITS = 1 << _ROOM


@dataclass(frozen=True)
class RowWeights:
    """``rows`` of a person count in all, and ``rows_per_group`` of them in one group."""

    rows: int
    rows_per_group: int

    @classmethod
    def of_rows(cls, person: Person, cells: int) -> RowWeights:
        """For what is added up over rows."""
        bounds = bounds_of_person(person, cells, person)
        return cls(min(bounds.rows, _MOST), min(bounds.most, _MOST))

    @classmethod
    def of_presence(cls, person: Person, cells: int) -> RowWeights:
        """For people, each of whom is counted once in a group."""
        return cls(min(bounds_of_presence(person, cells, person).rows, _MOST), 1)

    @property
    def places(self) -> int:
        """Binary places of these weights: fewer where limits are so large that 62 bits are full."""
        return max(0, min(PLACES, _ROOM - max(self.rows, self.rows_per_group).bit_length()))

    def joined(self, rows: str, dialect: Dialect) -> str:
        """Rows beside their weight ``w``, which is NULL where they count in full.

        ``rows`` names a relation with the person ``o`` and the group ``cell``.
        """
        full = dialect.literal(1 << self.places)
        whole = dialect.literal(self.rows << self.places)
        if self.rows_per_group >= self.rows:
            share = dialect.whole_quotient(whole, "COUNT(*)")
            over = f"SELECT o, {share} AS w FROM {rows} GROUP BY o HAVING COUNT(*) > {self.rows}"
            return f"{rows} AS a LEFT JOIN ({over}) AS b ON a.o = b.o"
        most = dialect.literal(self.rows_per_group)
        held = f"CASE WHEN n > {most} THEN {most} ELSE n END"
        counted = f"SELECT o, cell, COUNT(*) AS n FROM {rows} GROUP BY o, cell"
        summed = f"CAST(SUM({held}) OVER (PARTITION BY o) AS BIGINT)"
        beside = f"SELECT o, cell, n, {held} AS h, {summed} AS t FROM ({counted}) AS q"
        share = (
            f"CASE WHEN t > {self.rows} THEN {dialect.whole_quotient(whole, 't')} ELSE {full} END"
        )
        over = (
            f"SELECT o, cell, {dialect.whole_quotient(f'({share}) * h', 'n')} AS w "
            f"FROM ({beside}) AS q WHERE n > h OR t > {self.rows}"
        )
        return f"{rows} AS a LEFT JOIN ({over}) AS b ON a.o = b.o AND a.cell = b.cell"

    def counted(self, text: str, most: int, places: int, dialect: Dialect) -> str:
        """What a row contributes, at its weight, in steps of 2**-places, cut towards zero.

        ``text`` is within ``most`` either way, and ``most * 2**places`` fits 62 bits.
        """
        full = f"CAST({text} AS BIGINT) * {dialect.literal(1 << places)}"
        weight, below = "b.w", self.places - places
        if below < 0:
            weight, below = f"(b.w * {dialect.literal(1 << -below)})", 0
        narrow = most << max(self.places, places) < _FITS
        product = dialect.shared(f"({text})", weight, 1 << below, narrow=narrow)
        return f"CASE WHEN b.w IS NULL THEN {full} ELSE {product} END"


def ensured_rows(rows: PlanNode) -> int | None:
    """The most rows of one person that steps of the plan leave, whatever the tables hold.

    None where nothing but the last bounds limits them. Decides accuracy alone: weights hold anybody
    with more rows to the limits, too.
    """
    below = [ensured_rows(each) for each in rows.inputs]
    known = [each for each in below if each is not None]
    if isinstance(rows, PerPerson):
        return rows.stability
    if isinstance(rows, Bounded | Limited):
        return min([rows.limit, *known])
    if isinstance(rows, Scan) or len(known) < len(below):
        return None if not isinstance(rows, Scan) or rows.private else 1
    if isinstance(rows, JoinedPublic):
        return known[0] * max(rows.partners, 1)
    if isinstance(rows, JoinedPeople):
        return math.prod(known)
    return sum(known)
