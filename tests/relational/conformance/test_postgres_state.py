"""PostgreSQL: one state for a question, limits of a role that tell nothing, steady views."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from typing import Any

import polars as pl
import pytest

import discreet as dp
from discreet.core.errors import InvalidParameter
from discreet.curator.context import Context
from discreet.relational.bounding.hashing import NATIVE
from discreet.relational.types.data_type import DataType
from tests import postgres_server
from tests.relational.conformance.engines import PostgresWithRows, _database

pytestmark = postgres_server.needed

SPEND = dp.PureDP(epsilon=1e3)
"""So much that noise moves a count with a probability below 1e-40."""
JOINED = "SELECT COUNT(*) AS n FROM t JOIN p ON t.z = p.z"


@pytest.fixture
def home() -> Iterator[PostgresWithRows]:
    made = PostgresWithRows(NATIVE)
    yield made
    made.close()


def curator(home: PostgresWithRows, **columns: Any) -> dp.Curator:
    """Ten private rows ``t1`` of the key 1, and a public table ``t2`` with a thousand."""
    private = home.source(pl.DataFrame({"pid": range(10), "z": [1] * 10, "w": ["often"] * 10}))
    public = home.source(pl.DataFrame({"z": [1] * 1000, "v": range(1000)}))
    declared = {"z": dp.Number(0, 9), **columns}
    return dp.Curator(
        t=dp.table(private, unit=dp.Row(), columns=declared),
        p=dp.public(public),
        budget=dp.ApproxDP(epsilon=1e9, delta=0.5),
        ledger=dp.ledger.Memory(),
    )


def test_a_public_table_that_comes_and_goes_prices_no_answer_for_too_few_partners(
    home: PostgresWithRows, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Partners are counted while the table is short; it is whole again when it is compared."""
    asked = curator(home)
    before = asked.remaining
    home.owner.execute(f"DELETE FROM {home.schema}.t2 WHERE v > 0")
    real = Context.require_unchanged

    def whole_again(self: Context) -> None:
        home.owner.execute(
            f"INSERT INTO {home.schema}.t2 SELECT 1, v FROM generate_series(1, 999) v "
            f"WHERE NOT EXISTS (SELECT 1 FROM {home.schema}.t2 WHERE v > 0)"
        )
        real(self)

    monkeypatch.setattr(Context, "require_unchanged", whole_again)
    with pytest.raises(InvalidParameter) as refused:
        asked.sql(JOINED, spend=SPEND)
    assert refused.value.code == "data_changed"
    assert asked.remaining == before


def test_named_keys_and_their_sums_see_one_state(
    home: PostgresWithRows, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows that are deleted after keys were found are there still for what is asked about them."""
    asked = curator(home, w=dp.Discovered())
    real = dp.Postgres.keyed

    def then_deleted(self: dp.Postgres, text: str) -> Any:
        found = real(self, text)
        home.owner.execute(f"DELETE FROM {home.schema}.t1")
        return found

    monkeypatch.setattr(dp.Postgres, "keyed", then_deleted)
    spend = dp.ApproxDP(epsilon=1e4, delta=0.01)
    answer = asked.sql("SELECT w, SUM(z) AS s FROM t GROUP BY w", spend=spend).to_dict()
    assert answer["w"] == ["often"]
    assert round(float(str(answer["s"][0]))) == 10


def test_the_public_tables_that_are_compared_are_those_that_were_read(
    home: PostgresWithRows, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A change after the statement is the next question's, not this one's."""
    asked = curator(home)
    real = dp.Postgres.numbers

    def then_changed(self: dp.Postgres, text: str) -> Any:
        found = real(self, text)
        home.owner.execute(f"DELETE FROM {home.schema}.t2")
        return found

    monkeypatch.setattr(dp.Postgres, "numbers", then_changed)
    assert asked.sql(JOINED, spend=dp.PureDP(epsilon=1e6)).to_dict()["n"] == [10_000]
    with pytest.raises(InvalidParameter) as refused:
        asked.sql(JOINED, spend=SPEND)
    assert refused.value.code == "data_changed"


LIMITS = ("statement_timeout", "lock_timeout", "idle_in_transaction_session_timeout")


def limited(settings: dict[str, str]) -> tuple[str, str]:
    """A role with settings of its own, and how it connects."""
    server, role = postgres_server.shared(), f"r{secrets.token_hex(4)}"
    server.execute(f"CREATE ROLE {role} LOGIN PASSWORD 'r'")
    for name, value in settings.items():
        server.execute(f"ALTER ROLE {role} SET {name} = '{value}'")
    return role, server.conninfo(_database(), user=role, password="r")


def test_time_limits_of_a_role_end_no_question() -> None:
    role, conninfo = limited(dict.fromkeys(LIMITS, "700ms"))
    engine = dp.Postgres(conninfo)
    try:
        asked = ", ".join(f"current_setting('{name}')" for name in LIMITS)
        assert engine.rows(f"SELECT {asked}") == [("0", "0", "0")]
        assert engine.rows("SELECT CAST(pg_sleep(0.9) AS TEXT)") == [("",)]
    finally:
        engine.close()
        postgres_server.shared().execute(f"DROP ROLE {role}")


def test_a_limit_on_temporary_files_is_refused_in_words() -> None:
    role, conninfo = limited({"temp_file_limit": "1MB"})
    try:
        engine = dp.Postgres(conninfo)
        with pytest.raises(InvalidParameter) as refused:
            engine.attach("t", engine.table("pg_catalog.pg_class"))
        assert refused.value.code == "engine_unsuited"
        assert "temp_file_limit" in str(refused.value)
    finally:
        postgres_server.shared().execute(f"DROP ROLE {role}")


def test_null_among_keys_is_null_whatever_the_role_says() -> None:
    role, conninfo = limited({"array_nulls": "off"})
    engine = dp.Postgres(conninfo)
    try:
        table = engine.keys([("A",), (None,)], (DataType.TEXT,))
        assert engine.rows(f"SELECT v0 FROM {table} AS k ORDER BY code") == [("A",), (None,)]
    finally:
        engine.close()
        postgres_server.shared().execute(f"DROP ROLE {role}")


STEADY = [
    "SELECT * FROM t",
    "SELECT pid, lower(w) AS w, CASE WHEN x > 3 THEN 'a' ELSE w END AS v FROM t WHERE y < 3.5",
    "SELECT a.pid, b.w FROM t AS a LEFT JOIN t AS b USING (pid) WHERE a.x IN (1, 2)",
    "SELECT pid, COUNT(*) AS n, MAX(x) AS x, SUM(x) AS s FROM t GROUP BY pid HAVING COUNT(*) > 1",
    "SELECT DISTINCT pid, CAST(x AS int8), CAST(x AS text) AS v FROM t UNION ALL SELECT 1, 2, 'c'",
    "SELECT pid FROM t WHERE EXISTS (SELECT 1 FROM t AS u WHERE u.pid = t.pid AND u.x <> t.x)",
    "SELECT date_trunc('month', ts) AS m, extract(year FROM d) AS y, w || 'x' AS w FROM t",
    "SELECT pid, COALESCE(x, 0) AS x, NULLIF(w, 'a') AS w FROM t WHERE d < CURRENT_DATE ORDER BY x",
]
DOUBTFUL = {
    "SELECT *, random() AS r FROM t": "random",
    "SELECT * FROM t WHERE random() < 0.5": "random",
    "SELECT * FROM t LIMIT 5": "LIMIT",
    "SELECT * FROM t OFFSET 1": "OFFSET",
    "SELECT * FROM (SELECT * FROM t LIMIT 5) AS q": "LIMIT",
    "SELECT DISTINCT ON (pid) * FROM t": "DISTINCT ON",
    "SELECT * FROM t TABLESAMPLE BERNOULLI (50)": "TABLESAMPLE",
    "SELECT pid, row_number() OVER () AS k FROM t": "window",
    "SELECT pid, 1 / x AS v FROM t": "int4div",
    "SELECT pid FROM t WHERE 10 % x = 1": "int4mod",
    "SELECT pid, x * x AS v FROM t": "int4mul",
    "SELECT pid, CAST(w AS int4) AS v FROM t": "cast",
    "SELECT pid, CAST(m AS float8) AS v FROM t": "float8",
    "SELECT pid, CAST(x AS positive) AS v FROM t": "domain",
    "SELECT pid, (SELECT x FROM t AS u) AS v FROM t": "subquery",
    "SELECT pid, mine(x) AS v FROM t": "mine",
    "SELECT pid, SUM(y) AS v FROM t GROUP BY pid": "sum",
    "SELECT pid, string_agg(w, ',') AS v FROM t GROUP BY pid": "string_agg",
    "WITH RECURSIVE r(n) AS (SELECT 1 UNION SELECT n FROM r) SELECT n FROM r": "RECURSIVE",
    "SELECT pid, nextval('s') AS v FROM t": "nextval",
}


@pytest.fixture(scope="module")
def views() -> Iterator[PostgresWithRows]:
    made = PostgresWithRows(NATIVE)
    made.owner.execute(
        f"SET search_path = {made.schema}, public; "
        "CREATE TABLE t (pid int8, w text, x int4, y float8, m numeric, d date, ts timestamptz); "
        "CREATE DOMAIN positive AS int CHECK (value > 0); CREATE SEQUENCE s; "
        "CREATE FUNCTION mine(int) RETURNS int IMMUTABLE LANGUAGE sql AS 'SELECT $1'; "
        f"ALTER DEFAULT PRIVILEGES IN SCHEMA {made.schema} GRANT SELECT ON TABLES TO reader"
    )
    yield made
    made.close()


def refusal(home: PostgresWithRows, view: str) -> InvalidParameter | None:
    """What is said to a view that stands for a table; None if it may."""
    try:
        home.engine.attach(view, home.engine.table(f"{home.schema}.{view}"))
    except InvalidParameter as refused:
        return refused
    return None


def made(home: PostgresWithRows, text: str) -> list[str]:
    """A view, and a view over it."""
    name = f"v{secrets.token_hex(4)}"
    home.owner.execute(f"CREATE VIEW {name} AS {text}; CREATE VIEW {name}2 AS TABLE {name}")
    return [name, f"{name}2"]


@pytest.mark.parametrize("text", STEADY)
def test_views_that_give_the_same_rows_and_never_fail_are_tables(
    views: PostgresWithRows, text: str
) -> None:
    assert [refusal(views, view) for view in made(views, text)] == [None, None]


@pytest.mark.parametrize("text", DOUBTFUL)
def test_views_that_may_change_or_fail_are_refused_by_what_is_in_them(
    views: PostgresWithRows, text: str
) -> None:
    for view in made(views, text):
        refused = refusal(views, view)
        assert refused is not None
        assert refused.code == "rows_not_stored"
        assert DOUBTFUL[text] in str(refused.received)


def test_rows_of_a_materialised_view_are_stored(views: PostgresWithRows) -> None:
    views.owner.execute("CREATE MATERIALIZED VIEW held AS SELECT *, random() AS r FROM t LIMIT 5")
    assert refusal(views, "held") is None
