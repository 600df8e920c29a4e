"""Subqueries about the person of a row: joins with features, one row per person."""

from __future__ import annotations

import pytest

import discreet as dp
from discreet.core.errors import DiscreetError
from discreet.core.unit import PrivacyUnit, Replace
from discreet.relational.plan.nodes import Filtered, JoinedPeople
from tests.relational.neighbours.tables import both
from tests.relational.neighbours.test_hard_plans import ONE_OF_EACH
from tests.relational.neighbours.test_person_features import OTHERS
from tests.relational.neighbours.worlds import Stand, breaches

QUESTIONS = (
    "SELECT w, COUNT(*) AS n, SUM(x) AS a FROM t WHERE EXISTS (SELECT 1 FROM u WHERE "
    "u.pid = t.pid AND u.v > 1) GROUP BY w",
    "SELECT COUNT(*) AS n, SUM(y) AS a FROM t WHERE pid NOT IN (SELECT pid FROM u WHERE k = 'A')",
    "SELECT COUNT(*) AS n FROM t WHERE x > 0 AND (NOT EXISTS (SELECT * FROM u AS o WHERE "
    "t.pid = o.pid) OR t.pid IN (SELECT u.pid FROM u))",
    "SELECT COUNT(*) AS n, SUM(t.x) AS a FROM t WHERE (SELECT COUNT(*) FROM u WHERE "
    "u.pid = t.pid) < 2",
    "SELECT SUM(s) AS a, COUNT(DISTINCT pid) AS p FROM (SELECT t.pid, (SELECT SUM(u.v) FROM u "
    "WHERE u.pid = t.pid) AS s FROM t) AS q",
    "SELECT (SELECT COUNT(*) FROM u WHERE u.pid = t.pid) AS many, COUNT(*) AS n FROM t "
    "GROUP BY many",
    "SELECT COUNT(*) AS n FROM (SELECT pid, MAX(x) AS hi FROM t WHERE t.x < (SELECT MAX(o.x) "
    "FROM t AS o WHERE o.pid = t.pid) GROUP BY pid) AS s",
    "SELECT w, COUNT(*) AS n, COUNT(note) AS m FROM t SEMI JOIN u USING (pid) GROUP BY w",
    "SELECT COUNT(*) AS n, SUM(x) AS a FROM t ANTI JOIN u ON t.pid = u.pid AND u.v > 1",
    "SELECT COUNT(*) AS n, SUM(x) AS a FROM t NATURAL JOIN (SELECT pid, v FROM u ORDER BY v) AS q",
    "SELECT COUNT(*) AS n FROM (SELECT pid FROM t INTERSECT SELECT pid FROM u) AS q",
    "SELECT COUNT(*) AS n FROM (SELECT pid FROM t EXCEPT SELECT pid FROM u WHERE v > 1) AS q",
    "WITH big AS (SELECT pid FROM u WHERE v > 2) SELECT COUNT(*) AS n FROM t WHERE pid IN "
    "(SELECT pid FROM big)",
)


@pytest.mark.parametrize(
    "unit",
    [
        dp.Person("pid", max_rows=1),
        dp.Person("pid", max_rows=3),
        pytest.param(Replace(dp.Person("pid", max_rows=2)), marks=pytest.mark.slow),
    ],
    ids=str,
)
def test_one_person_moves_no_more_than_declared(unit: PrivacyUnit) -> None:
    assert breaches(both(ONE_OF_EACH, OTHERS, unit), *QUESTIONS) == []


def exact(text: str) -> list[list[int]]:
    stand = Stand(both(ONE_OF_EACH, OTHERS, dp.Person("pid", max_rows=20)))
    try:
        return [part.tolist() for part in stand.exact(stand.planned(text)).linear]
    finally:
        stand.close()


@pytest.mark.parametrize(
    ("subquery", "joined"),
    [
        (
            "FROM t WHERE EXISTS (SELECT 1 FROM u WHERE u.pid = t.pid AND u.v > 1)",
            "FROM t JOIN (SELECT pid, COUNT(*) AS n FROM u WHERE v > 1 GROUP BY pid) AS r "
            "USING (pid)",
        ),
        (
            "FROM t WHERE pid NOT IN (SELECT pid FROM u)",
            "FROM t LEFT JOIN (SELECT pid, COUNT(*) AS n FROM u GROUP BY pid) AS r "
            "ON t.pid = r.pid WHERE r.n IS NULL",
        ),
        (
            "FROM t WHERE (SELECT COUNT(*) FROM u WHERE u.pid = t.pid) < 2",
            "FROM t LEFT JOIN (SELECT pid, COUNT(*) AS n FROM u GROUP BY pid) AS r "
            "ON t.pid = r.pid WHERE coalesce(r.n, 0) < 2",
        ),
    ],
)
def test_they_mean_what_the_join_means(subquery: str, joined: str) -> None:
    found = exact(f"SELECT COUNT(*) AS n, SUM(t.x) AS a {subquery}")
    assert found == exact(f"SELECT COUNT(*) AS n, SUM(t.x) AS a {joined}")
    assert found[0] != [0]


def test_rows_are_neither_added_nor_owned_by_others() -> None:
    stand = Stand(both(ONE_OF_EACH, OTHERS, dp.Person("pid", max_rows=3)))
    planned = stand.planned(QUESTIONS[0])
    rows = planned.query.rows
    assert isinstance(rows, Filtered)
    assert isinstance(rows.rows, JoinedPeople)
    assert rows.rows.right.stability == 1
    assert planned.person == dp.Person("pid", max_rows=3)
    stand.close()


def test_a_star_does_not_mean_the_subquery() -> None:
    text = (
        "SELECT COUNT(*) AS n FROM (SELECT * FROM t WHERE EXISTS (SELECT 1 FROM u WHERE "
        "u.pid = t.pid) UNION ALL SELECT * FROM t) AS s"
    )
    assert exact(text)[0] != [0]


@pytest.mark.parametrize(
    ("condition", "code"),
    [
        ("EXISTS (SELECT 1 FROM u)", "unsupported_sql"),
        ("EXISTS (SELECT 1 FROM u WHERE u.k = t.w)", "unsupported_sql"),
        ("t.w IN (SELECT k FROM u)", "unsupported_sql"),
        ("t.x IN (SELECT pid FROM u)", "private_join"),
        ("t.x > (SELECT AVG(v) FROM u)", "unsupported_sql"),
        ("t.x > (SELECT v FROM u WHERE u.pid = t.pid)", "unsupported_sql"),
        ("t.x > (SELECT COUNT(*) + 1 FROM u WHERE u.pid = t.pid)", "unsupported_sql"),
        ("EXISTS (SELECT COUNT(*) FROM u WHERE u.pid = t.pid)", "unsupported_sql"),
        ("EXISTS (SELECT 1 FROM u WHERE u.pid = t.pid LIMIT 1)", "unsupported_sql"),
        ("EXISTS (SELECT 1 FROM u WHERE u.pid = t.pid AND u.v > t.x)", "unsupported_sql"),
        ("t.pid IN (SELECT pid FROM u UNION SELECT pid FROM t)", "unsupported_sql"),
        ("t.pid IN (SELECT pid, v FROM u)", "unsupported_sql"),
    ],
)
def test_subqueries_about_others_are_refused(condition: str, code: str) -> None:
    stand = Stand(both(ONE_OF_EACH, OTHERS, dp.Person("pid", max_rows=2)))
    with pytest.raises(DiscreetError) as caught:
        stand.planned(f"SELECT COUNT(*) AS n FROM t WHERE {condition}")
    assert caught.value.code == code, caught.value
    stand.close()
