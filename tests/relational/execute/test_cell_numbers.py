"""The number of a cell, however its keys are found: counted off, looked up, or met in a table."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.relational.engines.duckdb.dialect import DuckDBDialect
from discreet.relational.execute.cell_numbers import (
    CellNumbers,
    Code,
    always_met,
    progression,
)
from discreet.relational.plan.keys import Block, KeySet
from discreet.relational.types.column_domain import ColumnDomain
from discreet.relational.types.data_type import DataType
from discreet.relational.types.expression import Column

DIALECT = DuckDBDialect()
WAYS: tuple[Code, ...] = (DIALECT.code, always_met)
ENDS = (0, 1, -1, 2**31, -(2**31), 2**63 - 1, -(2**63), None)
TEXTS = ("", "A", "a", "it's", "é", "NULL", "Z", "A ")


def key_set(*keys: tuple[DataType, Sequence[object]]) -> KeySet:
    return KeySet(
        tuple(
            Block((Column(f"k{n}", ColumnDomain(kind)),), tuple((value,) for value in values))
            for n, (kind, values) in enumerate(keys)
        )
    )


def found(keys: KeySet, rows: Sequence[tuple[object, ...]], code: Code) -> list[object]:
    """The number of each row's cell, None where it has none, in both ways to write it."""
    kinds = [block.expressions[0].domain.kind for block in keys.blocks]
    with duckdb.connect() as connection:
        run: Callable[..., duckdb.DuckDBPyConnection] = connection.execute

        def filled(name: str, lines: Sequence[tuple[object, ...]]) -> None:
            each = f"({', '.join('?' * len(lines[0]))})"
            values = ", ".join([each] * len(lines))
            run(f"INSERT INTO {name} VALUES {values}", [part for line in lines for part in line])

        def table(entries: Sequence[tuple[object, ...]], of: Sequence[DataType]) -> str:
            name = f"keys_{len(run('SHOW TABLES').fetchall())}"
            run(f"CREATE TABLE {name} (code BIGINT, v0 {DIALECT.types[of[0]]})")
            filled(name, [(code, *entry) for code, entry in enumerate(entries)])
            return name

        named = ", ".join(f"k{n} {DIALECT.types[kind]}" for n, kind in enumerate(kinds))
        run(f"CREATE TABLE rows_of (id INTEGER, {named})")
        filled("rows_of", [(number, *row) for number, row in enumerate(rows)])
        names = [f"a.k{n}" for n in range(len(kinds))]
        cells = CellNumbers.of(keys, names, table, DIALECT, code)
        source = f"rows_of AS a{cells.joins}"
        number = DIALECT.cell(cells.or_null, keys.cells)
        by_null = dict(run(f"SELECT id, {number} FROM {source}").fetchall())
        by_condition = dict(run(f"SELECT id, {cells.number} FROM {source}{cells.where}").fetchall())
        whole = [by_null.get(number) for number in range(len(rows))]
        assert whole == [by_condition.get(number) for number in range(len(rows))]
        return whole


def wanted(keys: KeySet, rows: Sequence[tuple[object, ...]]) -> list[int | None]:
    lists = [[entry[0] for entry in block.entries] for block in keys.blocks]
    numbers = list[int | None]()
    for row in rows:
        known = all(value in values for value, values in zip(row, lists, strict=True))
        places = [values.index(v) for v, values in zip(row, lists, strict=True)] if known else []
        parts = zip(places, keys.strides(), strict=True) if known else ()
        numbers.append(sum(place * stride for place, stride in parts) if known else None)
    return numbers


@settings(max_examples=15, deadline=None)
@given(
    st.integers(-(10**6), 10**6),
    st.integers(1, 40),
    st.integers(1, 300),
    st.lists(st.sampled_from(TEXTS), min_size=1, unique=True),
    st.sampled_from(WAYS),
)
def test_numbers_are_those_of_the_lists(
    first: int, step: int, count: int, texts: list[str], code: Code
) -> None:
    whole = range(first, first + step * count, step)
    keys = key_set((DataType.INTEGER, whole), (DataType.TEXT, texts))
    near = [first - 1, first, first + 1, whole[-1], whole[-1] + 1, whole[-1] + step, *ENDS]
    rows = [(number, text) for number in near for text in (*TEXTS, None)]
    assert found(keys, rows, code) == wanted(keys, rows)


@pytest.mark.parametrize("code", WAYS)
def test_null_is_a_key_where_it_is_listed(code: Code) -> None:
    keys = key_set((DataType.TEXT, ("A", None)), (DataType.INTEGER, (5, None, 6)))
    rows = [(text, number) for text in ("A", "B", None) for number in (4, 5, 6, None)]
    assert found(keys, rows, code) == wanted(keys, rows)


def test_a_text_that_no_list_of_the_engine_can_hold_meets_a_table() -> None:
    assert DIALECT.code("x", ["A\0"], DataType.TEXT) is None


@pytest.mark.parametrize(
    ("values", "counted"),
    [
        ((3,), (3, 1)),
        ((0, 10, 20), (0, 10)),
        ((-4, -3), (-4, 1)),
        ((0, 10, 30), None),
        ((2, 1, 0), None),
        ((1, 1), None),
        ((0, None), None),
        ((False, True), None),
    ],
)
def test_equal_gaps(values: tuple[object, ...], counted: tuple[int, int] | None) -> None:
    (block,) = key_set((DataType.INTEGER, values)).blocks
    assert progression(block) == counted


def test_numbers_of_another_kind_are_not_counted_off() -> None:
    (block,) = key_set((DataType.DOUBLE, (1, 2))).blocks
    assert progression(block) is None
