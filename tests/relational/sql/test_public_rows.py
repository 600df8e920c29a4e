"""Public rows in the question: joins, VALUES, UNNEST, IN and EXISTS mean what they mean in DuckDB.

Each question is asked of the curator, at a price at which noise is nothing, and of DuckDB in plain.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from datetime import date

import duckdb
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet as dp
from discreet.core.errors import DiscreetError
from discreet.relational.sql import public_subqueries
from discreet.relational.sql.translate import query_from

RICH = dp.PureDP(epsilon=4000)
"""Noise of a scale of 1/1000 at most, on whole numbers: never seen."""

DRAW = random.Random(8)
FRAMES = {
    "visits": pl.DataFrame(
        {
            "patient": [DRAW.randrange(60) for _ in range(200)],
            "ward": [DRAW.choice(["A", "B", "C", None]) for _ in range(200)],
            "age": [DRAW.choice([1, 2, 3, 4, None]) for _ in range(200)],
            "day": [date(2024, DRAW.randrange(1, 13), 5) for _ in range(200)],
            "note": [DRAW.choice(["x", "y", "z", None]) for _ in range(200)],
        }
    ),
    "wards": pl.DataFrame(
        {
            "ward": ["A", "B", "D", None],
            "site": ["north", "south", "south", None],
            "beds": [1, 2, 3, None],
        }
    ),
    "tags": pl.DataFrame({"ward": ["A", "A", "B", "D"], "tag": ["x", "y", "x", None]}),
    "empty": pl.DataFrame({"ward": ["A"], "beds": [1]}).clear(),
}


@pytest.fixture(scope="module")
def source() -> Iterator[dp.Curator]:
    visits = dp.table(
        FRAMES["visits"],
        unit=dp.Row(),
        columns={
            "patient": dp.Number(0, 60),
            "ward": dp.Category(["A", "B", "C", None]),
            "age": dp.Number(1, 4),
            "day": dp.Dates(date(2024, 1, 1), date(2024, 12, 31)),
        },
    )
    with dp.Curator(
        visits=visits,
        wards=dp.public(FRAMES["wards"]),
        tags=dp.public(FRAMES["tags"]),
        empty=dp.public(FRAMES["empty"]),
        budget=dp.PureDP(epsilon=10_000_000),
        ledger=dp.ledger.Memory(),
    ) as opened:
        yield opened


def plain(question: str) -> dict[tuple[object, ...], tuple[object, ...]]:
    """What DuckDB says: the numbers by their keys."""
    with duckdb.connect() as connection:
        for name, frame in FRAMES.items():
            connection.register(name, frame.to_arrow())
        return by_keys(pl.DataFrame(connection.sql(question).to_arrow_table()))


def by_keys(frame: pl.DataFrame) -> dict[tuple[object, ...], tuple[object, ...]]:
    keys = [name for name in frame.columns if name.startswith("k")]
    numbers = [name for name in frame.columns if name.startswith("n")]
    return {
        tuple(row[name] for name in keys): tuple(row[name] for name in numbers)
        for row in frame.iter_rows(named=True)
    }


def answered(source: dp.Curator, question: str) -> dict[tuple[object, ...], tuple[object, ...]]:
    release = source.sql(question, spend=RICH)
    keys = [name for name in release.keys if name.startswith("k")]
    return {
        tuple(release.keys[name][row] for name in keys): tuple(
            answer.values[row] for answer in release.answers
        )
        for row in range(len(release))
    }


def check(source: dp.Curator, question: str) -> None:
    """Every group of the plain answer is there with its numbers, and all others are empty."""
    expected, found = plain(question), answered(source, question)
    for key, numbers in expected.items():
        if None not in key or key in found:
            assert found[key] == tuple(0 if n is None else n for n in numbers), key
    for key in found.keys() - expected.keys():
        assert set(found[key]) == {0}, key


BY_SITE = "SELECT w.site AS k, COUNT(*) AS n FROM visits v"
JOINS = (
    # comma and CROSS: what WHERE compares is what they are joined on
    f"{BY_SITE}, wards w WHERE v.ward = w.ward GROUP BY k",
    f"{BY_SITE}, wards w WHERE w.ward = v.ward AND v.age > 1 GROUP BY k",
    f"{BY_SITE} CROSS JOIN wards w WHERE v.ward = w.ward GROUP BY k",
    f"{BY_SITE} CROSS JOIN wards w GROUP BY k",
    f"{BY_SITE}, wards w WHERE v.age > w.beds GROUP BY k",
    f"{BY_SITE} JOIN wards w ON v.age > w.beds GROUP BY k",
    f"{BY_SITE} JOIN wards w ON TRUE GROUP BY k",
    "SELECT t.tag AS k, COUNT(*) AS n FROM visits v, wards w, tags t "
    "WHERE v.ward = w.ward AND t.ward = w.ward GROUP BY k",
    # LEFT: conditions on the public side, computed columns, what has no partner
    f"{BY_SITE} LEFT JOIN wards w ON v.ward = w.ward AND w.beds > 1 GROUP BY k",
    "SELECT v.ward AS k, COUNT(*) AS n FROM visits v LEFT JOIN wards w ON v.ward = w.ward "
    "AND w.beds > 1 WHERE w.ward IS NULL GROUP BY k",
    "SELECT v.ward AS k, COUNT(w.one) AS n FROM visits v LEFT JOIN "
    "(SELECT ward, 1 AS one FROM wards) w ON v.ward = w.ward GROUP BY k",
    "SELECT v.ward AS k, SUM(coalesce(w.two, 9)) AS n FROM visits v LEFT JOIN "
    "(SELECT ward, coalesce(beds, 7) * 2 AS two FROM wards) w ON v.ward = w.ward GROUP BY k",
    # RIGHT, and LEFT from the public side: every public key, empty or not
    "SELECT w.ward AS k, COUNT(v.age) AS n FROM visits v RIGHT JOIN wards w ON v.ward = w.ward "
    "GROUP BY k",
    "SELECT w.ward AS k, SUM(v.age) AS n FROM wards w LEFT JOIN visits v ON v.ward = w.ward "
    "GROUP BY k",
    "SELECT ward AS k, COUNT(v.age) AS n FROM wards w LEFT JOIN visits v USING (ward) GROUP BY k",
    "SELECT ward AS k, COUNT(v.age) AS n FROM visits v RIGHT JOIN wards w USING (ward) GROUP BY k",
    "SELECT w.ward AS k, COUNT(CASE WHEN v.age > 2 THEN 1 END) AS n, "
    "COUNT(*) FILTER (WHERE v.age > 1 AND w.beds > 1) AS n2 "
    "FROM wards w LEFT JOIN visits v ON v.ward = w.ward GROUP BY k",
    "SELECT w.ward AS k, COUNT(v.age) AS n FROM wards w LEFT JOIN visits v "
    "ON v.ward = w.ward AND v.age > 2 GROUP BY k",
    "SELECT w.ward AS k, COUNT(v.age) AS n FROM (SELECT * FROM wards WHERE beds < 3) w "
    "LEFT JOIN visits v ON v.ward = w.ward GROUP BY k",
    "SELECT w.ward AS k, COUNT(v.age) AS n FROM wards w LEFT JOIN visits v ON v.ward = w.ward "
    "WHERE w.beds < 3 GROUP BY k",
    "SELECT w.site AS k, COUNT(v.age) AS n FROM visits v RIGHT JOIN wards w ON v.ward = w.ward "
    "JOIN tags t ON t.ward = w.ward GROUP BY k",
    "SELECT v.ward AS k, COUNT(*) AS n FROM wards w RIGHT JOIN visits v ON v.ward = w.ward "
    "GROUP BY k",
    "SELECT ward AS k, COUNT(*) AS n FROM wards w RIGHT JOIN visits v USING (ward) GROUP BY k",
    "SELECT w.site AS k, COUNT(v.age) AS n FROM visits v FULL JOIN wards w ON v.ward = w.ward "
    "GROUP BY k",
    # USING, with the columns of either table
    "SELECT ward AS k, COUNT(*) AS n FROM visits JOIN wards USING (ward) GROUP BY ward",
    "SELECT wards.ward AS k, COUNT(*) AS n FROM visits JOIN wards USING (ward) "
    "WHERE visits.ward <> 'A' GROUP BY wards.ward",
    "SELECT k, COUNT(*) AS n FROM (SELECT *, ward AS k FROM visits JOIN wards USING (ward)) "
    "GROUP BY k",
    # parentheses, schemas, names of columns
    "SELECT t.tag AS k, COUNT(*) AS n FROM (visits v JOIN wards w ON v.ward = w.ward) "
    "JOIN tags t ON t.ward = w.ward GROUP BY k",
    "SELECT t.tag AS k, COUNT(*) AS n FROM visits v JOIN (wards w JOIN tags t ON w.ward = t.ward) "
    "ON v.ward = w.ward GROUP BY k",
    "SELECT j.site AS k, COUNT(*) AS n FROM visits v JOIN (wards w LEFT JOIN tags t "
    "USING (ward)) AS j ON v.ward = j.ward GROUP BY k",
    "SELECT w.b AS k, COUNT(*) AS n FROM visits v JOIN wards AS w(a, b) ON v.ward = w.a GROUP BY k",
    "SELECT w.site AS k, COUNT(*) AS n FROM (visits v) JOIN (SELECT ward, site FROM wards "
    "WHERE beds < 3) w ON v.ward = w.ward GROUP BY k",
    "SELECT w.site AS k, COUNT(*) AS n FROM visits v JOIN (SELECT DISTINCT site, ward FROM wards "
    "UNION ALL SELECT tag, ward FROM tags) w ON v.ward = w.ward GROUP BY k",
    # rows of the question's own
    "SELECT q.name AS k, COUNT(*) AS n FROM visits v JOIN (VALUES ('A', 'one'), ('B', 'two'), "
    "('Z', 'two'), (NULL, 'none')) AS q(ward, name) ON v.ward = q.ward GROUP BY k",
    "SELECT q.col1 AS k, COUNT(*) AS n FROM visits v, (VALUES ('A', 1), ('B', 2.5)) AS q "
    "WHERE v.ward = q.col0 GROUP BY k",
    "SELECT v.age AS k, SUM(q.w) AS n FROM visits v JOIN (VALUES (1, 10), (2, -20)) AS q(a, w) "
    "ON v.age = q.a GROUP BY k",
    "SELECT q.d AS k, COUNT(*) AS n FROM visits v JOIN (VALUES (DATE '2024-03-05'), "
    "(DATE '2024-04-05')) AS q(d) ON v.day = q.d GROUP BY k",
    "SELECT q.x AS k, COUNT(v.age) AS n FROM UNNEST([1, 2, 9]) AS q(x) LEFT JOIN visits v "
    "ON v.age = q.x GROUP BY k",
    "SELECT q.x AS k, COUNT(*) AS n FROM visits v, UNNEST(['A', 'C']) AS q(x) WHERE q.x = v.ward "
    "GROUP BY k",
    "SELECT q.x AS k, COUNT(v.age) AS n FROM generate_series(1, 12) AS q(x) LEFT JOIN visits v "
    "ON month(v.day) = q.x GROUP BY k",
    "SELECT v.ward AS k, COUNT(*) AS n FROM visits v JOIN range(2, 5, 2) AS q(x) ON v.age = q.x "
    "GROUP BY k",
)


@pytest.mark.parametrize("question", JOINS)
def test_joins_with_public_rows_mean_what_they_mean_in_sql(
    source: dp.Curator, question: str
) -> None:
    check(source, question)


CONDITIONS = (
    "ward IN (SELECT ward FROM wards)",
    "ward IN (SELECT ward FROM wards WHERE ward IS NOT NULL)",
    "ward NOT IN (SELECT ward FROM wards WHERE ward IS NOT NULL)",
    "ward NOT IN (SELECT ward FROM tags)",
    "NOT (ward IN (SELECT ward FROM tags))",
    "ward IN (SELECT ward FROM empty)",
    "ward NOT IN (SELECT ward FROM empty)",
    "(ward NOT IN (SELECT ward FROM wards)) IS NULL",
    "(ward IN (SELECT ward FROM wards)) IS NULL",
    "age > 2 OR ward IN (SELECT ward FROM tags)",
    "CASE WHEN ward IN (SELECT ward FROM tags) THEN age > 1 ELSE age < 3 END",
    "age IN (SELECT beds FROM wards WHERE site = 'south')",
    "age + 1 IN (SELECT beds FROM wards)",
    "ward IN ('A', NULL)",
    "(ward NOT IN ('A', NULL)) IS NULL",
    "(ward, note) IN (SELECT ward, tag FROM tags)",
    "ward IN (SELECT w.ward FROM wards w JOIN tags t ON w.ward = t.ward WHERE t.tag = 'y')",
    "ward IN (SELECT ward FROM wards WHERE ward IN (SELECT ward FROM tags))",
    "EXISTS (SELECT 1 FROM wards w WHERE w.ward = visits.ward)",
    "EXISTS (SELECT 1 FROM wards w WHERE w.ward = visits.ward AND w.beds > 1)",
    "NOT EXISTS (SELECT 1 FROM wards w WHERE w.ward = visits.ward)",
    "NOT EXISTS (SELECT * FROM tags t WHERE t.ward = visits.ward AND t.tag = visits.note)",
    "EXISTS (SELECT * FROM tags t WHERE t.ward = visits.ward AND note = t.tag)",
    "EXISTS (SELECT 1 FROM wards WHERE beds > 2)",
    "NOT EXISTS (SELECT 1 FROM wards WHERE beds > 99)",
    "age < 3 OR NOT EXISTS (SELECT 1 FROM tags t WHERE t.ward = visits.ward)",
    "(EXISTS (SELECT 1 FROM tags t WHERE t.ward = visits.ward)) = (age > 2)",
)


@pytest.mark.parametrize("written_out", [2000, 0], ids=["written-out", "joined"])
@pytest.mark.parametrize("condition", CONDITIONS)
def test_conditions_on_public_rows_mean_what_they_mean_in_sql(
    source: dp.Curator, condition: str, written_out: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the list is too long to be written out, it is joined, or refused inside others."""
    monkeypatch.setattr(public_subqueries, "MAX_WRITTEN_OUT", written_out)
    for key in ("age IS NULL", "ward"):
        question = f"SELECT {key} AS k, COUNT(*) AS n FROM visits WHERE {condition} GROUP BY k"
        refused = refusal_of(source, question)
        if refused is None:
            check(source, question)
        elif "no_keys" in refused:
            assert all(None in found for found in plain(question))
        else:
            assert written_out == 0
            assert "a long list" in refused


def refusal_of(source: dp.Curator, question: str) -> str | None:
    """Why a question is refused, if it is."""
    try:
        query_from(question, source.context.database)
    except DiscreetError as refusal:
        return str(refusal)
    return None


REFUSED = {
    "SELECT w.ward, COUNT(*) AS n FROM visits v RIGHT JOIN wards w ON v.ward = w.ward "
    "GROUP BY w.ward": "counts_missing_rows",
    "SELECT w.ward, COUNT(1) AS n FROM wards w LEFT JOIN visits v ON v.ward = w.ward "
    "GROUP BY w.ward": "counts_missing_rows",
    "SELECT w.ward, SUM(w.beds) AS n FROM wards w LEFT JOIN visits v ON v.ward = w.ward "
    "GROUP BY w.ward": "counts_missing_rows",
    "SELECT w.ward, SUM(coalesce(v.age, 1)) AS n FROM wards w LEFT JOIN visits v "
    "ON v.ward = w.ward GROUP BY w.ward": "counts_missing_rows",
    "SELECT w.ward, COUNT(*) FILTER (WHERE v.age IS NULL) AS n FROM wards w LEFT JOIN visits v "
    "ON v.ward = w.ward GROUP BY w.ward": "counts_missing_rows",
    "SELECT n, COUNT(n) AS m FROM (SELECT DISTINCT v.age AS n FROM wards w LEFT JOIN visits v "
    "ON v.ward = w.ward) GROUP BY n": "unsupported_sql",
    "SELECT n, COUNT(n) AS m FROM (SELECT v.age AS n FROM wards w LEFT JOIN visits v "
    "ON v.ward = w.ward UNION ALL SELECT age FROM visits) GROUP BY n": "unsupported_sql",
    "SELECT COUNT(v.age) AS n FROM wards w FULL JOIN tags t ON w.ward = t.ward "
    "JOIN visits v ON v.ward = w.ward": "unsupported_sql",
    "SELECT w.ward, COUNT(v.age) AS n FROM wards w LEFT JOIN visits v ON v.ward = w.ward "
    "AND w.beds < 3 GROUP BY w.ward": "unsupported_sql",
    "SELECT COUNT(*) AS n FROM visits v LEFT JOIN wards w ON v.age > w.beds": "unsupported_sql",
    "SELECT COUNT(*) AS n FROM visits v LEFT JOIN wards w": "unsupported_sql",
    "SELECT COUNT(*) AS n FROM elsewhere.visits": "unknown_table",
    "SELECT COUNT(*) AS n FROM visits, UNNEST([age]) AS q(x)": "unsupported_sql",
    "SELECT COUNT(*) AS n FROM visits, (VALUES (1), (1, 2)) AS q": "values_columns",
    "SELECT COUNT(*) AS n FROM visits, generate_series(1, 200001) AS q(x)": "too_many_keys",
    "SELECT COUNT(*) AS n FROM visits WHERE note IN (SELECT note FROM visits)": "unsupported_sql",
    "SELECT COUNT(*) AS n FROM visits WHERE EXISTS (SELECT 1 FROM visits v WHERE v.age = 1)": (
        "unsupported_sql"
    ),
    "SELECT COUNT(*) AS n FROM visits WHERE EXISTS (SELECT 1 FROM wards w WHERE w.beds > age)": (
        "unsupported_sql"
    ),
    "SELECT COUNT(*) AS n FROM visits WHERE (ward, note) NOT IN (SELECT ward, tag FROM tags)": (
        "unsupported_sql"
    ),
    "SELECT COUNT(*) AS n FROM visits WHERE ward IN (SELECT ward, site FROM wards)": (
        "unsupported_sql"
    ),
}


@pytest.mark.parametrize("question", REFUSED)
def test_what_is_not_understood_is_refused_for_free(source: dp.Curator, question: str) -> None:
    before = source.spent
    with pytest.raises(DiscreetError) as refusal:
        source.sql(question, spend=RICH)
    assert refusal.value.code == REFUSED[question]
    assert source.spent == before


def test_a_schema_is_the_one_that_the_table_lies_in(source: dp.Curator) -> None:
    database = source.context.database
    plainly = query_from("SELECT COUNT(*) AS n FROM visits", database)
    for schema in ("main", "public", "default"):
        assert query_from(f"SELECT COUNT(*) AS n FROM {schema}.visits", database) == plainly


def test_joins_that_keep_public_rows_ask_the_same_as_those_that_do_not(source: dp.Curator) -> None:
    """Groups without rows appear anyway, so an answer to the one is an answer to the other."""
    database = source.context.database
    kept, plainly = (
        query_from(
            f"SELECT w.ward, COUNT(v.age) AS n FROM visits v {kind} wards w ON v.ward = w.ward "
            "GROUP BY w.ward",
            database,
        )
        for kind in ("RIGHT JOIN", "JOIN")
    )
    assert kept == plainly


@pytest.mark.parametrize("question", [JOINS[0], JOINS[3], *JOINS[28:34]])
def test_partners_are_counted_for_every_kind_of_public_rows(
    source: dp.Curator, question: str
) -> None:
    """With as many rows of a key as there are, no row is cut off."""
    assert answered(source, question)
    plan = source.explain(question)
    assert "partners" in str(plan)


WARDS = st.lists(st.sampled_from(["A", "B", "C", "D", None]), max_size=6)


@given(listed=WARDS, word=st.sampled_from(["", "NOT "]), form=st.sampled_from(["IN", "EXISTS"]))
@settings(max_examples=40, deadline=None)
def test_any_list_permits_what_duckdb_says(listed: list[str | None], word: str, form: str) -> None:
    """IN, NOT IN, EXISTS and NOT EXISTS on any public list, NULL and nothing included."""
    frame = pl.DataFrame({"ward": listed}, schema={"ward": pl.String})
    condition = f"ward {word}IN (SELECT ward FROM extra)"
    if form == "EXISTS":
        condition = f"{word}EXISTS (SELECT 1 FROM extra s WHERE s.ward = visits.ward)"
    question = f"SELECT ward AS k, COUNT(*) AS n FROM visits WHERE {condition} GROUP BY k"
    with duckdb.connect() as connection:
        connection.register("extra", frame.to_arrow())
        connection.register("visits", FRAMES["visits"].to_arrow())
        expected = by_keys(pl.DataFrame(connection.sql(question).to_arrow_table()))
    table = dp.table(
        FRAMES["visits"], unit=dp.Row(), columns={"ward": dp.Category(["A", "B", "C", None])}
    )
    with dp.Curator(
        visits=table, extra=dp.public(frame), budget=RICH, ledger=dp.ledger.Memory()
    ) as source:
        if not expected:
            with pytest.raises(DiscreetError, match="no_keys"):
                source.sql(question, spend=RICH)
        else:
            assert answered(source, question) == expected
