"""Whose privacy: the unit of protection and what neighbouring data sets are.

``Row``, ``Person``, ``Edge`` and ``Node`` mean add/remove: neighbours differ by the presence of
one unit, and the number of units is itself private. ``Replace(unit)`` means that one unit is
exchanged for another and the number of units is public. ``TickWindow`` is for streams. The unit is
never inferred from data and never defaulted; every guarantee carries it.

Source: 000a:A1, 000a:A2, 004a:A1, 004c:8-4, 004d:F1, 004d:F9; contract, "Units and neighbours".
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from enum import Enum
from fractions import Fraction
from typing import TypeAlias

from discreet.core.errors import InvalidParameter, Mismatch
from discreet.core.parameters import count


@dataclass(frozen=True)
class Row:
    """Each row is one person. A promise by the data owner; nothing checks or enforces it."""


@dataclass(frozen=True, kw_only=True)
class CountSensitivity:
    """How far one unit moves a vector of group counts, in three norms."""

    l1: int
    l2: float
    linf: int


@dataclass(frozen=True)
class Person:
    """All rows that carry one identifier, bounded so that one person's effect is bounded.

    ``max_rows`` (R) rows per person in all, ``max_groups`` (G) groups per person, and
    ``max_rows_per_group`` (m) rows in each of them, which defaults to R; where G and m are both
    declared, R defaults to G m, the rows that they leave. ``via`` names the
    foreign key, as ``"orders.customer_id"``, through which a table reaches the identifier.
    ``of`` names the people, as ``"patients"``: the owner declares that data sets which name the
    same ``of`` are about the same people, whatever their identifier columns are called. ``row``
    names a column that tells a person's rows apart, as ``"visit_id"``: where whole rows of a person
    are chosen, they are by a salted hash of it. It is not believed: rows that share a value, or
    have none, are told apart by their content.
    """

    id: str
    max_rows: int | None = None
    max_groups: int | None = None
    max_rows_per_group: int | None = None
    via: str | None = None
    of: str | None = None
    row: str | None = None

    def __post_init__(self) -> None:
        """Refuse bounds that are not whole numbers of at least one."""
        if self.of is not None and (not isinstance(self.of, str) or not self.of):
            raise InvalidParameter(
                code="unit_without_identifier",
                expectation="of= to name the people in words",
                received=type(self.of).__name__,
                remedy='Write Person("patient_id", max_rows=20, of="patients").',
            )
        if not isinstance(self.id, str) or not self.id:
            raise InvalidParameter(
                code="unit_without_identifier",
                expectation="the name of the column that identifies a person",
                received=type(self.id).__name__,
                remedy='Write Person("patient_id", max_rows=20), or Row() if each row is a person.',
            )
        if self.row is not None and (not isinstance(self.row, str) or not self.row):
            raise InvalidParameter(
                code="unit_without_identifier",
                expectation="row= to name the column that tells a person's rows apart",
                received=type(self.row).__name__,
                remedy='Write Person("patient_id", max_rows=20, row="visit_id").',
            )
        for name in ("max_rows", "max_groups", "max_rows_per_group"):
            value = getattr(self, name)
            if value is not None:
                object.__setattr__(self, name, count(name, value))

    def __repr__(self) -> str:
        """As it is written: only what was declared.

        >>> Person("patient_id", max_rows=20)
        Person('patient_id', max_rows=20)
        """
        named = [
            f"{item.name}={getattr(self, item.name)!r}"
            for item in fields(self)[1:]
            if getattr(self, item.name) is not None
        ]
        return f"Person({', '.join([repr(self.id), *named])})"

    @property
    def rows_at_most(self) -> int | None:
        """R as it is declared, or as G groups of m rows imply it; None where nothing bounds rows.

        >>> Person("id", max_groups=2, max_rows_per_group=3).rows_at_most
        6
        """
        if self.max_rows is not None or self.max_groups is None or self.max_rows_per_group is None:
            return self.max_rows
        return self.max_groups * self.max_rows_per_group

    def rows(self) -> int:
        """R, refused where no limit implies it: without it no sum or count is bounded."""
        rows = self.rows_at_most
        if rows is None:
            raise InvalidParameter(
                code="unbounded_person",
                expectation="max_rows, the most rows of one person that count, or max_groups and "
                "max_rows_per_group together",
                remedy=f'Write Person("{self.id}", max_rows=...) with a public bound.',
            )
        return rows

    def group_counts(self) -> CountSensitivity:
        """Sensitivity of a vector of group counts.

        With q = min(G, floor(R/m)) and r = R - q m if q < G else 0, the worst person fills q
        groups with m rows and one more with r: L1 = q m + r, L2 = sqrt(q m**2 + r**2), Linf = m.

        >>> Person("id", max_rows=20, max_groups=5, max_rows_per_group=4).group_counts().l1
        20
        """
        rows = self.rows()
        most = min(self.max_rows_per_group or rows, rows)
        full = rows // most
        groups = full + 1 if self.max_groups is None else self.max_groups
        q = min(groups, full)
        r = rows - q * most if q < groups else 0
        return CountSensitivity(l1=q * most + r, l2=_root_up(q * most**2 + r**2), linf=most)


@dataclass(frozen=True)
class Edge:
    """One edge of a graph, added or removed; the nodes are public."""


@dataclass(frozen=True)
class Node:
    """One node of a graph together with all its edges, added or removed."""


AddRemoveUnit: TypeAlias = Row | Person | Edge | Node


@dataclass(frozen=True)
class Replace:
    """One unit exchanged for another; the number of units is public."""

    unit: AddRemoveUnit

    def __post_init__(self) -> None:
        """Refuse anything that is not an add/remove unit."""
        if not isinstance(self.unit, (Row, Person, Edge, Node)):
            raise InvalidParameter(
                code="not_a_unit",
                expectation="an add/remove unit inside Replace",
                received=type(self.unit).__name__,
                remedy="Write Replace(Row()) or Replace(Person(...)).",
            )


def add_remove(unit: PrivacyUnit) -> AddRemoveUnit:
    """Whose data it is about, whatever the relation: the unit inside another, or itself."""
    return unit.unit if isinstance(unit, (Replace, TickWindow)) else unit


def _root_up(square: int) -> float:
    """The least float whose square is at least ``square``: sensitivities round upward."""
    root = math.sqrt(square)
    return root if Fraction(root) ** 2 >= square else math.nextafter(root, math.inf)


@dataclass(frozen=True)
class TickWindow:
    """What one unit does in some ``ticks`` consecutive ticks of a public clock, added or removed.

    Weaker than the unit itself: what somebody does before and after the window is not hidden
    together with it.
    """

    unit: Row | Person
    ticks: int

    def __post_init__(self) -> None:
        """Refuse other units, and lengths that are not whole."""
        if not isinstance(self.unit, (Row, Person)):
            raise InvalidParameter(
                code="not_a_unit",
                expectation="Row or Person inside TickWindow",
                received=type(self.unit).__name__,
                remedy='Write TickWindow(Person("user_id", max_rows=20), ticks=24).',
            )
        object.__setattr__(self, "ticks", count("ticks", self.ticks))


PrivacyUnit: TypeAlias = Row | Person | Edge | Node | Replace | TickWindow


class Relation(Enum):
    """What neighbouring means, apart from whose data it is about."""

    ADD_REMOVE = "add/remove"
    REPLACE = "replace"


def relation_of(unit: PrivacyUnit) -> Relation:
    """Replace units mean REPLACE, all others ADD_REMOVE."""
    return Relation.REPLACE if isinstance(unit, Replace) else Relation.ADD_REMOVE


def across_silos(*units: PrivacyUnit) -> Person:
    """The unit of several silos seen together, in which one person may appear in each.

    Guarantee: the contribution bounds add up, so one person in two silos is never counted as
    one contribution (004c:8-4). ``Row`` says nothing about who owns a row, so silos of rows
    cannot be joined: the same person could own a row in each.
    """
    people = [unit for unit in units if isinstance(unit, Person)]
    if len(people) != len(units) or len({person.id for person in people}) != 1:
        raise Mismatch(
            code="silos_without_common_person",
            expectation="Person units with the same identifier in every silo",
            received=[type(unit).__name__ for unit in units],
            remedy="Declare every silo with Person(id, max_rows=...) over the same identifiers.",
        )
    groups = [person.max_groups for person in people]
    return Person(
        people[0].id,
        max_rows=sum(person.rows() for person in people),
        max_groups=None if None in groups else sum(g for g in groups if g is not None),
        max_rows_per_group=sum(
            min(person.max_rows_per_group or person.rows(), person.rows()) for person in people
        ),
    )
