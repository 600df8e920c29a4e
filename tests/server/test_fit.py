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


AHEAD = {key: value for key, value in ASKED.items() if key != "epsilon"}
ROWS = {**AHEAD, "sql": "SELECT age, 2 * age AS twice FROM visits", "target": "age", "epsilon": 1}


def test_a_preview_tells_sums_noise_event_and_price_and_costs_nothing(ann: ApiUser) -> None:
    before = left(ann)
    told = ann.post("previews", ASKED).json()["result"]
    assert told["groups"][0][0] == 3  # one number of rows for each ward
    assert all(noise > 1 for _, noise in told["groups"])
    assert told["event"]["kind"] == "Pure"
    assert told["price"] == {"epsilon": 1.0}
    assert told["features"] == [["age", 0.0, 100.0]]
    assert "such fits left" in told["text"]
    less = ann.post("previews", ASKED | {"epsilon": 0.1}).json()["result"]
    assert less["groups"][0][1] == pytest.approx(10 * told["groups"][0][1])
    assert left(ann) == before
    assert ann.post("previews", AHEAD).status_code == 400, "there is no usual price"
    assert "fit_preview" not in [each["kind"] for each in ann.get("history").json()["items"]]


def test_declarations_of_ones_own_stand_in_place_of_the_owners(ann: ApiUser) -> None:
    two = ann.post("previews", ASKED | {"classes": ["surgery", "medicine"]}).json()["result"]
    assert two["groups"][0][0] == 2
    narrow = ROWS | {"model": "ridge", "alpha": 2, "bounds": [0, [50]], "target_bounds": [0, 90]}
    assert ann.post("previews", narrow).json()["result"]["features"] == [["twice", 0.0, 50.0]]


BAD: dict[str, tuple[dict[str, Any], str]] = {
    "one end": ({"bounds": [0]}, "bounds_missing"),
    "three ends": ({"bounds": [0, 1, 2]}, "bounds_missing"),
    "too many features": ({"bounds": [[0, 0], [1, 1]]}, "bounds_missing"),
    "turned around": ({"bounds": [1, 0]}, "bounds_missing"),
    "without end": ({"bounds": [-1e308, 1e308]}, "bounds_missing"),
    "one number": ({"bounds": [1, 1]}, "bounds_missing"),
    "a target of three ends": ({"target_bounds": [0, 1, 2]}, "bounds_missing"),
    "a target of nothing": ({"target_bounds": []}, "bounds_missing"),
    "a text": ({"bounds": "0 to 1"}, "request_misread"),
    "texts": ({"bounds": ["0", "1"]}, "request_misread"),
    "too large": ({"bounds": [0, 10**400]}, "request_misread"),
    "classes of a number": ({"classes": ["surgery"]}, "option_of_another_model"),
    "components of a line": ({"components": 2}, "option_of_another_model"),
    "trees of a line": ({"trees": 2}, "option_of_another_model"),
    "endless steps": ({"model": "lasso", "steps": 10**9}, "request_misread"),
    "a deep tree": ({"model": "tree", "target": "age", "depth": 40}, "request_misread"),
}


@pytest.mark.parametrize(("bad", "code"), BAD.values(), ids=BAD)
def test_bad_declarations_are_refused_by_rule_and_for_nothing(
    ann: ApiUser, bad: dict[str, Any], code: str
) -> None:
    before = left(ann)
    for path in ("previews", "questions"):
        told = ann.post(path, ROWS | {"model": "linear"} | bad).json()
        assert told["code"] == code, told
    assert left(ann) == before


def test_models_that_look_several_times_are_previewed_and_fitted(ann: ApiUser) -> None:
    before = left(ann)
    asked = ASKED | {"model": "logistic", "c": 2.0, "epsilon": 0.5}
    told = ann.post("previews", asked).json()["result"]
    assert told["groups"] == []
    sums = {f"noise of sums that find the {what}" for what in ("middle", "width")}
    assert set(told["known_ahead"]) == {"noise of the linear term", "ridge", *sums}
    plain = ann.post("previews", asked | {"centring": 0}).json()["result"]
    assert set(plain["known_ahead"]) == {"noise of the linear term", "ridge"}
    assert left(ann) == before
    made = ann.post("questions", asked).json()["result"]["model"]
    model = model_from_json(json.dumps(made))
    assert model.coef_.shape == (len(model.classes_), 1)
    assert made["event"] == told["event"]
    assert before - left(ann) == pytest.approx(0.5)
