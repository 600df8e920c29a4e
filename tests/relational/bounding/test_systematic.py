"""Samples of a person's rows: exactly as many as allowed, each with the same chance."""

from __future__ import annotations

import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chi2

import discreet as dp
from discreet.core.unit import Person
from discreet.relational.bounding.person_groups import PersonBounds
from tests.relational.neighbours.worlds import Stand, one

COLUMNS = {"w": dp.Category(["A", "B"]), "x": dp.Number(0, 30)}
HISTOGRAM = "SELECT MEDIAN(x) AS m FROM t"
BY_WARD = "SELECT w, MEDIAN(x) AS m FROM t GROUP BY w"


def kept(stand: Stand, sql: str, salt: int) -> list[list[int]]:
    """How many rows of each value are left, by group."""
    counts: list[list[int]] = stand.exact(stand.planned(sql), salt=salt).ranks[0].tolist()
    return counts


def opened(values: list[int], person: dp.Person, wards: str | None = None) -> Stand:
    frame = pl.DataFrame(
        {"pid": [1] * len(values), "w": list(wards or "A" * len(values)), "x": values}
    )
    return Stand(one(frame, person, COLUMNS))


def test_each_row_has_the_same_chance() -> None:
    """Seven rows, three are kept, at 600 salts: chi-square, false alarm 1e-6."""
    stand = opened(list(range(7)), dp.Person("pid", max_rows=3))
    try:
        found = [kept(stand, HISTOGRAM, salt)[0][:7] for salt in range(600)]
    finally:
        stand.close()
    assert all(sum(row) == 3 and max(row) == 1 for row in found)
    often = [sum(column) for column in zip(*found, strict=True)]
    wanted = 600 * 3 / 7
    # Negatively correlated within a sample, so this is at most chi-square with seven degrees.
    assert sum((n - wanted) ** 2 / wanted for n in often) < chi2.isf(1e-6, 7)


def test_rows_of_equal_content_are_not_kept_or_dropped_as_one() -> None:
    stand = opened([4] * 6 + [9] * 3, dp.Person("pid", max_rows=3))
    try:
        found = [kept(stand, HISTOGRAM, salt)[0] for salt in range(20)]
    finally:
        stand.close()
    assert {(row[4], row[9]) for row in found} == {(2, 1)}


def test_another_person_and_another_salt_begin_elsewhere() -> None:
    """Without the salt everybody's sample would be the same each time."""
    stand = opened(list(range(20)), dp.Person("pid", max_rows=1))
    try:
        found = {kept(stand, HISTOGRAM, salt)[0].index(1) for salt in range(60)}
    finally:
        stand.close()
    assert len(found) > 10  # of 20; fewer with a chance below 1e-9


def test_people_do_not_keep_the_same_groups() -> None:
    """Else a group that is lost is lost for everybody: 12 people, 2 groups, 10 salts."""
    frame = pl.DataFrame({"pid": [*range(12)] * 2, "w": ["A"] * 12 + ["B"] * 12, "x": [1] * 24})
    stand = Stand(one(frame, dp.Person("pid", max_rows=2, max_groups=1), COLUMNS))
    try:
        found = [[sum(row) for row in kept(stand, BY_WARD, salt)] for salt in range(10)]
    finally:
        stand.close()
    assert all(sum(each) == 12 for each in found)
    assert any(0 not in each for each in found)  # by chance alone below 2**-100


def test_people_are_in_no_more_groups_than_they_have_rows() -> None:
    for rows, groups, most in ((2, 5, 2), (5, 2, 2), (None, 3, 3), (4, None, 4)):
        person = Person("pid", max_rows=rows, max_groups=groups)
        assert PersonBounds.of(person, presence=True) == PersonBounds(most, None, None)


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from("AB"), st.integers(0, 3)), min_size=1, max_size=14),
    st.integers(1, 6),
    st.none() | st.integers(1, 4),
    st.none() | st.integers(1, 2),
)
def test_exactly_as_many_rows_are_kept_as_the_unit_allows(
    rows: list[tuple[str, int]], most: int, each: int | None, groups: int | None
) -> None:
    person = dp.Person("pid", max_rows=most, max_rows_per_group=each, max_groups=groups)
    stand = opened([x for _, x in rows], person, "".join(w for w, _ in rows))
    try:
        found = kept(stand, BY_WARD, 5)
    finally:
        stand.close()
    held = sorted(min(each or most, sum(w == ward for w, _ in rows)) for ward in "AB")
    possible = {min(most, sum(held))} if groups != 1 else {min(most, n) for n in held if n}
    assert sum(map(sum, found)) in possible
    assert all(sum(row) <= (each or most) for row in found)
    whole = [[sum((w, x) == (ward, v) for w, x in rows) for v in range(31)] for ward in "AB"]
    assert all(n <= m for a, b in zip(found, whole, strict=True) for n, m in zip(a, b, strict=True))
