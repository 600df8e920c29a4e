"""Sums of products in an engine: exact, clamped, and moved by one unit no more than stated."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import pytest

import discreet as dp
from discreet.core.errors import InvalidParameter
from discreet.core.source import Moments, Products
from discreet.core.unit import PrivacyUnit
from discreet.relational.execute.bounded_columns import BoundedColumns, ColumnTotals
from discreet.relational.execute.table_moments import UNIT, TableMoments
from discreet.relational.sql.translate import query_from
from tests.relational.neighbours.worlds import SALT, Stand, one, people, without

RNG = np.random.default_rng(7)
FRAME = pl.DataFrame(
    {
        "id": [*RNG.integers(0, 12, 60).tolist()],
        "x": [0.5, math.inf, -math.inf, math.nan, None, 1e300, *RNG.uniform(-2, 2, 54).tolist()],
        "n": [*RNG.integers(-3, 8, 59).tolist(), None],
        "y": [None, 3.0, *RNG.uniform(-1, 4, 58).tolist()],
        "w": [*RNG.choice(["a", "b", "other"], 59).tolist(), None],
    }
)
COLUMNS: dict[str, Any] = {
    "x": dp.Number(-1, 1),
    "n": dp.Number(0, 5),
    "y": dp.Number(0, 3),
    "w": dp.Category(["b", "a"]),
}
BOUNDS = [0.0, -1.0, 0.0], [3.0, 1.0, 5.0]
TEXT = "SELECT y, x, n, w FROM t"


def moments_in(stand: Stand, *given: Any, **more: Any) -> TableMoments:
    return TableMoments.of(columns_in(stand, *given, **more), Products.ALL)


def columns_in(
    stand: Stand, text: str = TEXT, columns: Sequence[str] = ("y", "x", "n"), **more: Any
) -> BoundedColumns:
    def translate(asked: str) -> Any:
        return query_from(asked, stand.database)

    bounds = more.pop("bounds", BOUNDS)
    declared = ColumnTotals.of(text, columns, translate)
    made = BoundedColumns.of(declared, bounds, translate, stand.engine, **more)
    return replace(made, salt=SALT)


def units(values: Any, low: float, high: float) -> list[float]:
    """What each value is in units of its bounds; a missing one is the middle."""
    middle, half = (low + high) / 2, (high - low) / 2
    there = [middle if v is None or math.isnan(v) else min(max(v, low), high) for v in values]
    return [(v - middle) / half for v in there]


def test_sums_are_those_of_clamped_rows() -> None:
    found = moments_in(Stand(one(FRAME, dp.Row(), COLUMNS)), needed="y").moments()
    rows = FRAME.filter(pl.col("y").is_not_null())
    columns = zip(("y", "x", "n"), *BOUNDS, strict=True)
    table = np.array([[1.0] * len(rows), *(units(rows[n], a, b) for n, a, b in columns)])
    assert np.array(found.products[0] / 2**UNIT, dtype=float) == pytest.approx(
        table @ table.T, abs=len(rows) * 2.0**-27
    )
    assert found.there.tolist() == [[59, 57, 58]]


def test_sums_by_label_are_those_of_declared_labels() -> None:
    source = moments_in(Stand(one(FRAME, dp.Row(), COLUMNS)), label="w")
    assert source.columns.labels == ("b", "a")
    counts = [(FRAME["w"] == label).sum() for label in source.columns.labels]
    assert [int(block[0, 0]) >> UNIT for block in source.moments().products] == counts


def distance(one: Moments, other: Moments) -> int:
    """Rows of one unit, by the norm that noise is for: the largest sum of each block, added up."""
    gaps = abs(one.products - other.products)
    most = [max(math.ceil(int(each) / 2**UNIT) for each in block.flat) for block in gaps]
    there = abs(one.there - other.there).max(axis=1)
    return sum(max(a, int(b)) for a, b in zip(most, there, strict=True))


@pytest.mark.parametrize("unit", [dp.Row(), dp.Person("id", max_rows=3)], ids=["row", "person"])
@pytest.mark.parametrize("label", [None, "w"])
def test_no_unit_moves_sums_by_more_than_its_records(unit: PrivacyUnit, label: str | None) -> None:
    setting = one(FRAME, unit, COLUMNS)
    stand = Stand(setting)
    source = moments_in(stand, needed="y", label=label)
    whole, moved = source.moments(), []
    for who in people(setting, setting.frames):
        stand.add(without(setting, setting.frames, who))
        moved.append(distance(whole, source.moments()))
        stand.engine.seen = 0
    assert max(moved) == source.records


def test_narrow_bounds_far_from_zero_are_refused() -> None:
    stand = Stand(one(FRAME, dp.Row(), COLUMNS))
    with pytest.raises(InvalidParameter, match="bounds_too_far"):
        moments_in(stand, columns=["x"], bounds=([1e15], [1e15 + 1e-3]))


def test_products_are_whole_numbers_of_62_bits() -> None:
    stand = Stand(one(FRAME, dp.Row(), COLUMNS))
    for low, high in ((-1.0, 1.0), (0.0, 1e-9), (3.0, 1e12), (-(2.0**60), 2.0**60), (5.0, 7.1)):
        source = moments_in(stand, columns=["x"], bounds=([low], [high]))
        (total,) = source.columns.totals
        assert 2**20 <= total.steps() <= 2**30 + 1
