"""What all estimators share: how privacy is given, how rows are read, what is kept.

Fitting never raises or warns because of a value; it refuses shapes, kinds of numbers and
declarations. Fitted attributes are public or noisy: there is no ``n_iter_``, no training score, no
count that was not paid for.

Source: contract, "What may be seen"; 004d:M2.
"""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from discreet.core.arrays import Bools, Floats, Ints
from discreet.core.errors import InvalidData, InvalidParameter
from discreet.core.events.event import Event
from discreet.learn.box import Box
from discreet.learn.cells import as_numbers, is_array, listed_rows, targets_of_rows
from discreet.learn.model_statement import model_facts, model_statement
from discreet.learn.privacy import Privacy
from discreet.learn.saved_models import model_to_json
from discreet.release.promise import promised
from discreet.release.statement.statement import Statement


class PrivateEstimator(BaseEstimator):  # type: ignore[misc]
    """Base of the estimators: subclasses take ``spend``, ``unit`` and ``randomness``."""

    mechanism: ClassVar[str] = "noisy sums"
    """What is done with the rows, in the privacy statement."""

    def _privacy(self) -> Privacy:
        return Privacy.from_spend_and_unit(self.spend, self.unit, self.randomness)

    def _read_rows(self, X: Any, *, reset: bool) -> Floats:
        """Rows as doubles, which may be none; what is no number is NaN."""
        rows = read_numbers(X, self._features_declared() if reset else self.n_features_in_)
        named = X if is_array(X) else rows
        validate_data(self, named, reset=reset, skip_check_array=True)
        return rows

    def _features_declared(self) -> int | None:
        """How many features the bounds are of, where they say it."""
        return features_of(self.bounds)

    def _box(self, features: int) -> Box:
        return Box.of(self.bounds, features)

    def _keep(self, privacy: Privacy, event: Event) -> None:
        self.guarantee_ = promised(privacy.spend, event).per(privacy.unit)
        self.event_ = event
        self.facts_ = model_facts(self, privacy)

    @property
    def statement(self) -> Statement:
        """The privacy statement of the fitted model; prints in full, and is a mapping of facts."""
        check_is_fitted(self)
        return model_statement(self)

    def to_json(self) -> str:
        """All of a fitted model on one line: fitted attributes, guarantee, event, statement."""
        return model_to_json(self)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the fitted model to a file, as JSON; ``dp.learn.load`` reads it."""
        Path(path).write_text(self.to_json() + "\n", encoding="utf-8")

    def __sklearn_tags__(self) -> Any:
        """Rows with NaN are taken, by a fixed rule."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.non_deterministic = True
        return tags


def features_of(bounds: Any) -> int | None:
    """How many features bounds are of; None where one pair stands for any number of them."""
    try:
        sizes = {np.size(each) for each in bounds if np.ndim(each) == 1}
    except (TypeError, ValueError):  # no bounds, which are refused elsewhere
        return None
    return int(max(sizes)) if sizes else None


def read_numbers(values: Any, features: int | None = None, *, columns: bool = True) -> Floats:
    """Numbers as an array of doubles, refused by shape and kind alone; rows may be none.

    ``features`` says how wide rows are that come as a list.
    """
    array = values if is_array(values) else listed_rows(values, features)
    if hasattr(array, "__array__"):  # not sparse matrices, which are refused
        array = np.asarray(array)
    if isinstance(array, np.ndarray):
        _require_table(array, columns=columns)
        array = as_numbers(array)
    found: Floats = check_array(
        array,
        dtype=np.float64,
        ensure_all_finite=False,
        ensure_2d=columns,
        ensure_min_samples=0,
        copy=False,
    )
    return found


def _require_table(array: Any, *, columns: bool) -> None:
    """Refuse what scikit-learn would refuse in a message that quotes the values."""
    if array.dtype.kind == "c":
        raise InvalidData(
            code="complex_rows",
            expectation="real numbers. Complex data not supported",
            received=str(array.dtype),
            remedy="Pass real and imaginary parts as columns of their own.",
        )
    if columns and array.ndim != 2:
        raise InvalidData(
            code="rows_shape",
            expectation="rows of numbers, an array of two dimensions",
            received=array.shape,
            remedy="Reshape your data: X.reshape(-1, 1) for one feature, (1, -1) for one row.",
        )


def read_target(y: Any, rows: int) -> Any:
    """The target as an array of one dimension, refused by shape alone."""
    if y is None:
        raise InvalidData(
            code="target_missing",
            expectation="a target: requires y to be passed, but the target y is None",
            remedy="Pass fit(X, y).",
        )
    return targets_of_rows(y, rows)


_FEW = 32
"""Classes that are looked for one by one."""


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
    ordered, labels = np.unique(known), np.asarray(y)
    if labels.dtype.kind in "biuf" and ordered.dtype.kind in "biuf" and len(ordered) <= _FEW:
        found = np.full(labels.shape, -1, dtype=np.int64)
        for number, each in enumerate(ordered):
            found[labels == each] = number
        return ordered, found
    place = {each: number for number, each in enumerate(ordered.tolist())}
    numbers = [_place(place, each) for each in labels.tolist()]
    return ordered, np.array(numbers, dtype=np.int64)


def _place(places: dict[Any, int], value: Any) -> int:
    """Where a label stands; -1 for one that is unknown, or that cannot even be looked up."""
    try:
        return places.get(value, -1)
    except Exception:  # whatever an object does when it is hashed or compared
        return -1


def target_known(y: Any) -> tuple[Floats, Bools]:
    """A real target, and which rows have one: NaN is no target, infinity is its bound."""
    values = read_numbers(y, columns=False)
    return values, ~np.isnan(values)
