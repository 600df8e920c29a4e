"""One statement reads a private table once: rows are counted and added up in one state of it.

Where a table is written to meanwhile, a second read could find other rows than those by whose
number the first ones were weighted, and a person would count beyond the limit. What is counted
here are the scans in each engine's own plan.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import polars as pl
import pytest

import discreet as dp
from discreet.relational.bounding.hashing import NATIVE
from discreet.relational.engines.spark.dialect import SparkDialect
from discreet.relational.execute.exact_aggregation import statements
from tests.relational.conformance.engines import DUCKDB, POSTGRES, Maker
from tests.relational.conformance.spark_with_rows import SparkWithRows, missing
from tests.relational.neighbours.worlds import Stand, one

SPARK = Maker("spark", missing, lambda _: SparkWithRows())
# Keys without gaps, so that no table of keys is read beside.
COLUMNS = {"w": dp.Category(range(3)), "x": dp.Number(0, 100), "y": dp.Number(0.0, 1.0)}
LIMITS = {
    "in all": dp.Person("pid", max_rows=3),
    "in a group": dp.Person("pid", max_rows=5, max_rows_per_group=2),
    "of groups": dp.Person("pid", max_rows=5, max_groups=1),
}
ASKED = (
    "SELECT w, COUNT(*) AS n, SUM(x) AS s, AVG(y) AS a FROM t GROUP BY w",
    "SELECT w, COUNT(DISTINCT pid) AS n FROM t GROUP BY w",
    "SELECT w, MEDIAN(x) AS m FROM t GROUP BY w",
    "SELECT w, COUNT(DISTINCT x) AS n FROM t GROUP BY w",
)
SCANS = {
    "duckdb": r"Function: \w*SCAN",
    "postgres": r"(?:Seq|Index|Index Only|Bitmap Heap|Sample|Foreign) Scan",
    "spark": r"FileScan",
}


@pytest.fixture(
    params=[
        DUCKDB,
        POSTGRES,
        pytest.param(SPARK, marks=pytest.mark.xdist_group("spark")),
    ],
    ids=lambda maker: maker.name,
)
def maker(request: pytest.FixtureRequest) -> Maker:
    if request.param.missing() is not None:
        pytest.skip(request.param.missing())
    chosen: Maker = request.param
    return chosen


def plans(maker: Maker, person: dp.Person, question: str) -> list[str]:
    """What the engine says it will do for each statement of a question."""
    frame = pl.DataFrame(
        {"pid": [1, 1, 1, 1, 2], "w": [0, 0, 0, 1, 2], "x": [1, 2, 3, 4, 5]}
    ).with_columns(y=pl.lit(0.5))
    home = maker.home(NATIVE)
    stand = Stand(one(frame, person, COLUMNS), home)
    try:
        planned = stand.planned(question)
        measures = [
            *(item.exact for item in planned.allocation.noised),
            *(group[0].ranks for group in planned.choosing),
        ]
        written = statements(planned.query, measures, planned.person, stand.engine)
        return [_explained(stand.engine.rows, text) for text in written]
    finally:
        home.close()


def _explained(rows: Callable[[str], list[tuple[Any, ...]]], text: str) -> str:
    return "\n".join(str(row[-1]) for row in rows(f"EXPLAIN {text}"))


@pytest.mark.parametrize("question", ASKED)
@pytest.mark.parametrize("limits", LIMITS)
def test_a_statement_reads_a_private_table_once(maker: Maker, limits: str, question: str) -> None:
    for plan in plans(maker, LIMITS[limits], question):
        assert len(re.findall(SCANS[maker.name], plan)) == 1, plan


@pytest.mark.xdist_group("spark")
@pytest.mark.skipif(missing() is not None, reason=str(missing()))
def test_rows_that_are_only_named_are_read_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    """The twin: as the statement for Spark was once written."""
    monkeypatch.setattr(
        SparkDialect, "with_rows", lambda _, name, text: f"WITH {name} AS ({text}) "
    )
    (plan,) = plans(SPARK, LIMITS["in all"], ASKED[0])
    assert len(re.findall(SCANS["spark"], plan)) > 1
