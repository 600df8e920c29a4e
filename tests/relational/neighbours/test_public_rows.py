"""Public rows in the question: no unit moves an answer farther than declared, by any clause.

Questions here are also those that every engine must answer alike.
"""

from __future__ import annotations

import pytest

import discreet as dp
from discreet.core.unit import PrivacyUnit, Replace
from discreet.relational.bounding.public_join import JoinedPublic
from discreet.relational.plan.nodes import PlanNode
from discreet.relational.sql import public_subqueries
from discreet.relational.sql.translate import query_from
from tests.relational.engine_with_rows import DuckDBWithRows
from tests.relational.neighbours.tables import visits
from tests.relational.neighbours.test_hard_plans import ONE_OF_EACH
from tests.relational.neighbours.worlds import Stand, breaches

QUESTIONS = (
    # lists without any row
    "SELECT COUNT(*) AS n FROM t WHERE (w, x) IN (SELECT w, weight FROM p WHERE weight > 99)",
    "SELECT COUNT(*) AS n, SUM(x) AS s FROM t WHERE NOT EXISTS (SELECT 1 FROM p WHERE p.w = t.w "
    "AND p.weight = t.x AND weight > 99)",
    # keys that follow conditions
    "SELECT x, COUNT(*) AS n, SUM(y) AS s FROM t WHERE x BETWEEN 0 AND 1 GROUP BY x",
    "SELECT w, x, COUNT(*) AS n FROM t WHERE (w = 'A' AND x > 1) OR (w = 'B' AND x < 1) "
    "GROUP BY w, x",
    "SELECT t.w, COUNT(*) AS n FROM t JOIN bands b ON t.x = b.x WHERE t.w <> 'A' GROUP BY t.w",
    # constants without FROM, groups of public rows, lists of columns
    "SELECT COUNT(*) AS n, SUM(x + a) AS s FROM t CROSS JOIN (SELECT 1 AS a UNION ALL SELECT 2)",
    "SELECT w, COUNT(*) AS n FROM t JOIN (SELECT w FROM p GROUP BY w) AS g USING (w) GROUP BY w",
    "SELECT COUNT(*) AS n, COUNT(note) AS m FROM t WHERE x IN (y, 1)",
    # numbers of public rows
    "SELECT COUNT(*) AS n, SUM(t.x * q.m) AS s FROM t, (SELECT AVG(weight) / 3 AS m, COUNT(*) AS k "
    "FROM p GROUP BY region) AS q",
    "SELECT q.k, COUNT(*) AS n FROM t JOIN (SELECT w, COUNT(*) AS k FROM p GROUP BY w) AS q USING "
    "(w) GROUP BY q.k",
    # comma, CROSS and nested joins
    "SELECT p.region, COUNT(*) AS n, SUM(t.x * p.weight) AS s FROM t, p WHERE t.w = p.w "
    "GROUP BY p.region",
    "SELECT t.w, COUNT(*) AS n, SUM(p.weight) AS s FROM t CROSS JOIN p GROUP BY t.w",
    "SELECT p.w, COUNT(*) AS n FROM t, p WHERE t.x > p.weight GROUP BY p.w",
    "SELECT p.region, COUNT(*) AS n FROM t JOIN (p JOIN bands b ON p.weight > b.x) ON t.w = p.w "
    "GROUP BY p.region",
    # LEFT with conditions and computed columns; RIGHT and FULL
    "SELECT t.w, COUNT(q.one) AS n, SUM(coalesce(q.heavy, 3)) AS s FROM t LEFT JOIN "
    "(SELECT w, weight + 1 AS heavy, 1 AS one FROM p) AS q ON t.w = q.w AND q.heavy > 1 "
    "GROUP BY t.w",
    "SELECT p.w, COUNT(t.x) AS n, SUM(t.y) AS s FROM t RIGHT JOIN p ON t.w = p.w GROUP BY p.w",
    "SELECT p.region, SUM(t.x) AS s, AVG(t.y) AS a FROM p LEFT JOIN t ON t.w = p.w AND t.x > 0 "
    "GROUP BY p.region",
    "SELECT w, COUNT(t.x) AS n FROM t FULL JOIN p USING (w) GROUP BY w",
    "SELECT p.w, COUNT(*) AS n FROM t JOIN p USING (w) WHERE p.w <> 'A' GROUP BY p.w",
    # rows of the question's own
    "SELECT q.n, COUNT(*) AS c, SUM(t.x * q.n) AS s FROM t JOIN (VALUES ('A', 1), ('A', 2), "
    "('é', 2), (NULL, 3)) AS q(w, n) ON t.w = q.w GROUP BY q.n",
    "SELECT q.n, COUNT(*) AS c FROM t, UNNEST([0, 1, 2]) AS q(n) WHERE t.x > q.n GROUP BY q.n",
    "SELECT q.n, COUNT(t.x) AS c FROM generate_series(-1, 2) AS q(n) LEFT JOIN t ON t.x = q.n "
    "GROUP BY q.n",
    # IN and EXISTS
    "SELECT w, COUNT(*) AS n FROM t WHERE w IN (SELECT w FROM p WHERE weight > 1) GROUP BY w",
    "SELECT f, COUNT(*) AS n FROM t WHERE w NOT IN (SELECT w FROM p WHERE weight > 1 AND w <> 'B')"
    " GROUP BY f",
    "SELECT f, COUNT(*) AS n FROM t WHERE w IN (SELECT w FROM p) OR x > 1 GROUP BY f",
    "SELECT f, COUNT(*) AS n FROM t WHERE EXISTS (SELECT 1 FROM p WHERE p.w = t.w AND "
    "p.weight > 1) GROUP BY f",
    "SELECT f, COUNT(*) AS n, SUM(x) AS s FROM t WHERE NOT EXISTS (SELECT 1 FROM p WHERE p.w = t.w "
    "AND p.weight = t.x) GROUP BY f",
    "SELECT COUNT(*) AS n FROM t WHERE (w, x) IN (SELECT w, weight FROM p)",
)
UNITS = [
    dp.Row(),
    Replace(dp.Row()),
    dp.Person("pid", max_rows=1),
    dp.Person("pid", max_rows=3, max_groups=2),
]


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("unit", UNITS, ids=str)
def test_no_unit_moves_an_answer_farther_than_declared(question: str, unit: PrivacyUnit) -> None:
    assert breaches(visits(ONE_OF_EACH, unit), question) == []


@pytest.mark.parametrize("unit", UNITS[::2], ids=str)
def test_nor_where_lists_are_joined(unit: PrivacyUnit, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(public_subqueries, "MAX_WRITTEN_OUT", 0)
    for question in QUESTIONS[-6:]:
        if " OR " not in question:
            assert breaches(visits(ONE_OF_EACH, unit), question) == []


def joined(rows: PlanNode) -> set[str]:
    """What private rows are joined with."""
    found = set().union(*map(joined, rows.inputs))
    if isinstance(rows, JoinedPublic):
        found.add(f"{type(rows.public).__name__} {rows.kind.name} {min(rows.partners, 2)}")
    return found


def test_the_questions_hold_every_kind_of_public_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tables, lists and plans; unique keys and others; rows that stay without a partner."""
    monkeypatch.setattr(public_subqueries, "MAX_WRITTEN_OUT", 0)
    home = DuckDBWithRows()
    stand = Stand(visits(ONE_OF_EACH, dp.Row()), home)
    try:
        found = set().union(
            *(
                joined(query_from(text, stand.database).rows)
                for text in QUESTIONS
                if " OR x > 1" not in text
            )
        )
    finally:
        stand.close()
        home.close()
    assert found >= {
        *("Scan INNER 2", "Scan LEFT 2", "Filtered INNER 2", "Filtered LEFT 2"),
        *("PublicRows INNER 1", "PublicRows INNER 2", "PublicRows LEFT 1"),
    }
