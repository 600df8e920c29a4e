"""Windows over many released rows: what is admitted, what is refused free, what frames hold."""

from __future__ import annotations

import random
import time
from typing import Any

import duckdb
import polars as pl
import pytest

import discreet as dp
from discreet.core.errors import DiscreetError
from discreet.noise.randomness import Noiseless
from discreet.relational.plan.query import QueryOverAnswers
from discreet.relational.post_processing.tables import MAX_LOOKED_AT
from discreet.relational.sql.answer_sizes import AnswerSizes

SPEND = dp.PureDP(epsilon=1)
DAYS = 1_100
LIMIT = MAX_LOOKED_AT


def curator(keys: int, *, wards: int = 2) -> dp.Curator:
    frame = pl.DataFrame({"day": range(1, keys + 1), "ward": [1] * keys, "x": [1.0] * keys})
    columns: dict[str, Any] = {
        "day": dp.Integer(1, keys),
        "ward": dp.Integer(1, wards),
        "x": dp.Number(0, 2),
    }
    return dp.Curator(
        t=dp.table(frame, unit=dp.Row(), columns=columns),
        days=dp.public(frame.select("day", year=pl.col("day") // 30)),
        budget=dp.PureDP(epsilon=100),
        ledger=dp.ledger.Memory(),
        randomness=Noiseless(),
    )


def looked_at(source: dp.Curator, text: str) -> int:
    query = source.context.question(text)
    assert isinstance(query, QueryOverAnswers)
    return AnswerSizes(query.parts).looked_at(query.table)


DAILY = "SELECT day, COUNT(*) AS n FROM t GROUP BY day"
BOTH = "SELECT ward, day, COUNT(*) AS n FROM t GROUP BY ward, day"


@pytest.mark.parametrize(
    "text",
    [
        "SELECT day, SUM(COUNT(*)) OVER (ORDER BY day) AS s FROM t GROUP BY day",
        f"SELECT day, MAX(n) OVER (ORDER BY day) AS s FROM ({DAILY}) AS q",
        f"SELECT day, MEDIAN(n) OVER (ORDER BY day DESC) AS s FROM ({DAILY}) AS q",
        f"SELECT AVG(n) OVER (ORDER BY day ROWS BETWEEN 3 FOLLOWING AND UNBOUNDED FOLLOWING) AS s "
        f"FROM ({DAILY}) AS q",
        f"SELECT SUM(n) OVER (ORDER BY day ROWS BETWEEN 700 PRECEDING AND 1 FOLLOWING) AS s "
        f"FROM ({DAILY}) AS q",
        f"SELECT SUM(n) OVER (PARTITION BY day % 2 ORDER BY day) AS s FROM ({DAILY}) AS q",
        f"SELECT SUM(n) OVER (PARTITION BY ward ORDER BY day) AS s FROM ({BOTH}) AS q",
        f"SELECT SUM(q.n) OVER (ORDER BY q.day) AS s FROM ({DAILY}) AS q JOIN days USING (day)",
        f"SELECT SUM(n) OVER (ORDER BY day) AS s FROM ({DAILY} UNION ALL {DAILY}) AS q",
        "SELECT SUM(COUNT(*)) OVER (ORDER BY day) AS s FROM t GROUP BY ROLLUP (day)",
        f"WITH r AS (SELECT day, SUM(n) OVER (ORDER BY day) AS s FROM ({DAILY}) AS q) "
        "SELECT a.s FROM r AS a JOIN r AS b USING (day)",
    ],
)
def test_frames_of_too_many_rows_are_refused_free(text: str) -> None:
    source = curator(1_300)
    with pytest.raises(DiscreetError) as refusal:
        source.sql(text, spend=SPEND)
    assert refusal.value.code == "too_many_keys"
    assert source.remaining.epsilon == 100, "nothing was charged"  # type: ignore[attr-defined]


def test_a_running_sum_of_running_sums_counts_each_noise() -> None:
    sums = f"SELECT day, SUM(n) OVER (ORDER BY day) AS s FROM ({DAILY}) AS q"
    source = curator(200)
    twice = f"SELECT day, MAX(s) OVER (ORDER BY day) AS m FROM ({sums}) AS r"
    assert looked_at(curator(50), twice) == 50 * 51 // 2 * 51
    with pytest.raises(DiscreetError, match="too_many_keys"):
        source.sql(twice, spend=SPEND)
    assert source.remaining.epsilon == 100  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("text", "most"),
    [
        ("SELECT n - AVG(n) OVER () AS s FROM ({0}) AS q", 100 + 100 * 101),
        ("SELECT n - (SELECT AVG(n) FROM ({0}) AS b) AS s FROM ({0}) AS a", 100 * 101),
        (
            "SELECT 2 * a.n / (b.n + 1) AS s FROM ({0}) a, (SELECT SUM(n) AS n FROM ({0}) c) b",
            10_000,
        ),
        ("SELECT 100 * n / (SUM(n) OVER ()) AS s FROM ({0}) AS q", 100),
        ("SELECT day, n FROM ({0}) AS a WHERE n > (SELECT AVG(n) FROM ({0}) AS b)", 0),
        ("SELECT 2 * n + 1 AS s, RANK() OVER (ORDER BY n) AS r FROM ({0}) AS q", 0),
    ],
)
def test_totals_in_every_row_are_counted(text: str, most: int) -> None:
    """A total has the noise of all rows: to subtract it goes through that once for each row."""
    assert looked_at(curator(100), text.format(DAILY)) == most
    source = curator(9_000)
    if most > 100:
        with pytest.raises(DiscreetError, match="too_many_keys"):
            source.sql(text.format(DAILY), spend=SPEND)
        assert source.remaining.epsilon == 100  # type: ignore[attr-defined]
    else:
        source.context.question(text.format(DAILY))


WINDOWS = {
    "a running sum": ("SELECT SUM(n) OVER (ORDER BY day) AS s FROM ({0}) AS q", 1_830),
    "all rows": ("SELECT n / SUM(n) OVER () AS s FROM ({0}) AS q", 60),
    "a week": (
        "SELECT AVG(n) OVER (ORDER BY day ROWS BETWEEN 6 PRECEDING AND CURRENT ROW) AS s "
        "FROM ({0}) AS q",
        420,
    ),
    "a neighbour": ("SELECT n - LAG(n) OVER (ORDER BY day) AS s FROM ({0}) AS q", 0),
    "places": ("SELECT RANK() OVER (ORDER BY n) AS s FROM ({0}) AS q", 0),
    "in wards": ("SELECT SUM(n) OVER (PARTITION BY ward ORDER BY day) AS s FROM ({1}) AS q", 3_660),
    "by day": ("SELECT SUM(n) OVER (PARTITION BY day ORDER BY ward) AS s FROM ({1}) AS q", 180),
    "one for each": (
        "SELECT SUM(n) OVER (PARTITION BY ward, day ORDER BY n) AS s FROM ({1}) q",
        120,
    ),
    "renamed": (
        "SELECT SUM(n) OVER (PARTITION BY w ORDER BY d) AS s FROM (SELECT day AS d, n, ward AS w "
        "FROM ({1}) AS a ORDER BY n LIMIT 1000) AS q",
        3_660,
    ),
    "beside labels": (
        "SELECT SUM(q.n) OVER (PARTITION BY p.year ORDER BY q.day) AS s FROM ({0}) AS q "
        "JOIN days AS p ON p.day = q.day",
        930,
    ),
    "added up again": (
        "SELECT SUM(s) OVER (PARTITION BY ward ORDER BY day) AS r FROM (SELECT ward, day, SUM(n) "
        "AS s FROM ({1}) AS a GROUP BY ward, day) AS q",
        3_660,
    ),
}


@pytest.mark.parametrize("form", WINDOWS)
def test_partitions_by_listed_keys_are_counted_apart(form: str) -> None:
    text, most = WINDOWS[form]
    assert looked_at(curator(60), text.format(DAILY, BOTH)) == most


def test_fifty_wards_of_ten_years_of_months_are_admitted() -> None:
    source = curator(120, wards=50)
    text = f"SELECT ward, day, SUM(n) OVER (PARTITION BY ward ORDER BY day) AS s FROM ({BOTH}) AS q"
    assert looked_at(source, text) == 50 * 120 * 121 // 2 < LIMIT
    with pytest.raises(DiscreetError, match="too_many_keys"):
        source.context.question(text.replace("PARTITION BY ward ", ""))


@pytest.mark.slow
def test_three_years_of_days_are_summed_in_seconds() -> None:
    source = curator(DAYS)
    start = time.process_time()
    made = source.sql(
        "SELECT day, SUM(COUNT(*)) OVER (ORDER BY day) AS s FROM t GROUP BY day", spend=SPEND
    )
    assert made["s"].values == tuple(range(1, DAYS + 1))
    assert time.process_time() - start < 60, "about ten, on a machine that does nothing else"


def test_cells_count_once_for_each_of_several_grouping_sets() -> None:
    source = curator(20_000)
    cube = "SELECT ward, day, COUNT(*) AS n FROM t GROUP BY CUBE (ward, day)"
    assert looked_at(source, cube) == 4 * 40_000
    sets = ", ".join(["(ward, day)", "(ward)", "(day)", "()"] * 8)
    with pytest.raises(DiscreetError, match="too_many_keys"):
        source.sql(cube.replace("CUBE (ward, day)", f"GROUPING SETS ({sets})"), spend=SPEND)
    assert source.remaining.epsilon == 100  # type: ignore[attr-defined]


@pytest.mark.parametrize(("first", "last"), [(3, 2), (5, 1), (2, 0), (4, -2), (-1, -3)])
def test_frames_that_end_before_the_first_row_are_empty(first: int, last: int) -> None:
    """A row whose frame would end before the first one has no rows, and not those from the end."""

    def end(rows: int) -> str:
        return f"{abs(rows)} {'PRECEDING' if rows > 0 else 'FOLLOWING'}" if rows else "CURRENT ROW"

    frame = f"OVER (ORDER BY day ROWS BETWEEN {end(first)} AND {end(last)})"
    names = ("SUM", "COUNT", "MIN", "MEDIAN", "FIRST_VALUE", "LAST_VALUE")
    columns = ", ".join(f"{name}(n) {frame} AS c{at}" for at, name in enumerate(names))
    frame_of_days = pl.DataFrame(
        {"day": [day for day in range(1, 9) for _ in range(random.Random(day).randrange(1, 9))]}
    )
    source = dp.Curator(
        t=dp.table(frame_of_days, unit=dp.Row(), columns={"day": dp.Integer(1, 8)}),
        budget=dp.PureDP(epsilon=100),
        ledger=dp.ledger.Memory(),
        randomness=Noiseless(),
    )
    text = f"SELECT {columns} FROM ({DAILY}) AS q ORDER BY day"
    made = source.sql(text, spend=SPEND)
    plain = duckdb.connect()
    plain.register("t", frame_of_days)
    wanted = list(zip(*plain.execute(text).fetchall(), strict=True))
    assert [made[f"c{at}"].values for at in range(len(names))] == wanted
