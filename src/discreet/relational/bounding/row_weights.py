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
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from discreet.core.unit import Person
from discreet.relational.bounding.before_joins import Limited
from discreet.relational.bounding.contributions import bounds_of_person, bounds_of_presence
from discreet.relational.bounding.elements import Unnested
from discreet.relational.bounding.person_rows import Bounded
from discreet.relational.bounding.public_join import JoinedPublic
from discreet.relational.compile.dialect import Dialect
from discreet.relational.plan.features import PerPerson
from discreet.relational.plan.nodes import JoinedPeople, PlanNode, Scan

Crowd = Callable[[str, int], str]
"""Of the rows of that name, all of everybody who has more than so many, and perhaps of others."""

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
        """For people, each of whom has one row in a group by the statement: rows are groups."""
        groups = min(bounds_of_presence(person, cells, person).rows, _MOST)
        return cls(groups, groups)

    @property
    def places(self) -> int:
        """Binary places of these weights: fewer where limits are so large that 62 bits are full."""
        return max(0, min(PLACES, _ROOM - max(self.rows, self.rows_per_group).bit_length()))

    def beside(self, rows: str, dialect: Dialect, crowd: Crowd) -> tuple[str, str]:
        """Rows ``a`` beside their weight ``w``: what stands before the SELECT, and its FROM clause.

        ``rows`` is a SELECT with the person ``o`` and the group ``cell``; rows without a group use
        up nobody's share, and are left out by the caller. It is read once, so that rows are counted
        and added up in one state of the tables, whatever happens to them. The weight is NULL where
        rows count in full. Whoever is left out of the ``crowd`` has no more rows than either limit,
        and counts in full.
        """
        held = dialect.with_rows("r", rows)
        if held is None:
            return "", self.ranked(f"SELECT q.* FROM ({rows}) AS q WHERE cell IS NOT NULL", dialect)
        return held, self.joined(self.looks_at(crowd), dialect)

    def looks_at(self, crowd: Crowd) -> str:
        """The rows among which people with too many are looked for."""
        return crowd("r", self._least)

    def all_seen(self, dialect: Dialect, crowd: Crowd) -> bool:
        """Whether rows are held, and everybody is looked at to find people with too many."""
        return dialect.with_rows("r", "") is not None and self.looks_at(crowd) == "r"

    @property
    def _least(self) -> int:
        return min(self.rows, self.rows_per_group)

    def by_person(self, rows: str, added: Sequence[str], dialect: Dialect) -> str:
        """What a FROM clause takes: for each person the number of rows ``n``, sums, and the weight.

        For questions without groups, whose rows are those of the one there is.
        """
        inside = f"SELECT {', '.join(['COUNT(*) AS n', *added])} FROM {rows} GROUP BY a.o"
        share = dialect.whole_quotient(dialect.literal(self._least << self.places), "n")
        weight = f"CASE WHEN n > {self._least} THEN {share} END AS w"
        return f"(SELECT a.*, {weight} FROM ({inside}) AS a) AS a"

    def joined(self, crowd: str, dialect: Dialect) -> str:
        """By hash: the rows held as ``r`` beside the people of a crowd who have too many."""
        if self.rows_per_group >= self.rows:
            share = dialect.whole_quotient(self._whole(dialect), "COUNT(cell)")
            over = f"GROUP BY o HAVING COUNT(cell) > {self.rows}"
            over = f"SELECT o, {share} AS w FROM {crowd} {over}"
            return f"r AS a LEFT JOIN ({over}) AS b ON a.o = b.o"
        grouped = "WHERE cell IS NOT NULL GROUP BY o, cell"
        counted = f"SELECT o, cell, COUNT(*) AS n FROM {crowd} {grouped}"
        summed = f"CAST(SUM({self._limit_rows_of_group(dialect)}) OVER (PARTITION BY o) AS BIGINT)"
        beside = f"SELECT o, cell, n, {summed} AS t FROM ({counted}) AS q"
        over = f"SELECT o, cell, {self._share(dialect)} AS w FROM ({beside}) AS q"
        return (
            f"r AS a LEFT JOIN (SELECT o, cell, w FROM ({over}) AS q WHERE w IS NOT NULL) AS b "
            "ON a.o = b.o AND a.cell = b.cell"
        )

    def ranked(self, rows: str, dialect: Dialect) -> str:
        """By sorting, where an engine holds no rows: the numbers stand beside each row."""
        if self.rows_per_group >= self.rows:
            share = dialect.whole_quotient(self._whole(dialect), "n")
            beside = f"SELECT q.*, COUNT(*) OVER (PARTITION BY o) AS n FROM ({rows}) AS q"
            share = f"CASE WHEN n > {self.rows} THEN {share} END"
            return f"(SELECT q.*, {share} AS w FROM ({beside}) AS q) AS a"
        # All in one order: equal cells are peers, and p is a row's place among them.
        order = "PARTITION BY o ORDER BY cell"
        size = f"COUNT(*) OVER ({order} RANGE BETWEEN CURRENT ROW AND CURRENT ROW) AS n"
        place = f"row_number() OVER ({order}) - rank() OVER ({order}) AS p"
        placed = f"SELECT q.*, {size}, {place} FROM ({rows}) AS q"
        first = f"CASE WHEN p < {self.rows_per_group} THEN 1 ELSE 0 END"
        summed = f"CAST(SUM({first}) OVER (PARTITION BY o) AS BIGINT)"
        beside = f"SELECT q.*, {summed} AS t FROM ({placed}) AS q"
        return f"(SELECT q.*, {self._share(dialect)} AS w FROM ({beside}) AS q) AS a"

    def _whole(self, dialect: Dialect) -> str:
        return dialect.literal(self.rows << self.places)

    def _limit_rows_of_group(self, dialect: Dialect) -> str:
        """As how many rows the ``n`` of a group count, before those of other groups do."""
        most = dialect.literal(self.rows_per_group)
        return f"CASE WHEN n > {most} THEN {most} ELSE n END"

    def _share(self, dialect: Dialect) -> str:
        """The weight in a group of ``n`` rows, whose person has ``t`` of them in all groups."""
        every = dialect.whole_quotient(self._whole(dialect), "t")
        full = dialect.literal(1 << self.places)
        share = f"CASE WHEN t > {self.rows} THEN {every} ELSE {full} END"
        part = dialect.whole_quotient(f"({share}) * ({self._limit_rows_of_group(dialect)})", "n")
        return f"CASE WHEN n > {self.rows_per_group} OR t > {self.rows} THEN {part} END"

    def is_linear(self, most: int, places: int) -> bool:
        """Whether weighed rows of a person add up to their weighed sum, in less than 62 bits."""
        most <<= max(self.places, places)
        return self.places <= places and most * max(self.rows, 1) < _FITS

    def weigh_contribution(self, text: str, most: int, places: int, dialect: Dialect) -> str:
        """What a row contributes, at its weight, in steps of 2**-places, cut towards zero.

        ``text`` is within ``most`` either way, and ``most * 2**places`` fits 62 bits. Without a
        text each row contributes one.
        """
        full = dialect.bound(1 << places)
        weight, below = "w", self.places - places
        if below < 0:
            weight, below = f"w * {dialect.literal(1 << -below)}", 0
        narrow = most << max(self.places, places) < _FITS
        if narrow and below == 0:
            weight = f"COALESCE({weight}, {full})"
            return f"{text} * {weight}" if text else weight
        product = dialect.shared(f"({text or 1})", f"({weight})", 1 << below, narrow=narrow)
        whole = f"CAST({text or 1} AS BIGINT) * {full}"
        return f"CASE WHEN w IS NULL THEN {whole} ELSE {product} END"


def everybody(rows: str, _: int) -> str:
    """The crowd in which nobody is looked for."""
    return rows


def ensured_rows(rows: PlanNode) -> int | None:  # noqa: PLR0911 -- one for each
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
    if isinstance(rows, Unnested):
        return known[0] * rows.most
    if isinstance(rows, JoinedPeople):
        return math.prod(known)
    return sum(known)
