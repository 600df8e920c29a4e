"""No cell makes fitting raise or warn, whatever it is: an error or a warning would tell of it."""

from __future__ import annotations

import warnings
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd  # type: ignore[import-untyped]
import pytest

import discreet as dp
from discreet import learn
from discreet.learn.cells import as_number

from .estimators import ESTIMATORS


class Rude:
    """Raises whatever is done with it."""

    def __float__(self) -> float:
        raise RuntimeError

    def __eq__(self, other: object) -> bool:
        raise KeyError

    def __hash__(self) -> int:
        raise ArithmeticError

    def __repr__(self) -> str:
        raise RuntimeError


class Unprintable:
    """Is itself, and cannot be printed."""

    def __repr__(self) -> str:
        raise RuntimeError


ODD: tuple[Any, ...] = (
    *(None, float("nan"), float("inf"), 5e-324, 10**400, "x", "\ud800", b"\xff", [1], {}, set()),
    *(Decimal("NaN"), Decimal("sNaN"), Decimal("1e999"), Fraction(10**400, 3)),
    *(np.complex128(1 + 2j), np.array([1.0]), np.array([1.0, 2.0]), np.ma.masked),
    *(np.datetime64("NaT"), np.longdouble("1e4000"), pd.NA, pd.NaT, Rude(), Unprintable()),
)
ROWS = [[0.1, 0.2], [0.3, -0.4], [0.5, 0.6], [0.0, 0.1]]
LABELS = [0, 1, 0, 1]


def objects(cells: list[list[Any]]) -> Any:
    """An array of objects, none of them taken apart."""
    array = np.empty((len(cells), len(cells[0])), dtype=object)
    for place, row in enumerate(cells):
        for column, cell in enumerate(row):
            array[place, column] = cell
    return array


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda each: type(each).__name__)
def test_no_cell_and_no_target_makes_a_fit_raise_or_warn(estimator: Any) -> None:
    from sklearn.base import clone

    everything = [[odd, 0.5] for odd in ODD] + [[0.5, odd] for odd in ODD]
    targets = [*ODD, *[0, 1] * len(ODD)][: len(everything)]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        listed = clone(estimator).set_params(bounds=([-10, -10], [10, 10]))
        listed.fit(everything, targets)
        clone(estimator).fit(objects(everything), objects([[each] for each in targets]))


def test_no_identifier_label_or_answer_makes_learners_raise_or_warn() -> None:
    given = learn.Privacy(dp.PureDP(epsilon=1), dp.Row())
    rules = (lambda x: [0] * len(x), lambda x: [1] * len(x))
    person = dp.Person("id", max_rows=2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for odd in ODD:
            learn.AgnosticLearner(hypotheses=rules, privacy=given).fit(ROWS, [0, 1, odd, 0])
            asked = learn.StatisticalQueries(ROWS, 1, given)
            asked.answer(lambda rows, odd=odd: [0, 1, odd, 0.5])  # type: ignore[misc]
            kept = learn.Privacy(dp.PureDP(epsilon=1), person).choose_rows_to_keep(
                4, ["a", "b", odd, odd]
            )
            assert kept[:2].all()


def test_a_cell_that_numpy_would_take_a_part_of_is_no_number() -> None:
    assert all(np.isnan(as_number(each)) for each in (np.complex64(1), np.array([1.0])))
