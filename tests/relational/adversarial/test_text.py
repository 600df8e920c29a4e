"""Text that would grow, or keep a matcher busy: the outcome is the same with and without Bob.

Each question makes much of Bob's text and of nobody else's: without a limit it would be larger
than an engine can hold, or take longer than anybody waits.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import polars as pl
import pytest

import discreet as dp
from discreet.core.errors import DiscreetError
from discreet.relational.bounding.hashing import NATIVE
from tests.relational.conformance.engines import DUCKDB, POSTGRES, Maker
from tests.relational.conformance.spark_with_rows import INTERPRETED, SparkWithRows, missing

STORED = 1_200_000
OTHERS = 40


def people(*, bob: bool) -> pl.DataFrame:
    """Forty people, and Bob, whose text is far longer than a text may be, in wide letters."""
    rows: list[tuple[int, str, str, str, int]] = [
        (number, f"n{number}", "short", "A", 1) for number in range(OTHERS)
    ]
    if bob:
        rows.append((99, "Bob", "\U0001f600" * STORED, "A", 3))
    return pl.DataFrame(rows, schema=["pid", "name", "v", "w", "x"], orient="row")


def chained(grown: str, levels: int, start: str = "v") -> str:
    """A text that grows at every level of unions, each a column of its own."""
    inner = f"SELECT pid, name, {start} AS v, x FROM t WHERE name = 'Bob'"
    for _ in range(levels):
        inner = (
            f"SELECT pid, name, {grown} AS v, x FROM ({inner}) AS q UNION ALL "
            "SELECT pid, name, 'z' AS v, x FROM t WHERE x > 5"
        )
    return f"SELECT COUNT(*) AS n FROM ({inner}) AS q WHERE length(v) > 3"


def nested(grown: str, levels: int, inner: str, outer: str) -> str:
    """The same through inner queries of another kind."""
    text = f"SELECT pid, name, v, x FROM t WHERE name = 'Bob' AND {inner}"
    for _ in range(levels):
        text = f"SELECT {outer} pid, name, {grown} AS v, x FROM ({text}) AS q"
    return f"SELECT COUNT(*) AS n FROM ({text}) AS q WHERE length(v) > 3"


GROWING: dict[str, tuple[str, int]] = {
    "concat doubles": ("concat(v, v)", 16),
    "|| doubles": ("v || v", 16),
    "eight at once": ("concat(v, v, v, v, v, v, v, v)", 4),
    "CASE chooses the person's": ("CASE WHEN name = 'Bob' THEN v || v ELSE v END", 16),
    "coalesce": ("coalesce(v || v, v)", 15),
    "nullif": ("nullif(concat(v, v, v, v), 'x')", 7),
    "greatest": ("greatest(v || v, v)", 15),
    "upper and lower": ("upper(lower(v) || 'ß') || lower(upper(v) || 'İ')", 5),
    "trim": ("trim(v || ' ') || ltrim(' ' || v)", 7),
    "substring": ("substring(v, 1) || left(v, 4096)", 12),
    "replace": ("replace(v, '\U0001f600', 'abcd') || v", 15),
    "casts to text": ("CAST(x AS VARCHAR) || v || CAST(x > 1 AS VARCHAR) || v", 7),
}
"""What is computed at each level of a chain of unions, and how many levels make it enormous."""

PLAIN: dict[str, str] = {
    "from a short constant": chained("v || v", 4, start="'ab'"),
    "distinct": nested("v || v", 4, "TRUE", "DISTINCT"),
    "inner queries": nested("v || v", 4, "TRUE", ""),
    "a joined text": (
        "SELECT COUNT(*) AS n FROM t JOIN p ON t.v || t.v || t.v = p.w || p.w WHERE name = 'Bob'"
    ),
    "a group key": (
        "SELECT w || w AS k, COUNT(*) AS n FROM t WHERE name = 'Bob' AND length(v || v || v) > 10 "
        "GROUP BY k"
    ),
    "COUNT DISTINCT": "SELECT COUNT(DISTINCT w || w || w) AS n FROM t WHERE v || v <> 'x'",
    "a feature of a person": (
        "SELECT COUNT(*) AS n FROM (SELECT pid, COUNT(*) AS c FROM t "
        "WHERE v || v || v <> name AND name = 'Bob' GROUP BY pid) AS q WHERE c > 0"
    ),
    "LIKE with wildcards": (
        "SELECT COUNT(*) AS n FROM t WHERE v LIKE '%\U0001f600%\U0001f600%\U0001f600%\U0001f600%b'"
    ),
    "LIKE with single letters": (
        "SELECT COUNT(*) AS n FROM t WHERE v LIKE '%\U0001f600_%\U0001f600_%\U0001f600_%b%'"
    ),
    "ILIKE with an escape": (
        "SELECT COUNT(*) AS n FROM t WHERE v ILIKE '%\U0001f600%\U0001f600%!%%\U0001f600%b' "
        "ESCAPE '!'"
    ),
    "contains": "SELECT COUNT(*) AS n FROM t WHERE contains(v || v, v || 'b')",
    "numbers and days read from it": (
        "SELECT COUNT(*) AS n FROM t WHERE CAST(v || v AS DOUBLE) > 0 OR CAST(v AS DATE) IS NULL"
    ),
}


def spark_home(_: Any) -> SparkWithRows:
    return SparkWithRows(settings=INTERPRETED)


SPARK = Maker("spark", missing, spark_home)


def outcome(curator: dp.Curator, sql: str) -> str:
    """What the analyst can tell, but for the noise: an answer, or the code of a refusal."""
    try:
        return f"{len(list(curator.sql(sql, spend=dp.PureDP(epsilon=0.001))))} rows"
    except DiscreetError as refusal:
        return refusal.code


def curators(maker: Maker) -> Iterator[tuple[dp.Curator, dp.Curator]]:
    """Two worlds: with Bob, and without."""
    homes = [maker.home(NATIVE) for _ in range(2)]
    made = []
    try:
        for home, bob in zip(homes, (True, False), strict=True):
            table = dp.table(
                home.source(people(bob=bob)),
                unit=dp.Person("pid", max_rows=40),
                columns={"w": dp.Category(["A", "B"]), "x": dp.Number(0, 9)},
            )
            made.append(
                dp.Curator(
                    t=table,
                    p=dp.public(home.source(pl.DataFrame({"w": ["A", "B"]}))),
                    budget=dp.PureDP(epsilon=100),
                    ledger=dp.ledger.Memory(),
                    engine=home.engine,
                )
            )
        yield made[0], made[1]
    finally:
        for curator in made:
            curator.close()
        for home in homes:
            home.close()


@pytest.fixture(scope="module")
def duckdb_worlds() -> Iterator[tuple[dp.Curator, dp.Curator]]:
    yield from curators(DUCKDB)


@pytest.fixture(scope="module")
def postgres_worlds() -> Iterator[tuple[dp.Curator, dp.Curator]]:
    yield from curators(POSTGRES)


@pytest.fixture(scope="module")
def spark_worlds() -> Iterator[tuple[dp.Curator, dp.Curator]]:
    yield from curators(SPARK)


def check(worlds: tuple[dp.Curator, dp.Curator], sql: str) -> None:
    with_bob, without = (outcome(curator, sql) for curator in worlds)
    assert with_bob == without
    assert with_bob.endswith("rows")


def check_deep(worlds: tuple[dp.Curator, dp.Curator], sql: str) -> None:
    """Chains so long that inner columns written out exceed the limit: refused in both worlds."""
    assert {outcome(curator, sql) for curator in worlds} == {"expression_too_large"}


def query(name: str, levels: int) -> str:
    """One of the questions, where chains have so many levels at most."""
    if name in PLAIN:
        return PLAIN[name]
    grown, most = GROWING[name]
    return chained(grown, min(levels, most))


NAMES = (*GROWING, *PLAIN)


@pytest.mark.parametrize("name", NAMES)
def test_on_duckdb(name: str, duckdb_worlds: Any) -> None:
    check(duckdb_worlds, query(name, levels=3))


@pytest.mark.parametrize("name", GROWING)
def test_chains_that_would_make_it_enormous_are_refused_alike(
    name: str, duckdb_worlds: Any
) -> None:
    check_deep(duckdb_worlds, query(name, levels=16))


@pytest.mark.parametrize("name", [name for name in NAMES if name != "from a short constant"])
def test_on_postgresql(name: str, postgres_worlds: Any) -> None:
    """Its planner writes inner queries out: few levels, of a text that is long as stored."""
    check(postgres_worlds, query(name, levels=3))


@pytest.mark.parametrize("name", ["concat doubles", "LIKE with wildcards", "ILIKE with an escape"])
def test_on_spark(name: str, spark_worlds: Any) -> None:
    check(spark_worlds, query(name, levels=2))


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in NAMES if name != "from a short constant"])
def test_all_on_spark(name: str, spark_worlds: Any) -> None:
    check(spark_worlds, query(name, levels=2))
