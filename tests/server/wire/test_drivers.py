"""psycopg as text and as bytes, pandas, and SQLAlchemy."""

from collections.abc import Iterator
from datetime import date

import pandas as pd  # type: ignore[import-untyped]
import psycopg
import pytest
import sqlalchemy as sa

from tests.server.running_service import ApiUser
from tests.server.wire.opened_wire import BY_WARD, PRICED, OpenedWire, spent

pytestmark = pytest.mark.xdist_group("server")


@pytest.fixture(scope="module")
def connection(wire: OpenedWire, ann: ApiUser) -> Iterator[psycopg.Connection]:
    with psycopg.connect(wire.dsn(ann), autocommit=True) as made:
        yield made


@pytest.fixture(scope="module")
def engine(wire: OpenedWire, ann: ApiUser) -> Iterator[sa.Engine]:
    place = f"127.0.0.1:{wire.port}/discreet"
    made = sa.create_engine(f"postgresql+psycopg://{ann.person.name}:{ann.token}@{place}")
    yield made
    made.dispose()


def test_psycopg_reads_the_same_as_text_and_as_bytes(connection: psycopg.Connection) -> None:
    as_text = connection.execute(BY_WARD).fetchall()
    cursor = connection.cursor(binary=True)
    assert cursor.execute(BY_WARD).fetchall() == as_text
    assert cursor.description is not None
    assert [(each.name, each.type_code) for each in cursor.description][:5] == [
        ("ward", 25),
        ("n", 20),
        ("n_lower", 20),
        ("n_upper", 20),
        ("mean", 701),
    ]
    assert [type(each) for each in as_text[0][:2]] == [str, int]


def test_parameters_stand_for_constants(connection: psycopg.Connection) -> None:
    ask = f"{PRICED} COUNT(*) AS n FROM visits WHERE age > "
    written = connection.execute(f"{ask} 30 AND ward = 'surgery'").fetchall()
    for place in ("%s", "%b"):
        asked = connection.execute(f"{ask} {place} AND ward = {place}", (30, "surgery"))
        assert asked.fetchall() == written, "the same question, so the same release"
    prepared = [
        connection.execute(f"{ask} %s AND ward = %s", (30, "surgery"), prepare=True).fetchall()
        for _ in range(3)
    ]
    assert prepared == [written] * 3


def test_a_parameter_is_a_value_and_never_words(connection: psycopg.Connection) -> None:
    hostile = "x' OR ward = 'surgery"
    with pytest.raises(psycopg.errors.InvalidParameterValue, match="value_not_listed"):
        connection.execute(f"{PRICED} COUNT(*) AS n FROM visits WHERE ward = %s", (hostile,))
    found = connection.execute(
        "SELECT %s, %s, %s, %s, %s", ("it's \\ $1 %", 7, 2.5, True, date(2024, 2, 29))
    )
    assert found.fetchone() == ("it's \\ $1 %", 7, 2.5, True, date(2024, 2, 29))


def test_rows_come_in_portions_and_are_paid_for_once(
    connection: psycopg.Connection, ann: ApiUser
) -> None:
    ask = f"{PRICED} ward, COUNT(*) AS n FROM visits WHERE age < 90 GROUP BY ward"
    before = spent(ann)
    with connection.cursor() as cursor:
        streamed = list(cursor.stream(ask))
    assert streamed == connection.execute(ask).fetchall()
    assert spent(ann) == pytest.approx(before + 0.5)


def test_columns_are_free(connection: psycopg.Connection, ann: ApiUser) -> None:
    before = spent(ann)
    for text in (
        "SELECT * FROM visits LIMIT 0",
        f"{PRICED} ward, COUNT(*) AS n FROM visits WHERE age > 77 GROUP BY ward LIMIT 0",
        f"SELECT * FROM ({PRICED} COUNT(*) AS n FROM visits WHERE age > 77) AS q LIMIT 0",
    ):
        cursor = connection.execute(text)
        assert cursor.fetchall() == []
        assert cursor.description is not None
    assert spent(ann) == before
    with pytest.raises(psycopg.errors.SyntaxError, match="price_missing"):
        connection.execute("SELECT * FROM visits")


def test_errors_have_states_codes_hints_and_places(connection: psycopg.Connection) -> None:
    with pytest.raises(psycopg.errors.UndefinedTable) as caught:
        connection.execute(f"{PRICED} COUNT(*) AS n FROM visit")
    told = caught.value.diag
    assert told.source_function == "unknown_table"
    assert told.message_hint == "Did you mean visits?"
    assert told.statement_position == str(len(f"{PRICED} COUNT(*) AS n FROM ") + 1)
    with pytest.raises(psycopg.errors.UndefinedTable) as caught:
        connection.execute(f"{PRICED} COUNT(*) AS n FROM visit WHERE age > %s", (3,))
    assert caught.value.diag.statement_position is None, "parameters moved what follows them"
    with pytest.raises(psycopg.errors.UndefinedTable) as caught:
        connection.execute(f"EXPLAIN {PRICED} COUNT(*) AS n FROM visit")
    place = len(f"EXPLAIN {PRICED} COUNT(*) AS n FROM ") + 1
    assert caught.value.diag.statement_position == str(place)
    with pytest.raises(psycopg.errors.FeatureNotSupported, match="not_on_the_wire"):
        connection.execute("DELETE FROM visits")
    with pytest.raises(psycopg.errors.FeatureNotSupported, match="not_on_the_wire"):
        connection.execute("COPY visits TO STDOUT")


def test_pandas_reads_a_frame(engine: sa.Engine) -> None:
    frame = pd.read_sql(sa.text(BY_WARD), engine)
    assert list(frame.columns[:4]) == ["ward", "n", "n_lower", "n_upper"]
    assert frame["n"].dtype.kind == "i"
    assert (frame["n_lower"] <= frame["n"]).all()
    older = sa.text(f"{PRICED} ward, COUNT(*) AS n FROM visits WHERE age > :age GROUP BY ward")
    assert len(pd.read_sql(older, engine, params={"age": 40})) == 3


def test_sqlalchemy_inspects_public_declarations(engine: sa.Engine, ann: ApiUser) -> None:
    before = spent(ann)
    found = sa.inspect(engine)
    assert sorted(found.get_table_names()) == ["visits", "wards"]
    assert found.has_table("visits")
    assert not found.has_table("other")
    columns = {each["name"]: each for each in found.get_columns("visits")}
    assert {name: str(each["type"]) for name, each in columns.items()} == {
        "patient": "BIGINT",
        "ward": "TEXT",
        "age": "DOUBLE PRECISION",
    }
    assert columns["age"]["comment"] == "from 0 to 100"
    assert found.get_pk_constraint("visits")["constrained_columns"] == []
    assert found.get_foreign_keys("visits") == []
    assert found.get_indexes("visits") == []
    comment = found.get_table_comment("visits")["text"]
    assert comment is not None
    assert comment.startswith("private")
    assert spent(ann) == before


def test_sqlalchemy_builds_a_question_from_reflected_tables(engine: sa.Engine) -> None:
    metadata = sa.MetaData()
    metadata.reflect(engine)
    visits = metadata.tables["visits"]
    asked = (
        sa.select(visits.c.ward, sa.func.count().label("n"))
        .where(visits.c.age > 50)
        .group_by(visits.c.ward)
        .prefix_with("WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=.5)")
    )
    with engine.connect() as connection:
        rows = connection.execute(asked).all()
    assert [row.ward for row in rows] == ["medicine", "surgery", "children"]
    assert all(row.n_lower <= row.n <= row.n_upper for row in rows)
