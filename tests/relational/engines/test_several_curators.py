"""One engine object serves several curators, whose tables do not meet."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import duckdb
import polars as pl
import pytest

import discreet as dp
from discreet.relational.bounding.hashing import NATIVE
from tests.relational.conformance.engines import DUCKDB, OTHERS, Maker
from tests.relational.engine_with_rows import EngineWithRows

SPEND = dp.PureDP(epsilon=1e3)
"""So much that noise moves a count with a probability below 1e-40."""
ASKED = "SELECT w, COUNT(*) AS n FROM t GROUP BY w"


def curator(home: EngineWithRows, rows: int) -> dp.Curator:
    """Of a table ``t`` with so many rows of A, and one of B."""
    frame = pl.DataFrame({"w": ["A"] * rows + ["B"]})
    return dp.Curator(
        t=dp.table(home.source(frame), unit=dp.Row(), columns={"w": dp.Category(["A", "B"])}),
        budget=dp.PureDP(epsilon=1e9),
        ledger=dp.ledger.Memory(),
        engine=home.engine,
    )


def counted(asked: dp.Curator) -> list[object]:
    return list(asked.sql(ASKED, spend=SPEND).to_dict()["n"])


def meet_nowhere(home: EngineWithRows) -> None:
    """Curators opened, asked and closed in any order answer about their own rows."""
    first, second = curator(home, 10), curator(home, 20)
    assert counted(first) == [10, 1]
    assert counted(second) == [20, 1]
    first.close()
    third = curator(home, 30)
    assert counted(third) == [30, 1]
    second.preview(ASKED, spend=SPEND)
    third.close()
    second.close()


@pytest.fixture(params=[DUCKDB, *OTHERS], ids=lambda maker: maker.name)
def home(request: pytest.FixtureRequest) -> Iterator[EngineWithRows]:
    maker: Maker = request.param
    made = maker.home(NATIVE)
    yield made
    made.close()


def test_curators_with_one_engine_object_answer_about_their_own_tables(
    home: EngineWithRows,
) -> None:
    meet_nowhere(home)


def test_files_are_read_by_each_of_several_curators(tmp_path: Path) -> None:
    engine, answers = dp.DuckDB(threads=1), list[list[object]]()
    for rows in (3, 5):
        path = tmp_path / f"{rows}.duckdb"
        with duckdb.connect(path) as connection:
            connection.execute(f"CREATE TABLE t AS SELECT 'A' AS w FROM range({rows})")
        table = dp.table(path, table="t", unit=dp.Row(), columns={"w": dp.Category(["A"])})
        asked = dp.Curator(
            t=table, budget=dp.PureDP(epsilon=1e9), ledger=dp.ledger.Memory(), engine=engine
        )
        answers.append(counted(asked))
    assert answers == [[3], [5]]


def test_settings_of_the_engine_are_those_of_every_curator() -> None:
    engine = dp.DuckDB(threads=1, memory_limit="300MB")
    asked = [curator(_Given(engine), 2) for _ in range(2)]
    text = "SELECT current_setting('threads'), current_setting('memory_limit')"
    first, second = (each.context.database.engine.rows(text) for each in asked)
    assert first == second
    assert first[0][0] == 1


class _Given:
    """An engine that is there already."""

    def __init__(self, engine: dp.DuckDB) -> None:
        self.engine = engine

    def source(self, frame: pl.DataFrame) -> object:
        return frame

    def close(self) -> None:
        """Nothing was brought in."""
