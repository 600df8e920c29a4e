"""Nothing that was parsed is dropped in silence: the tree that was read is the tree that was used.

Into every kind of node between scalar expressions, every part that the parser knows is planted, one
at a time. A planted part must be refused, or change the query; the parts for which neither holds
are listed, with the reason. A broken translation that forgets a clause is caught the same way.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import polars as pl
import pytest
from sqlglot import exp

import discreet as dp
from discreet.errors import DiscreetError, InvalidParameter
from discreet.relational.database import Database
from discreet.relational.engines.duckdb.engine import DuckDB
from discreet.relational.sql import row_limits, translate
from discreet.relational.sql.reading import WATCHED, require_all_read, watched
from discreet.relational.sql.statement import parse
from discreet.relational.sql.translate import query_from, translated

ROW = dp.Row()
VISITS = pl.DataFrame({"ward": ["A"], "age": [1], "patient": [1]})
WARDS = pl.DataFrame({"ward": ["A", "B"], "name": ["a", "b"]})


def catalog() -> Database:
    person = dp.Person("patient", max_rows=3, max_groups=2)
    columns: dict[str, Any] = {"ward": dp.Category(["A", "B"]), "age": dp.Number(0, 99)}
    return Database(
        DuckDB(),
        {
            "visits": dp.table(VISITS, unit=person, columns=columns, snapshot="one"),
            "wards": dp.public(WARDS),
        },
    )


QUERIES = (
    "SELECT ward, COUNT(*) AS n FROM visits AS v WHERE age > 3 GROUP BY ward HAVING COUNT(*) > 1 "
    "ORDER BY n DESC LIMIT 3 OFFSET 1",
    "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward ORDER BY n FETCH FIRST 2 ROWS ONLY",
    "SELECT name, SUM(age) AS s FROM visits AS v JOIN wards AS w ON v.ward = w.ward GROUP BY name",
    "WITH t AS (SELECT ward, age FROM visits) SELECT COUNT(*) FILTER (WHERE age > 3) AS n FROM t",
    "SELECT COUNT(DISTINCT ward) AS n FROM (SELECT DISTINCT ward FROM visits) AS t",
    "SELECT QUANTILE_CONT(0.3) WITHIN GROUP (ORDER BY age) AS m FROM visits",
    "SELECT COUNT(*) AS n FROM (SELECT age FROM visits UNION ALL SELECT age FROM visits) AS u",
    "SELECT n FROM (SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward) AS t WHERE n > 1",
    "SELECT AVG(k) AS n FROM (SELECT patient, COUNT(*) AS k FROM visits GROUP BY patient) AS t",
)

SAID_TWICE = {
    ("Table", "alias"),  # a name that nothing uses
    ("Subquery", "alias"),
    ("TableAlias", "columns"),  # names of columns that the query does not use
}
"""Parts that may be planted without a change, because they say what holds already."""


CLAUSES = {"with_", "with", "order", "limit", "offset", "where", "group", "having", "distinct"}
"""Read by name everywhere: what stands there is always a node of its own kind."""


def planted(key: str) -> Iterator[Any]:
    """Values that a parser could have put there."""
    yield "STRANGE"
    if key in ("side", "kind"):
        return  # words and nothing else
    yield True
    if key not in CLAUSES:
        yield exp.Var(this="strange")
        yield [exp.column("strange")]


def places(tree: exp.Expression) -> list[tuple[int, str]]:
    """Every part, given or not, of every watched node."""
    return [
        (number, key)
        for number, node in enumerate(tree.walk())
        if isinstance(node, WATCHED)
        for key in node.arg_types
    ]


def node_at(tree: exp.Expression, number: int) -> exp.Expression:
    found: Any = next(node for place, node in enumerate(tree.walk()) if place == number)
    return found  # type: ignore[no-any-return]


@pytest.mark.parametrize("text", QUERIES)
def test_a_part_of_any_node_is_refused_or_matters(text: str) -> None:
    tables, tree = catalog(), parse(text)
    plain = query_from(text, tables)
    tried, dropped = 0, set()
    for number, key in places(tree):
        if node_at(tree, number).args.get(key):
            continue
        for value in planted(key):
            changed = tree.copy()
            node = node_at(changed, number)
            node.set(key, value)
            tried += 1
            name = (type(node).__name__, key)
            try:
                found = translated(changed, tables)
            except (DiscreetError, AttributeError, KeyError, TypeError, IndexError):
                continue  # it was noticed; what is no DiscreetError, no parser puts there
            if found == plain and name not in SAID_TWICE:
                dropped.add((*name, str(value)))
    assert dropped == set()
    assert tried > 100


@pytest.mark.parametrize("text", QUERIES)
def test_a_part_that_is_taken_away_is_missed(text: str) -> None:
    """The other direction: each part that was given matters to what is asked."""
    tables, tree = catalog(), parse(text)
    plain = query_from(text, tables)
    for number, key in places(tree):
        if not node_at(tree, number).args.get(key):
            continue
        changed = tree.copy()
        node = node_at(changed, number)
        node.set(key, None)
        name = (type(node).__name__, key)
        try:
            found = translated(changed, tables)
        except (DiscreetError, AttributeError, KeyError, TypeError, IndexError):
            continue  # no parser leaves it out
        assert found != plain or name in NAMES_ALONE, name


NAMES_ALONE = {
    ("Table", "alias"),
    ("Subquery", "alias"),
    ("TableAlias", "this"),
    ("Fetch", "direction"),
    ("Fetch", "limit_options"),
    ("LimitOptions", "rows"),
    ("Ordered", "nulls_first"),
}
"""Names that nothing else uses, and words that say what holds without them."""


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("SELECT AS STRUCT COUNT(*) AS n FROM visits", "SELECT AS STRUCT"),
        ("SELECT COUNT(*) AS n FROM ONLY visits", "FROM ONLY"),
        ("SELECT ward, COUNT(*) AS n FROM visits GROUP BY DISTINCT ward", "GROUP BY DISTINCT"),
        (
            "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward ORDER BY ward WITH FILL",
            "WITH FILL",
        ),
        ("SELECT /*+ BROADCAST(v) */ COUNT(*) AS n FROM visits AS v", "a hint"),
        ("SELECT ward, COUNT(*) AS n FROM visits GROUP BY DISTINCT ROLLUP (ward)", "DISTINCT"),
        (
            "SELECT AS STRUCT AVG(n) AS m FROM (SELECT ward, COUNT(*) AS n FROM visits "
            "GROUP BY ward) AS t",
            "SELECT AS STRUCT",
        ),
        ("SELECT COUNT(*) AS n FROM visits FOR UPDATE", "FOR UPDATE"),
        ("SELECT COUNT(*) AS n FROM visits ORDER BY n NULLS FIRST", "NULLS FIRST"),
        ("SELECT COUNT(*) AS n FROM visits USING SAMPLE 10%", "TABLESAMPLE"),
        ("SELECT COUNT(*) AS n FROM visits QUALIFY n > 3", "QUALIFY"),
        ("SELECT COUNT(*) AS n FROM visits WINDOW w AS (ORDER BY age)", "WINDOW"),
        ("SELECT m FROM (SELECT COUNT(*) AS m FROM visits) AS t(n)", "column names"),
        ("SELECT COUNT(*) AS n FROM visits ASOF JOIN wards ON visits.ward = wards.ward", "ASOF"),
        ("SELECT COUNT(*) AS n FROM read_csv('x.csv')", "READ_CSV('x.csv') in FROM"),
        (
            "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward FETCH FIRST 2 ROWS WITH TIES",
            "WITH TIES",
        ),
    ],
)
def test_a_clause_that_is_not_understood_is_refused_by_name(text: str, words: str) -> None:
    with pytest.raises(InvalidParameter) as refusal:
        query_from(text, catalog())
    assert words.lower() in str(refusal.value.received).lower()
    assert "sqlglot" not in str(refusal.value)


def test_fetch_is_limit_and_any_of_an_array_is_in() -> None:
    tables = catalog()
    start = "SELECT ward, COUNT(*) AS n FROM visits"
    limit = query_from(f"{start} GROUP BY ward ORDER BY n LIMIT 1", tables)
    for fetch in ("FETCH FIRST 1 ROW ONLY", "FETCH NEXT 1 ROWS ONLY", "FETCH FIRST ROW ONLY"):
        assert query_from(f"{start} GROUP BY ward ORDER BY n {fetch}", tables) == limit
    listed = query_from(f"{start} WHERE ward IN ('A', 'B') GROUP BY ward", tables)
    for test in ("ward = ANY(ARRAY['A', 'B'])", "ward = ANY(['A', 'B'])"):
        assert query_from(f"{start} WHERE {test} GROUP BY ward", tables) == listed
    others = query_from(f"{start} WHERE ward NOT IN ('A') GROUP BY ward", tables)
    assert query_from(f"{start} WHERE ward <> ALL(ARRAY['A']) GROUP BY ward", tables) == others
    with pytest.raises(InvalidParameter, match="Write x IN"):
        query_from(f"{start} WHERE ward > ANY(ARRAY['A']) GROUP BY ward", tables)


def test_a_common_table_that_nothing_names_means_nothing() -> None:
    tables, text = catalog(), "SELECT COUNT(*) AS n FROM visits"
    assert query_from(f"WITH t AS (SELECT age FROM visits) {text}", tables) == query_from(
        text, tables
    )


def test_a_translation_that_forgets_a_clause_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """The broken twin: OFFSET is not looked at, as ONLY and WITH FILL once were not."""
    kept = row_limits.whole_number
    monkeypatch.setattr(
        translate,
        "whole_number",
        lambda node, name: None if name == "OFFSET" else kept(node, name),
    )
    text = "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward ORDER BY n LIMIT 2 OFFSET 1"
    with pytest.raises(InvalidParameter) as refusal:
        query_from(text, catalog())
    assert refusal.value.code == "unsupported_sql"


def test_what_was_not_looked_at_is_named() -> None:
    tree = watched(parse("SELECT a FROM t WHERE b"))
    for key in ("expressions", "from_", "from"):
        tree.args.get(key)
    with pytest.raises(InvalidParameter, match="WHERE b"):
        require_all_read(tree)
