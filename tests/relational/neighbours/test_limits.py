"""Limits of a plan follow from those of its tables: nobody within them is cut, and no more is paid.

The batteries of ``test_generated`` show that neighbours stay as near as these limits say. Here
they are neither too small, so that somebody is cut who is within the limits of every table, nor
larger than what somebody within them can own.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

import discreet as dp
from discreet.core.errors import DiscreetError
from discreet.core.unit import PrivacyUnit, Replace
from discreet.relational.bounding.elements import Unnested
from discreet.relational.bounding.person_limits import PersonLimits
from discreet.relational.bounding.public_join import JoinedPublic
from discreet.relational.plan.features import PerPerson
from discreet.relational.plan.nodes import JoinedPeople, PlanNode, UnionAll
from discreet.relational.planning.planned_query import PlannedQuery
from discreet.relational.sql.translate import query_from
from tests.relational.neighbours.plans import FEATURES, LEVELS, LIMITED, PEOPLE, ROUTED, ROWS, plans
from tests.relational.neighbours.tables import (
    both,
    item,
    limited,
    order,
    people_units,
    routed,
    stay,
    visit,
)
from tests.relational.neighbours.worlds import Exact, Private, Setting, Stand, breaches

_QUIET = settings(suppress_health_check=list(HealthCheck), phases=[Phase.explicit, Phase.generate])
_FAR = 100
"""More rows than anybody has in the tables of these tests."""


def in_rows(planned: PlannedQuery, steps: Any) -> int:
    """A total in whole rows or people; fractions of them are rounded."""
    return round(int(steps.sum()) / (1 << (planned.allocation.noised[0].places or 0)))


def counted(rows: list[Any]) -> int:
    """The most rows of one person."""
    return max(Counter(row[0] for row in rows if row[0] is not None).values(), default=1)


def counts(sql: str) -> str:
    """The same question about rows alone: they are cut first."""
    before, _, keys = sql.partition(" FROM ")[2].rpartition(" GROUP BY ")
    rows = before if before and " AS s" not in keys else sql.partition(" FROM ")[2]
    return f"SELECT COUNT(*) AS n FROM {rows}"


any_visits = st.lists(visit, min_size=2, max_size=9)
any_stays = st.lists(stay, max_size=6)


@settings(_QUIET, max_examples=30)
@given(
    any_visits, any_stays, plans((*ROWS, *PEOPLE, *FEATURES, *LIMITED), people=True), st.integers(0)
)
def test_nobody_within_the_limits_of_every_table_is_cut(
    rows: list[Any], others: list[Any], sql: str, salt: int
) -> None:
    """With the limits that the rows keep, and with far larger ones, numbers are the same."""
    unit = dp.Person("pid", max_rows=counted(rows)), dp.Person("pid", max_rows=counted(others))
    wide = dp.Person("pid", max_rows=_FAR)
    same(limited(rows, others, unit), limited(rows, others, (wide, wide)), sql, salt)


any_orders = st.lists(order, min_size=1, max_size=5, unique_by=lambda row: row[0])
any_items = st.lists(item, max_size=7)


@settings(_QUIET, max_examples=20)
@given(any_orders, any_items, plans((*ROUTED, *LEVELS)), st.integers(0))
def test_nobody_within_the_limits_of_every_level_is_cut(
    orders: list[Any], items: list[Any], sql: str, salt: int
) -> None:
    whose = {row[0]: row[1] for row in orders}
    below = Counter(whose[row[0]] for row in items if whose.get(row[0]) is not None)
    above = Counter(row[1] for row in orders if row[1] is not None)
    limits = {"max_rows": max(above.values(), default=1)}
    narrow = routed(orders, items, below={"max_rows": max(below.values(), default=1)}, **limits)
    same(narrow, routed(orders, items, max_rows=_FAR), sql, salt)


def in_steps(exact: Exact, planned: PlannedQuery) -> Exact:
    """Sums in the steps of their measures, whatever the weights add to the grid."""
    noised = planned.allocation.noised
    scaled = (
        np.array([Fraction(int(value), 1 << (item.places or 0)) for value in values], dtype=object)
        for values, item in zip(exact.linear, noised, strict=True)
    )
    return Exact(tuple(scaled), exact.ranks)


def same(one: Setting, other: Setting, sql: str, salt: int) -> None:
    """Compare exact numbers of a question in two settings that differ in limits alone."""
    first, second = Stand(one), Stand(other)
    try:
        for asked in (sql, counts(sql)):
            try:
                plan, wider = first.planned(asked), second.planned(asked)
            except DiscreetError:
                continue  # refused whatever the limits, or too far with the larger ones
            one_grid = [item.measure for item in plan.allocation.noised] == [
                item.measure for item in wider.allocation.noised
            ]
            if one_grid:  # reals are added on a grid that follows from the noise
                here, there = first.exact(plan, 0, salt), second.exact(wider, 0, salt)
                assert in_steps(here, plan).same(in_steps(there, wider)), asked
    finally:
        first.close()
        second.close()


ONE, FEW, MANY = (
    dp.Person("pid", max_rows=1),
    dp.Person("pid", max_rows=3),
    dp.Person("pid", max_rows=5),
)
FACTS = {"note": 2}
SPECIFIED: list[tuple[str, PrivacyUnit, PrivacyUnit, tuple[int, int | None, int | None]]] = [
    ("SELECT COUNT(*) AS n FROM t", ONE, MANY, (1, None, None)),
    ("SELECT COUNT(*) AS n FROM u", ONE, MANY, (5, None, None)),
    ("SELECT COUNT(*) AS n FROM u WHERE v > 1", ONE, MANY, (5, None, None)),
    ("SELECT COUNT(*) AS n FROM t JOIN p ON t.w = p.w", FEW, MANY, (3 * 2, None, None)),
    ("SELECT COUNT(*) AS n FROM t LEFT JOIN bands ON t.x = bands.x", ONE, MANY, (2, None, None)),
    ("SELECT COUNT(*) AS n FROM t JOIN u USING (pid)", ONE, MANY, (5, None, None)),
    ("SELECT COUNT(*) AS n FROM u JOIN t USING (pid)", ONE, MANY, (5, None, None)),
    ("SELECT COUNT(*) AS n FROM t JOIN u USING (pid)", FEW, MANY, (3 * 5, None, None)),
    ("SELECT COUNT(*) AS n FROM t LEFT JOIN u USING (pid)", FEW, MANY, (3 * 5, None, None)),
    ("SELECT COUNT(*) AS n FROM t JOIN u USING (pid, note)", FEW, MANY, (3 * 2, None, None)),
    ("SELECT COUNT(*) AS n FROM u JOIN t USING (pid, note)", MANY, FEW, (3 * 2, None, None)),
    ("SELECT COUNT(*) AS n FROM t JOIN t AS s USING (pid)", FEW, ONE, (3 * 3, None, None)),
    (
        "SELECT COUNT(*) AS n FROM (SELECT pid FROM t UNION ALL SELECT pid FROM u) AS s",
        *(FEW, MANY, (3 + 5, None, None)),
    ),
    (
        "SELECT COUNT(*) AS n FROM (SELECT pid FROM t UNION ALL SELECT pid FROM t) AS s",
        *(FEW, MANY, (3 + 3, None, None)),
    ),
    (
        "SELECT COUNT(*) AS n FROM (SELECT pid, COUNT(*) AS k FROM u GROUP BY pid) AS s",
        *(FEW, MANY, (1, None, None)),
    ),
    (
        "SELECT COUNT(*) AS n FROM t JOIN (SELECT pid, COUNT(*) AS k FROM u GROUP BY pid) AS s "
        "USING (pid)",
        *(FEW, MANY, (3, None, None)),
    ),
    (
        "SELECT s.k, COUNT(*) AS n FROM t JOIN (SELECT pid, COUNT(*) AS k FROM u GROUP BY pid) "
        "AS s USING (pid) GROUP BY s.k",
        *(FEW, MANY, (3, 1, None)),
    ),
    ("SELECT t.w, COUNT(*) AS n FROM t JOIN u USING (pid) GROUP BY t.w", ONE, MANY, (5, 1, None)),
    (
        "SELECT u.k, COUNT(*) AS n FROM t JOIN u USING (pid) GROUP BY u.k",
        ONE,
        MANY,
        (5, None, None),
    ),
    ("SELECT f, COUNT(*) AS n FROM t GROUP BY f", MANY, ONE, (5, 1, None)),
    ("SELECT f, w, COUNT(*) AS n FROM t GROUP BY f, w", MANY, ONE, (5, None, None)),
    ("SELECT NOT f AS g, COUNT(*) AS n FROM t GROUP BY g", MANY, ONE, (5, 1, None)),
    (
        "SELECT p.region, COUNT(*) AS n FROM t JOIN p ON t.w = p.w GROUP BY p.region",
        *(dp.Person("pid", max_rows=4, max_groups=2, max_rows_per_group=3), ONE, (8, 4, 6)),
    ),
    (
        "SELECT s.w, COUNT(*) AS n FROM (SELECT pid, w FROM t UNION ALL SELECT pid, k FROM u) AS s "
        "GROUP BY s.w",
        *(dp.Person("pid", max_rows=4, max_groups=2, max_rows_per_group=3), ONE, (5, 3, 4)),
    ),
    (
        "SELECT s.f, COUNT(*) AS n FROM (SELECT pid, f FROM t UNION ALL "
        "SELECT pid, NOT f AS f FROM t) AS s GROUP BY s.f",
        *(MANY, ONE, (10, 2, None)),
    ),
    (
        "SELECT t.w, u.k, COUNT(*) AS n FROM t JOIN u USING (pid) GROUP BY t.w, u.k",
        dp.Person("pid", max_rows=4, max_groups=2),
        dp.Person("pid", max_rows=6, max_groups=3),
        (24, 6, None),
    ),
    (
        "SELECT t.w, COUNT(*) AS n FROM t JOIN u USING (pid) GROUP BY t.w",
        dp.Person("pid", max_rows=4, max_groups=2),
        dp.Person("pid", max_rows=6, max_groups=3),
        (24, 2, None),
    ),
]


QUESTIONS = tuple(dict.fromkeys(sql for sql, *_ in SPECIFIED))
"""For every engine."""


@pytest.mark.parametrize("relation", [lambda unit: unit, Replace], ids=["removed", "replaced"])
@pytest.mark.parametrize(("sql", "one", "two", "expected"), SPECIFIED)
def test_limits_of_a_plan(
    sql: str, one: PrivacyUnit, two: PrivacyUnit, expected: tuple[Any, ...], relation: Any
) -> None:
    """Rows, groups and rows in a group; ``f`` is declared fixed, two rows share a ``note``."""
    stand = Stand(limited([], [], (relation(one), relation(two)), ["f"], FACTS))
    try:
        person = stand.planned(sql).person
        assert person is not None
        assert PersonLimits.of(person) == PersonLimits(*expected)
    finally:
        stand.close()


@pytest.mark.parametrize(("sql", "one", "two", "expected"), SPECIFIED)
def test_somebody_within_the_limits_owns_as_many_rows(
    sql: str, one: dp.Person, two: dp.Person, expected: tuple[int, Any, Any]
) -> None:
    """The limit is attained by a person with full tables, so nothing is paid for in vain."""
    assert one.max_rows is not None
    assert two.max_rows is not None
    rows = [
        (1, "A", "p", True, 0, 0.0, None, "a" if k < 2 else "b", 0.0) for k in range(one.max_rows)
    ]
    others = [(1, "A", 2, "a" if k < 2 else "c") for k in range(two.max_rows)]
    free = (dp.Person("pid", max_rows=one.max_rows), dp.Person("pid", max_rows=two.max_rows))
    stand = Stand(limited(rows, others, free, ["f"], FACTS))
    try:
        planned = stand.planned(counts(sql))
        found = in_rows(planned, stand.exact(planned).linear[0])
        attained = {"USING (pid, note)": 4}  # two of a note on either side
        least = next((n for text, n in attained.items() if text in sql), expected[0])
        assert least <= found <= expected[0]
    finally:
        stand.close()


ANYTHING = plans((*ROWS, *PEOPLE, *FEATURES, *LIMITED), people=True)


@settings(_QUIET, max_examples=100)
@given(people_units, ANYTHING)
def test_where_all_tables_have_one_limit_only_what_adds_up_or_multiplies_has_another(
    unit: PrivacyUnit, sql: str
) -> None:
    """Everything else is the question that it was, at the price that it had."""
    stand = stand_for(unit)
    try:
        query = query_from(sql, stand.database)
    except DiscreetError:
        return
    if query.limits is None:
        return
    person = unit.unit if isinstance(unit, Replace) else unit
    assert isinstance(person, dp.Person)
    was = PersonLimits.of(person).at_most(query.rows.stability)
    assert query.limits.rows is not None
    assert was.rows is not None
    assert query.limits.rows >= was.rows
    assert any(widens(step) for step in steps(query.rows))


_STANDS: dict[PrivacyUnit, Stand] = {}


def stand_for(unit: PrivacyUnit) -> Stand:
    """An empty database for each unit: limits follow from declarations alone."""
    if unit not in _STANDS:
        _STANDS[unit] = Stand(both([], [], unit))
    return _STANDS[unit]


def steps(rows: PlanNode) -> list[PlanNode]:
    return [rows, *(step for below in rows.inputs for step in steps(below))]


def widens(step: PlanNode) -> bool:
    """A union, several partners or elements, several rows on both sides; or a feature beside rows.

    The last one narrows: by features alone a person is in one group.
    """
    if isinstance(step, JoinedPublic):
        return step.partners > 1
    if isinstance(step, Unnested):
        return step.most > 1
    if isinstance(step, JoinedPeople):
        features = [isinstance(side, PerPerson) for side in step.inputs]
        return any(features) or 1 not in (step.left.stability, step.right.stability)
    return isinstance(step, UnionAll)


SEXES = pl.DataFrame(
    {
        "pid": [1, 1, 1, 2, 2, 3, 4, 4, 4, 4],
        "sex": ["f", "m", "f", "m", "m", "f", "f", "m", None, "x"],
        "v": [1, 2, 3, 4, 5, 6, 7, 8, 9, 3],
    }
)


def sexes(unit: PrivacyUnit) -> Setting:
    """People of whom two lie about what is fixed."""
    declared: dict[str, Any] = {"sex": dp.Category(["f", "m", None]), "v": dp.Number(0, 9)}
    return Setting({"t": Private(SEXES, unit, declared, {}, ["sex"])})


BY_SEX = [
    "SELECT sex, COUNT(DISTINCT pid) AS n FROM t GROUP BY sex",
    "SELECT sex, COUNT(*) AS n, SUM(v) AS s, AVG(v) AS a FROM t GROUP BY sex",
    "SELECT sex = 'f' AS woman, MEDIAN(v) AS m, COUNT(DISTINCT v) AS d FROM t GROUP BY woman",
]


@pytest.mark.parametrize("relation", [lambda unit: unit, Replace], ids=["removed", "replaced"])
@pytest.mark.parametrize("salt", range(5))
def test_what_is_declared_fixed_is_enforced(relation: Any, salt: int) -> None:
    unit = relation(dp.Person("pid", max_rows=3))
    assert breaches(sexes(unit), *BY_SEX, salt=salt) == []


@pytest.mark.parametrize("salt", range(5))
def test_who_has_several_values_of_what_is_fixed_counts_with_one(salt: int) -> None:
    stand = Stand(sexes(dp.Person("pid", max_rows=3)))
    try:
        planned = stand.planned(BY_SEX[0])
        assert planned.parts[0].contributions.l1(1) == 1
        assert in_rows(planned, stand.exact(planned, 0, salt).linear[0]) == 4
    finally:
        stand.close()


def test_the_statement_itself_keeps_a_person_in_one_group() -> None:
    """As it is run for an answer: the declaration is not believed anywhere on the way."""
    stand = Stand(sexes(dp.Person("pid", max_rows=3)))
    try:
        for _ in range(5):
            planned = stand.planned(BY_SEX[0])
            assert in_rows(planned, planned.exact(stand.database).linear[0]) == 4
    finally:
        stand.close()
