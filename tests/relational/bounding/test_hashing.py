"""The portable hash is a function of content and salt, the same wherever it is computed."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from datetime import date, datetime
from pathlib import Path

import duckdb
import polars as pl
import pytest

import discreet as dp
from discreet.noise import Noiseless
from discreet.relational.bounding.hashing import (
    NATIVE,
    PORTABLE,
    Content,
    Hashed,
    Hashing,
    Identifier,
    Shuffle,
)
from discreet.relational.engines.engine import Engine
from discreet.relational.schema.sources import source_of
from discreet.relational.types.data_type import DataType
from tests.relational.conformance.engines import DUCKDB, OTHERS, POSTGRES, Maker
from tests.relational.engine_with_rows import EngineWithRows

ENGINES = [pytest.param(maker, id=maker.name, marks=maker.marks) for maker in (DUCKDB, *OTHERS)]
SALT = 5


def hashed_by(engine: Engine, contents: Sequence[Hashed], salt: int = SALT) -> str:
    """The text by which an engine orders rows."""
    return Shuffle(engine.hashing, engine.dialect, salt).hash(contents)


@pytest.mark.parametrize("maker", ENGINES)
def test_it_is_the_digest_of_a_text_that_anybody_can_write(maker: Maker) -> None:
    home = maker.home(PORTABLE)
    dialect = home.engine.dialect
    values: list[tuple[object, DataType]] = [
        (2**63 - 1, DataType.INTEGER),
        ("e\u0301:é", DataType.TEXT),
        (True, DataType.BOOLEAN),
        (date(2024, 2, 29), DataType.DATE),
        (datetime(2024, 2, 29, 1, 2, 3, 500000), DataType.TIMESTAMP),
        (0.5, DataType.DOUBLE),
        (-0.0, DataType.DOUBLE),
    ]
    contents = [Content(dialect.literal(value), kind) for value, kind in values]
    contents.append(Content("CAST(NULL AS BIGINT)", DataType.INTEGER))
    try:
        ((found,),) = home.engine.rows(f"SELECT {hashed_by(home.engine, contents)} AS h")
    finally:
        home.engine.close()
        home.close()
    spelled = "5;19:92233720368547758074:e\u0301:é4:true10:2024-02-2921:2024-02-29 01:02:03.5"
    spelled += "6:5242881:0-"
    digits = found.hex() if isinstance(found, bytes) else found
    assert digits == hashlib.sha256(spelled.encode()).hexdigest()


@pytest.mark.parametrize("maker", ENGINES)
@pytest.mark.parametrize("hashing", [NATIVE, PORTABLE], ids=["native", "portable"])
def test_every_part_counts_and_parts_do_not_run_together(maker: Maker, hashing: Hashing) -> None:
    home = maker.home(hashing)
    write = home.engine.dialect.literal

    def texts(*values: str | None) -> str:
        contents = [
            Content("CAST(NULL AS VARCHAR(9))" if value is None else write(value), DataType.TEXT)
            for value in values
        ]
        return hashed_by(home.engine, contents)

    def salted(salt: int) -> str:
        return hashed_by(home.engine, [Content(write("a"), DataType.TEXT)], salt)

    every = [
        texts("a", "bc"),
        texts("ab", "c"),
        texts("a", None),
        texts(None, "a"),
        texts("a", "-"),
    ]
    every += [salted(salt) for salt in (0, 1, 2**61, 2**62 - 1)]
    items = ", ".join(f"{text} AS h{place}" for place, text in enumerate(every))
    try:
        (row,) = home.engine.rows(f"SELECT {items}")
    finally:
        home.engine.close()
        home.close()
    assert len(set(row)) == len(every)


@pytest.mark.parametrize("maker", ENGINES)
@pytest.mark.parametrize("hashing", [NATIVE, PORTABLE], ids=["native", "portable"])
def test_people_are_shuffled_evenly_and_each_for_themselves(maker: Maker, hashing: Hashing) -> None:
    """Every order of three cells is as frequent as any other: six standard deviations."""
    people = 3_000
    rows = pl.DataFrame(
        {"o": [o for o in range(people) for _ in "abc"], "cell": [0, 1, 2] * people}
    )
    home = maker.home(hashing)
    try:
        engine = home.engine
        engine.attach("t", source_of(home.source(rows)))
        contents = [Content("o", DataType.INTEGER), Content("cell", DataType.INTEGER)]
        rank = f"row_number() OVER (PARTITION BY o ORDER BY {hashed_by(engine, contents, 7)})"
        ranked = f"SELECT o, cell, {rank} AS k FROM {engine.place('t')} AS t"
        places = ", ".join(f"SUM(CASE WHEN k = {k} THEN cell END) AS p{k}" for k in (1, 2))
        orders = f"SELECT {places} FROM ({ranked}) AS q GROUP BY o"
        found = engine.rows(f"SELECT p1, p2, COUNT(*) AS n FROM ({orders}) AS q GROUP BY p1, p2")
    finally:
        home.engine.close()
        home.close()
    counts = [int(str(row[2])) for row in found]
    spread = 6 * math.sqrt(people * (1 / 6) * (5 / 6))
    assert len(counts) == 6
    assert all(abs(count - people / 6) < spread for count in counts)


WHOLE_PART = "12345678901234567890123456"
NUMBERS = ("0", "-0.5", "100", "0.0000000012", f"-{WHOLE_PART}.25", "7.1000000000")
SPELLED = ("0", "-0.5", "100", "0.0000000012", f"-{WHOLE_PART}.25", "7.1")


def digest(spelled: str) -> str:
    return hashlib.sha256(f"{SALT};{len(spelled)}:{spelled}".encode()).hexdigest()


def hashed(home: EngineWithRows, value: str, stored: str) -> object:
    """The hash of one identifier, given as text that the engine reads as the stored type."""
    text = f"CAST('{value}' AS {stored})"
    ((found,),) = home.engine.rows(
        f"SELECT {hashed_by(home.engine, [Identifier('o', stored)])} AS h "
        f"FROM (SELECT {text} AS o) AS q"
    )
    return found.hex() if isinstance(found, bytes) else found


def spelled_alike(maker: Maker, name: str) -> None:
    """Equal decimals of every scale are one text, on whatever engine."""
    home = maker.home(PORTABLE)
    try:
        for number, spelled in zip(NUMBERS, SPELLED, strict=True):
            assert hashed(home, number, f"{name}(38,10)") == digest(spelled)
        assert hashed(home, "100", f"{name}(38,0)") == digest("100")
        assert hashed(home, "-0.05", f"{name}(3,3)") == digest("-0.05")
        assert hashed(home, "0", f"{name}(3,3)") == digest("0")
    finally:
        home.engine.close()
        home.close()


@pytest.mark.parametrize(("maker", "name"), [(DUCKDB, "DECIMAL"), (POSTGRES, "numeric")])
def test_decimal_identifiers_are_spelled_alike(maker: Maker, name: str) -> None:
    spelled_alike(maker, name)


@pytest.mark.parametrize(("maker", "name"), [(DUCKDB, "UUID"), (POSTGRES, "uuid")])
def test_uuids_are_spelled_as_text(maker: Maker, name: str) -> None:
    home = maker.home(PORTABLE)
    try:
        known = "00112233-4455-6677-8899-aabbccddeeff"
        assert hashed(home, known.upper(), name) == digest(known)
    finally:
        home.engine.close()
        home.close()


def test_no_number_fails_as_an_identifier_on_postgres() -> None:
    home = POSTGRES.home(PORTABLE)
    try:
        for number in ("1e400", "-1e-400", "1e131071", "1e-16383", "NaN", "Infinity", "-Infinity"):
            assert hashed(home, number, "numeric")
        assert hashed(home, "1.00", "numeric") == hashed(home, "1", "numeric")
        for stored, value in (
            ("timestamptz", "infinity"),
            ("date", "-infinity"),
            ("float8", "NaN"),
        ):
            assert hashed(home, value, stored)
    finally:
        home.engine.close()
        home.close()


@pytest.mark.parametrize("stored", ["UUID", "DECIMAL(38,10)", "HUGEINT", "BLOB", "ENUM('1', '2')"])
def test_a_table_can_be_divided_whatever_type_identifies_people(
    stored: str, tmp_path: Path
) -> None:
    """The rows of each of nine people are in two parts; each is kept in one of them."""
    number = "'00000000-0000-0000-0000-00000000000' || i" if stored == "UUID" else "i"
    number = "CAST(1 + i % 2 AS VARCHAR)" if stored.startswith("ENUM") else number
    number = "CAST(i AS VARCHAR)" if stored == "BLOB" else number
    with duckdb.connect(str(tmp_path / "t.duckdb")) as connection:
        connection.execute(
            f"CREATE TABLE t AS SELECT CAST({number} AS {stored}) AS pid, w "
            "FROM range(9) AS r(i), (VALUES ('A'), ('B')) AS v(w)"
        )
    unit, wards = dp.Person("pid", max_rows=1), dp.Category(["A", "B"])
    table = dp.table(tmp_path / "t.duckdb", unit=unit, columns={"w": wards})
    curator = dp.Curator(
        t=table,
        budget=dp.PureDP(epsilon=1),
        ledger=dp.ledger.Memory(),
        randomness=Noiseless(),
    )
    spend = dp.PureDP(epsilon=0.5)
    parts = curator.partition("t", by="w", budget=spend, k=1)
    asked = "SELECT COUNT(*) AS n FROM t"
    counts = [int(str(row["n"])) for w in parts for row in parts[w].sql(asked, spend=spend)]
    assert sum(counts) == (2 if stored.startswith("ENUM") else 9)
    curator.close()
