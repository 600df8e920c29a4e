"""The portable hash is a function of content and salt, the same wherever it is computed."""

from __future__ import annotations

import hashlib
import math
from datetime import date, datetime

import polars as pl
import pytest

from discreet.relational.hashing import NATIVE, PORTABLE, Content, Hashing
from discreet.relational.kind import Kind
from discreet.relational.sources import source_of
from tests.relational.conformance.engines import DUCKDB, OTHERS, Maker

ENGINES = [pytest.param(maker, id=maker.name, marks=maker.marks) for maker in (DUCKDB, *OTHERS)]
SALT = 5


@pytest.mark.parametrize("maker", ENGINES)
def test_it_is_the_digest_of_a_text_that_anybody_can_write(maker: Maker) -> None:
    home = maker.home(PORTABLE)
    dialect = home.engine.dialect
    values: list[tuple[object, Kind]] = [
        (2**63 - 1, Kind.WHOLE),
        ("e\u0301:é", Kind.TEXT),
        (True, Kind.TRUTH),
        (date(2024, 2, 29), Kind.DATE),
        (datetime(2024, 2, 29, 1, 2, 3, 500000), Kind.MOMENT),
        (0.5, Kind.REAL),
        (-0.0, Kind.REAL),
    ]
    contents = [Content(dialect.literal(value), kind) for value, kind in values]
    contents.append(Content("CAST(NULL AS BIGINT)", Kind.WHOLE))
    try:
        ((found,),) = home.engine.rows(f"SELECT {dialect.shuffle(contents, SALT)} AS h")
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
            Content("CAST(NULL AS VARCHAR(9))" if value is None else write(value), Kind.TEXT)
            for value in values
        ]
        return home.engine.dialect.shuffle(contents, SALT)

    def salted(salt: int) -> str:
        return home.engine.dialect.shuffle([Content(write("a"), Kind.TEXT)], salt)

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
        contents = [Content("o", Kind.WHOLE), Content("cell", Kind.WHOLE)]
        rank = f"row_number() OVER (PARTITION BY o ORDER BY {engine.dialect.shuffle(contents, 7)})"
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
