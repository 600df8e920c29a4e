"""Models as JSON: every kind comes back as it was, and files of the first form go on being read."""

from __future__ import annotations

import inspect
import json
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

import discreet as dp
from discreet.core.errors import InvalidParameter
from discreet.learn.load_models import KINDS, model_from_json
from discreet.learn.tags import FORMS
from tests.learn.estimators import ESTIMATORS

RNG = np.random.default_rng(2)
X = RNG.uniform(-10, 10, (60, 3))
Y = RNG.integers(0, 3, 60)
PRIVACY = {"spend", "unit", "randomness"}

FIRST = (
    '{"event":{"epsilon": 1, "kind": "Pure", "version": 1},"facts":{"private":true},"features":2,'
    '"fitted":{"coef_":{"array":[0.5,-2.0],"kind":"f"},"equations_":{"equations":{"mixed":'
    '[1.0,2.0,3.0],"pure":true,"scales":[1.0,2.0],"square":[[9.0,0.0,0.0],[0.0,5.0,0.0],'
    '[0.0,0.0,4.0]]}},"intercept_":1.0},"form":"model/1","guarantee":{"epsilon":1,"kind":"PureDP","unit":{"kind":"Row"}},'
    '"model":"learn.Ridge","parameters":{"alpha":1.0,"bounds":[-1,1],"target_bounds":[-9,9]}}'
)


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda each: type(each).__name__)
def test_every_estimator_comes_back_to_the_last_bit(estimator: Any) -> None:
    fitted = clone(estimator).fit(X, Y)
    read = model_from_json(fitted.to_json())
    assert read.to_json() == fitted.to_json()
    assert type(read) is type(fitted)
    for name in ("predict", "transform", "predict_proba"):
        if hasattr(fitted, name):
            assert np.array_equal(getattr(read, name)(X), getattr(fitted, name)(X))
    assert read.guarantee_ == fitted.guarantee_
    assert read.event_ == fitted.event_
    assert str(read.statement) == str(fitted.statement)
    assert "No ledger was charged" in str(read.statement)


def test_every_estimator_has_a_form_that_names_all_that_decides_it() -> None:
    assert {type(each) for each in ESTIMATORS} == set(FORMS) == set(KINDS.values())
    for kind, form in FORMS.items():
        taken = set(inspect.signature(kind).parameters)
        assert {now for _, now in form.parameters.names} == taken - PRIVACY


def test_a_file_of_the_first_form_is_read() -> None:
    model = model_from_json(FIRST)
    assert model.predict([[1, 1], [0, -1]]).tolist() == [-0.5, 3.0]
    assert model.guarantee_ == dp.PureDP(epsilon=1, unit=dp.Row())
    assert json.loads(model.to_json()) == json.loads(FIRST)


def test_what_was_not_fitted_or_is_of_ones_own_is_not_written() -> None:
    class Own(dp.learn.Ridge):
        pass

    given = ESTIMATORS[0].get_params()
    with pytest.raises(Exception, match="not fitted"):
        dp.learn.Ridge().to_json()
    with pytest.raises(InvalidParameter, match="model_not_known"):
        Own(**given).fit(X, Y).to_json()


@pytest.mark.parametrize("value", [3, -1, 10**6])
def test_a_forest_that_asks_for_features_that_are_none_is_refused(value: int) -> None:
    forest = dp.learn.RandomForestClassifier(
        n_estimators=1,
        max_depth=5,
        spend=dp.PureDP(epsilon=1),
        unit=dp.Row(),
        bounds=(-10, 10),
        classes=[0, 1, 2],
    )
    plain = json.loads(forest.fit(X, Y).to_json())
    assert model_from_json(json.dumps(plain)).predict(X).shape == (60,)
    nodes = plain["fitted"]["splits_"][0]["splits"]["features"]
    for place in range(len(nodes)):
        usual, nodes[place] = nodes[place], value
        with pytest.raises(InvalidParameter, match="model_not_json"):
            model_from_json(json.dumps(plain))
        nodes[place] = usual
