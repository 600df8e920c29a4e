"""Keys that nobody listed: every engine finds the same ones, with the same numbers of people."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import polars as pl
import pytest

import discreet as dp
from discreet.core.unit import PrivacyUnit
from discreet.relational.bounding.hashing import PORTABLE
from discreet.relational.execute.candidate_keys import candidates
from discreet.relational.plan.keys import DiscoveredKeys
from discreet.relational.sql.translate import query_from
from tests.relational.conformance.engines import DUCKDB, Maker, others
from tests.relational.conformance.rows import POOLS, SCHEMA, drawn, frame
from tests.relational.engine_with_rows import EngineWithRows
from tests.relational.neighbours.worlds import SALT, Stand, one

COLUMNS = {
    "note": dp.Discovered(),
    "w": dp.Discovered(),
    "i": dp.Discovered(),
    "d": dp.Discovered(),
    "f": dp.Category([False, True]),
}
KEYS = ("note", "i", "d", "lower(w)", "note, i", "w, f", "substring(note, 1, 1)", "d, w")


@pytest.mark.parametrize("maker", others())
@pytest.mark.parametrize(
    ("unit", "groups"),
    [(dp.Row(), None), (dp.Person("pid", max_rows=3, max_groups=2), 2)],
    ids=["rows", "people"],
)
def test_candidates_are_equal_on_every_engine(
    maker: Maker, unit: PrivacyUnit, groups: int | None
) -> None:
    rows = frame(SCHEMA, drawn(POOLS, 300, 11))
    found = [
        list(_candidates(home, rows, unit, groups))
        for home in (DUCKDB.home(PORTABLE), maker.home(PORTABLE))
    ]
    assert found[0] == found[1]
    assert all(len(keys) > 3 for keys in found[0])


def _candidates(
    home: EngineWithRows, rows: pl.DataFrame, unit: PrivacyUnit, groups: int | None
) -> Iterator[Sequence[tuple[object, int]]]:
    stand = Stand(one(rows, unit, COLUMNS), home)
    try:
        for key in KEYS:
            query = query_from(f"SELECT {key}, COUNT(*) AS n FROM t GROUP BY {key}", stand.database)
            assert isinstance(query.keys, DiscoveredKeys)
            found = candidates(query.keys, query.rows, groups, stand.engine, salt=SALT)
            entries, places = found.entries(np.ones(len(found.people), dtype=bool))
            yield list(zip(entries, found.people[places].tolist(), strict=True))
    finally:
        stand.close()
        home.close()
