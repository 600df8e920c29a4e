"""Columns as cells: every value has a cell, every cell has values, and both agree."""

import json
import math
import warnings
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import discreet as dp
from discreet.core.errors import InvalidParameter
from discreet.noise.randomness import SYSTEM, Seeded
from discreet.synthetic.encoding.category_column import CategoryColumn
from discreet.synthetic.encoding.day_column import DayColumn
from discreet.synthetic.encoding.declared import column_of, without_missing
from discreet.synthetic.encoding.encoded_column import OUTSIDE, EncodedColumn
from discreet.synthetic.encoding.identifier_column import IdentifierColumn
from discreet.synthetic.encoding.number_column import NumberColumn, PrivateBins
from discreet.synthetic.encoding.stored import column_from_dict

COLUMNS: list[EncodedColumn] = [
    CategoryColumn(["A", "B", None]),
    CategoryColumn([True, False]),
    CategoryColumn([date(2024, 1, 1), date(2024, 1, 2)], missing=False),
    NumberColumn.between(0, 120, bins=5, whole=True),
    NumberColumn.between(-3, 3, bins=50, whole=True),
    NumberColumn.between(0, 1, bins=7),
    NumberColumn((0.0, 1e-9, 1e300), missing=False),
    NumberColumn.between(0, 100, bins=PrivateBins(4, of=10)),
    DayColumn.between(date(2024, 1, 1), date(2024, 12, 31), bins=12),
    DayColumn.between(datetime(2024, 1, 1), datetime(2024, 1, 2), bins=24, missing=False),
]


@pytest.mark.parametrize("column", COLUMNS, ids=lambda column: type(column).__name__)
def test_a_value_drawn_from_a_cell_lies_in_it(column: EncodedColumn) -> None:
    codes = np.repeat(np.arange(column.size), 20)
    assert column.encode(column.decode(codes, SYSTEM)).tolist() == codes.tolist()
    assert len(column.labels) == column.size


@pytest.mark.parametrize("column", COLUMNS, ids=lambda column: type(column).__name__)
def test_a_column_is_the_same_after_it_was_stored(column: EncodedColumn) -> None:
    assert column_from_dict(json.loads(json.dumps(column.to_dict()))) == column


@given(st.lists(st.one_of(st.floats(), st.integers(), st.none(), st.text(), st.booleans())))
def test_every_value_whatever_it_is_has_a_cell_or_lies_outside(values: list[object]) -> None:
    for column in COLUMNS:
        codes = column.encode(values)
        assert len(codes) == len(values)
        least = 0 if column.missing else OUTSIDE
        assert ((codes >= least) & (codes < max(column.size, 1))).all()


def test_numbers_beyond_the_bounds_are_clamped_and_those_that_are_none_are_missing() -> None:
    column = NumberColumn.between(0, 10, bins=2)
    values = [-math.inf, -1, 0, 4.999, 5, 10, 11, math.inf, math.nan, None, "x"]
    assert column.encode(values).tolist() == [0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2]


class Rude:
    """Is itself, and raises whatever else is done with it."""

    def __float__(self) -> float:
        raise RuntimeError

    def __hash__(self) -> int:
        raise RuntimeError


def test_no_cell_raises_warns_or_changes_how_others_are_read() -> None:
    odd: list[object] = [
        *(
            Rude(),
            [1.0],
            np.array([1.0]),
            np.ma.masked,
            np.complex128(1 + 2j),
            "x",
            Decimal("sNaN"),
        ),
        *(10**400, -(10**400), Fraction(10**400, 3), np.longdouble("1e4000")),
    ]
    numbers = NumberColumn.between(0, 10, bins=5)
    listed = CategoryColumn((0.5, "x", 3))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for column in (numbers, listed):
            alone = [int(column.encode([each])[0]) for each in (*odd, 0.5, 3)]
            assert column.encode([*odd, 0.5, 3]).tolist() == alone
    assert numbers.encode(odd).tolist() == [numbers.bins] * 7 + [4, 0, 4, 4]


def test_what_is_not_listed_is_missing_and_true_is_not_one() -> None:
    assert CategoryColumn([1, 2]).encode([1, True, 1.0, 3, [4]]).tolist() == [0, 2, 0, 2, 2]
    assert CategoryColumn(["a"], missing=False).encode(["b"]).tolist() == [OUTSIDE]


def test_whole_numbers_stay_whole_and_even_inside_a_bin() -> None:
    column = NumberColumn.between(0, 9, bins=2, whole=True)
    drawn = column.decode(np.zeros(5000, np.int64), Seeded(0))
    assert {type(each) for each in drawn} == {int}
    counts = np.bincount(drawn, minlength=5)
    assert counts.min() > 850  # of 1000 each: five deviations of 28 below
    assert counts.sum() == 5000


def test_reals_are_drawn_evenly_inside_a_bin() -> None:
    drawn = np.array(NumberColumn((0.0, 4.0)).decode(np.zeros(10_000, np.int64), Seeded(0)))
    assert abs(drawn.mean() - 2) < 6 * 4 / math.sqrt(12 * 10_000)
    assert 0 <= drawn.min() < 0.01
    assert 3.99 < drawn.max() <= 4


def test_days_outside_the_ends_are_missing() -> None:
    column = DayColumn.between(date(2024, 1, 1), date(2024, 1, 10), bins=10)
    values = [date(2023, 12, 31), date(2024, 1, 10), date(2024, 1, 11), None, "2024-01-01"]
    assert column.encode(values).tolist() == [10, 9, 10, 10, 10]
    assert column.labels[0] == date(2024, 1, 1)


def test_identifiers_are_generated_and_never_read() -> None:
    column = IdentifierColumn("P", first=7)
    assert column.decode(np.zeros(2, np.int64), SYSTEM) == ["P7", "P8"]
    assert column.encode(["secret"]).tolist() == [OUTSIDE]
    assert column.size == 0


def test_declarations_become_columns() -> None:
    assert column_of("x", dp.Category(["A", None])) == CategoryColumn(["A"])
    assert column_of("x", dp.Boolean()) == CategoryColumn([False, True])
    assert column_of("x", dp.Integer(1, 3)) == NumberColumn((1, 2, 3, 4), whole=True)
    assert column_of("x", dp.Number(0, 1), bins=2) == NumberColumn((0.0, 0.5, 1.0))
    days = column_of("x", dp.Dates(date(2024, 1, 1), date(2024, 1, 2)))
    assert days == DayColumn.between(date(2024, 1, 1), date(2024, 1, 2))


@pytest.mark.parametrize("declared", [dp.Text(), dp.Discovered(), 3])
def test_a_column_without_public_values_is_refused_by_its_name(declared: object) -> None:
    with pytest.raises(InvalidParameter, match=r"not_a_column.*'notes'"):
        column_of("notes", declared)


@pytest.mark.parametrize(
    ("make", "code"),
    [
        (lambda: CategoryColumn("AB"), "category_values"),
        (lambda: CategoryColumn(["A", "A"]), "category_values"),
        (lambda: CategoryColumn([None]), "category_values"),
        (lambda: NumberColumn((1, 1)), "edges_not_increasing"),
        (lambda: NumberColumn((3,)), "edges_not_increasing"),
        (lambda: PrivateBins(10, of=5), "parameter_out_of_range"),
        (lambda: DayColumn.between(date(2024, 1, 2), date(2024, 1, 1)), "not_dates"),
    ],
)
def test_cells_that_are_none_are_refused(make: object, code: str) -> None:
    with pytest.raises(InvalidParameter, match=code):
        make()  # type: ignore[operator]


def test_columns_that_are_never_missing_have_no_cell_for_it_and_keep_all_others() -> None:
    named = {str(place): each for place, each in enumerate(COLUMNS)}
    for name, column in without_missing(named, list(named)).items():
        before = named[name]
        assert not column.missing
        assert column.size == before.size - before.missing
        assert column.labels == before.labels[: column.size]
        assert (column.encode([None, math.nan, object()]) == OUTSIDE).all()
        assert column_from_dict(json.loads(json.dumps(column.to_dict()))) == column
