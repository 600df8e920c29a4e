"""Joins that multiply rows: a person's rows are limited before and inside, or it is refused."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

import discreet as dp
from discreet.core.errors import DiscreetError
from discreet.core.unit import PrivacyUnit, Replace
from discreet.relational.bounding import before_joins as limited
from discreet.relational.bounding.before_joins import Limited
from discreet.relational.compile.compiler import Compiler
from discreet.relational.limits import memory as held
from discreet.relational.plan.nodes import PlanNode
from discreet.relational.planning.planned_query import PlannedQuery
from tests.relational.neighbours.worlds import Exact, Private, Setting, Stand, breaches

PERSON = dp.Person("pid", max_rows=2)
CHAIN = (
    "SELECT COUNT(*) AS n, SUM(x) AS s, SUM(p2.k) AS k FROM t JOIN p AS p0 ON t.w = 'B' "
    "JOIN p AS p1 ON t.w = 'B' JOIN p AS p2 ON t.w = 'B'"
)
ITSELF = (
    "SELECT COUNT(*) AS n, SUM(a.x) AS s, MEDIAN(c.x) AS m FROM t AS a JOIN t AS b USING (pid) "
    "JOIN t AS c USING (pid) JOIN t AS d USING (pid)"
)
QUESTIONS = [
    CHAIN,
    ITSELF,
    "SELECT COUNT(DISTINCT pid) AS n, COUNT(*) AS r FROM t JOIN p ON t.x = p.g",
    "SELECT w, COUNT(*) AS n, AVG(y) AS a FROM t JOIN p ON t.x = p.g GROUP BY w",
    "SELECT COUNT(*) AS n FROM t LEFT JOIN p ON t.x = p.g",
    "SELECT COUNT(*) AS n, SUM(a.y) AS s FROM t AS a JOIN t AS b ON a.pid = b.pid AND a.w = b.w",
    "SELECT COUNT(*) AS n, SUM(z) AS s FROM (SELECT pid, COUNT(*) AS z FROM t JOIN p ON t.x = p.g "
    "GROUP BY pid) AS q",
    "SELECT COUNT(*) AS n, SUM(a.x) AS s FROM t AS a JOIN (SELECT pid, MAX(x) AS m FROM t "
    "GROUP BY pid) AS f USING (pid) JOIN t AS b USING (pid)",
]


def setting(unit: PrivacyUnit = PERSON, partners: int = 3) -> Setting:
    rows = pl.DataFrame(
        {
            "pid": [1] * 6 + [2, 2, 3, None],
            "w": ["B", "B", "A", "A", "B", None, "A", "B", "A", "B"],
            "x": [0, 0, 1, 1, 2, 5, 1, 0, 2, 1],
            "y": [0.0, -0.0, 1.5, None, -2.0, 0.0, -0.0, 4.0, 1.0, 1.0],
        }
    )
    columns: dict[str, Any] = {
        "w": dp.Category(["A", "B"]),
        "x": dp.Number(0, 5),
        "y": dp.Number(-2.0, 4.0),
    }
    public = pl.DataFrame({"g": [0] * partners + [1] * partners, "k": range(2 * partners)})
    return Setting({"t": Private(rows, unit, columns)}, {"p": public})


@pytest.fixture
def tight(monkeypatch: pytest.MonkeyPatch) -> None:
    """Limits so small that six rows exceed them."""
    monkeypatch.setattr(limited, "MAX_JOINED_ROWS", 16)
    monkeypatch.setattr(limited, "USUAL_ROWS", 3)
    monkeypatch.setattr(held, "MAX_JOINED_ROWS", 16)


def steps(rows: PlanNode) -> list[Limited]:
    found = [rows] if isinstance(rows, Limited) else []
    return found + [step for below in rows.inputs for step in steps(below)]


@pytest.mark.usefixtures("tight")
@pytest.mark.parametrize("relation", [lambda unit: unit, Replace], ids=["removed", "replaced"])
@pytest.mark.parametrize("salt", range(4))
def test_neighbours_stay_near_where_rows_are_limited(relation: Any, salt: int) -> None:
    assert breaches(setting(relation(PERSON)), *QUESTIONS, salt=salt) == []


@pytest.mark.usefixtures("tight")
def test_every_multiplying_join_of_people_is_limited() -> None:
    stand = Stand(setting())
    try:
        for query in QUESTIONS:
            assert steps(stand.planned(query).query.rows), query
        chain = steps(stand.planned(CHAIN).query.rows)
        assert [step.limit for step in chain] == [2, 2, 2]
    finally:
        stand.close()


def test_a_join_with_one_partner_limits_nothing() -> None:
    stand = Stand(setting(partners=1))
    try:
        for query in QUESTIONS[2:5]:
            assert not steps(stand.planned(query).query.rows)
    finally:
        stand.close()


@pytest.mark.parametrize("unit", [dp.Row(), Replace(dp.Row())], ids=["row", "replaced"])
def test_a_chain_of_partners_above_the_limit_is_refused_where_rows_are_units(
    unit: PrivacyUnit,
) -> None:
    # Three joins with all of its rows: 98**3 is below a million, 126**3 is twice as much.
    stand = Stand(setting(unit, partners=49))
    try:
        stand.planned(CHAIN)
    finally:
        stand.close()
    stand = Stand(setting(unit, partners=63))
    try:
        with pytest.raises(DiscreetError, match="join_multiplies"):
            stand.planned(CHAIN)
    finally:
        stand.close()


@pytest.mark.usefixtures("tight")
@pytest.mark.parametrize("unit", [PERSON, dp.Row()], ids=["person", "row"])
def test_a_union_of_joins_that_multiply_adds_up(unit: PrivacyUnit) -> None:
    branch = "SELECT t.x FROM t JOIN p ON t.x = p.g"
    stand = Stand(setting(unit))
    try:
        stand.planned(f"SELECT COUNT(*) AS n FROM ({branch}) AS q")
        many = " UNION ALL ".join([*[branch] * 30, "SELECT x FROM t"])
        with pytest.raises(DiscreetError, match="join_multiplies") as refusal:
            stand.planned(f"SELECT COUNT(*) AS n FROM ({many}) AS q")
        assert "at most 64 at one step" in str(refusal.value)
    finally:
        stand.close()


@pytest.mark.usefixtures("tight")
def test_more_partners_than_a_person_may_have_rows_is_refused() -> None:
    stand = Stand(setting(partners=9))
    try:
        with pytest.raises(DiscreetError, match="join_multiplies"):
            stand.planned(QUESTIONS[2])
    finally:
        stand.close()


@pytest.mark.usefixtures("tight")
def test_no_row_beyond_the_limit_enters_a_join() -> None:
    """Counted in the engine itself, before anything is bounded at the end."""
    stand = Stand(setting())
    try:
        (step,) = steps(stand.planned(QUESTIONS[2]).query.rows)
        compiler = Compiler.of(stand.engine, salt=5)
        owner = compiler.dialect.identifier(step.privacy_id or "")
        text = compiler.text(step, frozenset())
        found = stand.engine.rows(f"SELECT {owner}, COUNT(*) FROM ({text}) AS q GROUP BY 1")
    finally:
        stand.close()
    assert dict(found) == {1: 3, 2: 2, 3: 1}  # type: ignore[arg-type]


def rows_of(exact: Exact, planned: PlannedQuery) -> int:
    """The first count in rows: weights count in fractions of one, cut towards zero."""
    places = planned.allocation.noised[0].places or 0
    return round(int(exact.linear[0].sum()) / (1 << places))


@pytest.mark.parametrize(
    ("query", "expected"), [(CHAIN, 1_000_000), (ITSELF, 2**4)], ids=["public", "itself"]
)
def test_ten_thousand_rows_of_one_person_multiply_to_no_more_than_the_limit(
    query: str, expected: int
) -> None:
    many = 10_000
    rows = pl.DataFrame({"pid": [1] * many, "w": ["B"] * many, "x": [0] * many, "y": [0.0] * many})
    stand = Stand(setting(partners=500).with_frames({"t": rows}))
    try:
        planned = stand.planned(query)
        counted = rows_of(stand.exact(planned), planned)
        assert planned.person is not None
        assert counted == planned.person.max_rows == expected <= limited.MAX_JOINED_ROWS
    finally:
        stand.close()


def test_repeated_rows_of_a_route_multiply_nothing() -> None:
    """The table that a route goes through is read once for each key and person."""
    orders = pl.DataFrame({"oid": [7] * 50 + [8], "pid": [1] * 50 + [2]})
    items = pl.DataFrame({"oid": [7, 8, 9], "x": [1, 2, 3]})
    person = dp.Person("oid", via="orders.pid", max_rows=5)
    found = Setting(
        {
            "orders": Private(orders, dp.Person("pid", max_rows=5), {}),
            "items": Private(items, person, {"x": dp.Number(0, 5)}),
        }
    )
    stand = Stand(found)
    try:
        planned = stand.planned("SELECT COUNT(*) AS n FROM items")
        assert rows_of(stand.exact(planned), planned) == 2
    finally:
        stand.close()


LONG = "concat('" + "a" * 4000 + "', CAST(q.k AS VARCHAR), '-', CAST(r.k AS VARCHAR))"
TEXTS = [
    f"SELECT COUNT(DISTINCT {LONG}) AS n FROM t JOIN p AS q ON t.w = 'B' JOIN p AS r ON t.w = 'B'",
    f"SELECT COUNT(*) AS n FROM (SELECT DISTINCT {LONG} AS v FROM t JOIN p AS q ON t.w = 'B' "
    "JOIN p AS r ON t.w = 'B') AS u",
    f"SELECT COUNT(DISTINCT v) AS n FROM (SELECT pid, {LONG} AS v FROM t JOIN p AS q ON t.w = 'B' "
    "JOIN p AS r ON t.w = 'B' UNION ALL SELECT pid, w AS v FROM t) AS u",
]


@pytest.mark.parametrize("unit", [dp.Row(), PERSON], ids=["row", "person"])
@pytest.mark.parametrize("query", TEXTS)
def test_long_texts_in_all_rows_that_joins_make_of_one_unit_are_refused(
    unit: PrivacyUnit, query: str
) -> None:
    few, many = Stand(setting(unit, partners=2)), Stand(setting(unit, partners=400))
    try:
        few.planned(query)
        many.planned(query.replace("a" * 4000, "a"))
        with pytest.raises(DiscreetError, match="too_much_text"):
            many.planned(query)
    finally:
        few.close()
        many.close()
