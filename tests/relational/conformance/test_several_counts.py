"""Cells of columns, many marginals in one statement: equal on every engine, as columns say."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest

import discreet as dp
from discreet.core.unit import PrivacyUnit
from discreet.curator.synthetic.cell_expressions import attribute_expressions
from discreet.relational.bounding.hashing import PORTABLE
from discreet.relational.execute import table_counts as counting
from discreet.relational.execute.several_counts import SeveralCounts
from discreet.relational.plan.keyed_universe import column_questions
from discreet.synthetic.bounded_records import bounded_records
from discreet.synthetic.encoding.category_column import CategoryColumn
from discreet.synthetic.encoding.constraints import Impossible
from discreet.synthetic.encoding.number_column import NumberColumn
from discreet.synthetic.encoding.table_encoding import TableEncoding
from tests.relational.conformance.engines import DUCKDB, Maker, others
from tests.relational.conformance.rows import POOLS, SCHEMA, drawn, frame
from tests.relational.conformance.spark_with_rows import missing
from tests.relational.conformance.test_spark import QUICK
from tests.relational.execute.test_table_counts import counts_of
from tests.relational.neighbours.worlds import Stand, one

COLUMNS = {
    "w": dp.Category(["A", "B", "é"]),
    "f": dp.Category([False, True]),
    "x": dp.Number(-3, 5),
}
ENCODING = TableEncoding(
    {
        "w": CategoryColumn(["A", "B", "é"]),
        "f": CategoryColumn([False, True]),
        "x": NumberColumn((-3, -1, 0, 2.5, 5), missing=False),
    },
    (Impossible({"w": ["A"], "f": [True]}),),
)
SETS = [each for size in (1, 2) for each in combinations(range(2), size)]
TABLE = frame(SCHEMA, drawn(POOLS, 200, 7))
ROWS, PEOPLE = dp.Row(), dp.Person("pid", max_rows=2)


def tables(maker: Maker, unit: PrivacyUnit) -> list[Any]:
    home = maker.home(PORTABLE)
    stand = Stand(one(TABLE, unit, COLUMNS), home)
    try:
        expressions = list(attribute_expressions(ENCODING).items())
        source = counts_of(stand, column_questions("t", [], expressions))
        several = SeveralCounts.of(source, SETS)
        names = source.universe.names
        return [several.counts([names[place] for place in each]) for each in SETS]
    finally:
        stand.close()
        home.close()


def equal(maker: Maker, unit: PrivacyUnit, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counting, "LARGEST", 0)
    for here, there in zip(tables(DUCKDB, unit), tables(maker, unit), strict=True):
        np.testing.assert_array_equal(here, there)


def test_the_engine_counts_the_cells_that_columns_encode(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counting, "LARGEST", 0)
    codes = ENCODING.encode({name: TABLE[name].to_list() for name in COLUMNS})
    here = bounded_records(ENCODING.universe, codes, ROWS)
    names = ENCODING.universe.names
    for each, found in zip(SETS, tables(DUCKDB, ROWS), strict=True):
        np.testing.assert_array_equal(found, here.counts([names[place] for place in each]))


@pytest.mark.parametrize("maker", others())
@pytest.mark.parametrize("unit", [ROWS, PEOPLE], ids=["rows", "people"])
def test_counts_are_equal(maker: Maker, unit: PrivacyUnit, monkeypatch: pytest.MonkeyPatch) -> None:
    equal(maker, unit, monkeypatch)


@pytest.mark.xdist_group("spark")
@pytest.mark.skipif(missing() is not None, reason=str(missing()))
@pytest.mark.parametrize(
    "unit", [pytest.param(ROWS, marks=pytest.mark.slow), PEOPLE], ids=["rows", "people"]
)
def test_counts_are_equal_on_spark(unit: PrivacyUnit, monkeypatch: pytest.MonkeyPatch) -> None:
    equal(QUICK, unit, monkeypatch)
