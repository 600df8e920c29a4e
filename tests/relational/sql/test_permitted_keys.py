"""The keys of an answer are those that WHERE permits: by public logic, and by nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet as dp
from discreet.core.errors import DiscreetError
from discreet.relational.functions.logic import IS_NOT_NULL
from discreet.relational.plan.keys import KeySet
from discreet.relational.sql import permitted_keys
from discreet.relational.sql.permitted_keys import _Trial
from discreet.relational.sql.translate import query_from
from discreet.relational.types.column_domain import ColumnDomain, cleaned
from discreet.relational.types.data_type import DataType
from discreet.relational.types.expression import Call, Column, Expression
from tests.relational.expressions.cases import EXACT, NEARLY
from tests.relational.expressions.engine import COLUMNS, translated
from tests.relational.expressions.rows import awkward_rows

VISITS = pl.DataFrame(
    {
        "patient": [1, 2, 3],
        "ward": ["A", "B", None],
        "age": [7, 30, 99],
        "level": [1, 2, 3],
        "cost": [1.5, 2.5, 3.5],
        "day": [date(2024, 1, 1), date(2024, 5, 1), date(2024, 12, 31)],
        "urgent": [True, False, None],
        "note": ["x", "y", "z"],
    }
)
WARDS = pl.DataFrame(
    {
        "ward": ["A", "B", "D", None],
        "site": ["north", "south", "south", "east"],
        "beds": [10, 20, 30, 40],
    }
)
TAGS = pl.DataFrame({"ward": ["A", "A", "B"], "tag": ["x", "y", "x"]})
SITES = pl.DataFrame({"site": ["north", "south", "east"], "country": ["N", "S", None]})


@pytest.fixture(scope="module")
def source() -> Iterator[dp.Curator]:
    table = dp.table(
        VISITS,
        unit=dp.Person("patient", max_rows=2),
        columns={
            "ward": dp.Category(["A", "B", "C", None]),
            "age": dp.Number(0, 120),
            "level": dp.Number(1, 3),
            "cost": dp.Number(0, 1000),
            "day": dp.Dates(date(2024, 1, 1), date(2024, 12, 31)),
            "urgent": dp.Category([False, True]),
        },
    )
    with dp.Curator(
        visits=table,
        wards=dp.public(WARDS),
        tags=dp.public(TAGS),
        sites=dp.public(SITES),
        budget=dp.PureDP(epsilon=1000),
        ledger=dp.ledger.Memory(),
    ) as opened:
        yield opened


def keys(source: dp.Curator, question: str) -> list[tuple[object, ...]]:
    """The keys of the answer, in the order of GROUP BY."""
    query = query_from(question, source.context.database)
    assert isinstance(query.keys, KeySet)
    lists = [query.keys.column(*place) for place in query.key_places]
    return list(zip(*lists, strict=True))


def ones(*values: object) -> list[tuple[object, ...]]:
    return [(value,) for value in values]


ALL = ones("A", "B", "C", None)
ONE_KEY: dict[str, list[tuple[object, ...]]] = {
    "ward = 'A'": ones("A"),
    "ward <> 'A'": ones("B", "C"),
    "NOT (ward = 'A')": ones("B", "C"),
    "ward IN ('A', 'C')": ones("A", "C"),
    "ward NOT IN ('A', 'C')": ones("B"),
    "ward IS NULL": ones(None),
    "ward IS NOT NULL": ones("A", "B", "C"),
    "ward = 'A' OR ward IS NULL": ones("A", None),
    "coalesce(ward, 'A') = 'A'": ones("A", None),
    "ward IS DISTINCT FROM 'A'": ones("B", "C", None),
    "lower(ward) > 'a' AND note = 'x'": ones("B", "C"),
    "(ward = 'A') IS NOT TRUE": ones("B", "C", None),
    # three-valued logic: unknown keeps nothing, and true beside unknown keeps all
    "ward = NULL OR ward = 'B'": ones("B"),
    "ward = 'B' OR 1 = 1": ALL,
    # another private column has a say: nothing is narrowed
    "cost > 2": ALL,
    "ward = 'A' OR cost > 2": ALL,
    "ward = 'A' OR note = 'x'": ALL,
    "CASE WHEN cost > 2 THEN ward = 'A' ELSE ward = 'B' END": ALL,
    "ward = note": ALL,
    "(ward = 'A' AND cost > 1) OR (ward = 'B' AND cost < 1)": ALL,
    # beside one that does, it only drops rows
    "ward <> 'C' AND (ward = 'A' OR cost > 2)": ones("A", "B"),
    "age < 5": ALL,
}


@pytest.mark.parametrize("condition", ONE_KEY)
def test_a_condition_permits_the_keys_for_which_it_is_true(
    source: dp.Curator, condition: str
) -> None:
    question = f"SELECT ward, COUNT(*) AS n FROM visits WHERE {condition} GROUP BY ward"
    assert keys(source, question) == ONE_KEY[condition]


QUESTIONS: dict[str, list[tuple[object, ...]]] = {
    "SELECT age, COUNT(*) AS n FROM visits WHERE age BETWEEN 5 AND 17 GROUP BY age": ones(
        *range(5, 18)
    ),
    # keys that are computed: conditions on them, and on the columns they are made of
    "SELECT age // 10 AS k, COUNT(*) AS n FROM visits WHERE age // 10 IN (3, 4) GROUP BY k": ones(
        3, 4
    ),
    "SELECT age // 10 AS k, COUNT(*) AS n FROM visits WHERE age < 17 GROUP BY k": ones(0, 1),
    "SELECT month(day) AS k, COUNT(*) AS n FROM visits WHERE day < DATE '2024-03-01' "
    "GROUP BY k": ones(1, 2),
    "SELECT floor(cost / 100) AS k, COUNT(*) AS n FROM visits WHERE floor(cost / 100) < 2 "
    "GROUP BY k": ones(0, 1),
    "SELECT floor(cost / 500) AS k, COUNT(*) AS n FROM visits WHERE cost < 2 GROUP BY k": ones(
        0, 1, 2
    ),
    "SELECT cost > 5 AS k, COUNT(*) AS n FROM visits WHERE cost > 5 GROUP BY k": [(True,)],
    "SELECT coalesce(age, 0) AS k, COUNT(*) AS n FROM visits WHERE age IS NULL GROUP BY k": ones(0),
    # functions that engines round in ways of their own are tried in the engine
    "SELECT age, COUNT(*) AS n FROM visits WHERE exp(ln(age)) > 118.5 GROUP BY age": ones(119, 120),
    # several keys: those that a condition compares are tried together
    "SELECT ward, level, COUNT(*) AS n FROM visits WHERE (ward = 'A' AND level < 3) OR "
    "(ward IS NULL AND level = 3) GROUP BY ward, level": [("A", 1), ("A", 2), (None, 3)],
    "SELECT level, urgent, month(day) AS m, COUNT(*) AS n FROM visits WHERE level = month(day) "
    "AND urgent GROUP BY level, urgent, m": [(1, True, 1), (2, True, 2), (3, True, 3)],
    # inside, of each person and key, and before windows over a person's rows
    "SELECT w, SUM(n) AS n FROM (SELECT patient, ward AS w, COUNT(*) AS n FROM visits "
    "WHERE ward IN ('A', 'B') AND age > 3 GROUP BY patient, ward) WHERE n > 1 GROUP BY w": ones(
        "A", "B"
    ),
    "SELECT ward, COUNT(*) AS n FROM (SELECT ward, ROW_NUMBER() OVER (PARTITION BY patient "
    "ORDER BY age) AS k FROM visits WHERE ward = 'C') WHERE k < 3 GROUP BY ward": ones("C"),
    # inside, where rows are told apart or bounded
    "SELECT level, COUNT(*) AS n FROM (SELECT DISTINCT level, note FROM visits WHERE level < 3) "
    "GROUP BY level": ones(1, 2),
    "SELECT level, COUNT(*) AS n FROM (SELECT * FROM visits WHERE level > 1) GROUP BY level": ones(
        2, 3
    ),
    "SELECT a.level, COUNT(*) AS n FROM (SELECT * FROM visits WHERE level > 1) a "
    "JOIN (SELECT * FROM visits WHERE level < 3) b ON a.patient = b.patient GROUP BY a.level": (
        ones(2, 3)
    ),
    "SELECT b.level, COUNT(*) AS n FROM visits a LEFT JOIN "
    "(SELECT * FROM visits WHERE level < 3) b ON a.patient = b.patient GROUP BY b.level": ones(
        1, 2, 3
    ),
    "SELECT level, COUNT(*) AS n FROM (SELECT * FROM visits WHERE level > 1 UNION ALL "
    "SELECT * FROM visits WHERE level > 1) GROUP BY level": ones(1, 2, 3),
    # columns of a public table: conditions on any of its columns
    "SELECT w.site, COUNT(*) AS n FROM visits v JOIN wards w ON v.note = w.ward "
    "WHERE w.beds > 15 GROUP BY w.site": ones("east", "south"),
    "SELECT w.site, COUNT(*) AS n FROM visits v JOIN wards w ON v.note = w.ward "
    "WHERE w.beds > 15 OR v.cost > 1 GROUP BY w.site": ones("east", "north", "south"),
    "SELECT t.tag, COUNT(*) AS n FROM visits v JOIN tags t ON v.ward = t.ward "
    "WHERE t.ward = 'B' GROUP BY t.tag": ones("x"),
    # a lookup: each key has one row there, or none
    "SELECT v.ward, COUNT(*) AS n FROM visits v JOIN wards w ON v.ward = w.ward "
    "GROUP BY v.ward": ones("A", "B"),
    "SELECT v.ward, COUNT(*) AS n FROM visits v JOIN wards w ON v.ward = w.ward "
    "WHERE w.site = 'south' GROUP BY v.ward": ones("B"),
    "SELECT v.ward, COUNT(*) AS n FROM visits v LEFT JOIN wards w ON v.ward = w.ward "
    "GROUP BY v.ward": ALL,
    "SELECT v.ward, COUNT(*) AS n FROM visits v LEFT JOIN wards w ON v.ward = w.ward "
    "WHERE w.site IS NULL GROUP BY v.ward": ones("C", None),
    "SELECT v.ward, w.site, COUNT(*) AS n FROM visits v JOIN wards w ON v.ward = w.ward "
    "GROUP BY v.ward, w.site": [("A", "north"), ("B", "south")],
    "SELECT w.site, v.ward, COUNT(*) AS n FROM visits v LEFT JOIN wards w ON v.ward = w.ward "
    "GROUP BY w.site, v.ward": [("north", "A"), ("south", "B")],
    "SELECT v.ward, s.country, COUNT(*) AS n FROM visits v JOIN wards w ON v.ward = w.ward "
    "JOIN sites s ON w.site = s.site GROUP BY v.ward, s.country": [("A", "N"), ("B", "S")],
    "SELECT v.ward, COUNT(*) AS n FROM visits v LEFT JOIN wards w ON v.ward = w.ward "
    "LEFT JOIN sites s ON w.site = s.site WHERE s.country = 'S' GROUP BY v.ward": ones("B"),
    # several rows of a key, or a key that is not grouped by: no lookup
    "SELECT v.ward, COUNT(*) AS n FROM visits v JOIN tags t ON v.ward = t.ward "
    "WHERE t.tag = 'y' GROUP BY v.ward": ALL,
    "SELECT v.ward, t.tag, COUNT(*) AS n FROM visits v JOIN tags t ON v.ward = t.ward "
    "WHERE t.tag = 'y' GROUP BY v.ward, t.tag": [
        ("A", "y"),
        ("B", "y"),
        ("C", "y"),
        (None, "y"),
    ],
    "SELECT v.ward, COUNT(*) AS n FROM visits v JOIN wards w ON v.note = w.ward "
    "WHERE w.site = 'south' GROUP BY v.ward": ALL,
}


@pytest.mark.parametrize("question", QUESTIONS)
def test_permitted_keys_of_a_question(source: dp.Curator, question: str) -> None:
    assert keys(source, question) == QUESTIONS[question]


@pytest.mark.parametrize("condition", ["age = 200", "1 = 0", "age < 5 AND age > 6", "NULL"])
def test_no_permitted_key_is_a_free_refusal(source: dp.Curator, condition: str) -> None:
    before = source.spent
    with pytest.raises(DiscreetError, match="no_keys"):
        source.sql(
            f"SELECT age, COUNT(*) AS n FROM visits WHERE {condition} GROUP BY age",
            spend=dp.PureDP(epsilon=1),
        )
    assert source.spent == before


def test_the_answer_has_the_permitted_keys_and_the_whole_count(source: dp.Curator) -> None:
    answer = source.sql(
        "SELECT age, COUNT(*) AS n FROM visits WHERE age BETWEEN 5 AND 17 GROUP BY age",
        spend=dp.PureDP(epsilon=900),  # noise of a scale of 1/450: never a whole unit in practice
    )
    assert answer.keys["age"] == tuple(range(5, 18))
    assert answer["n"].values == tuple(1 if age == 7 else 0 for age in range(5, 18))


def test_private_rows_are_never_listed_nor_counted_before_they_are_paid_for(
    source: dp.Curator,
) -> None:
    database = source.context.database
    query = query_from("SELECT level, COUNT(*) AS n FROM visits GROUP BY level", database)
    for read in (
        lambda: database.list_public_rows(query.rows),
        lambda: database.partners(query.rows, ()),
        lambda: database.combinations("visits", ["level"]),
    ):
        with pytest.raises(DiscreetError, match="rows_not_public"):
            read()


# Python and the engine permit the same ----------------------------------------------------------

ROWS = [
    tuple(cleaned(row[name], stored.domain) for name, stored in COLUMNS.items())
    for row in awkward_rows(400)
]
NUMBER = Column("number", ColumnDomain(DataType.INTEGER, 0, len(ROWS), declared=True))
NAMED = [*(Column(name, stored.domain) for name, stored in COLUMNS.items()), NUMBER]


def condition_of(text: str) -> Expression:
    """A condition that reads what a piece of SQL gives."""
    made = translated(text)
    return made if made.domain.kind is DataType.BOOLEAN else Call(IS_NOT_NULL, (made,))


def chosen(source: dp.Curator, text: str, few: int, monkeypatch: pytest.MonkeyPatch) -> set[object]:
    """The numbers of the rows that a condition keeps, tried in Python or in the engine."""
    monkeypatch.setattr(permitted_keys, "_FEW", few)
    rows = [(*row, number) for number, row in enumerate(ROWS)]
    found = _Trial(source.context.database).values(NAMED, rows, [condition_of(text)], [NUMBER])
    return {number for (number,) in found}


@pytest.mark.parametrize("text", EXACT)
def test_every_function_permits_the_same_in_python_and_in_the_engine(
    source: dp.Curator, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The cases hold every function of the allow-list; another test asserts it."""
    in_python = chosen(source, text, len(ROWS), monkeypatch)
    assert in_python == chosen(source, text, 0, monkeypatch)


@pytest.mark.parametrize("text", NEARLY)
def test_functions_that_engines_round_are_left_to_the_engine(
    source: dp.Curator, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(permitted_keys, "evaluate", lambda *_: pytest.fail("tried in Python"))
    compared = condition_of(f"({text}) > 1")
    monkeypatch.setattr(permitted_keys, "_FEW", len(ROWS))
    rows = [(*row, number) for number, row in enumerate(ROWS)]
    _Trial(source.context.database).values(NAMED, rows, [compared], [NUMBER])


ATOMS = ("ward = 'A'", "ward IS NULL", "level > 1", "level <> 2", "urgent", "NULL", "TRUE")


def conditions() -> st.SearchStrategy[str]:
    return st.recursive(
        st.sampled_from(ATOMS),
        lambda inner: st.one_of(
            st.builds("({} AND {})".format, inner, inner),
            st.builds("({} OR {})".format, inner, inner),
            st.builds("(NOT {})".format, inner),
            st.builds("(({}) IS NOT TRUE)".format, inner),
        ),
        max_leaves=6,
    )


@given(condition=conditions())
@settings(max_examples=60, deadline=None)
def test_any_condition_on_keys_permits_what_the_engine_says(
    source: dp.Curator, condition: str
) -> None:
    """All combinations of keys as a table of their own, filtered by DuckDB."""
    import duckdb

    every = [(w, n, u) for w in ("A", "B", "C", None) for n in (1, 2, 3) for u in (False, True)]
    frame = pl.DataFrame(every, schema=["ward", "level", "urgent"], orient="row")
    with duckdb.connect() as connection:
        connection.register("listed", frame.to_arrow())
        text = f"SELECT ward, level, urgent FROM listed WHERE {condition}"
        expected = set(connection.execute(text).fetchall())
    question = (
        f"SELECT ward, level, urgent, COUNT(*) AS n FROM visits WHERE {condition} "
        "GROUP BY ward, level, urgent"
    )
    if not expected:
        with pytest.raises(DiscreetError, match="no_keys"):
            keys(source, question)
    else:
        found = keys(source, question)
        assert len(found) == len(expected)
        assert set(found) == expected
