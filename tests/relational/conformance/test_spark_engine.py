"""Spark as an engine: what it is given, what is pinned, what it says when something is wrong."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from datetime import datetime
from typing import Any

import polars as pl
import pytest

import discreet as dp
from discreet.core.errors import EngineFailed, InvalidParameter
from discreet.relational.engines.spark.dialect import SparkDialect
from discreet.relational.engines.spark.engine import Spark
from discreet.relational.engines.spark.session import PINNED, quiet
from discreet.relational.types.column_domain import ColumnDomain
from discreet.relational.types.data_type import DataType
from tests.curator.keys.people import SPEND as WORDS_SPEND
from tests.curator.keys.people import still, words
from tests.relational.conformance.spark_with_rows import folder, missing, session

pytestmark = [
    pytest.mark.xdist_group("spark"),
    pytest.mark.skipif(missing() is not None, reason=str(missing())),
    pytest.mark.filterwarnings("ignore:The SQL config"),  # Connect says what it means to drop
]
DIALECT = SparkDialect()
ASKED = "SELECT ward, COUNT(*) AS n, SUM(cost) AS s FROM visits GROUP BY ward"
SPEND = dp.PureDP(epsilon=1e3)
"""So much that noise moves a count with a probability below 1e-40."""


@pytest.fixture
def spark() -> Iterator[Spark]:
    engine = Spark(session())
    yield engine
    engine.close()


def one(engine: Spark, text: str) -> tuple[object, ...]:
    """The one row of a statement in the engine's session."""
    return engine.rows(text)[0]


def view(name: str, text: str) -> str:
    """A temporary view in the user's session."""
    session().sql(text).createOrReplaceTempView(name)
    return name


def curator(source: object, **columns: Any) -> dp.Curator:
    """Of one table ``visits`` of people with two wards."""
    declared = columns or {"ward": dp.Category(["A", "B"]), "cost": dp.Number(0, 10)}
    table = dp.table(source, unit=dp.Person("pid", max_rows=5), columns=declared)
    return dp.Curator(visits=table, budget=dp.PureDP(epsilon=1e9), ledger=dp.ledger.Memory())


ROWS = "SELECT * FROM VALUES (1L, 'A', 4), (2L, 'A', 5), (3L, 'B', 9) AS t(pid, ward, cost)"


def test_a_temporary_view_of_the_user_is_asked_and_the_users_session_stays_as_it_was() -> None:
    before, views = dict(session().conf.getAll), len(session().catalog.listTables())
    engine = Spark(session())
    with curator(engine.table(view("mine", ROWS))) as opened:
        answer = opened.sql(ASKED, spend=SPEND)
    assert answer.to_dict()["n"] == [2, 1]
    assert session().catalog.dropTempView("mine")
    assert dict(session().conf.getAll) == before
    assert len(session().catalog.listTables()) == views
    assert session().sql("SHOW VIEWS IN global_temp").collect() == []


def test_a_table_by_its_full_name_and_a_parquet_file_give_the_same(spark: Spark) -> None:
    path = folder() / "visits.parquet"
    pl.DataFrame({"pid": [1, 2, 3], "ward": ["A", "A", "B"], "cost": [4, 5, 9]}).write_parquet(path)
    session().sql("CREATE DATABASE IF NOT EXISTS clinic")
    session().read.parquet(str(path)).write.saveAsTable("clinic.visits", mode="overwrite")
    answers = [
        curator(spark.table("spark_catalog.clinic.visits")).sql(ASKED, spend=SPEND),
        dp.Curator(
            visits=dp.table(
                path,
                unit=dp.Person("pid", max_rows=5),
                columns={"ward": dp.Category(["A", "B"]), "cost": dp.Number(0, 10)},
            ),
            budget=dp.PureDP(epsilon=1e9),
            ledger=dp.ledger.Memory(),
            engine=spark,
        ).sql(ASKED, spend=SPEND),
    ]
    assert [answer.to_dict()["n"] for answer in answers] == [[2, 1], [2, 1]]
    session().sql("DROP DATABASE clinic CASCADE")


def test_the_current_schema_of_the_user_is_ours() -> None:
    session().sql("CREATE DATABASE IF NOT EXISTS ward_nine")
    try:
        session().catalog.setCurrentDatabase("ward_nine")
        session().sql(f"CREATE TABLE here USING parquet AS {ROWS}")
        engine = Spark(session())
        assert set(engine.attach("t", engine.table("here"))) == {"pid", "ward", "cost"}
    finally:
        session().catalog.setCurrentDatabase("default")
        session().sql("DROP DATABASE ward_nine CASCADE")


def test_settings_of_the_user_change_no_answer() -> None:
    """Zones, ANSI mode, literals: the user's choices stay the user's."""
    users = {
        "spark.sql.session.timeZone": "Asia/Tokyo",
        "spark.sql.ansi.enabled": "true",
        "spark.sql.parser.escapedStringLiterals": "true",
        "spark.sql.legacy.integralDivide.returnBigint": "false",
        "spark.sql.shuffle.partitions": "2",
    }
    other = session().newSession()
    for name, value in users.items():
        other.conf.set(name, value)
    engine = Spark(other)
    assert one(engine, "SELECT 1L DIV 0L, CAST('x' AS BIGINT), typeof(7 DIV 2), '\\\\'") == (
        *(None, None, "bigint", "\\"),
    )
    assert one(engine, "SELECT CAST(TIMESTAMP '2020-01-01 00:00:00+00:00' AS TIMESTAMP_NTZ)") == (
        datetime(2020, 1, 1),
    )
    assert engine._session.conf.get("spark.sql.shuffle.partitions") == "2"
    assert {name: other.conf.get(name) for name in users} == users


@pytest.mark.parametrize("name", PINNED)
def test_a_setting_changed_under_the_engine_is_refused(spark: Spark, name: str) -> None:
    value = {"true": "false", "false": "true", "UTC": "Asia/Tokyo", "CORRECTED": "LEGACY"}
    spark._session.conf.set(name, value.get(PINNED[name], "TIMESTAMP_NTZ"))
    with pytest.raises(InvalidParameter) as refusal:
        spark.rows("SELECT 1")
    assert refusal.value.code == "engine_settings_changed"
    assert refusal.value.received == [name]


AWKWARD = [
    "it's",
    'a"b',
    "\\",
    "\\'",
    "\\u0041",
    "${env:HOME}",
    "$",
    "{",
    "%_",
    "`",
    "\n\t",
    "é日👨",
]


def test_text_reaches_spark_as_it_is(spark: Spark) -> None:
    assert one(spark, f"SELECT {', '.join(map(DIALECT.text, AWKWARD))}") == (*AWKWARD,)


def test_names_reach_spark_as_they_are(spark: Spark) -> None:
    text = ", ".join(f"1 AS {DIALECT.identifier(name)}" for name in AWKWARD)
    found = spark._session.sql(f"SELECT {text}").columns
    assert found == AWKWARD


def test_sums_are_exact_where_bigint_and_decimal_would_not_be(spark: Spark) -> None:
    numbers = [2**62 - 1] * 5 + [-1, -(2**61), 2**42, -(2**42) - 1, 7]
    for sign in (1, -1):
        rows = ", ".join(f"({sign * number}L)" for number in numbers)
        inside = f"SELECT {DIALECT.wide_sum('v')} AS m FROM VALUES {rows} AS t(v)"
        high, low = DIALECT.halves("m")
        found = spark.numbers(f"SELECT {high}, {low} FROM ({inside}) AS q")
        assert int(found[0][0]) * 2**62 + int(found[1][0]) == sign * sum(numbers)
        assert 0 <= int(found[1][0]) < 2**62
    nothing = f"SELECT {DIALECT.wide_sum('v')} FROM VALUES (1L) AS t(v) WHERE FALSE"
    assert one(spark, nothing) == (0,)


def test_narrow_contributions_are_added_as_wide_ones(spark: Spark) -> None:
    """A shift of a 32-bit number by 42 would be one by 10."""
    inside = f"SELECT {DIALECT.wide_sum('v')} AS m FROM VALUES (INT(-5)), (INT(9)) AS t(v)"
    high, low = DIALECT.halves("m")
    found = spark.numbers(f"SELECT {high}, {low} FROM ({inside}) AS q")
    assert [int(part[0]) for part in found] == [0, 4]


def test_a_null_among_numbers_is_never_taken_for_one(spark: Spark) -> None:
    with pytest.raises(TypeError):
        spark.numbers("SELECT CAST(NULL AS BIGINT) AS n")


def test_hashes_depend_on_every_text_and_on_all_of_the_salt(spark: Spark) -> None:
    texts = ["1", "'a'", "CAST(NULL AS DOUBLE)"]
    salts = (0, 1, 2**63, 2**64, 2**64 + 1, 2**127)
    variants = [DIALECT.hash(texts, salt) for salt in salts]
    variants += [DIALECT.hash(["2", *texts[1:]], 0), DIALECT.hash(texts[:1], 0)]
    assert len(set(one(spark, f"SELECT {', '.join(variants)}"))) == len(variants)


@pytest.mark.parametrize(
    ("stored", "kind"),
    [
        *(("tinyint", DataType.INTEGER), ("int", DataType.INTEGER), ("bigint", DataType.INTEGER)),
        *(
            ("float", DataType.DOUBLE),
            ("decimal(18,3)", DataType.DOUBLE),
            ("string", DataType.TEXT),
        ),
        *(("string collate UTF8_LCASE", DataType.TEXT), ("varchar(5)", DataType.TEXT)),
        *(
            ("char(5)", DataType.TEXT),
            ("timestamp", DataType.TIMESTAMP),
            ("timestamp_ntz", DataType.TIMESTAMP),
        ),
        *(("date", DataType.DATE), ("boolean", DataType.BOOLEAN), ("binary", None), ("void", None)),
        *(("array<int>", None), ("map<string,int>", None), ("struct<a:int>", None)),
        *(("variant", None), ("time(6)", None), ("interval day", None)),
    ],
)
def test_stored_types_have_a_kind_or_none(stored: str, kind: DataType | None) -> None:
    assert DIALECT.kind_of(stored) is kind


def test_collations_do_not_make_different_texts_equal(spark: Spark) -> None:
    name = view("lower", "SELECT v COLLATE UTF8_LCASE AS v FROM VALUES ('A'), ('a') AS t(v)")
    types = spark.attach("t", spark.table(name))
    clean = DIALECT.clean("v", types["v"], ColumnDomain(DataType.TEXT, values=("A",)))
    found = spark.rows(f"SELECT COUNT({clean}) FROM {spark.place('t')}")
    person = DIALECT.identity("v", types["v"])
    apart = spark.rows(f"SELECT COUNT(DISTINCT {person}) FROM {spark.place('t')}")
    assert (found, apart) == ([(1,)], [(2,)])


def test_columns_that_cannot_be_grouped_by_are_left_out(spark: Spark) -> None:
    name = view(
        "odd", "SELECT 1L AS pid, map(1, 2) AS m, parse_json('1') AS v, array(1) AS a, NULL AS n"
    )
    assert set(spark.attach("t", spark.table(name))) == {"pid", "a", "n"}


def refused(code: str, ask: Any, *given: object) -> InvalidParameter:
    with pytest.raises(InvalidParameter) as refusal:
        ask(*given)
    assert refusal.value.code == code
    return refusal.value


def test_columns_that_differ_by_case_are_refused(spark: Spark) -> None:
    name = view("cases", "SELECT 1 AS a, 2 AS A")
    refused("columns_differ_by_case", spark.attach, "t", spark.table(name))


@pytest.mark.parametrize("name", ["nowhere", "no.such.thing", "`no such`.`t``able`"])
def test_a_table_that_is_not_there_is_refused_by_its_name(spark: Spark, name: str) -> None:
    assert refused("source_unreadable", spark.attach, "t", spark.table(name)).received == name


@pytest.mark.parametrize("name", ["", ".", "a..b", "a.", "`a", "a`b"])
def test_a_name_that_is_none_is_refused(spark: Spark, name: str) -> None:
    refused("bad_name", spark.attach, "t", spark.table(name))


def test_frames_are_refused(spark: Spark) -> None:
    table = dp.table(pl.DataFrame({"pid": [1]}), unit=dp.Row(), columns={})
    refused("engine_cannot_read", spark.attach, "t", table.source)


def test_what_is_no_session_is_refused() -> None:
    refused("not_a_spark_session", Spark, object())


class Gone:
    """A session whose cluster does not answer."""

    sql = conf = catalog = None

    def newSession(self) -> None:
        message = "10.0.0.7 refused: token s3cret"
        raise RuntimeError(message)


def test_a_session_that_ended_is_unreachable_and_quotes_nothing() -> None:
    lost = refused("engine_unreachable", Spark, Gone())
    assert "s3cret" not in str(lost)
    assert lost.__cause__ is lost.__context__ is None


def test_a_job_that_dies_is_engine_failed_and_says_nothing(
    spark: Spark, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    """A view of the owner's that fails on a row: the analyst learns one code, nothing else."""
    text = f"SELECT pid, ward, IF(cost = 9, raise_error('s3cret'), cost) AS cost FROM ({ROWS})"
    opened = curator(spark.table(view("dies", text)))
    with caplog.at_level(logging.CRITICAL), pytest.raises(EngineFailed) as failure:
        opened.sql(ASKED, spend=SPEND)
    assert failure.value.code == "engine_failed"
    assert failure.value.__cause__ is failure.value.__context__ is None
    said = capfd.readouterr()
    assert "s3cret" not in str(failure.value) + caplog.text + said.out + said.err
    assert opened.remaining != opened.budget


def test_columns_that_change_are_noticed_before_anything_is_spent(spark: Spark) -> None:
    session().sql(f"CREATE OR REPLACE GLOBAL TEMPORARY VIEW drifts AS {ROWS}")
    opened = curator(spark.table("global_temp.drifts"))
    changed = ROWS.replace("'A', 4", "'A', 4.5")
    session().sql(f"CREATE OR REPLACE GLOBAL TEMPORARY VIEW drifts AS {changed}")
    before = opened.remaining
    refused("data_changed", lambda: opened.sql(ASKED, spend=SPEND))
    assert opened.remaining == before
    session().catalog.dropGlobalTempView("drifts")


def test_contents_of_public_tables_are_told_apart(spark: Spark) -> None:
    def checksum(text: str) -> object:
        session().sql(f"CREATE OR REPLACE GLOBAL TEMPORARY VIEW sums AS {text}")
        spark.attach("p", spark.table("global_temp.sums"))
        return spark.contents("p")

    texts = ["SELECT 1 AS a, NULL AS b", "SELECT NULL AS a, 1 AS b", "SELECT 1 AS a, 1 AS b"]
    texts += [f"{texts[2]} UNION ALL {texts[2]}", f"{texts[2]} WHERE FALSE"]
    found = [checksum(text) for text in texts]
    assert len(set(found)) == len(texts)
    assert checksum(texts[3]) == found[3]
    session().catalog.dropGlobalTempView("sums")


def test_statements_of_others_may_be_logged_while_ours_are_silent() -> None:
    from pyspark.logger import PySparkLogger

    logger = PySparkLogger.getLogger("SQLQueryContextLogger")
    record = logging.LogRecord("x", logging.ERROR, "", 0, "", None, None)
    with quiet():
        assert not logger.filter(record)
    assert logger.filter(record)


@pytest.mark.parametrize("key", ["word", "number", "day", "word, ward"])
def test_discovered_keys_are_those_that_duckdb_discovers(spark: Spark, key: str) -> None:
    """Without noise a key is named where that is likelier than not."""
    frame = words({"often": 900, "dull": 600, "rare": 1})
    path = folder() / "words.parquet"
    frame.write_parquet(path)
    query = f"SELECT {key}, COUNT(*) AS n FROM t GROUP BY {key}"
    unit = dp.Person("id", max_rows=3)
    homes: list[tuple[Any, Any]] = [(frame, dp.DuckDB()), (path, spark)]
    answers = [
        still(source, unit, engine=engine).sql(query, spend=WORDS_SPEND).to_dict()
        for source, engine in homes
    ]
    assert answers[0] == answers[1]
    assert 2 <= len(answers[0]["n"]) <= 6
