"""Reading a text and making public rows have public limits, which are checked for nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import sqlglot

import discreet as dp
from discreet.core.errors import DiscreetError
from discreet.relational.bounding import derived_limits
from discreet.relational.limits import public_work
from discreet.relational.post_processing.evaluate import rows_of
from discreet.relational.post_processing.tables import (
    AnswerColumn,
    ColumnRole,
    CombinedAnswers,
    PublicRowsTable,
)
from discreet.relational.sql import named_queries, translate
from discreet.relational.types.data_type import DataType
from tests.processor_time import at_most

SPEND = dp.PureDP(epsilon=1)
QUICK = 3.0
"""Processor seconds; each of these took more than twenty, or did not end."""


@pytest.fixture(scope="module")
def curator() -> Iterator[dp.Curator]:
    many = np.arange(20_000)
    lines = np.arange(1_000)
    with dp.Curator(
        line=dp.table(
            {"part": lines % 50, "seller": lines % 20, "who": lines // 4},
            unit=dp.Person("who", max_rows=4),
            columns={"part": dp.Number(0, 50)},
        ),
        part=dp.public({"part": many, "kind": many % 5}),
        seller=dp.public({"seller": many, "land": many % 25}),
        offer=dp.public({"part": np.repeat(many, 4), "seller": np.tile(many, 4)}),
        budget=dp.ApproxDP(epsilon=1e9, delta=1e-3),
        ledger=dp.ledger.Memory(),
    ) as made:
        yield made


def refusal(curator: dp.Curator, sql: str) -> str:
    """The code with which a text is refused, by every verb, free and quickly."""
    before, codes = curator.spent, set()
    with at_most(4 * QUICK):
        for verb in (curator.preview, curator.sql, curator.explain):
            with pytest.raises(DiscreetError) as refused:
                verb(sql, spend=SPEND)
            codes.add(refused.value.code)
        with pytest.raises(DiscreetError) as refused:
            curator.batch({"a": sql, "b": "SELECT COUNT(*) AS n FROM line"}, spend=SPEND)
        assert refused.value.code != "engine_failed"
    assert curator.spent == before
    (code,) = codes
    return code


def doubled(first: str, each: str, last: str, levels: int) -> str:
    steps = [f"a{n + 1} AS ({each.replace('@', f'a{n}')})" for n in range(levels)]
    return f"WITH a0 AS ({first}), {', '.join(steps)} {last.replace('@', f'a{levels}')}"


NAMED = {
    "answers": (
        "SELECT COUNT(*) AS n FROM line",
        "SELECT * FROM @ UNION ALL SELECT * FROM @",
        "SELECT SUM(n) AS s FROM @",
    ),
    "numbers": (
        "SELECT COUNT(*) AS n FROM line",
        "SELECT l.n FROM @ AS l CROSS JOIN @ AS r",
        "SELECT n FROM @",
    ),
    "rows": (
        "SELECT * FROM line",
        "SELECT * FROM @ UNION ALL SELECT * FROM @",
        "SELECT COUNT(*) AS n FROM @",
    ),
    "public": (
        "SELECT kind FROM part",
        "SELECT * FROM @ WHERE kind IN (SELECT kind FROM @)",
        "SELECT COUNT(*) AS n FROM line WHERE part IN (SELECT kind FROM @)",
    ),
}


@pytest.mark.parametrize("kind", NAMED)
@pytest.mark.parametrize("levels", [20, 150])
def test_named_queries_are_counted_before_they_are_written_out(
    curator: dp.Curator, kind: str, levels: int
) -> None:
    assert refusal(curator, doubled(*NAMED[kind], levels)) == "expression_too_large"


@pytest.mark.parametrize("kind", ["answers", "numbers", "rows"])
def test_a_few_levels_are_answered(curator: dp.Curator, kind: str) -> None:
    curator.sql(doubled(*NAMED[kind], 3), spend=SPEND)


def test_the_size_of_named_queries_is_that_of_the_text_written_out() -> None:
    text = "WITH a AS (SELECT x FROM t), b AS (SELECT x FROM a, a AS c) SELECT x FROM b, a, t"
    one = _size("SELECT x FROM t")
    two = _size("SELECT x FROM t, t AS c") + 2 * one
    assert _size(text) == _size("SELECT x FROM t, t, t") + one + two


def _size(text: str) -> int:
    tree: Any = sqlglot.parse_one(text, dialect="duckdb")
    return named_queries._size(tree, {})


def test_named_queries_have_a_largest_number(curator: dp.Curator) -> None:
    named = ", ".join(f"a{n} AS (SELECT 1 AS x)" for n in range(201))
    assert (
        refusal(curator, f"WITH {named} SELECT COUNT(*) AS n FROM line") == "expression_too_large"
    )


def test_columns_written_out_in_an_answer_are_counted(curator: dp.Curator) -> None:
    inner = "(SELECT COUNT(*) AS x FROM line) AS b"
    for _ in range(24):
        inner = f"(SELECT x + x AS x FROM {inner}) AS z"
    with at_most(QUICK):
        curator.preview(f"SELECT x FROM {inner}", spend=SPEND)


@pytest.mark.parametrize("terms", [30, 500])
@pytest.mark.parametrize("form", ["CUBE", "ROLLUP"])
def test_grouping_sets_are_counted_before_they_are_made(
    curator: dp.Curator, form: str, terms: int
) -> None:
    keys = ", ".join(["part"] * (terms if form == "CUBE" else 70 + terms))
    sql = f"SELECT COUNT(*) AS n FROM line GROUP BY {form}({keys})"
    assert refusal(curator, sql) == "unsupported_sql"


def test_aggregates_have_a_largest_number(curator: dp.Curator) -> None:
    sums = ", ".join(f"SUM(part + {n}) AS s{n}" for n in range(1_001))
    assert refusal(curator, f"SELECT {sums} FROM line") == "too_many_numbers"


SERIES = "part IN (SELECT i FROM range(#) AS a(i))"


@pytest.mark.parametrize("form", [SERIES, "EXISTS (SELECT 1 FROM range(#) AS a(i) WHERE i = part)"])
def test_numbers_of_a_series_are_counted_before_they_are_made(
    curator: dp.Curator, form: str
) -> None:
    """Ten of them in five hundred letters took twenty seconds."""
    with at_most(QUICK):
        one = form.replace("#", "100000")
        curator.preview(f"SELECT COUNT(*) AS n FROM line WHERE {one}", spend=SPEND)
    many = " AND ".join(form.replace("#", str(100_000 - n)) for n in range(40))
    sql = f"SELECT COUNT(*) AS n FROM line WHERE {many}"
    assert refusal(curator, sql) == "expression_too_large"
    for length in ("100001", "9223372036854775807"):
        sql = f"SELECT COUNT(*) AS n FROM line WHERE {form.replace('#', length)}"
        assert refusal(curator, sql) == "too_many_keys"


@pytest.mark.parametrize("form", ["CORR(part, part + #)", "REGR_SLOPE(part, part + #)"])
def test_many_formulas_are_previewed_quickly(curator: dp.Curator, form: str) -> None:
    """What each column reads is read, not all columns for each; 160 took more than ten seconds."""
    columns = ", ".join(f"{form.replace('#', str(n))} AS c{n}" for n in range(160))
    with at_most(QUICK):
        preview = curator.preview(f"SELECT {columns} FROM line", spend=SPEND)
    assert len(preview.columns) == 160


WIDE = "SELECT a.n + b.k AS s FROM (SELECT COUNT(*) AS n FROM line) AS a CROSS JOIN "


@pytest.mark.parametrize(
    "rows",
    [
        "range(90000) AS b(k)",
        "(SELECT part AS k FROM offer) AS b",
        "part AS p JOIN part AS q ON p.part = q.part CROSS JOIN (SELECT 1 AS k) AS b",
    ],
)
def test_tables_of_many_public_rows_are_not_tried_out(curator: dp.Curator, rows: str) -> None:
    """One answer beside each of many public rows was computed six times before anybody paid."""
    with at_most(QUICK):
        assert curator.preview(WIDE + rows, spend=SPEND).columns[0].name == "s"


STARS = {
    "rows": ("SELECT * FROM line", "SELECT COUNT(*) AS n FROM @"),
    "public": ("SELECT * FROM part", "SELECT COUNT(*) AS n FROM line JOIN @ ON line.part = z.part"),
    "public answers": (
        "SELECT part, COUNT(*) AS k FROM part GROUP BY part",
        "SELECT COUNT(*) AS n FROM line WHERE part IN (SELECT part FROM @)",
    ),
}


@pytest.mark.parametrize("kind", STARS)
def test_columns_that_stars_stand_for_are_counted(curator: dp.Curator, kind: str) -> None:
    """Each level doubles them: twenty in five hundred letters did not end."""
    first, last = STARS[kind]
    for _ in range(20):
        first = f"SELECT *, * FROM ({first}) AS z"
    assert refusal(curator, last.replace("@", f"({first}) AS z")) == "expression_too_large"


PUBLIC_STEPS = {
    "sums of sums": "SELECT seller, SUM(n) AS n FROM (SELECT seller, SUM(n) AS n FROM (SELECT "
    "seller, COUNT(*) AS n FROM offer GROUP BY seller) AS z GROUP BY seller) AS z GROUP BY seller",
    "running sums": "SELECT part AS seller, SUM(COUNT(*)) OVER (ORDER BY part) AS n FROM part "
    "GROUP BY part",
    "sums of neighbours": "SELECT part AS seller, SUM(COUNT(*)) OVER (ORDER BY part ROWS 99 "
    "PRECEDING) AS n FROM part GROUP BY part",
}


@pytest.mark.parametrize("kind", PUBLIC_STEPS)
def test_rows_computed_from_public_ones_are_counted_before_they_are_made(
    curator: dp.Curator, kind: str
) -> None:
    """Six sums around each other, or one running sum, took from 15 seconds to hours."""
    sql = (
        f"SELECT COUNT(*) AS n FROM line JOIN ({PUBLIC_STEPS[kind]}) AS y ON line.seller = y.seller"
    )
    assert refusal(curator, sql) == "public_join_too_large"


def test_one_aggregate_of_a_public_table_is_computed(curator: dp.Curator) -> None:
    inner = "SELECT seller, COUNT(*) AS n FROM offer GROUP BY seller HAVING COUNT(*) > 3"
    sql = f"SELECT COUNT(*) AS n FROM line WHERE seller IN (SELECT seller FROM ({inner}) AS z)"
    curator.preview(sql, spend=SPEND)


@pytest.mark.parametrize("kind", ["EXCEPT", "INTERSECT", "EXCEPT ALL", "INTERSECT ALL"])
def test_sets_of_answers_do_not_compare_each_row_with_each(kind: str) -> None:
    rows = [(place % 5_000,) for place in range(20_000)]
    columns = (AnswerColumn("a", DataType.INTEGER, ColumnRole.KEY),)
    table = PublicRowsTable(tuple(rows), columns)
    word, *every = kind.lower().split()
    with at_most(QUICK):
        made = rows_of(CombinedAnswers(word, not every, table, table, columns), [])
    kept = 5_000 if not every else 20_000
    assert len(made) == (kept if word == "intersect" else 0)


PRODUCTS = [
    "SELECT COUNT(*) AS n FROM line WHERE part IN (SELECT part.part FROM part, seller)",
    "SELECT COUNT(*) AS n FROM line WHERE part IN (SELECT part.part FROM part CROSS JOIN seller)",
    "SELECT COUNT(*) AS n FROM line WHERE part IN "
    "(SELECT part.part FROM part JOIN seller ON part.kind = seller.seller % 5)",
    "SELECT COUNT(*) AS n FROM line WHERE EXISTS "
    "(SELECT 1 FROM part, seller WHERE part.part = line.part)",
    "WITH a AS (SELECT part.part FROM part, seller) "
    "SELECT COUNT(*) AS n FROM line JOIN a ON line.part = a.part",
    "SELECT COUNT(*) AS n FROM line JOIN (SELECT part.part, COUNT(*) AS k FROM part, seller "
    "GROUP BY part.part) AS a ON line.part = a.part",
    "SELECT COUNT(*) AS n FROM line JOIN (SELECT DISTINCT part FROM (SELECT part.part FROM part, "
    "seller UNION ALL SELECT part.part FROM part, seller) AS z) AS a ON line.part = a.part",
    "SELECT a.n FROM (SELECT COUNT(*) AS n FROM line) AS a CROSS JOIN "
    "(SELECT part.part FROM part, seller) AS b",
    "SELECT COUNT(*) AS n FROM part, seller, offer",
]


@pytest.mark.parametrize("sql", PRODUCTS)
def test_products_of_public_tables_are_refused_before_they_are_made(
    curator: dp.Curator, sql: str
) -> None:
    assert refusal(curator, sql) == "public_join_too_large"


def test_a_product_has_a_limit_of_its_own(
    curator: dp.Curator, monkeypatch: pytest.MonkeyPatch
) -> None:
    four = "(VALUES (1), (2), (3), (4))"
    inner = f"SELECT a.x FROM {four} AS a(x), {four} AS b(y)"
    sql = f"SELECT COUNT(*) AS n FROM line WHERE part IN ({inner})"
    curator.preview(sql, spend=SPEND)
    monkeypatch.setattr(public_work, "MOST_ROWS", 10)
    monkeypatch.setattr(public_work, "MULTIPLE", 0)
    assert refusal(curator, sql) == "public_join_too_large"
    with pytest.raises(DiscreetError, match="Got '16 rows'"):
        curator.preview(sql, spend=SPEND)


@pytest.mark.parametrize(
    "tables",
    ["part, seller, line", "seller, part, line", "line, part, seller", "part, line, seller"],
)
def test_tables_may_stand_in_any_order(curator: dp.Curator, tables: str) -> None:
    sql = f"SELECT COUNT(*) AS n FROM {tables} WHERE line.part = part.part AND "
    answer = curator.sql(f"{sql}line.seller = seller.seller", spend=dp.PureDP(epsilon=1e4))
    assert answer.to_dict()["n"] == [1_000]  # noise moves it with a probability below 1e-40


def test_columns_keep_their_order_where_tables_wait(curator: dp.Curator) -> None:
    inner = "SELECT * FROM part, seller, offer WHERE part.part = offer.part AND seller.seller = "
    rows = "offer.seller AND part.part < 9"
    sql = f"SELECT COUNT(*) AS n FROM line JOIN ({inner}{rows}) AS z(a, b, c, d, e, f) ON line.part"
    curator.preview(f"{sql} = z.a WHERE z.a = z.e AND z.c = z.f", spend=SPEND)


def test_the_work_of_one_question_adds_up(
    curator: dp.Curator, monkeypatch: pytest.MonkeyPatch
) -> None:
    sql = "SELECT COUNT(*) AS n FROM line JOIN part ON line.part = part.part"
    curator.preview(sql, spend=SPEND)
    monkeypatch.setattr(public_work, "MOST_WORK", 10)
    monkeypatch.setattr(public_work, "REPEATED", 0)
    assert refusal(curator, sql) == "public_join_too_large"


@pytest.mark.parametrize("delta", [1e-4, 1e-6, 1e-9])
@pytest.mark.parametrize("sql", ["COUNT(*)", "SUM(part)", "AVG(part)"])
def test_the_least_epsilon_is_planned_quickly(curator: dp.Curator, sql: str, delta: float) -> None:
    with at_most(QUICK):
        spend = dp.ApproxDP(epsilon=2**-33, delta=delta)
        curator.sql(f"SELECT {sql} AS n FROM line", spend=spend)


def doubled_frame(curator: dp.Curator, times: int) -> Any:
    frame = curator.frame("line")
    for _ in range(times):
        frame = frame.union(frame)
    return frame.agg(n=dp.count())


def doubled_term(curator: dp.Curator, times: int) -> Any:
    term = dp.col("part")
    for _ in range(times):
        term = term + term
    return curator.frame("line").agg(n=dp.sum(term))


def doubled_ibis(curator: dp.Curator, times: int) -> Any:
    term = curator.ibis.line.part
    for _ in range(times):
        term = term + term
    return term.sum().name("n").as_table()


@pytest.mark.parametrize(
    ("build", "times"),
    [(doubled_frame, 40), (doubled_term, 40), (doubled_ibis, 16)],  # Ibis itself doubles names
)
def test_what_is_put_together_has_a_largest_number_of_parts(
    curator: dp.Curator, build: Callable[[dp.Curator, int], Any], times: int
) -> None:
    curator.preview(build(curator, 3), spend=SPEND)
    with at_most(4 * QUICK):
        with pytest.raises(DiscreetError) as refused:
            curator.preview(build(curator, times), spend=SPEND)
        assert refused.value.code == "expression_too_large"


@pytest.mark.parametrize("text", ["(" * 5_000 + "x", "x" * 100_002, "CASE WHEN " * 5_000])
def test_an_expression_that_is_too_deep_or_long_is_refused(text: str) -> None:
    with pytest.raises(DiscreetError) as refused:
        dp.expr(text)
    assert refused.value.code in ("sql_syntax", "expression_too_large")


def test_a_named_answer_is_translated_once(
    curator: dp.Curator, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, query = [], translate._Translation.query

    def counted(self: Any, select: Any, scope: Any) -> Any:
        asked.append(select)
        return query(self, select, scope)

    monkeypatch.setattr(translate._Translation, "query", counted)
    found = []
    for times in (2, 12):
        asked.clear()
        named = " UNION ALL ".join(["SELECT n FROM a"] * times)
        curator.preview(f"WITH a AS (SELECT COUNT(*) AS n FROM line) {named}", spend=SPEND)
        found.append(len(asked))
    assert found[0] == found[1]


@pytest.mark.parametrize("joins", [20, 80])
def test_steps_of_a_chain_of_joins_are_looked_at_once_each(
    curator: dp.Curator, monkeypatch: pytest.MonkeyPatch, joins: int
) -> None:
    looked, derived = [], derived_limits._derived

    def counted(rows: Any, declared: Any, keys: Any) -> Any:
        looked.append(rows)
        return derived(rows, declared, keys)

    monkeypatch.setattr(derived_limits, "_derived", counted)
    tables = " ".join(f"JOIN part AS p{n} ON line.part = p{n}.part" for n in range(joins))
    curator.preview(f"SELECT COUNT(*) AS n FROM line {tables}", spend=SPEND)
    assert joins <= len(looked) <= 8 * joins
