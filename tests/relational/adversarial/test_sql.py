"""Hostile questions: refused before data is opened, for free, without a word of the data."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import discreet as dp
from discreet.core.errors import DiscreetError
from tests.processor_time import at_most
from tests.relational.adversarial.curators import SECRETS, ask, spent, table, words


@pytest.fixture(scope="module")
def curator() -> Iterator[dp.Curator]:
    with table() as made:
        yield made


def refused(curator: dp.Curator, sql: str) -> DiscreetError:
    """The refusal, which is free and says nothing private."""
    before = curator.spent
    with pytest.raises(DiscreetError) as caught:
        ask(curator, sql)
    assert caught.value.code != "engine_failed"
    assert curator.spent == before
    assert not any(secret in words(caught.value) for secret in SECRETS)
    return caught.value


STATEMENTS = [
    "ATTACH '/tmp/other.db'",
    "COPY t TO '/tmp/stolen.csv'",
    "COPY (SELECT * FROM t) TO '/tmp/stolen.parquet'",
    "EXPORT DATABASE '/tmp/stolen'",
    "IMPORT DATABASE '/tmp/stolen'",
    "PRAGMA database_list",
    "PRAGMA table_info('t')",
    "INSTALL httpfs",
    "LOAD httpfs",
    "SET enable_external_access = true",
    "RESET lock_configuration",
    "CALL pragma_version()",
    "CREATE TABLE s AS SELECT * FROM t",
    "CREATE MACRO m() AS TABLE SELECT * FROM t",
    "INSERT INTO t VALUES (1, 'A', 1, 1, 'x')",
    "UPDATE t SET x = 1",
    "DELETE FROM t",
    "DROP TABLE t",
    "TRUNCATE t",
    "DESCRIBE t",
    "SUMMARIZE t",
    "SHOW TABLES",
    "EXPLAIN ANALYZE SELECT COUNT(*) FROM t",
    "PREPARE q AS SELECT COUNT(*) FROM t",
    "EXECUTE q",
    "BEGIN TRANSACTION",
    "VACUUM",
    "CHECKPOINT",
    "USE main",
    "VALUES (1)",
    "FROM t",
    "TABLE t",
    "PIVOT t ON w USING COUNT(*)",
    "SELECT COUNT(*) AS n FROM t; SELECT * FROM t",
    "SELECT COUNT(*) AS n FROM t; DROP TABLE t",
    "SELECT COUNT(*) AS n INTO s FROM t",
]
FROM = [
    "read_csv('/etc/passwd')",
    "read_csv_auto('/etc/passwd')",
    "read_parquet('/tmp/*.parquet')",
    "read_text('/etc/passwd')",
    "read_blob('/etc/passwd')",
    "glob('/*')",
    "'/etc/passwd'",
    '"/etc/passwd"',
    "'s3://bucket/key.parquet'",
    "range(10)",
    "generate_series(1, 10)",
    "unnest([1, 2])",
    "duckdb_settings()",
    "duckdb_tables()",
    "duckdb_secrets()",
    "pragma_table_info('t')",
    "query('SELECT * FROM t')",
    "query_table('t')",
    "information_schema.tables",
    "information_schema.columns",
    "pg_catalog.pg_class",
    "sqlite_master",
    "system.main.duckdb_settings",
    "temp.keys_0",
    "keys_0",
    "source_0",
    "(VALUES (1)) AS v",
    "t TABLESAMPLE 10%",
    "t, t AS s",
    "t CROSS JOIN t AS s",
    "t JOIN t AS s ON t.w = s.w",
    "t JOIN t AS s ON t.x < s.x",
    "t LEFT JOIN t AS s ON t.pid = s.pid AND t.x = s.x",
    "t NATURAL JOIN (SELECT region FROM p) AS q",
    "t POSITIONAL JOIN p",
    "t ASOF JOIN p ON t.w >= p.w",
    "t SEMI JOIN p ON w = w",
    "t, LATERAL (SELECT * FROM p)",
    "t PIVOT (COUNT(*) FOR w IN ('A'))",
    "t AT (VERSION => 1)",
    "(SELECT x FROM t LIMIT 1) AS q",
    "(SELECT x FROM t ORDER BY random()) AS q",
    "(SELECT x, row_number() OVER () AS k FROM t) AS q",
    "(SELECT x FROM t QUALIFY row_number() OVER () = 1) AS q",
    "(SELECT x FROM t EXCEPT SELECT x FROM t) AS q",
    "(SELECT x FROM t INTERSECT SELECT x FROM t) AS q",
    "(SELECT COLUMNS('x') FROM t) AS q",
    "(SELECT * EXCLUDE (x) FROM t) AS q",
    "(SELECT random() AS r FROM t) AS q",
    "(SELECT getenv('HOME') AS r FROM t) AS q",
]
WHERE = [
    "x = (SELECT MAX(x) FROM t)",
    "EXISTS (SELECT 1 FROM t)",
    "x = ANY (SELECT x FROM t)",
    "random() < 0.5",
    "rowid < 10",
    "filename = 'x'",
    "error(note)",
    "note = getvariable('x')",
    "note = current_setting('memory_limit')",
    "note = version()",
    "nextval('s') = 1",
    "regexp_matches(note, '(a+)+$')",
    "list_contains([1, 2], x)",
    "x = $1",
    "x = ?",
    "x = :name",
    "x = 1e999",
    "x = 99999999999999999999999999999 // 1",
    "CAST(x AS INTEGER[]) IS NULL",
    "x.y.z = 1",
    '"t#1.x" > 1',
    '"t#1!owner" = 2',
    "cell = 1",
    "k0 = 1",
    "note = 'a\x00b'",
]


@pytest.mark.parametrize("condition", ["t.note", "t.x", "t.w = 'A' AND t.note", "t.note || 'e'"])
def test_what_is_no_condition_is_refused_in_every_clause(
    condition: str, curator: dp.Curator
) -> None:
    """An engine would read each row's text as a truth value, and fail at somebody's."""
    for clause in (
        f"FROM t JOIN (VALUES (1)) AS v(a) ON {condition}",
        f"FROM t AS o JOIN t ON o.pid = t.pid AND {condition}",
        f"FROM t JOIN UNNEST(string_split(note, ';')[1:2]) AS u(e) ON {condition}",
        f"FROM t WHERE {condition}",
        f"FROM (SELECT pid, x FROM t QUALIFY ROW_NUMBER() OVER (PARTITION BY pid ORDER BY x) = 1 "
        f"AND {condition}) AS s",
    ):
        assert refused(curator, f"SELECT COUNT(*) AS n {clause}").code == "type_clash"


@pytest.mark.parametrize("sql", STATEMENTS)
def test_other_statements(sql: str, curator: dp.Curator) -> None:
    refused(curator, sql)


@pytest.mark.parametrize("origin", FROM)
def test_other_origins_of_rows(origin: str, curator: dp.Curator) -> None:
    refused(curator, f"SELECT COUNT(*) AS n FROM {origin}")


@pytest.mark.parametrize("condition", WHERE)
def test_other_conditions(condition: str, curator: dp.Curator) -> None:
    refused(curator, f"SELECT COUNT(*) AS n FROM t WHERE {condition}")


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM t",
        "SELECT x FROM t",
        "SELECT x, COUNT(*) AS n FROM t",
        "SELECT note, COUNT(*) AS n FROM t GROUP BY note",
        "SELECT pid, COUNT(*) AS n FROM t GROUP BY pid",
        "SELECT y, COUNT(*) AS n FROM t GROUP BY y",
        "SELECT COUNT(DISTINCT note) AS n FROM t",
        "SELECT SUM(pid) AS n FROM t",
        "SELECT SUM(CAST(note AS DOUBLE)) AS n FROM t",
        "SELECT MAX(note) AS n FROM t",
        "SELECT ANY_VALUE(x) AS n FROM t",
        "SELECT FIRST(x) AS n FROM t",
        "SELECT LIST(x) AS n FROM t",
        "SELECT STRING_AGG(note, ',') AS n FROM t",
        "SELECT HISTOGRAM(x) AS n FROM t",
        "SELECT ARG_MAX(note, x) AS n FROM t",
        "SELECT SUM(x / y) AS n FROM t",
        "SELECT COUNT(*) OVER () AS n FROM t",
        "SELECT QUANTILE(x, 7) AS n FROM t",
        "SELECT COUNT(*) AS n FROM p",
        "SELECT 1 AS n",
        "",
        "   ",
        "-- nothing",
        "SELECT",
        "SELECT COUNT(* FROM t",
        "SELECT COUNT(*) AS n FROM t WHERE note = 'open",
        "\x00",
        "SELECT COUNT(*) AS n FROM t WHERE \ud800 = 1",
    ],
)
def test_other_answers(sql: str, curator: dp.Curator) -> None:
    refused(curator, sql)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT COUNT(*) AS n FROM t -- ; DROP TABLE t",
        "SELECT /* '; DROP TABLE t; -- */ COUNT(*) AS n FROM t;",
        "WITH t AS (SELECT * FROM t WHERE x > 1) SELECT COUNT(*) AS n FROM t",
        "WITH p AS (SELECT * FROM t), t AS (SELECT * FROM p) SELECT COUNT(*) AS n FROM t",
        'SELECT COUNT(*) AS "n""; DROP TABLE t; --" FROM t',
        """SELECT COUNT(*) AS n FROM t WHERE note = '''; DROP TABLE t; --'""",
        'SELECT SUM("cell") AS "k" FROM (SELECT x AS "cell", x AS "o", x AS "h" FROM t) AS "a"',
        'SELECT SUM("k") AS n FROM (SELECT DISTINCT x AS "k", w AS "g" FROM t) AS source_0',
        'SELECT SUM("!owner") AS n FROM (SELECT x AS "!owner" FROM t UNION SELECT x FROM t) AS q',
        'SELECT SUM("a#1.b!raw") AS n FROM (SELECT DISTINCT x AS "a#1.b!raw" FROM t) AS "t#1"',
        'SELECT SUM(q."t#1.x") AS n FROM (SELECT x AS "t#1.x", w AS "t#1.w" FROM t) AS q',
    ],
)
def test_names_and_comments_are_only_names_and_comments(sql: str, curator: dp.Curator) -> None:
    before = spent(curator)
    assert len(ask(curator, sql).answers) == 1
    assert spent(curator) - before in (0, 1)  # nothing for a question that was asked before
    assert ask(curator, "SELECT COUNT(*) AS n FROM t WHERE x > 2")


def _parentheses(depth: int) -> str:
    return f"SELECT COUNT(*) AS n FROM t WHERE {'(' * depth}x > 1{')' * depth}"


@pytest.mark.parametrize(
    "sql",
    [
        _parentheses(10_000),
        "(" * 1_000_000,
        f"SELECT COUNT(*) AS n FROM t WHERE note = '{'a' * 1_000_000}'",
        "SELECT COUNT(*) AS n FROM t WHERE " + "NOT " * 20_000 + "x > 1",
        "SELECT SUM(" + "-" * 20_000 + "x) AS n FROM t",
        "SELECT COUNT(*) AS n FROM " + "(SELECT * FROM " * 3000 + "t" + ") AS q" * 3000,
        "SELECT SUM(" + "CASE WHEN x > 1 THEN " * 3000 + "1" + " END" * 3000 + ") AS n FROM t",
        "SELECT COUNT(*) AS n FROM t WHERE " + " AND ".join(["x > 1"] * 9000),
    ],
    ids=["parentheses", "nothing else", "text", "not", "minus", "nested", "case", "and"],
)
def test_questions_without_end(sql: str, curator: dp.Curator) -> None:
    with at_most(20):
        refused(curator, sql)


def test_a_thousand_branches_are_refused(curator: dp.Curator) -> None:
    branches = " UNION ALL ".join(["SELECT x FROM t"] * 1000)
    refused(curator, f"SELECT COUNT(*) AS n FROM ({branches}) AS q")


def test_a_long_sum_is_translated_in_linear_time(curator: dp.Curator) -> None:
    with at_most(5):
        curator.explain("SELECT SUM(" + " + ".join(["x"] * 60) + ") AS n FROM t")


def test_common_tables_do_not_multiply_without_end(curator: dp.Curator) -> None:
    made = ["c0 AS (SELECT x FROM t)"]
    made += [
        f"c{k} AS (SELECT x FROM c{k - 1} UNION ALL SELECT x FROM c{k - 1})" for k in range(1, 11)
    ]
    refused(curator, f"WITH {', '.join(made)} SELECT COUNT(*) AS n FROM c10")


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT COUNT(*) AS n FROM (SELECT DISTINCT ON (w) w, x FROM t) AS q",
        "SELECT COUNT(*) AS n FROM ((SELECT * FROM t) LIMIT 1) AS q",
        "SELECT COUNT(*) AS n FROM (SELECT x FROM t UNION ALL SELECT x FROM t LIMIT 1) AS q",
        "SELECT COUNT(*) AS n FROM (SELECT x FROM t UNION ALL SELECT x FROM t ORDER BY 1) AS q",
        "SELECT COUNT(*) AS n FROM (SELECT * FROM t) AS q TABLESAMPLE 1%",
        "SELECT COUNT(x, w) AS n FROM t",
        "SELECT COUNT(*) AS n FROM t LIMIT 50%",
    ],
)
def test_no_part_of_a_question_is_ignored(sql: str, curator: dp.Curator) -> None:
    refused(curator, sql)
