"""Without noise, bounding or anything to clean, answers are those of plain DuckDB."""

from __future__ import annotations

import math
from collections.abc import Iterator
from datetime import date
from typing import Any

import duckdb
import polars as pl
import pytest

import discreet as dp
from discreet.noise import Noiseless

PEOPLE, EACH = 40, 3
UNIT = dp.Person("pid", max_rows=100)


def _visits() -> pl.DataFrame:
    rows = [(person, visit) for person in range(PEOPLE) for visit in range(EACH)]
    return pl.DataFrame(
        {
            "pid": [person for person, _ in rows],
            "w": ["ABC"[(person + visit) % 3] for person, visit in rows],
            "f": [(person * visit) % 2 == 0 for person, visit in rows],
            "x": [(7 * person + 3 * visit) % 51 for person, visit in rows],
            "y": [None if person % 9 == 0 else person / 8 + visit / 4 for person, visit in rows],
            "d": [date(2024, 1 + (person + visit) % 6, 1 + person % 28) for person, visit in rows],
            "note": [f"n{person % 5}" for person, _ in rows],
        }
    )


def _stays() -> pl.DataFrame:
    people = [person for person in range(0, PEOPLE, 2) for _ in range(2)]
    return pl.DataFrame({"pid": people, "v": [person % 7 for person in people]})


def _regions() -> pl.DataFrame:
    return pl.DataFrame({"w": ["A", "B", "B"], "region": ["n", "s", "t"], "weight": [1, 2, 3]})


FRAMES = {"t": _visits(), "u": _stays(), "p": _regions()}


@pytest.fixture(scope="module")
def curator() -> Iterator[dp.Curator]:
    visits = dp.table(
        FRAMES["t"],
        unit=UNIT,
        columns={
            "w": dp.Category(["A", "B", "C"]),
            "f": dp.Category([False, True]),
            "x": dp.Number(0, 50),
            "y": dp.Number(0.0, 8.0),
            "d": dp.Dates(date(2024, 1, 1), date(2024, 6, 30)),
        },
        max_rows_per={"x": 100, "w": 100, "note": 100},
    )
    stays = dp.table(
        FRAMES["u"], unit=UNIT, columns={"v": dp.Number(0, 6)}, max_rows_per={"v": 100}
    )
    with dp.Curator(
        t=visits,
        u=stays,
        p=dp.public(FRAMES["p"]),
        budget=dp.PureDP(epsilon=1000),
        ledger=dp.ledger.Memory(),
        randomness=Noiseless(),
    ) as made:
        yield made


@pytest.fixture(scope="module")
def plain() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as connection:
        for name, frame in FRAMES.items():
            connection.register(name, frame)
        yield connection


QUESTIONS = [
    "SELECT COUNT(*) AS n FROM t",
    "SELECT COUNT(y) AS n FROM t",
    "SELECT COUNT(DISTINCT pid) AS n FROM t",
    "SELECT COUNT(DISTINCT x) AS n, COUNT(DISTINCT w) AS m FROM t",
    "SELECT SUM(x) AS s, SUM(y) AS r FROM t",
    "SELECT AVG(x) AS a, AVG(y) AS b FROM t",
    "SELECT GEOMEAN(x + 1) AS g, GEOMETRIC_MEAN(y + 0.5) AS h FROM t",
    "SELECT w, GEOMEAN(x + 0.25) AS g FROM t WHERE f GROUP BY w ORDER BY w",
    "SELECT VARIANCE(x) AS v, VAR_POP(y) AS p, STDDEV(x) AS s, STDDEV_POP(y) AS q FROM t",
    "SELECT CORR(x, y) AS k, COVAR_SAMP(x, y) AS c, COVAR_POP(x, y) AS p FROM t",
    "SELECT w, COUNT(*) AS n FROM t GROUP BY w ORDER BY w",
    "SELECT w, COUNT(*) AS n, AVG(y) AS a FROM t GROUP BY w ORDER BY n DESC, w",
    "SELECT f, SUM(x) AS s FROM t GROUP BY f ORDER BY f",
    "SELECT w, f, COUNT(*) AS n, SUM(y) AS s FROM t GROUP BY w, f ORDER BY w, f",
    "SELECT x > 25 AS big, COUNT(*) AS n FROM t GROUP BY big ORDER BY big",
    "SELECT month(d) AS m, COUNT(*) AS n FROM t GROUP BY m ORDER BY m",
    "SELECT CAST(date_trunc('month', d) AS DATE) AS m, COUNT(*) AS n FROM t GROUP BY m ORDER BY m",
    "SELECT x % 3 AS k, COUNT(*) AS n, SUM(x) AS s FROM t GROUP BY k ORDER BY k",
    "SELECT x // 10 AS k, COUNT(*) AS n FROM t GROUP BY k ORDER BY k",
    "SELECT lower(w) AS k, COUNT(*) AS n FROM t GROUP BY k ORDER BY k",
    "SELECT CASE WHEN x < 9 THEN 'a' ELSE 'b' END AS k, COUNT(*) AS n FROM t GROUP BY k ORDER BY k",
    "SELECT COUNT(*) AS n FROM t WHERE note = 'n3'",
    "SELECT COUNT(*) AS n FROM t WHERE note LIKE 'n%' AND x BETWEEN 10 AND 20",
    "SELECT SUM(x) AS s FROM t WHERE y IS NULL OR y > 2",
    "SELECT SUM(x) AS s FROM t WHERE w IN ('A', 'C') AND NOT f",
    "SELECT SUM(x * 2 + 1) AS s, SUM(x * x) AS q, SUM(-x) AS m FROM t",
    "SELECT SUM(y * 2 - 0.5) AS s, SUM(abs(y - 3)) AS a, SUM(coalesce(y, 0)) AS c FROM t",
    "SELECT SUM(CASE WHEN f THEN x ELSE 0 END) AS s FROM t",
    "SELECT COUNT(*) FILTER (WHERE x > 30) AS n, SUM(x) FILTER (WHERE f) AS s FROM t",
    "SELECT COUNT_IF(x > 30) AS n FROM t",
    "SELECT SUM(floor(y)) AS s, SUM(round(y)) AS r, SUM(x // 7) AS q FROM t",
    "SELECT SUM(year(d)) AS s, SUM(date_diff('day', DATE '2024-01-01', d)) AS q FROM t",
    "SELECT COUNT(*) AS n, SUM(weight) AS s FROM t JOIN p ON t.w = p.w",
    "SELECT COUNT(*) AS n, COUNT(region) AS m FROM t LEFT JOIN p ON t.w = p.w",
    "SELECT region, COUNT(*) AS n, SUM(x * weight) AS s FROM t JOIN p USING (w) "
    "GROUP BY region ORDER BY region",
    "SELECT COUNT(*) AS n, SUM(x - v) AS s FROM t JOIN u ON t.pid = u.pid",
    "SELECT w, COUNT(*) AS n, COUNT(v) AS m FROM t LEFT JOIN u ON t.pid = u.pid "
    "GROUP BY w ORDER BY w",
    "SELECT COUNT(*) AS n, SUM(x) AS s FROM (SELECT x FROM t UNION ALL SELECT v FROM u) AS q",
    "SELECT COUNT(*) AS n, SUM(x) AS s FROM (SELECT DISTINCT w, x FROM t) AS q",
    "SELECT COUNT(*) AS n FROM (SELECT x FROM t UNION SELECT v FROM u) AS q",
    "WITH a AS (SELECT w, x * 2 AS z FROM t WHERE x > 5), b AS (SELECT * FROM a WHERE z < 80) "
    "SELECT w, COUNT(*) AS n, SUM(z) AS s FROM b GROUP BY w ORDER BY w",
    "SELECT w, COUNT(*) AS n FROM t GROUP BY w HAVING COUNT(*) > 39 ORDER BY w LIMIT 2",
    "SELECT w, SUM(x) AS s FROM t GROUP BY w ORDER BY s DESC LIMIT 1 OFFSET 1",
    "SELECT COUNT(*) + 1 AS n, SUM(x) / COUNT(*) AS a, 2 * SUM(x) - COUNT(y) AS b FROM t",
    "SELECT COUNT(*) AS n FROM t WHERE TRY_CAST(note AS BIGINT) IS NULL AND sqrt(x) > 2",
    "SELECT COUNT(*) AS n FROM t WHERE d >= DATE '2024-03-01' AND d < '2024-05-01'",
    "SELECT COUNT(*) AS n, SUM(t.y) AS s FROM t JOIN u ON t.x = u.v",
    "SELECT COUNT(*) AS n, COUNT(v) AS m, SUM(v) AS s FROM t LEFT JOIN u ON t.x = u.v",
    "SELECT a.w, COUNT(*) AS n, SUM(a.x - b.x) AS s FROM t a JOIN t b ON a.w = b.w AND a.x < b.x "
    "GROUP BY a.w ORDER BY a.w",
    "SELECT COUNT(*) AS n FROM t a JOIN t b ON a.note = b.note AND a.x = b.x JOIN u ON b.x = u.v",
    "SELECT COUNT(*) AS n, SUM(t.x) AS s FROM t JOIN u ON t.pid = u.pid AND t.x = u.v",
    "SELECT COUNT(*) AS k, SUM(n) AS a, SUM(s) AS b, SUM(r) AS c, SUM(lo) AS d, AVG(m) AS e FROM "
    "(SELECT pid, COUNT(y) AS n, SUM(x) AS s, SUM(y) AS r, MIN(y) AS lo, AVG(x) AS m FROM t "
    "GROUP BY pid) AS q",
    "SELECT f, l, COUNT(*) AS k, SUM(y) AS s FROM (SELECT pid, FIRST(w ORDER BY x) AS f, "
    "LAST(w ORDER BY x) AS l, FIRST(y ORDER BY x DESC) AS y FROM t GROUP BY pid) AS q "
    "GROUP BY f, l HAVING k > 0 ORDER BY f, l",
    "SELECT g, COUNT(*) AS k FROM (SELECT pid, LAST(f ORDER BY x) AS g, MAX(d) AS d FROM t "
    "WHERE x > 3 GROUP BY pid HAVING COUNT(*) > 1) AS q WHERE d > DATE '2024-02-01' "
    "GROUP BY g ORDER BY g",
    "SELECT COUNT(*) AS k, SUM(a.n * b.s) AS s FROM (SELECT pid, COUNT(*) AS n FROM t GROUP BY pid)"
    " a LEFT JOIN (SELECT pid, SUM(v) AS s FROM u GROUP BY pid) b ON a.pid = b.pid",
    "WITH per AS (SELECT pid, COUNT(DISTINCT w) AS k, COUNT_IF(f) AS c, COUNT(*) FILTER (WHERE "
    "x > 9) AS z FROM t GROUP BY pid) SELECT k, SUM(c) AS s, SUM(z) AS t FROM per WHERE k > 2 "
    "GROUP BY k HAVING s > 0 ORDER BY k",
]


def _cells(release: Any) -> list[tuple[object, ...]]:
    columns = [*release.keys.values(), *(answer.values for answer in release.answers)]
    return list(zip(*columns, strict=True))


@pytest.mark.parametrize("sql", QUESTIONS)
def test_noise_off_it_is_the_plain_answer(
    sql: str, curator: dp.Curator, plain: duckdb.DuckDBPyConnection
) -> None:
    found = _cells(curator.sql(sql, spend=dp.PureDP(epsilon=1)))
    wanted = plain.execute(sql).fetchall()
    assert len(found) == len(wanted)
    for mine, theirs in zip(found, wanted, strict=True):
        for a, b in zip(mine, theirs, strict=True):
            if isinstance(b, float):
                assert isinstance(a, int | float)
                assert math.isclose(a, b, rel_tol=1e-6, abs_tol=1e-6)
            else:
                assert a == b


@pytest.mark.parametrize("level", [0.1, 0.25, 0.5, 0.9])
def test_a_quantile_has_the_rank_it_should(level: float, curator: dp.Curator) -> None:
    sql = f"SELECT QUANTILE(x, {level}) AS q FROM t"
    (value,) = curator.sql(sql, spend=dp.PureDP(epsilon=1)).answers[0].values
    x = FRAMES["t"]["x"]
    rank = level * x.len()
    assert (x < value).sum() <= rank <= (x <= value).sum()
