"""Every kind of question, over HTTP: what it answers, what it costs, and what is free."""

import json

import polars as pl
import pytest

import discreet as dp
from discreet.core.guarantee import ApproxDP, PureDP
from discreet.curator.synopsis.stored_form import synopsis_from_json
from discreet.release import Release
from discreet.server.jobs.batch import independent
from tests.server.running_service import COUNT, WARDS, ApiUser, RunningService

pytestmark = pytest.mark.xdist_group("server")
BY_WARD = "SELECT ward, COUNT(*) AS n, AVG(age) AS age FROM visits GROUP BY ward"
UNIVERSE = {"table": "visits", "columns": ["ward"], "expressions": {"old": "age >= 50"}}
TALK = {
    "kind": "conversation",
    "universe": UNIVERSE,
    "epsilon": 20,
    "about": 500,
    "updates": 3,
    "questions": 10,
}


@pytest.fixture(scope="module")
def ann(running_service: RunningService) -> ApiUser:
    return running_service.analyst(PureDP(epsilon=100))


def left(user: ApiUser) -> float:
    (account,) = user.get("account").json()["accounts"]
    return float(account["remaining"]["epsilon"])


def test_a_preview_says_errors_and_price_and_costs_nothing(ann: ApiUser) -> None:
    before = left(ann)
    told = ann.post("previews", {"sql": BY_WARD, "epsilon": 0.5}).json()["result"]
    assert told["price"] == {"epsilon": 0.5}
    assert told["columns"][0]["half_width"] > 0
    assert told["cells"] == 3
    assert "such questions left" in told["text"]
    assert left(ann) == before


def test_an_accuracy_has_a_price_and_is_bought_at_it(ann: ApiUser) -> None:
    wanted = {"sql": COUNT, "accuracy": {"n": {"within": 20}}}
    price = ann.post("previews", wanted).json()["result"]["price"]["epsilon"]
    before = left(ann)
    told = ann.post("questions", wanted).json()
    assert told["result"]["rows"][0]["n_upper"] - told["result"]["rows"][0]["n"] <= 20
    assert before - left(ann) == pytest.approx(price, rel=1e-6)


def test_a_price_may_stand_in_the_text(ann: ApiUser) -> None:
    before = left(ann)
    text = f"SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=0.25) {COUNT.removeprefix('SELECT ')}"
    assert ann.post("questions", {"sql": text}).status_code == 200
    assert before - left(ann) == pytest.approx(0.25)


def test_a_question_without_a_price_is_refused_for_nothing(ann: ApiUser) -> None:
    before = left(ann)
    assert ann.post("questions", {"sql": COUNT}).json()["code"] == "spend_or_accuracy"
    both = {"sql": COUNT, "epsilon": 0.1, "rho": 0.1}
    assert ann.post("questions", both).json()["code"] == "spend_unclear"
    assert left(ann) == before


def test_a_batch_answers_by_name_at_one_price(ann: ApiUser) -> None:
    before = left(ann)
    queries = {"total": COUNT, "by_ward": "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"}
    told = ann.post("questions", {"kind": "batch", "queries": queries, "epsilon": 0.5}).json()
    assert before - left(ann) == pytest.approx(0.5)
    named = {
        name: Release.from_json(json.dumps(each["release"]))
        for name, each in told["result"]["batch"].items()
    }
    assert [row["ward"] for row in named["by_ward"]] == WARDS
    assert len(list(named["total"])) == 1
    refused = ann.post(
        "questions", {"kind": "batch", "queries": {"bad": "SELECT nope FROM visits"}, "epsilon": 1}
    )
    assert '"bad"' in refused.json()["expectation"]


def test_independent_answers_are_told_where_a_batch_made_answers_agree() -> None:
    visits = dp.table(
        pl.DataFrame({"ward": ["A", "B"] * 50}),
        columns={"ward": dp.Category(["A", "B"])},
        unit=dp.Row(),
    )
    curator = dp.Curator(visits=visits, budget=dp.PureDP(epsilon=1), ledger=dp.ledger.Memory())
    asked = {"total": COUNT, "by_ward": "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"}
    batch = curator.batch(asked, spend=dp.PureDP(epsilon=1))
    told = independent(batch)
    assert {name: Release.from_json(json.dumps(each)) for name, each in told.items()} == {
        name: batch.unprocessed[name] for name in asked
    }


def test_a_synopsis_is_paid_for_once_and_asked_freely(ann: ApiUser) -> None:
    asked = {"kind": "synopsis", "universe": UNIVERSE, "epsilon": 0.5, "mechanism": "marginals"}
    ahead = ann.post("previews", asked).json()["result"]
    before = left(ann)
    told = ann.post("questions", asked).json()
    assert before - left(ann) == pytest.approx(0.5)
    assert ahead["price"] == {"epsilon": 0.5}
    made = synopsis_from_json(json.dumps(told["result"]["synopsis"]))
    key = told["release"]
    rows = ann.post(f"synopses/{key}/queries", {"by": ["ward"]}).json()["result"]["rows"]
    assert [row["ward"] for row in rows] == WARDS
    assert [row["n"] for row in rows] == [row["n"] for row in made.table("ward")]
    where = [{"ward": "medicine"}, {"ward": ["surgery", "children"], "old": True}]
    answers = ann.post(f"synopses/{key}/queries", {"where": where}).json()["result"]["answers"]
    assert answers[0] == pytest.approx(rows[0]["n"])
    assert ann.post(f"synopses/{key}/queries", {}).json()["code"] == "by_or_where"
    assert before - left(ann) == pytest.approx(0.5)


def test_a_universe_is_told_with_its_values_and_named_again_by_its_questions(ann: ApiUser) -> None:
    told = ann.post("previews", {"kind": "universe", "universe": UNIVERSE}).json()["result"]
    assert [each[0] for each in told["attributes"]] == ["ward", "old"]
    assert told["attributes"][0][2] == WARDS
    again = {"kind": "universe", "universe": {"questions": told["questions"]}}
    assert ann.post("previews", again).json()["result"] == told
    both = {"kind": "universe", "universe": {**UNIVERSE, "questions": told["questions"]}}
    assert ann.post("previews", both).json()["code"] == "universe_unclear"


def test_a_synopsis_is_made_for_the_marginals_that_are_named(ann: ApiUser) -> None:
    asked = {"kind": "synopsis", "universe": UNIVERSE, "epsilon": 0.5}
    ahead = ann.post("previews", {**asked, "marginals": [["old"], ["ward", "old"]]}).json()
    assert [each["attributes"] for each in ahead["result"]["marginals"]] == [
        ["old"],
        ["ward", "old"],
    ]


def test_an_error_says_of_which_family_it_is(running_service: RunningService) -> None:
    ann = running_service.analyst(PureDP(epsilon=0.1))
    assert ann.ask("SELECT nope FROM visits").json()["family"] == "parameter"
    assert ann.ask(epsilon=0.2).json()["family"] == "exhausted"


def test_bounds_are_estimated_and_paid_for(running_service: RunningService) -> None:
    bob = running_service.analyst(ApproxDP(epsilon=50, delta=1e-6))
    asked = {"kind": "bounds", "table": "visits", "column": "age", "epsilon": 20}
    told = bob.post("questions", asked).json()["result"]
    assert told["column"] == "age"
    assert told["high"] >= 64


def test_a_conversation_goes_on_over_several_requests(ann: ApiUser) -> None:
    asked = TALK
    before = left(ann)
    opened = ann.post("questions", asked).json()
    key = opened["result"]["conversation"]
    where = {"where": [{"ward": "medicine"}, {"old": True}]}
    replies = ann.post(f"conversations/{key}/questions", where).json()["result"]["replies"]
    assert [reply["number"] for reply in replies] == [1, 2]
    again = ann.post(f"conversations/{key}/questions", where).json()["result"]["replies"]
    assert [reply["number"] for reply in again] == [3, 4]
    estimate = ann.post(f"conversations/{key}/estimate", {"by": ["ward"]}).json()["result"]
    assert [row["ward"] for row in estimate["rows"]] == WARDS
    whole = ann.post(f"conversations/{key}/estimate", {}).json()["result"]
    assert whole["asked"] == 4
    assert [
        row["n"] for row in synopsis_from_json(json.dumps(whole["synopsis"])).table("ward")
    ] == [row["n"] for row in estimate["rows"]]
    assert before - left(ann) == pytest.approx(20)
    assert [each["conversation"] for each in ann.get("conversations").json()["items"]] == [key]
    assert ann.delete(f"conversations/{key}").json()["result"] == {"closed": True}
    assert ann.post(f"conversations/{key}/questions", where).status_code in (400, 409, 503)


def test_a_conversation_of_another_is_unknown(
    running_service: RunningService, ann: ApiUser
) -> None:
    key = ann.post("questions", TALK).json()["result"]["conversation"]
    eve = running_service.analyst()
    refused = eve.post(f"conversations/{key}/questions", {"where": [{"old": True}]})
    assert (refused.status_code, refused.json()["code"]) == (404, "conversation_unknown")


def test_history_holds_what_was_asked_and_pages(running_service: RunningService) -> None:
    ann = running_service.analyst()
    for epsilon in (0.01, 0.02, 0.03):
        ann.ask(epsilon=epsilon)
    ann.ask("SELECT nonsense FROM visits")
    ann.post("previews", {"sql": COUNT, "epsilon": 0.1})
    page = ann.get("history", params={"count": 2}).json()
    rest = ann.get("history", params={"count": 2, "after": page["next"]}).json()
    items = page["items"] + rest["items"]
    assert [each["phase"] for each in items] == ["failed", "finished", "finished", "finished"]
    assert [each["charged"] for each in items] == [False, True, True, True]
    assert [each["request"]["epsilon"] for each in items] == [0.1, 0.03, 0.02, 0.01]
    assert ann.get("history", params={"after": "x"}).json()["code"] == "page_cursor"


def test_releases_are_kept_and_exported(running_service: RunningService) -> None:
    ann = running_service.analyst()
    told = ann.ask("SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward", 0.5).json()
    key = told["release"]
    (title,) = ann.get("releases").json()["items"]
    assert (title["release"], title["kind"]) == (key, "sql")
    assert ann.get(f"releases/{key}").json()["result"] == told["result"]
    lines = ann.get(f"releases/{key}.csv").text.splitlines()
    assert lines[0] == "ward,n,n_lower,n_upper"
    whole = Release.from_json(ann.get(f"releases/{key}.json").text)
    assert whole.id == told["result"]["release"]["id"]
    assert ann.get(f"releases/{key}.parquet").content[:4] == b"PAR1"
    assert "epsilon 0.5" in ann.get(f"releases/{key}/statement").text
    assert ann.get(f"releases/{key}.exe").status_code == 422
    eve = running_service.analyst()
    for form in ("", ".csv", ".json", "/statement"):
        assert eve.get(f"releases/{key}{form}").status_code == 404


@pytest.mark.slow
def test_a_release_is_drawn(running_service: RunningService) -> None:
    ann = running_service.analyst()
    key = ann.ask("SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward", 0.5).json()["release"]
    assert b"<svg" in ann.get(f"releases/{key}.svg").content


def test_a_purpose_chooses_the_budget_that_pays(running_service: RunningService) -> None:
    ann = running_service.person()
    for purpose in ("beds", "costs"):
        running_service.grant(ann, PureDP(epsilon=1), purpose)
    assert ann.ask().json()["code"] == "account_unclear"
    assert ann.ask(purpose="parties").json()["code"] == "no_grant"
    assert ann.ask(purpose="beds").status_code == 200
    spent = {each["purpose"]: each["spent"] for each in ann.get("account").json()["accounts"]}
    assert spent == {"beds": {"epsilon": 0.1}, "costs": {"epsilon": 0.0}}
    running_service.grant(ann, PureDP(epsilon=1), "beds")
    several = ann.ask(purpose="beds").json()
    assert several["code"] == "account_unclear"
    account = ann.get("account").json()["accounts"][0]["account"]
    assert ann.ask(purpose="beds", account=account).status_code == 200


def test_the_schema_the_settings_and_the_record_are_for_everybody(ann: ApiUser) -> None:
    schema = ann.get("schema").json()
    visits, wards = schema["tables"]
    assert (visits["private"], wards["private"]) == (True, False)
    ward = next(each for each in visits["columns"] if each["name"] == "ward")
    assert ward["values"] == WARDS
    assert ann.get("settings").json()["quantum"] == {"visits": "off"}
    assert ann.get("record").json()["epsilon_set_by"] == "the board"
