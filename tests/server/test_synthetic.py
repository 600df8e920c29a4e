"""Synthetic tables at a service: made and paid for once, sampled by whoever has the model."""

import json
from typing import Any

import pytest

import discreet as dp
from discreet.core.guarantee import PureDP
from discreet.server.soundness import findings, same_as_kept
from discreet.synthetic.encoding.category_column import CategoryColumn
from discreet.synthetic.evaluation.evaluate import evaluate
from discreet.synthetic.stored_form import synthetic_from_json
from tests.server.running_service import ApiUser, RunningService

pytestmark = pytest.mark.xdist_group("server")
ASKED: dict[str, Any] = {
    "kind": "synthesize",
    "table": "visits",
    "columns": ["ward", "age"],
    "bins": 6,
    "mechanism": "independent",
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
    assert before - left(ann) == pytest.approx(1)
    made = synthetic_from_json(json.dumps(told["result"]["synthetic"]))
    assert made.private
    assert list(made.sample(20)) == ["ward", "age"]
    assert told["result"]["rows"]
    again = ann.post("questions", ASKED).json()
    assert again["result"]["synthetic"] == told["result"]["synthetic"]
    assert before - left(ann) == pytest.approx(1)


def test_what_cannot_be_made_is_refused_for_nothing(ann: ApiUser) -> None:
    before = left(ann)
    assert ann.post("questions", ASKED | {"columns": ["height"]}).json()["code"] == "column_unknown"
    assert ann.post("questions", ASKED | {"mechanism": "gan"}).status_code == 422
    assert left(ann) == before


def test_a_model_passes_the_checks_of_publications_and_a_changed_one_does_not(ann: ApiUser) -> None:
    document = ann.post("questions", ASKED).json()["result"]
    assert findings("r1", json.dumps(document)) == []
    kept = {"synthetic": document["synthetic"]["id"], "plain": document["synthetic"]["model"]}
    assert same_as_kept("r1", json.dumps(document), kept) == []
    other = {**kept, "plain": {**kept["plain"], "total": 1.0}}
    assert [each.check for each in same_as_kept("r1", json.dumps(document), other)] == ["sealed"]
    test_mode = json.loads(json.dumps(document))
    test_mode["release"]["statement"]["private"] = False
    assert "private" in [each.check for each in findings("r1", json.dumps(test_mode))]


def test_an_evaluation_that_is_not_private_is_refused() -> None:
    table = {"ward": ["A", "B"] * 50}
    columns = {"ward": CategoryColumn(["A", "B"])}
    open_one = evaluate(table, table, columns=columns, ways=[1])
    (found,) = findings("r1", open_one.to_json())
    assert found.check == "private"
    for private in (False, "true", 1, None):
        document = json.dumps({"evaluation": {"private": private}})
        assert [each.check for each in findings("r1", document)] == ["private"]
    assert [each.check for each in findings("r1", '{"evaluation": 3}')] == ["private"]
    paid = evaluate(
        table, table, columns=columns, ways=[1], spend=dp.PureDP(epsilon=1), unit=dp.Row()
    )
    assert "private" not in [each.check for each in findings("r1", paid.to_json())]
