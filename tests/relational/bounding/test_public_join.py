"""A private row has no more partners than were paid for, whatever the public table holds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import discreet as dp
from discreet.core.errors import DiscreetError
from discreet.relational.bounding.hashing import NATIVE
from discreet.relational.database import Database
from discreet.relational.engines.duckdb.engine import DuckDB
from tests.relational.bounding.partners import CUT, exact
from tests.relational.conformance.engines import DUCKDB, OTHERS, Maker

SPEND = dp.PureDP(epsilon=1e3)
"""So much that noise moves a count with a probability below 1e-40."""
ASKED = "SELECT COUNT(*) AS n FROM t JOIN p ON t.z = p.z"


def curator(public: Any, engine: DuckDB | None = None) -> dp.Curator:
    private = {"z": np.array([1, 1, 2])}
    return dp.Curator(
        t=dp.table(private, unit=dp.Row(), columns={"z": dp.Number(0, 9)}),
        p=dp.public(public),
        budget=dp.PureDP(epsilon=1e9),
        ledger=dp.ledger.Memory(),
        engine=engine,
    )


@pytest.mark.parametrize("maker", [DUCKDB, *OTHERS], ids=lambda maker: maker.name)
@pytest.mark.parametrize("partners", CUT)
def test_rows_of_a_key_beyond_the_partners_paid_for_are_cut(
    partners: int | None, maker: Maker
) -> None:
    assert exact(maker.home(NATIVE), partners) == CUT[partners]


def test_a_frame_that_changes_after_its_partners_were_counted_gives_no_more_of_them() -> None:
    keys = np.array([1, 2, 3, 4])
    asked = curator({"z": keys})
    assert asked.explain(ASKED).measures[0].l1 == 1
    keys[:] = 1
    assert asked.sql(ASKED, spend=SPEND).to_dict()["n"] == [2]


def test_partners_are_those_of_the_table_as_it_was_attached(tmp_path: Path) -> None:
    """A file that is replaced while partners are counted is noticed, at no cost."""
    path = tmp_path / "p.parquet"

    class Racing(DuckDB):
        def rows(self, text: str) -> list[tuple[object, ...]]:
            if "MAX(n)" in text:
                pl.DataFrame({"z": [1]}).write_parquet(path)
            return super().rows(text)

    pl.DataFrame({"z": [1, 1, 1]}).write_parquet(path)
    asked = curator(path, Racing())
    before = asked.remaining
    with pytest.raises(DiscreetError) as refused:
        asked.sql(ASKED, spend=SPEND)
    assert refused.value.code == "data_changed"
    assert asked.remaining == before


def test_a_public_file_replaced_while_it_is_looked_at_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "p.parquet"

    class Racing(DuckDB):
        def rows(self, text: str) -> list[tuple[object, ...]]:
            pl.DataFrame({"z": [1]}).write_parquet(path)
            return super().rows(text)

    pl.DataFrame({"z": [1, 1, 1]}).write_parquet(path)
    with pytest.raises(DiscreetError) as refused:
        curator(path, Racing())
    assert refused.value.code == "data_changed"


def test_sizes_and_partners_are_counted_once(monkeypatch: pytest.MonkeyPatch) -> None:
    counted = list[str]()
    real = DuckDB.rows

    def rows(self: DuckDB, text: str) -> list[tuple[object, ...]]:
        counted.append(text)
        return real(self, text)

    asked = curator({"z": np.array([1, 1, 2])})
    monkeypatch.setattr(DuckDB, "rows", rows)
    for _ in range(3):
        assert asked.explain(ASKED).measures[0].l1 == 2
    size, partners = counted
    assert "MAX(n)" not in size
    assert "MAX(n)" in partners
    assert asked.explain(ASKED.replace("p.z", "p.z + 1")).measures[0].l1 == 2
    assert ["MAX(n)" in text for text in counted[2:]] == [True]


def test_the_answer_and_the_look_at_public_tables_see_one_state() -> None:
    """What is read of private data, and the check that follows, lie inside one snapshot."""
    inside, seen = [0], list[tuple[str, int]]()

    class Watched(DuckDB):
        def snapshot(self) -> Any:
            watched = super().snapshot()

            class Around:
                def __enter__(self) -> None:
                    inside[0] += 1
                    watched.__enter__()

                def __exit__(self, *given: Any) -> None:
                    inside[0] -= 1
                    watched.__exit__(*given)

            return Around()

        def numbers(self, text: str) -> Any:
            seen.append(("numbers", inside[0]))
            return super().numbers(text)

    asked = curator({"z": np.array([1, 2])}, Watched())
    real = Database.unchanged

    def unchanged(self: Database) -> bool:
        seen.append(("unchanged", inside[0]))
        return real(self)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Database, "unchanged", unchanged)
        asked.sql(ASKED, spend=SPEND)
    assert [what for what, _ in seen] == ["unchanged", "numbers", "unchanged"]
    assert [depth > 0 for _, depth in seen] == [False, True, True]


@pytest.mark.parametrize("kind", ["JOIN", "LEFT JOIN"])
@pytest.mark.parametrize(("known", "pairs"), [(["A", "A", "Z"], 4), (["B", "Z", "Z"], 1)])
def test_a_value_outside_its_list_meets_no_public_row(
    kind: str, known: list[str], pairs: int
) -> None:
    """Categories are compared as they are stored; what is not in their list is nothing."""
    asked = dp.Curator(
        t=dp.table(
            pl.DataFrame({"w": ["A", "A", "B", "Z", "Z", "Z", None]}),
            unit=dp.Row(),
            columns={"w": dp.Category(["A", "B"])},
        ),
        p=dp.public({"w": known, "met": [1] * len(known)}),
        budget=dp.PureDP(epsilon=1e9),
        ledger=dp.ledger.Memory(),
    )
    text = f"SELECT SUM(CASE WHEN met = 1 THEN 1 ELSE 0 END) AS n FROM t {kind} p ON t.w = p.w"
    assert asked.sql(text, spend=SPEND).to_dict()["n"] == [pairs]
