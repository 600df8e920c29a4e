"""How many rows of a result one unit can change, and how they spread over the groups.

Source: contract, "Units and neighbours"; 004b:A21(b), 004d:F5, F9. Proof: ``proofs/relational.md``.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from discreet.core.parameters import exact
from discreet.core.unit import Person, PrivacyUnit, Replace
from discreet.mechanisms.grid import sqrt_above


@dataclass(frozen=True)
class ContributionBounds:
    """Rows that one unit adds or removes: in all, squared and summed by group, in one group.

    ``groups`` is how many groups they can lie in. ``swaps`` is 1 under add/remove and 2 under
    Replace, where one unit goes and another comes.
    """

    rows: int
    squares: int
    most: int
    groups: int
    swaps: int = 1

    def l1(self, bound: int) -> int:
        """L1 sensitivity of a vector of group sums of contributions within ``±bound``."""
        return self.swaps * self.rows * bound

    def l2(self, bound: int) -> Fraction:
        """L2 sensitivity of the same vector, rounded up."""
        return exact(self.swaps * bound) * sqrt_above(Fraction(self.squares))

    def linf(self, bound: int) -> int:
        """The most by which one group's sum changes."""
        return self.swaps * self.most * bound


def swaps(unit: PrivacyUnit) -> int:
    """Units that change: one comes or goes; under Replace one goes and one comes."""
    return 2 if isinstance(unit, Replace) else 1


def bounds_of_rows(rows: int, unit: PrivacyUnit) -> ContributionBounds:
    """``rows`` changed rows that may all lie in one group, or in as many groups."""
    return ContributionBounds(rows, rows * rows, rows, rows, swaps(unit))


def bounds_of_person(person: Person, groups: int, unit: PrivacyUnit) -> ContributionBounds:
    """A person after bounding, over ``groups`` groups in all.

    With R, G and m of the unit, q = min(G, floor(R/m)) groups are full and one more holds the
    rest: L1 = q m + r, L2 squared = q m**2 + r**2, Linf = m.
    """
    rows = person.rows()
    return _spread(
        rows, _groups(person, groups), min(person.max_rows_per_group or rows, rows), unit
    )


def bounds_of_presence(person: Person, groups: int, unit: PrivacyUnit) -> ContributionBounds:
    """A person counted once in each of the groups that bounding left."""
    most = _groups(person, groups)
    if person.max_rows is not None:
        most = min(most, person.max_rows)
    return _spread(most, most, 1, unit)


def bounds_of_values(
    person: Person, groups: int, values: int | None, unit: PrivacyUnit
) -> ContributionBounds:
    """Distinct values that a person can bring into or out of each group."""
    rows = person.rows()
    most = min(person.max_rows_per_group or rows, rows)
    return _spread(
        rows, _groups(person, groups), most if values is None else max(1, min(most, values)), unit
    )


def _groups(person: Person, groups: int) -> int:
    return groups if person.max_groups is None else min(person.max_groups, groups)


def _spread(rows: int, groups: int, most: int, unit: PrivacyUnit) -> ContributionBounds:
    full = min(groups, rows // most)
    rest = rows - full * most if full < groups else 0
    inside = full * most + rest
    return ContributionBounds(
        inside, full * most**2 + rest**2, most, min(groups, inside), swaps(unit)
    )
