"""Softmax regression: its price, its gradient, scikit-learn's checks, an audit and its twin."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_digits, load_iris
from sklearn.utils.estimator_checks import check_estimator

import discreet as dp
from discreet import events, learn
from discreet.core.errors import InvalidParameter
from discreet.learn.selection.row_predictions import row_predictions
from discreet.noise import Noiseless, Seeded
from tests.learn.estimators import EXPECTED, FITTED

SPEND = dp.ApproxDP(epsilon=1, delta=1e-5)
MODEL = learn.SoftmaxRegression(spend=SPEND, unit=dp.Row(), bounds=(-10, 10), classes=[0, 1, 2])


def descent(spend: Any = SPEND, source: Any = None, **more: Any) -> learn.SoftmaxDescent:
    privacy = learn.Privacy.from_spend_and_unit(spend, dp.Row(), source)
    return learn.SoftmaxDescent(**{"classes": 3, "dimension": 2, **more}, privacy=privacy)


def test_scikit_learn_finds_nothing_that_noise_does_not_explain() -> None:
    results = check_estimator(MODEL, expected_failed_checks=EXPECTED, on_fail=None, on_skip=None)
    assert [each["check_name"] for each in results if each["status"] == "failed"] == []
    assert sum(each["status"] == "passed" for each in results) >= 30


@pytest.mark.parametrize("steps", [1, 30])
def test_number_of_rows_and_steps_cost_the_spend_together(steps: int) -> None:
    assert 0.999 < descent(steps=steps).event.epsilon(delta=1e-5) <= 1
    assert 0.0999 < descent(dp.ZCDP(rho=0.1), steps=steps).event.zcdp().rho <= 0.1
    assert isinstance(descent(source=Seeded(1)).event, events.Unprotected)
    with pytest.raises(InvalidParameter, match="gaussian_spend"):
        descent(dp.PureDP(epsilon=1))


def test_the_sum_is_that_of_clipped_gradients() -> None:
    rng = np.random.default_rng(0)
    x, labels, theta = rng.normal(size=(50, 2)), rng.integers(0, 3, 50), rng.normal(size=(3, 2))
    shares = np.exp(x @ theta.T)
    shares /= shares.sum(axis=1, keepdims=True)
    each = ((shares - np.eye(3)[labels])[:, :, None] * x[:, None, :]).reshape(50, -1)
    each /= np.maximum(1, np.linalg.norm(each, axis=1))[:, None]
    found = descent()._sum(x, labels, theta) * 2.0**-30
    assert found == pytest.approx(each.sum(axis=0), abs=1e-6)
    alone = sum(descent()._sum(x[i : i + 1], labels[i : i + 1], theta) for i in range(50))
    assert (alone == descent()._sum(x, labels, theta)).all()  # each row by itself, to the last bit


def test_digits_are_told_apart_where_one_against_the_rest_cannot() -> None:
    x, y = load_digits(return_X_y=True)
    given: dict[str, Any] = {"spend": SPEND, "unit": dp.Row(), "bounds": (0, 16)}
    model = learn.SoftmaxRegression(**given, classes=list(range(10))).fit(x[:1400], y[:1400])
    assert model.score(x[1400:], y[1400:]) > 0.7
    assert (row_predictions(model, x[:200]) == model.predict(x[:200])).mean() > 0.99
    assert set(vars(model)) - set(model.get_params()) <= FITTED


def test_two_classes_people_and_no_rows() -> None:
    x, y = load_iris(return_X_y=True)
    two = clone(MODEL).set_params(classes=[0, 1], unit=dp.Person("id", max_rows=2))
    fitted = two.fit(x, y, people=np.arange(150) // 2)
    assert fitted.coef_.shape == (1, 4)
    assert fitted.predict_proba(x).sum(axis=1) == pytest.approx(1)
    assert np.isfinite(clone(MODEL).fit(np.array([[np.nan, np.inf]]), [7]).coef_).all()
    quiet = clone(MODEL).set_params(randomness=Noiseless(), bounds=(0, 8)).fit(x, y)
    assert quiet.score(x, y) > 0.9
    assert quiet.predict_proba(x).sum(axis=1) == pytest.approx(1)
