"""Every estimator: scikit-learn's checks, no word about values, and a list of what is kept."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd  # type: ignore[import-untyped]
import pytest
from sklearn.base import clone
from sklearn.utils.estimator_checks import check_estimator

import discreet as dp
from discreet.core.errors import DiscreetError, InvalidData, InvalidParameter, NotPrivate
from discreet.learn.estimators.base import (
    PrivateEstimator,
    class_numbers,
    read_numbers,
    read_target,
    target_known,
)
from tests.learn.estimators import ESTIMATORS, EXPECTED, FITTED

EACH = pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda each: type(each).__name__)


@EACH
def test_scikit_learn_finds_nothing_that_noise_does_not_explain(estimator: Any) -> None:
    results = check_estimator(
        estimator, expected_failed_checks=EXPECTED, on_fail=None, on_skip=None
    )
    failed = [each["check_name"] for each in results if each["status"] == "failed"]
    assert failed == []
    assert sum(each["status"] == "passed" for each in results) >= 30


def bad_rows() -> tuple[np.ndarray, list[Any]]:
    rows = np.array([[np.nan, np.inf], [-np.inf, 1e308], [3.0, 3.0], [3.0, 3.0], [-1e308, 5e-324]])
    return rows, [np.nan, np.inf, 1, -np.inf, 2]


@EACH
def test_no_value_raises_or_warns(estimator: Any) -> None:
    rows, target = bad_rows()
    fitted = clone(estimator).fit(rows, target)
    for name, value in vars(fitted).items():
        if isinstance(value, np.ndarray) and value.dtype == float:
            assert np.isfinite(value).all(), name
    objects = np.array([["x", None], [1, 2], [{}, 3.5]], dtype=object)
    clone(estimator).fit(objects, [0, 1, 1])


@EACH
def test_what_is_kept_is_on_the_list(estimator: Any) -> None:
    rows, target = bad_rows()
    fitted = clone(estimator).fit(rows, target)
    kept = set(vars(fitted)) - set(estimator.get_params())
    assert kept <= FITTED
    assert {"guarantee_", "event_"} <= kept
    assert fitted.guarantee_ == replace(estimator.spend, unit=dp.Row())
    price = fitted.event_.epsilon(delta=getattr(estimator.spend, "delta", 0))
    assert 0.99 < price <= 1


@EACH
@pytest.mark.parametrize("missing", ["spend", "unit", "bounds"])
def test_there_is_no_default_for_privacy(estimator: Any, missing: str) -> None:
    unprotected = clone(estimator).set_params(**{missing: None})
    with pytest.raises(InvalidParameter, match=r"privacy_missing|bounds_missing"):
        unprotected.fit(np.array([[1.0, 2.0]]), [1])


@EACH
def test_a_person_needs_identifiers_and_a_row_has_none(estimator: Any) -> None:
    person = clone(estimator).set_params(unit=dp.Person("id", max_rows=1))
    with pytest.raises(InvalidData, match="people_missing"):
        person.fit(np.array([[1.0, 2.0]]), [1])
    assert person.fit(np.array([[1.0, 2.0]] * 3), [1] * 3, people=["a", "a", None]).event_
    with pytest.raises(InvalidParameter, match="people_without_person"):
        clone(estimator).fit(np.array([[1.0, 2.0]]), [1], people=["a"])


@EACH
def test_every_spend_buys_its_own_noise(estimator: Any) -> None:
    approximate = clone(estimator).set_params(spend=dp.ApproxDP(epsilon=1, delta=1e-6))
    assert approximate.fit(np.array([[1.0, 2.0]]), [1]).event_.epsilon(delta=1e-6) <= 1
    concentrated = clone(estimator).set_params(spend=dp.ZCDP(rho=0.1))
    assert concentrated.fit(np.array([[1.0, 2.0]]), [1]).event_.zcdp().rho <= 0.1
    with pytest.raises(DiscreetError, match=r"spend_notion|gaussian_spend"):
        clone(estimator).set_params(spend=dp.GaussianDP(mu=1)).fit(np.array([[1.0, 2.0]]), [1])


@EACH
def test_test_mode_is_marked(estimator: Any) -> None:
    seeded = clone(estimator).set_params(randomness=dp.noise.Seeded(1))
    event = seeded.fit(np.array([[1.0, 2.0]]), [1]).event_
    with pytest.raises(NotPrivate):
        event.epsilon(delta=0)


def test_estimators_are_private_estimators() -> None:
    assert all(isinstance(each, PrivateEstimator) for each in ESTIMATORS)


# -- one odd value --------------------------------------------------------------------------------

ODD: tuple[Any, ...] = ("x", None, [1], 10**400, 1j, {}, b"y", pd.NA)


@pytest.mark.parametrize("odd", ODD, ids=lambda each: type(each).__name__)
def test_one_odd_value_changes_no_other(odd: Any) -> None:
    rows = [[0.1, 0.5]] * 3 + [[odd, 0.5]]
    found = read_numbers(rows, 2)
    assert found[:3].tolist() == rows[:3]
    assert found[3, 1] == 0.5
    assert np.isnan(found[3, 0])
    target, known = target_known(read_target([0.5, 1, 2, odd], 4))
    assert target[:3].tolist() == [0.5, 1, 2]
    assert known.tolist() == [True, True, True, odd == [1]]
    _, places = class_numbers([0, 7], read_target([0, 7, 7, odd], 4))
    assert places.tolist() == [0, 1, 1, -1]


def test_text_is_read_cell_by_cell() -> None:
    found = read_numbers(np.array([["1.5"], ["secret"]]))
    assert found[0, 0] == 1.5
    assert np.isnan(found[1, 0])
