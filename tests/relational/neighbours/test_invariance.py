"""The same salt gives the same numbers, however rows lie and however many threads read them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import discreet as dp
from discreet.relational.bounding.row_weights import PLACES
from discreet.relational.database import Database
from discreet.relational.execute.exact_aggregation import aggregate_exactly
from discreet.relational.planning.planned_query import PlannedQuery
from discreet.relational.schema.table import MOST_ROWS
from discreet.relational.sql.translate import query_from
from tests.relational.neighbours.worlds import Exact

ROWS = 30_000
UNIT = dp.Person("pid", max_rows=4, max_groups=2)
IN_EACH_GROUP = dp.Person("pid", max_rows=4, max_groups=2, max_rows_per_group=3)
COLUMNS: dict[str, Any] = {
    "w": dp.Category(["A", "B", "C", "D"]),
    "x": dp.Number(-100, 100),
    "y": dp.Number(-1.5, 2.5),
}
QUESTIONS = (
    "SELECT w, COUNT(*) AS n, SUM(x) AS s, SUM(y) AS r, AVG(y) AS a, MEDIAN(x) AS m, "
    "COUNT(DISTINCT x) AS d, COUNT(DISTINCT pid) AS u FROM t GROUP BY w",
    "SELECT COUNT(*) AS n, SUM(x * 2) AS s, VARIANCE(y) AS v FROM t WHERE y > 0",
    "SELECT COUNT(*) AS n, SUM(x) AS s FROM (SELECT DISTINCT w, x, y FROM t) AS q",
    "SELECT w, COUNT(*) AS n, SUM(x) AS s "
    "FROM (SELECT w, x FROM t UNION ALL SELECT w, x FROM t) AS q GROUP BY w",
    "SELECT COUNT(*) AS n, SUM(a.x) AS s FROM t AS a JOIN t AS b ON a.pid = b.pid WHERE a.x < b.x",
)


@pytest.fixture(scope="module")
def rows() -> pl.DataFrame:
    """Many rows with many ties: some people have dozens."""
    random = np.random.default_rng(3)
    people = (random.exponential(300, ROWS) ** 1.5).astype(np.int64)
    return pl.DataFrame(
        {
            "pid": people,
            "w": random.choice(["A", "B", "C", "D", "E"], ROWS),
            "x": random.integers(-3, 4, ROWS) * 50,
            "y": random.choice([0.1, 0.2, 0.3, np.nan, np.inf, -0.0, 0.0], ROWS),
        }
    )


def exact(source: object, threads: int, salt: int, unit: dp.Person = UNIT) -> list[Exact]:
    """What noise would be added to, for every question."""
    table = dp.table(source, unit=unit, columns=COLUMNS)
    database = Database(dp.DuckDB(threads=threads), {"t": table})
    found = []
    for sql in QUESTIONS:
        planned = PlannedQuery(query_from(sql, database), dp.PureDP(epsilon=1), MOST_ROWS)
        numbers = aggregate_exactly(
            planned.query,
            [item.exact for item in planned.allocation.noised],
            [group[0].ranks for group in planned.choosing],
            planned.person,
            database.engine,
            salt=salt,
        )
        found.append(Exact(numbers.linear, numbers.ranks))
    database.close()
    return found


def agree(first: list[Exact], second: list[Exact]) -> bool:
    return all(a.same(b) for a, b in zip(first, second, strict=True))


@pytest.mark.parametrize("salt", [1, 2**61 + 7])
def test_order_chunks_threads_and_files_change_nothing(
    rows: pl.DataFrame, tmp_path: Path, salt: int
) -> None:
    wanted = exact(rows, 1, salt)
    shuffled = rows.sample(fraction=1, shuffle=True, seed=salt % 97)
    chunked = pl.concat([shuffled[k::23] for k in range(23)], rechunk=False)
    shuffled.write_parquet(tmp_path / "small.parquet", row_group_size=997)
    rows.write_parquet(tmp_path / "large.parquet")
    for source, threads in (
        (shuffled, 2),
        (chunked, 1),
        (chunked.to_arrow(), 2),
        (tmp_path / "small.parquet", 2),
        (tmp_path / "large.parquet", 1),
    ):
        assert agree(exact(source, threads, salt), wanted)


def test_rows_in_each_group_are_chosen_by_content_alone(rows: pl.DataFrame) -> None:
    shuffled = rows.sample(fraction=1, shuffle=True, seed=1)
    wanted = exact(rows, 1, 1, IN_EACH_GROUP)
    assert agree(exact(rows, 2, 1, IN_EACH_GROUP), wanted)
    assert agree(exact(shuffled, 2, 1, IN_EACH_GROUP), wanted)


def test_one_person_among_many_moves_no_more_than_their_own_rows(rows: pl.DataFrame) -> None:
    """Counts by ward: at most R rows of the one who left, whoever it was."""
    most = (IN_EACH_GROUP.max_rows or 0) << PLACES
    for threads in (2, 4):
        base = exact(rows, threads, 1, IN_EACH_GROUP)[0].linear[0]
        for person in (0, 1, 5000):
            left = exact(rows.filter(pl.col("pid") != person), threads, 1, IN_EACH_GROUP)[0]
            assert int(np.abs(base - left.linear[0]).sum()) <= most


def test_another_salt_chooses_other_rows(rows: pl.DataFrame) -> None:
    """Otherwise equality at one salt would show nothing."""
    assert not agree(exact(rows, 2, 1), exact(rows, 2, 2))


def test_a_person_keeps_exactly_what_the_unit_allows(rows: pl.DataFrame) -> None:
    """Bounding throws away no more than it must: m rows in a group, G groups, R rows in all."""
    clean = rows.filter(pl.col("w") != "E")
    per = clean.group_by("pid", "w").len()
    few = per.group_by("pid").agg(pl.col("len").sum(), pl.col("w").len().alias("groups"))
    everything = few.filter((pl.col("len") <= 3) & (pl.col("groups") <= 2))["pid"]
    kept = clean.filter(pl.col("pid").is_in(everything.implode()))
    table = dp.table(kept, unit=UNIT, columns=COLUMNS)
    curator = dp.Curator(
        t=table,
        budget=dp.PureDP(epsilon=1),
        ledger=dp.ledger.Memory(),
        randomness=dp.noise.Noiseless(),
    )
    answer = curator.sql("SELECT COUNT(*) AS n FROM t", spend=dp.PureDP(epsilon=1))
    assert answer.answers[0].values == (kept.height,)
    curator.close()
