"""Parts and blocks mean the same on every engine: a person is kept in the same ones everywhere."""

from __future__ import annotations

from datetime import date
from typing import Any

import polars as pl
import pytest

import discreet as dp
from discreet.curator.sub_budgets import partition as partition_module
from discreet.errors import InvalidParameter
from discreet.noise import Noiseless
from discreet.relational.bounding.hashing import NATIVE, PORTABLE, Hashing
from tests import postgres_server
from tests.relational.conformance.engines import PostgresWithRows
from tests.relational.engine_with_rows import DuckDBWithRows, EngineWithRows

SPEND = dp.PureDP(epsilon=1)
FRAME = pl.DataFrame(
    {
        "pid": [person for person in range(40) for _ in range(4)],
        "w": [["A", "B", "é", None][(person * n) % 4] for person in range(40) for n in range(4)],
        "x": [(person + n) % 10 for person in range(40) for n in range(4)],
        "day": [date(2024, 1 + (person * n) % 6, 9) for person in range(40) for n in range(4)],
    }
)
COLUMNS: dict[str, Any] = {
    "w": dp.Category(["A", "B", "é"]),
    "x": dp.Number(0, 9),
    "day": dp.Dates(date(2024, 1, 1), date(2024, 6, 30)),
}
QUESTION = "SELECT COUNT(*) AS n, SUM(x) AS s, COUNT(DISTINCT pid) AS p FROM t"


def held(home: EngineWithRows, snapshot: str | None = "one") -> dp.Curator:
    unit = dp.Person("pid", max_rows=50)
    source: Any = home.source(FRAME)
    return dp.Curator(
        t=dp.table(source, unit=unit, columns=COLUMNS, snapshot=snapshot),
        engine=home.engine,
        budget=dp.PureDP(epsilon=100),
        ledger=dp.ledger.Memory(),
        randomness=Noiseless(),
    )


def answers(home: EngineWithRows) -> list[dict[str, Any]]:
    curator = held(home)
    parts = curator.partition("t", by="w", budget=SPEND, k=1)
    inner = parts["A"].partition("t", by="x", budget=dp.PureDP(epsilon=0.5), k=2)
    months = curator.blocks(
        "t", by="date_trunc('month', day)", budget=SPEND, k=2, settled=date(2024, 7, 1), name="t"
    )
    asked = [
        *(parts[w] for w in parts),
        *(inner[x] for x in (0, 5)),
        *(months[date(2024, m, 1)] for m in (1, 2, 3)),
    ]
    found = [dict(row) for part in asked for row in part.sql(QUESTION, spend=SPEND)]
    home.close()
    curator.close()
    return found


@pytest.fixture(autouse=True)
def one_salt(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(partition_module, "salt_of", lambda _: 4711)


def test_whatever_hash_the_engine_uses_elsewhere() -> None:
    assert answers(DuckDBWithRows(PORTABLE)) == answers(DuckDBWithRows(NATIVE))


@postgres_server.needed
@pytest.mark.parametrize("hashing", [NATIVE, PORTABLE])
def test_on_postgres_as_on_duckdb(hashing: Hashing) -> None:
    assert answers(PostgresWithRows(hashing)) == answers(DuckDBWithRows(NATIVE))


@postgres_server.needed
def test_a_live_table_is_divided_only_if_the_owner_names_its_version() -> None:
    home = PostgresWithRows(NATIVE)
    curator = held(home, snapshot=None)
    with pytest.raises(InvalidParameter) as refusal:
        curator.partition("t", by="w", budget=SPEND, k=1)
    assert refusal.value.code == "partition_of_live_table"
    home.close()
    curator.close()
