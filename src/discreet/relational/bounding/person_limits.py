"""How many rows and groups of one person count: R, G and m, and how steps add and multiply them.

Source: contract, "Units and neighbours", "Bounding inside the engine" (limits may differ by table
and route). Proof: ``proofs/limits.md``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from operator import add, mul

from discreet.core.unit import Person


@dataclass(frozen=True)
class PersonLimits:
    """Rows of one person in all, groups, and rows in one group; None where nothing is limited."""

    rows: int | None = None
    groups: int | None = None
    rows_per_group: int | None = None

    @classmethod
    def of(cls, person: Person) -> PersonLimits:
        """What a unit says, the rows that so many groups of so many rows leave included."""
        return cls(person.rows_at_most, person.max_groups, person.max_rows_per_group)

    def bounding(self, person: Person) -> Person:
        """The same person under these limits."""
        return replace(
            person,
            max_rows=self.rows,
            max_groups=self.groups,
            max_rows_per_group=self.rows_per_group,
        )

    def at_most(self, rows: int | None) -> PersonLimits:
        """Where a step leaves a person no more than ``rows`` rows, if it does."""
        return replace(self, rows=least(self.rows, rows))

    def plus(self, other: PersonLimits) -> PersonLimits:
        """Rows of both side by side: whoever is within the limits of each is within these."""
        return PersonLimits(
            _both(add, self.rows, other.rows),
            self._combined(add, other, "groups"),
            self._combined(add, other, "rows_per_group"),
        )

    def times(self, other: PersonLimits) -> PersonLimits:
        """Each row of the one beside each row of the other.

        Where a person has one row on one side, the limits are those of the other as they stand.
        """
        if self.rows == 1:
            return other
        if other.rows == 1:
            return self
        return PersonLimits(
            _both(mul, self.rows, other.rows),
            self._combined(mul, other, "groups"),
            self._combined(mul, other, "rows_per_group"),
        )

    def repeated(self, partners: int, *, spread: bool) -> PersonLimits:
        """Each row so many times; ``spread`` says that its copies may lie in different groups."""
        if partners <= 1:
            return self
        times = PersonLimits(partners)
        return PersonLimits(
            _both(mul, self.rows, partners),
            self._combined(mul, times, "groups") if spread else self.groups,
            self._combined(mul, times, "rows_per_group"),
        )

    def _combined(
        self, how: Callable[[int, int], int], other: PersonLimits, what: str
    ) -> int | None:
        """Groups, or rows in one, of both; not limited where neither side limits them."""
        if getattr(self, what) is None and getattr(other, what) is None:
            return None
        one, two = (least(getattr(side, what), side.rows) for side in (self, other))
        return _both(how, one, two)


def least(one: int | None, two: int | None) -> int | None:
    """The smaller of two bounds of which either may be missing."""
    return min((bound for bound in (one, two) if bound is not None), default=None)


def _both(how: Callable[[int, int], int], one: int | None, two: int | None) -> int | None:
    return None if one is None or two is None else how(one, two)
