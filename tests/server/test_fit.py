"""Models at a service: fitted in the engine and paid for once, read by whoever has them."""

import json
from typing import Any

import pytest

from discreet.core.guarantee import PureDP
from discreet.learn.load_models import model_from_json
from tests.server.running_service import ApiUser, RunningService

pytestmark = pytest.mark.xdist_group("server")
ASKED: dict[str, Any] = {
    "kind": "fit",
    "sql": "SELECT age, ward FROM visits",
    "model": "naive-bayes",
    "target": "ward",
    "epsilon": 1,
}


@pytest.fixture(scope="module")
def ann(running_service: RunningService) -> ApiUser:
    return running_service.analyst(PureDP(epsilon=4))


def left(user: ApiUser) -> float:
    (account,) = user.get("account").json()["accounts"]
    return float(account["remaining"]["epsilon"])


def test_a_model_comes_back_and_is_paid_for_once(ann: ApiUser) -> None:
    before = left(ann)
    told = ann.post("questions", ASKED).json()
    model = model_from_json(json.dumps(told["result"]["model"]))
    assert model.features_ == ["age"]
    assert model.theta_.shape == (len(model.classes_), 1)
    assert "epsilon 1" in told["result"]["statement"]
    again = ann.post("questions", ASKED).json()
    assert again["result"]["model"] == told["result"]["model"]
    assert before - left(ann) == pytest.approx(1)


def test_what_cannot_be_fitted_is_refused_for_nothing(ann: ApiUser) -> None:
    before = left(ann)
    assert ann.post("questions", ASKED | {"target": "age2"}).json()["code"] == "fit_columns"
    assert ann.post("questions", ASKED | {"model": "oracle"}).status_code == 422
    assert left(ann) == before
