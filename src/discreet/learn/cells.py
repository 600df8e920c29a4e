"""Single values as numbers: what is none is NaN, and no value raises."""

from __future__ import annotations

from typing import Any

import numpy as np

from discreet.core.arrays import Floats


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
    if values.dtype.kind in "biuf":
        found: Floats = values.astype(np.float64)
        return found
    cells = [as_number(each) for each in values.reshape(-1).tolist()]
    return np.array(cells, dtype=np.float64).reshape(values.shape)
