"""From one adjacency to another: exchanges to additions and removals, people to rows.

Source: 000a:A1, 004a:A5, 004c:8-4, 004d:F1, F9; contract, "Bounding inside the engine".
Proof: ``proofs/calculus.md``.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from typing import TYPE_CHECKING, Any

from discreet.calculus.adjacency import private_size, size_is_public, table
from discreet.calculus.containment import attempt
from discreet.calculus.transformation import Transformation, stable
from discreet.core.content import content
from discreet.core.domain import Rows, Tables
from discreet.core.errors import InvalidParameter, Mismatch
from discreet.core.metric import AddRemovePeople, SumOverParts
from discreet.core.space import Space
from discreet.core.unit import Person, across_silos

if TYPE_CHECKING:
    from collections.abc import Sequence

    from discreet.calculus.rows import Table, TableMap


def change_one_to_add_remove(space: Space) -> TableMap:
    """The same rows, with their number no longer taken to be public.

    Guarantee: 2-stable: an exchange is a removal and an addition.
    Source: 000a:A1, 004a:A5.
    """
    if not size_is_public(space):
        raise Mismatch(
            code="not_change_one",
            expectation="a table under ChangeOne",
            received=space.metric,
            remedy="Leave the conversion out: the table is not under ChangeOne.",
        )
    return Transformation(space, private_size(table(space).record), tuple, stable(2))


def bound_contributions(space: Space, unit: Person, *, salt: bytes) -> TableMap:
    """At most ``max_rows`` rows of each person, after which rows are what is counted.

    Contract: a table under AddRemovePeople whose owner is the unit's identifier. ``salt`` is
    drawn for each release and independent of the data. Rows without an owner (None, NaN, no such
    column), or of a kind that has no canonical content, are dropped.
    Guarantee: ``max_rows``-stable into AddRemove. Which rows of a person survive is a function
    of that person's own rows and the salt: the first in the order of a salted hash of the row's
    content, ties broken by content, never by position.
    Source: contract, "Bounding inside the engine"; 004d:F9.
    """
    if not isinstance(space.domain, Rows):
        raise _not_of(space, unit)
    owner = _owner(space, unit)
    keyed = _salted(salt)
    most = unit.rows()
    return Transformation(
        space,
        private_size(space.domain.record),
        lambda rows: _bounded(rows, owner, most, keyed),
        stable(most),
    )


def bound_silos(
    space: Space, units: Sequence[Person], *, salt: bytes
) -> Transformation[tuple[Table, ...], tuple[tuple[Any, ...], ...]]:
    """Each of several tables bounded by its own unit; one person may own rows in all of them.

    Contract: tables under AddRemovePeople, one Person for each, over one space of identifiers.
    Guarantee: stable into SumOverParts with the *sum* of the ``max_rows``: a person in two silos
    never counts as one contribution.
    Source: 004c:8-4.
    """
    if not isinstance(space.domain, Tables) or len(units) != len(space.domain.tables):
        raise _not_of(space, units)
    together = across_silos(*units)
    owner = _owner(space, together)
    keyed = _salted(salt)
    bounds = [unit.rows() for unit in units]

    def apply(tables: tuple[Table, ...]) -> tuple[tuple[Any, ...], ...]:
        return tuple(
            _bounded(rows, owner, most, keyed) for rows, most in zip(tables, bounds, strict=True)
        )

    return Transformation(
        space, Space(space.domain, SumOverParts()), apply, stable(together.rows())
    )


def _bounded(rows: Table, owner: Any, most: int, salted: hashlib.blake2b) -> tuple[Any, ...]:
    people: dict[bytes, list[tuple[bytes, bytes, Any]]] = defaultdict(list)
    for row in rows:
        person, written = attempt(_identifier, row, owner), attempt(content, row)
        if isinstance(person, bytes) and isinstance(written, bytes):
            digest = salted.copy()
            digest.update(written)
            people[person].append((digest.digest(), written, row))
    return tuple(
        row
        for own in people.values()
        for _, _, row in sorted(own, key=lambda entry: entry[:2])[:most]
    )


def _identifier(row: Any, owner: Any) -> bytes | None:
    person = row[owner]
    return None if person is None or bool(person != person) else content(person)  # noqa: PLR0124


def _salted(salt: object) -> hashlib.blake2b:
    if not isinstance(salt, bytes) or not 16 <= len(salt) <= 64:
        raise InvalidParameter(
            code="salt_missing",
            expectation="a salt of 16 to 64 bytes, drawn for this release",
            received=type(salt).__name__,
            remedy="Draw it with discreet.noise, and not from the data.",
        )
    return hashlib.blake2b(key=salt, digest_size=16)


def _owner(space: Space, unit: Person) -> Any:
    if space.metric != AddRemovePeople(unit.id):
        raise _not_of(space, unit)
    return unit.id


def _not_of(space: Space, unit: object) -> Mismatch:
    return Mismatch(
        code="not_the_units_table",
        expectation=f"data under AddRemovePeople owned by the identifier of {unit!r}",
        received=space.metric,
        remedy="Use metric_of(unit) as the metric; one Person per table, with the same identifier.",
    )
