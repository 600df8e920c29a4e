"""Bounding people's rows: what survives depends on a person's own rows and the salt alone."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from discreet import calculus as t
from discreet.core.domain import Rows, Tables
from discreet.core.errors import InvalidParameter, Mismatch
from discreet.core.metric import AddRemovePeople, symmetric_difference
from discreet.core.space import Space
from discreet.core.unit import Person
from tests.calculus.stability import Anything

SALT = bytes(range(16))
Table = tuple[dict[str, Any], ...]
PEOPLE = Space(Rows(Anything()), AddRemovePeople("id"))
SILOS = Space(Tables((Rows(Anything()), Rows(Anything()))), AddRemovePeople("id"))
VALUES = (None, math.nan, 1, 1.0, "a")


def holdings(person: str, most: int) -> Iterator[Table]:
    """Every multiset of at most ``most`` rows that one person may own."""
    for size in range(most + 1):
        for values in itertools.combinations_with_replacement(VALUES, size):
            yield tuple({"id": person, "v": value} for value in values)


def interleaved(mine: Table, theirs: Table) -> Iterator[Table]:
    """The rows of two people in different orders."""
    yield mine + theirs
    yield theirs[::-1] + mine[::-1]
    yield tuple(row for pair in itertools.zip_longest(theirs, mine) for row in pair if row)


def worst(bound: Callable[[Any], Any]) -> int:
    """The most rows of the output that change when one person joins, at any place."""
    others: Table = tuple({"id": "q", "v": value} for value in (1, "a", None))
    gap = 0
    for mine in holdings("p", 3):
        before = bound(others)
        for rows in interleaved(mine, others):
            gap = max(gap, symmetric_difference(before, bound(rows)))
    return gap


@pytest.mark.parametrize("most", [1, 2, 3])
def test_one_person_moves_at_most_max_rows(most: int) -> None:
    bounded = t.bound_contributions(PEOPLE, Person("id", max_rows=most), salt=SALT)
    assert bounded.map(1) == most
    assert bounded.map(2) == 2 * most
    assert worst(bounded) == most


@pytest.mark.parametrize("most", [1, 2])
def test_a_person_who_changes_their_rows_is_two_steps(most: int) -> None:
    bounded = t.bound_contributions(PEOPLE, Person("id", max_rows=most), salt=SALT)
    metric, gap = AddRemovePeople("id"), 0
    for one, other in itertools.product(holdings("p", 2), repeat=2):
        moved = symmetric_difference(bounded(one), bounded(other))
        assert moved <= bounded.map(metric.distance(one, other))
        gap = max(gap, moved)
    assert gap == 2 * most


def test_choosing_by_position_is_caught() -> None:
    def by_position(rows: Table) -> Table:
        return tuple(row for place, row in enumerate(rows) if place < 4)

    def first_of_each(rows: Table) -> Table:
        people = dict.fromkeys(row["id"] for row in rows)
        return tuple(next(row for row in rows if row["id"] == person) for person in people)

    assert worst(by_position) > 2
    assert worst(first_of_each) > 1


def test_the_choice_ignores_order_and_other_people_and_uses_the_salt() -> None:
    rows = tuple({"id": "p", "v": value} for value in range(20))
    unit = Person("id", max_rows=3)

    def chosen(table: Table, salt: bytes) -> list[Any]:
        kept = t.bound_contributions(PEOPLE, unit, salt=salt)(table)
        return sorted(row["v"] for row in kept if row["id"] == "p")

    first = chosen(rows, SALT)
    assert len(first) == 3
    assert chosen(rows[::-1], SALT) == first
    assert chosen((*({"id": "q", "v": value} for value in range(9)), *rows), SALT) == first
    assert any(chosen(rows, bytes([n] * 16)) != first for n in range(5))


def test_rows_without_an_owner_or_a_content_are_dropped() -> None:
    bounded = t.bound_contributions(PEOPLE, Person("id", max_rows=2), salt=SALT)
    loop: list[Any] = []
    loop.append(loop)
    nobody = [
        {"id": None, "v": 1},
        {"id": math.nan, "v": 1},
        {"v": 1},
        7,
        {"id": "p", "v": object()},
        {"id": "p", "v": loop},
        {"id": object(), "v": 1},
    ]
    assert bounded(nobody) == ()


def test_one_person_in_two_silos_counts_twice() -> None:
    units = [Person("id", max_rows=1), Person("id", max_rows=2)]
    pipeline = t.bound_silos(SILOS, units, salt=SALT) >> t.union(
        t.bound_silos(SILOS, units, salt=SALT).output
    )
    assert pipeline.map(1) == 3
    gap = 0
    for here, there in itertools.product(holdings("p", 2), holdings("p", 3)):
        before, after = pipeline(((), ())), pipeline((here, there))
        assert AddRemovePeople("id").distance(((), ()), (here, there)) <= 1
        gap = max(gap, symmetric_difference(before, after))
    assert gap == 3


@pytest.mark.parametrize(
    ("code", "build"),
    [
        (
            "unbounded_person",
            lambda: t.bound_contributions(PEOPLE, Person("id"), salt=SALT),
        ),
        (
            "not_the_units_table",
            lambda: t.bound_contributions(PEOPLE, Person("other", max_rows=1), salt=SALT),
        ),
        (
            "not_the_units_table",
            lambda: t.bound_contributions(SILOS, Person("id", max_rows=1), salt=SALT),
        ),
        (
            "not_the_units_table",
            lambda: t.bound_silos(SILOS, [Person("id", max_rows=1)], salt=SALT),
        ),
        (
            "silos_without_common_person",
            lambda: t.bound_silos(
                SILOS, [Person("id", max_rows=1), Person("other", max_rows=1)], salt=SALT
            ),
        ),
        (
            "salt_missing",
            lambda: t.bound_contributions(PEOPLE, Person("id", max_rows=1), salt=b"short"),
        ),
    ],
)
def test_bounding_without_a_bound_is_refused(code: str, build: Callable[[], Any]) -> None:
    with pytest.raises((InvalidParameter, Mismatch)) as refusal:
        build()
    assert refusal.value.code == code
