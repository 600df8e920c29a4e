"""PostgreSQL as an engine: what its tables hold, what it may do, and how it fails."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime
from threading import Timer
from traceback import format_exception
from typing import TYPE_CHECKING, Any

import pytest

import discreet as dp
from discreet.core.errors import DiscreetError, EngineFailed, InvalidParameter, Mismatch
from discreet.core.guarantee import Guarantee
from discreet.curator.curator import Curator
from discreet.relational.bounding.hashing import NATIVE
from discreet.relational.engines.choose import engine_of
from discreet.relational.types.column_domain import ColumnDomain
from discreet.relational.types.data_type import DataType
from tests import postgres_server
from tests.relational.conformance.engines import PostgresWithRows

if TYPE_CHECKING:
    import psycopg
else:
    psycopg = pytest.importorskip("psycopg")

pytestmark = postgres_server.needed

SPEND = dp.PureDP(epsilon=1)
COLUMNS: dict[str, Any] = {"ward": dp.Category(["A", "B"]), "age": dp.Number(0, 120)}


@dataclass
class Clinic:
    """A database with one table, and how to reach it as its owner and as a reader."""

    name: str
    owner: psycopg.Connection[Any]
    reader: str

    def engine(self) -> dp.Postgres:
        return dp.Postgres(self.reader)

    def curator(self, engine: dp.Postgres, budget: Guarantee = SPEND, **others: Any) -> Curator:
        visits = dp.table(
            engine.table("clinic.visits"), unit=dp.Person("pid", max_rows=2), columns=COLUMNS
        )
        return Curator(visits=visits, budget=budget, ledger=dp.ledger.Memory(), **others)


@pytest.fixture(scope="module")
def place() -> Iterator[tuple[str, str]]:
    """A database and a role that may read in it."""
    server = postgres_server.shared()
    name, role = server.database(), f"r{secrets.token_hex(4)}"
    server.execute(f"CREATE ROLE {role} LOGIN PASSWORD 'pässw@rd'")
    yield name, role
    server.drop(name)
    server.execute(f"DROP ROLE {role}")


@pytest.fixture
def clinic(place: tuple[str, str]) -> Iterator[Clinic]:
    name, role = place
    server = postgres_server.shared()
    with psycopg.connect(server.conninfo(name), autocommit=True) as owner:
        owner.execute(
            f"""CREATE SCHEMA clinic;
            CREATE TABLE clinic.visits (pid int8, ward text, age int4);
            CREATE TABLE clinic.wards (ward text, floor int4);
            INSERT INTO clinic.visits SELECT i, chr(65 + i % 2), i FROM generate_series(1, 100) i;
            INSERT INTO clinic.wards VALUES ('A', 1), ('B', 2);
            GRANT USAGE ON SCHEMA clinic TO {role};
            GRANT SELECT ON clinic.visits, clinic.wards TO {role};"""
        )
        yield Clinic(name, owner, server.conninfo(name, user=role, password="pässw@rd"))
    server.execute("DROP SCHEMA clinic CASCADE", name)


def left(curator: Curator) -> float:
    """What remains of a pure budget."""
    remaining = curator.remaining
    assert isinstance(remaining, dp.PureDP)
    return float(remaining.epsilon)


def test_a_reader_gets_private_answers(clinic: Clinic) -> None:
    with clinic.curator(clinic.engine(), dp.PureDP(epsilon=1000)) as curator:
        answer = curator.sql(
            "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward", spend=dp.PureDP(epsilon=900)
        )
        assert [round(value or 0) for value in answer["n"].values] == [50, 50]


def test_nothing_can_be_written(clinic: Clinic) -> None:
    clinic.owner.execute(
        "CREATE SEQUENCE clinic.s; GRANT ALL ON ALL TABLES IN SCHEMA clinic TO public"
    )
    engine = clinic.engine()
    engine.attach("visits", engine.table("clinic.visits"))
    for text in ("CREATE TEMP TABLE x AS SELECT 1", "DELETE FROM clinic.visits RETURNING pid"):
        with pytest.raises(InvalidParameter, match="source_unreadable"):
            engine.rows(text)
        assert clinic.owner.execute("SELECT COUNT(*) FROM clinic.visits").fetchall() == [(100,)]


def test_functions_of_users_are_not_found(clinic: Clinic) -> None:
    clinic.owner.execute(
        "CREATE FUNCTION public.floor(text) RETURNS text LANGUAGE sql AS $$ SELECT 'mine' $$"
    )
    engine = clinic.engine()
    assert engine.rows("SELECT current_setting('search_path')") == [("pg_catalog, pg_temp",)]
    with pytest.raises(InvalidParameter, match="source_unreadable"):
        engine.rows("SELECT floor(CAST('x' AS TEXT))")


def test_all_statements_of_a_question_see_one_state(clinic: Clinic) -> None:
    engine = clinic.engine()
    engine.attach("visits", engine.table("clinic.visits"))
    with engine.snapshot():
        before = engine.rows("SELECT COUNT(*) FROM clinic.visits")
        clinic.owner.execute("DELETE FROM clinic.visits")
        assert engine.rows("SELECT COUNT(*) FROM clinic.visits") == before
    assert engine.rows("SELECT COUNT(*) FROM clinic.visits") == [(0,)]


@pytest.mark.parametrize(
    "change",
    [
        {"password": "wrong-sekrit"},
        {"user": "nobody-here", "password": "wrong-sekrit"},
        {"port": "1"},
        {"dbname": "no_such_database"},
        {"host": "/nowhere", "password": "wrong-sekrit"},
    ],
    ids=str,
)
def test_an_engine_that_cannot_be_reached_says_so_without_secrets(
    clinic: Clinic, change: dict[str, str]
) -> None:
    from psycopg.conninfo import make_conninfo

    engine = dp.Postgres(make_conninfo(clinic.reader, **change))
    with pytest.raises(InvalidParameter) as refused:
        clinic.curator(engine)
    assert refused.value.code == "engine_unreachable"
    assert refused.value.__cause__ is None
    assert refused.value.__context__ is None
    shown = f"{refused.value} {engine!r} {vars(engine)!r} {engine.table('clinic.visits')!r}"
    assert "sekrit" not in shown
    assert "pässw" not in shown


def test_a_connection_string_that_is_none_is_refused_without_repeating_it() -> None:
    with pytest.raises(InvalidParameter) as refused:
        dp.Postgres("host=db password='sekrit")
    assert refused.value.code == "not_a_conninfo"
    assert "sekrit" not in str(refused.value)


def test_a_connection_lost_in_a_question_costs_the_reservation_and_says_one_thing(
    clinic: Clinic, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = clinic.engine()
    with clinic.curator(engine, dp.PureDP(epsilon=10)) as curator:
        real = dp.Postgres.numbers

        def cut(self: dp.Postgres, text: str) -> Any:
            assert postgres_server.shared().cut(clinic.name) > 0
            return real(self, text)

        monkeypatch.setattr(dp.Postgres, "numbers", cut)
        with pytest.raises(EngineFailed) as failed:
            curator.sql("SELECT COUNT(*) AS n FROM visits", spend=SPEND)
        assert failed.value.code == "engine_failed"
        assert failed.value.__context__ is None
        assert left(curator) == 9
        monkeypatch.undo()
        # The owner's connection was cut as well; the engine's is opened anew.
        curator.sql("SELECT COUNT(*) AS n FROM visits", spend=dp.PureDP(epsilon=2))
        assert left(curator) == 7


def test_cuts_at_any_moment_are_charged_or_free_and_nothing_else(clinic: Clinic) -> None:
    """Each question is answered, failed and charged, or refused before it was charged."""
    engine, charged, refused = clinic.engine(), 0, list[InvalidParameter]()
    with clinic.curator(engine, dp.PureDP(epsilon=100)) as curator:
        for turn in range(12):
            cut = Timer(0.003 * turn, lambda: postgres_server.shared().cut(clinic.name))
            cut.start()
            charged += 1
            try:
                curator.sql(f"SELECT COUNT(*) AS n FROM visits WHERE age > {turn}", spend=SPEND)
            except EngineFailed:
                pass
            except InvalidParameter as free:
                refused.append(free)
                charged -= 1
            cut.join()
            assert left(curator) == 100 - charged
    assert {error.code for error in refused} <= {"engine_unreachable", "source_unreadable"}
    assert not any("pässw" in "".join(format_exception(error)) for error in refused)


def test_a_server_that_is_gone_costs_nothing_before_the_reservation(
    clinic: Clinic, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = clinic.engine()
    with clinic.curator(engine) as curator:
        engine.close()
        monkeypatch.setattr(engine, "_server", dp.Postgres("host=/nowhere")._server)
        with pytest.raises(InvalidParameter) as refused:
            curator.sql("SELECT COUNT(*) AS n FROM visits", spend=SPEND)
        assert refused.value.code == "engine_unreachable"
        assert left(curator) == 1


@pytest.mark.parametrize(
    "change",
    [
        "ALTER TABLE clinic.visits ALTER age TYPE numeric",
        "ALTER TABLE clinic.visits DROP COLUMN age",
        "ALTER TABLE clinic.visits ADD COLUMN more int4",
        "DROP TABLE clinic.visits",
        "REVOKE SELECT ON clinic.visits FROM PUBLIC, {role}",
        "UPDATE clinic.wards SET ward = 'A'",
        "INSERT INTO clinic.wards VALUES ('A', 3)",
    ],
)
def test_changed_columns_or_public_rows_are_noticed_before_anything_is_spent(
    clinic: Clinic, place: tuple[str, str], change: str
) -> None:
    engine = clinic.engine()
    wards = dp.public(engine.table("clinic.wards"))
    with clinic.curator(engine, wards=wards) as curator:
        clinic.owner.execute(change.format(role=place[1]))
        with pytest.raises(InvalidParameter) as refused:
            curator.sql("SELECT COUNT(*) AS n FROM visits JOIN wards USING (ward)", spend=SPEND)
        assert refused.value.code == "data_changed"
        assert left(curator) == 1


def test_columns_that_change_within_a_question_are_not_read(clinic: Clinic) -> None:
    engine = clinic.engine()
    engine.attach("visits", engine.table("clinic.visits"))
    clinic.owner.execute("ALTER TABLE clinic.visits ALTER age TYPE numeric")
    with pytest.raises(InvalidParameter, match="data_changed"), engine.snapshot():
        pass


def test_rows_may_change_between_questions(clinic: Clinic) -> None:
    with clinic.curator(clinic.engine(), dp.PureDP(epsilon=10)) as curator:
        clinic.owner.execute("INSERT INTO clinic.visits VALUES (101, 'A', 7)")
        curator.sql("SELECT COUNT(*) AS n FROM visits", spend=SPEND)


@pytest.mark.parametrize("name", ["clinic.none", "visits", "clinic.visits; DROP TABLE x", 'a"b.c'])
def test_a_table_that_is_not_there_is_refused(clinic: Clinic, name: str) -> None:
    engine = clinic.engine()
    with pytest.raises(InvalidParameter) as refused:
        engine.attach("visits", engine.table(name))
    assert refused.value.code == "source_unreadable"


def test_a_table_that_the_user_may_not_read_is_refused(clinic: Clinic) -> None:
    clinic.owner.execute("CREATE TABLE clinic.secret (pid int8)")
    engine = clinic.engine()
    with pytest.raises(InvalidParameter) as refused:
        engine.attach("secret", engine.table("clinic.secret"))
    assert refused.value.code == "source_unreadable"


def test_tables_lie_in_one_engine(clinic: Clinic) -> None:
    first, second = clinic.engine(), clinic.engine()
    other = dp.public(second.table("clinic.wards"))
    with pytest.raises(Mismatch) as refused:
        clinic.curator(first, wards=other)
    assert refused.value.code == "engines_differ"
    with pytest.raises(Mismatch) as refused:
        engine_of({"wards": other}, dp.DuckDB())
    assert refused.value.code == "engines_differ"
    with pytest.raises(DiscreetError) as unread:
        clinic.curator(first, wards=dp.public({"ward": ["A"]}))
    assert unread.value.code == "engine_cannot_read"
    with pytest.raises(DiscreetError) as unread:
        dp.DuckDB().attach("wards", second.table("clinic.wards"))
    assert unread.value.code == "engine_cannot_read"


def test_one_name_stands_for_one_table_of_an_engine(clinic: Clinic) -> None:
    engine = clinic.engine()
    engine.attach("visits", engine.table("clinic.visits"))
    engine.attach("visits", engine.table("clinic.visits"))
    with pytest.raises(InvalidParameter) as refused:
        engine.attach("visits", engine.table("clinic.wards"))
    assert refused.value.code == "table_name_taken"


def test_a_database_that_is_not_utf8_is_refused() -> None:
    server = postgres_server.shared()
    name = server.database("TEMPLATE template0 ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C'")
    try:
        engine = dp.Postgres(server.conninfo(name))
        with pytest.raises(InvalidParameter) as refused:
            engine.attach("t", engine.table("pg_catalog.pg_class"))
        assert refused.value.code == "engine_unsuited"
    finally:
        server.drop(name)


def test_keys_travel_as_constants_whatever_they_hold(clinic: Clinic) -> None:
    texts = ["it's", '"', "\\", "{a,b}", "NULL", "", " x ", "%s", "é", "e\u0301", "\n", None]
    entries: list[tuple[object, ...]] = [
        (text, place, place / 3, place % 2 == 0, date(2024, 1, 1 + place), datetime(1, 1, 1, place))
        for place, text in enumerate(texts)
    ]
    entries.append((None, None, None, None, None, None))
    kinds = (
        DataType.TEXT,
        DataType.INTEGER,
        DataType.DOUBLE,
        DataType.BOOLEAN,
        DataType.DATE,
        DataType.TIMESTAMP,
    )
    engine = clinic.engine()
    found = engine.rows(f"SELECT * FROM {engine.keys(entries, kinds)} AS b ORDER BY code")
    assert found == [(code, *entry) for code, entry in enumerate(entries)]


def test_names_of_columns_may_hold_anything(clinic: Clinic) -> None:
    name = 'a"b%s; DROP'
    quoted = name.replace('"', '""')
    clinic.owner.execute(f'ALTER TABLE clinic.visits RENAME ward TO "{quoted}"')
    visits = dp.table(
        clinic.engine().table("clinic.visits"),
        unit=dp.Row(),
        columns={name: dp.Category(["A", "B"])},
    )
    with Curator(visits=visits, budget=SPEND, ledger=dp.ledger.Memory()) as curator:
        text = f'SELECT "{quoted}" AS k, COUNT(*) AS n FROM visits GROUP BY "{quoted}"'
        assert len(curator.sql(text, spend=SPEND)["n"].values) == 2


STORED: list[tuple[str, str, ColumnDomain, list[object]]] = [
    ("int2", "1, -32768, NULL", ColumnDomain(DataType.INTEGER, 0, 9), [1, 0, None]),
    (
        "int8",
        "-9223372036854775808, 9223372036854775807",
        ColumnDomain(DataType.INTEGER),
        [-(2**63) + 1, 2**63 - 1],
    ),
    (
        "float4",
        "0.1, 'NaN', 'Infinity', 1e-45",
        ColumnDomain(DataType.DOUBLE, 0, 9),
        [0.10000000149011612, None, 9.0, 1.401298464324817e-45],
    ),
    (
        "numeric",
        "0.1, 'NaN', 'Infinity', '-Infinity', 1e400, -1e400, 1e-400, 1e-320, NULL",
        ColumnDomain(DataType.DOUBLE, -5, 9),
        [0.1, None, 9.0, -5.0, 9.0, -5.0, 0.0, 1e-320, None],
    ),
    ("numeric(6, 2)", "0.1, 'NaN', 9999.99", ColumnDomain(DataType.DOUBLE, 0, 9), [0.1, None, 9.0]),
    ("numeric", "2.5, 3.5, 'NaN', 1e400", ColumnDomain(DataType.INTEGER, 0, 9), [2, 4, None, 9]),
    ("varchar(5)", "'A', 'a', NULL", ColumnDomain(DataType.TEXT, values=("A",)), ["A", None, None]),
    ("char(5)", "'A', 'a'", ColumnDomain(DataType.TEXT, values=("A",)), ["A", None]),
    (
        "uuid",
        "'A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11'",
        ColumnDomain(DataType.TEXT),
        ["a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"],
    ),
    ("mood", "'sad', 'ok'", ColumnDomain(DataType.TEXT, values=("ok", "none")), [None, "ok"]),
    ("positive", "1, 5", ColumnDomain(DataType.INTEGER, 0, 3), [1, 3]),
    ("bool", "true, NULL", ColumnDomain(DataType.BOOLEAN), [True, None]),
    (
        "date",
        "'infinity', '-infinity', '0044-03-15 BC', '10000-01-01', '2020-02-29'",
        ColumnDomain(DataType.DATE),
        [None, None, None, None, date(2020, 2, 29)],
    ),
    (
        "timestamp",
        "'infinity', '0001-01-01', '9999-12-31 23:59:59.999999'",
        ColumnDomain(DataType.TIMESTAMP),
        [None, datetime.min, datetime.max],
    ),
    (
        "timestamptz",
        "'infinity', '2020-01-01 00:30+02', '0001-01-01 BC'",
        ColumnDomain(DataType.TIMESTAMP),
        [None, datetime(2019, 12, 31, 22, 30), None],
    ),
    (
        "text",
        "'12', 'x', '1e3', '1e999', '1e-999999999', '-0.5', '-1e999', repeat('9',4000), "
        "repeat('9',200000)",
        ColumnDomain(DataType.DOUBLE, 0, 50),
        [12.0, None, 50.0, 50.0, 0.0, 0.0, 0.0, 50.0, None],
    ),
    (
        "text",
        "'2020-02-29', '2021-02-29', '2020-1-1', 'infinity', 'today'",
        ColumnDomain(DataType.DATE),
        [date(2020, 2, 29), None, None, None, None],
    ),
]


@pytest.mark.parametrize(
    ("stored", "values", "domain", "wanted"), STORED, ids=lambda v: str(v)[:30]
)
def test_every_stored_type_is_cleaned(
    stored: str, values: str, domain: ColumnDomain, wanted: list[object]
) -> None:
    home = PostgresWithRows(NATIVE)
    try:
        home.owner.execute(
            f"SET search_path = {home.schema}; CREATE TYPE mood AS ENUM ('sad', 'ok');"
            "CREATE DOMAIN positive AS int4 CHECK (value > 0);"
            f"CREATE TABLE t (n serial, v {stored}); GRANT SELECT ON t TO reader"
        )
        for value in values.split(", "):
            home.owner.execute(f"INSERT INTO t (v) VALUES ({value})")
        engine = home.engine
        types = engine.attach("t", engine.table(f"{home.schema}.t"))
        text = engine.dialect.clean("t.v", types["v"], domain)
        found = engine.rows(f"SELECT {text} FROM {engine.place('t')} AS t ORDER BY n")
        assert [row[0] for row in found] == wanted
    finally:
        home.close()


@pytest.mark.parametrize(
    "stored", ["jsonb", "int4[]", "bytea", "interval", "time", "point", "money"]
)
def test_other_types_have_no_kind(stored: str) -> None:
    home = PostgresWithRows(NATIVE)
    try:
        home.owner.execute(
            f"CREATE TABLE {home.schema}.t (v {stored}); GRANT SELECT ON {home.schema}.t TO reader"
        )
        types = home.engine.attach("t", home.engine.table(f"{home.schema}.t"))
        assert home.engine.dialect.kind_of(types["v"]) is None
        with pytest.raises(InvalidParameter, match="unusable_type"):
            home.engine.dialect.identity("v", types["v"])
    finally:
        home.close()
