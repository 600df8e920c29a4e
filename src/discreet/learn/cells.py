"""Values as numbers, cell by cell: what is none is NaN, and no value raises or warns.

Whatever reads rows reads them here, so that errors depend on shapes alone. NumPy's own conversion
would quote the cell that it cannot convert.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from discreet.core.arrays import Floats
from discreet.core.errors import InvalidData


def as_number(value: Any) -> float:
    """A value as a double, or NaN where it is no number or beyond all doubles.

    Arrays and complex numbers are none, also where NumPy would take a part of them with a warning.
    """
    if isinstance(value, np.ndarray | np.complexfloating):
        return np.nan
    try:
        return float(value)
    except Exception:  # whatever an object does: it is one cell, and fitting goes on
        return np.nan


def as_numbers(values: Any) -> Floats:
    """An array as doubles, cell by cell where its kind says nothing about them."""
    if values.dtype == np.float64:
        same: Floats = values
        return same
    if values.dtype.kind in "biu" or values.dtype in (np.float16, np.float32):
        found: Floats = values.astype(np.float64)
        return found
    cells = [as_number(each) for each in values.reshape(-1).tolist()]
    return np.array(cells, dtype=np.float64).reshape(values.shape)


def is_array(values: Any) -> bool:
    """Whether values come as an array or a frame, with a kind of their own."""
    return hasattr(values, "dtype") or hasattr(values, "columns")


def one_by_one(values: Any) -> Any:
    """A list as an array of objects, none of them taken apart."""
    cells = _parts(values)
    array = np.empty(len(cells), dtype=object)
    for place, cell in enumerate(cells):
        array[place] = cell
    return array


def one_of_each(values: Any) -> Any:
    """An array as it is; a list as objects, in which one that is alone in a list stands for it."""
    if is_array(values):
        return np.asarray(values)
    array = one_by_one(values)
    for place, cell in enumerate(array):
        if isinstance(cell, list | tuple) and len(cell) == 1:
            array[place] = cell[0]
    return array


def listed_rows(values: Any, features: int | None = None) -> Any:
    """A list of rows as an array of objects, cell by cell: none changes what another is.

    How many cells a row has is declared, or the list is refused, with rows in it as without: a
    list of no rows does not say it, and a refusal of that list alone would tell that it is empty.
    """
    if hasattr(values, "__array__") or not isinstance(values, Iterable):
        return np.asarray(values)
    cells = [_cells(row) for row in _parts(values)]
    if features is None:
        raise InvalidData(
            code="rows_shape",
            expectation="an array or a frame, which has columns even where it has no rows",
            received=type(values).__name__,
            remedy="Reshape your data: np.asarray(rows, dtype=float).reshape(-1, columns); or "
            "declare bounds with one number for each feature.",
        )
    if len({len(row) for row in cells}) > 1:
        raise InvalidData(
            code="ragged_rows",
            expectation="rows of equal length",
            remedy="Pass an array with one row for each record.",
        ) from None
    array = np.empty((len(cells), len(cells[0]) if cells else features), dtype=object)
    for place, row in enumerate(cells):
        for column, cell in enumerate(row):
            array[place, column] = cell
    return array


def rows_of_numbers(values: Any, dimension: int | None = None) -> Floats:
    """Rows as doubles, refused by shape alone; as long as ``dimension`` says, if it does."""
    array = np.asarray(values) if is_array(values) else listed_rows(values, dimension)
    if array.shape == (0,) and dimension is not None:
        array = np.zeros((0, dimension))
    if array.ndim != 2 or (dimension is not None and array.shape[1] != dimension):
        long = "equally many" if dimension is None else str(dimension)
        raise InvalidData(
            code="rows_shape",
            expectation=f"rows of {long} numbers, as declared",
            received=array.shape,
            remedy="Pass an array with one row for each record, as long as was declared.",
        )
    return as_numbers(array)


def numbers_of_rows(values: Any, rows: int) -> Floats:
    """One double for each row, refused by shape alone."""
    return as_numbers(targets_of_rows(values, rows))


def targets_of_rows(values: Any, rows: int) -> Any:
    """One target for each row, whatever it is, refused by shape alone."""
    array = one_of_each(values)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.shape != (rows,):
        raise InvalidData(
            code="target_shape",
            expectation="one target for each row, in one dimension",
            received=array.shape,
            remedy="Pass y with as many entries as X has rows.",
        )
    return array


def _parts(values: Any) -> list[Any]:
    """What a list or another iterable holds; nothing where it cannot be iterated over."""
    try:
        return list(values)
    except Exception:  # arrays of no dimension, and whatever else an object does
        return []


def _cells(row: Any) -> list[Any]:
    """The cells of a row; what holds none is a cell by itself."""
    if isinstance(row, str | bytes) or not isinstance(row, Iterable):
        return [row]
    if isinstance(row, np.ndarray) and row.ndim == 0:
        return [row]
    return _parts(row)
