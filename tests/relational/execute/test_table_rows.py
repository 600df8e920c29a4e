"""Rows that an engine hands over: clamped, and of one unit never more than stated."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import numpy as np
import polars as pl
import pytest

import discreet as dp
from discreet.core.source import BoundedRows, RowSource
from discreet.core.unit import PrivacyUnit
from discreet.relational.execute import table_rows
from discreet.relational.execute.table_rows import MISSING, RowSteps, TableRows
from tests.relational.execute.test_table_moments import BOUNDS, COLUMNS, FRAME, columns_in
from tests.relational.neighbours.worlds import (
    Private,
    Setting,
    Stand,
    one,
    people,
    shuffled,
    without,
)

PERSON = dp.Person("id", max_rows=3)
FAR = pl.concat([FRAME[:40], FRAME[40:].with_columns(pl.col("x") * 1e9, pl.col("n") * 1000)])


def rows_in(stand: Stand, *given: Any, **more: Any) -> TableRows:
    targets = 1 if more.get("needed") else 0
    return TableRows(columns_in(stand, *given, **more), targets)


def listed(rows: BoundedRows) -> Counter[tuple[float | None, ...]]:
    """All rows with their targets, in no order."""
    target = np.zeros(len(rows.features)) if rows.target is None else rows.target
    table = np.column_stack([target, rows.features])
    return Counter(tuple(None if math.isnan(v) else v for v in line) for line in table.tolist())


def clamped(value: Any, low: float, high: float) -> float | None:
    return None if value is None or math.isnan(value) else float(min(max(value, low), high))


def test_rows_are_the_clamped_ones_with_a_target() -> None:
    found = rows_in(Stand(one(FAR, dp.Row(), COLUMNS)), needed="y")
    assert isinstance(found, RowSource)
    rows = found.bounded_rows()
    wanted = [
        [clamped(v, *ends) for v, *ends in zip(line, *BOUNDS, strict=True)]
        for line in FAR.select("y", "x", "n").rows()
        if line[0] is not None
    ]
    table = np.column_stack([rows.target, rows.features])  # type: ignore[list-item]
    given = np.array(wanted, dtype=float)
    assert table.shape == given.shape
    assert np.isnan(table).sum() == np.isnan(given).sum() > 0
    order = [np.lexsort(np.round(np.nan_to_num(each, nan=-9), 6).T) for each in (table, given)]
    np.testing.assert_allclose(table[order[0]], given[order[1]], atol=2.0**-28)
    for column, low, high in zip(table.T, *BOUNDS, strict=True):
        assert np.nanmin(column) >= low
        assert np.nanmax(column) <= high


def test_labels_are_places_among_declared_ones_and_others_are_left_out() -> None:
    found = rows_in(Stand(one(FRAME, dp.Row(), COLUMNS)), label="w")
    target = found.bounded_rows().target
    assert target is not None
    counts = [int((target == place).sum()) for place in range(2)]
    assert counts == [(FRAME["w"] == label).sum() for label in found.columns.labels]
    assert sum(counts) == len(target) < len(FRAME)


def most_moved(setting: Setting, source_of: Any) -> tuple[int, int]:
    """The most rows that come or go with one unit, and how many the source says."""
    stand = Stand(setting)
    source = source_of(stand)
    whole, moved = listed(source.bounded_rows()), [0]
    for who in people(setting, setting.frames):
        stand.add(without(setting, setting.frames, who))
        rest = listed(source.bounded_rows())
        moved.append((whole - rest).total() + (rest - whole).total())
        stand.engine.seen = 0
    return max(moved), source.records


@pytest.mark.parametrize("unit", [dp.Row(), PERSON], ids=["row", "person"])
@pytest.mark.parametrize("asked", [{"needed": "y"}, {"label": "w"}, {}], ids=str)
def test_no_unit_moves_more_rows_than_stated(unit: PrivacyUnit, asked: dict[str, str]) -> None:
    moved, stated = most_moved(one(FAR, unit, COLUMNS), lambda stand: rows_in(stand, **asked))
    assert moved == stated == (3 if unit == PERSON else 1)


def test_no_person_moves_more_joined_rows_than_stated() -> None:
    """Of a person's rows in either table, and of those that a join makes of them."""
    calls = pl.DataFrame({"id": [n % 12 for n in range(40)], "m": [n % 7 for n in range(40)]})
    setting = Setting(
        {
            "t": Private(FAR, PERSON, COLUMNS),
            "calls": Private(calls, PERSON, {"m": dp.Number(0, 6)}),
        }
    )
    text = "SELECT t.y, t.x, c.m FROM t JOIN calls AS c ON t.id = c.id"
    asked = {"bounds": ([0.0, -1.0, 0.0], [3.0, 1.0, 6.0]), "needed": "y"}
    moved, stated = most_moved(setting, lambda s: rows_in(s, text, ("y", "x", "m"), **asked))
    assert 1 < moved <= stated


def test_a_twin_without_bounding_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(RowSteps, "_bounded", RowSteps._owned)
    moved, stated = most_moved(one(FAR, PERSON, COLUMNS), lambda s: rows_in(s, label="w"))
    assert moved > stated


def test_a_twin_that_chooses_by_place_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows that are kept because of where they lie move when somebody else leaves."""

    def by_place(self: RowSteps) -> str:
        placed = f"SELECT *, row_number() OVER () AS p FROM ({self._owned()}) AS q"
        return f"SELECT * FROM ({placed}) AS q WHERE hash(p) % 3 = 0"

    monkeypatch.setattr(RowSteps, "_bounded", by_place)
    moved, stated = most_moved(one(FAR, PERSON, COLUMNS), lambda s: rows_in(s, needed="y"))
    assert moved > stated


def test_the_engine_itself_clamps() -> None:
    """Steps are within what was paid for before they come here."""
    source = rows_in(Stand(one(FAR, PERSON, COLUMNS)), needed="y").columns
    with source.engine.snapshot():
        for _, *steps in RowSteps.over(source, salt=0).batches():
            for found, total in zip(steps, source.totals, strict=True):
                assert (abs(found[found != MISSING]) <= total.steps()).all()
                assert total.steps() < abs(MISSING)


def test_the_same_rows_are_kept_in_whatever_order_they_lie() -> None:
    setting = one(FAR, PERSON, COLUMNS)
    stand = Stand(setting)
    source = rows_in(stand, label="w")
    first = listed(source.bounded_rows())
    assert listed(source.bounded_rows()) == first
    stand.add(shuffled(setting.frames, 3))
    assert listed(source.bounded_rows()) == first


def test_batches_are_put_together(monkeypatch: pytest.MonkeyPatch) -> None:
    source = rows_in(Stand(one(FAR, dp.Row(), COLUMNS)), needed="y")
    whole = source.bounded_rows()
    real = table_rows.RowSteps.batches

    def cut(self: RowSteps) -> Any:
        for batch in real(self):
            for start in range(0, len(batch[0]), 7):
                yield [column[start : start + 7] for column in batch]

    monkeypatch.setattr(RowSteps, "batches", cut)
    again = source.bounded_rows()
    np.testing.assert_array_equal(again.features, whole.features)
    np.testing.assert_array_equal(again.target, whole.target)


def test_numbers_on_the_grid_come_over_exactly() -> None:
    values = [0.125 * k - 1 for k in range(17)]
    frame = pl.DataFrame({"x": values, "n": [3] * 17, "y": [1.5] * 17, "w": ["a"] * 17})
    found = rows_in(Stand(one(frame, dp.Row(), COLUMNS)), needed="y").bounded_rows()
    assert sorted(found.features[:, 0].tolist()) == values
    assert set(found.features[:, 1].tolist()) == {3.0}


def test_without_arrow_rows_come_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    source = rows_in(Stand(one(FAR, PERSON, COLUMNS)), label="w")
    first = listed(source.bounded_rows())
    monkeypatch.setattr("discreet.relational.engines.duckdb.engine.find_spec", lambda _: None)
    assert listed(source.bounded_rows()) == first
