"""What all estimators share: how privacy is given, how rows are read, what is kept.

Fitting never raises or warns because of a value; it refuses shapes, kinds of numbers and
declarations. Fitted attributes are public or noisy: there is no ``n_iter_``, no training score, no
count that was not paid for.

Source: contract, "What may be seen"; 004d:M2.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import (
    check_array,
    validate_data,
)

from discreet.core.arrays import Bools, Floats, Ints
from discreet.core.errors import InvalidData, InvalidParameter
from discreet.core.events.event import Event
from discreet.learn.box import Box
from discreet.learn.privacy import Privacy


class PrivateEstimator(BaseEstimator):  # type: ignore[misc]
    """Base of the estimators: subclasses take ``spend``, ``unit`` and ``randomness``."""

    def _privacy(self) -> Privacy:
        return Privacy.given(self.spend, self.unit, self.randomness)

    def _read(self, X: Any, *, reset: bool) -> Floats:
        """Rows as doubles; what is no number is NaN."""
        rows = read_numbers(X)
        validate_data(self, X, reset=reset, skip_check_array=True)
        return rows

    def _box(self, features: int) -> Box:
        return Box.of(self.bounds, features)

    def _keep(self, privacy: Privacy, event: Event) -> None:
        self.guarantee_ = privacy.guarantee
        self.event_ = event

    def __sklearn_tags__(self) -> Any:
        """Rows with NaN are taken, by a fixed rule."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.non_deterministic = True
        return tags


def read_numbers(values: Any, *, columns: bool = True) -> Floats:
    """Numbers as an array of doubles, refused by shape and kind alone."""
    array = values if hasattr(values, "dtype") or hasattr(values, "columns") else _listed(values)
    if hasattr(array, "columns"):
        array = np.asarray(array)
    if isinstance(array, np.ndarray) and array.dtype == object:
        flat = np.array([_number(each) for each in array.reshape(-1).tolist()], dtype=np.float64)
        array = flat.reshape(array.shape)
    found: Floats = check_array(
        array, dtype=np.float64, ensure_all_finite=False, ensure_2d=columns, copy=False
    )
    return found


def _listed(values: Any) -> Any:
    try:
        return np.asarray(values)
    except ValueError:
        raise InvalidData(
            code="ragged_rows",
            expectation="rows of equal length",
            remedy="Pass an array with one row for each record.",
        ) from None


def _number(value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return np.nan


def read_target(y: Any, rows: int) -> Any:
    """The target as an array of one dimension, refused by shape alone."""
    if y is None:
        raise InvalidData(
            code="target_missing",
            expectation="a target: requires y to be passed, but the target y is None",
            remedy="Pass fit(X, y).",
        )
    array = np.asarray(y)
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


def class_numbers(classes: Any, y: Any) -> tuple[Any, Ints]:
    """The declared classes in order, and for each row its place among them; -1 for unknown ones."""
    known = None if classes is None else np.asarray(classes)
    if known is None or known.ndim != 1 or len(set(known.tolist())) < 2:
        raise InvalidParameter(
            code="classes_missing",
            expectation="classes=, at least two labels, from what is known and not from the data",
            received=type(classes).__name__,
            remedy="Write classes=[0, 1].",
        )
    ordered = np.unique(known)
    place = {each: number for number, each in enumerate(ordered.tolist())}
    numbers = [place.get(each, -1) if _hashable(each) else -1 for each in np.asarray(y).tolist()]
    return ordered, np.array(numbers, dtype=np.int64)


def _hashable(value: object) -> bool:
    try:
        hash(value)
    except TypeError:
        return False
    return True


def target_known(y: Any) -> tuple[Floats, Bools]:
    """A real target, and which rows have one: NaN is no target, infinity is its bound."""
    values = read_numbers(y, columns=False)
    return values, ~np.isnan(values)
