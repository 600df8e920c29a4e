"""What owners, stewards and auditors do: budgets, the ledger, publications, amendments."""

import json
from typing import Any

import pytest

from discreet.core.guarantee import ApproxDP, PureDP
from discreet.server.rights import PersonRole
from discreet.server.soundness import CHECKS, findings, same_as_kept
from tests.server.running_service import ApiUser, RunningService

pytestmark = pytest.mark.xdist_group("server")
BY_WARD = "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"


def answered(user: ApiUser, epsilon: float = 0.5) -> dict[str, object]:
    told: dict[str, object] = user.ask(BY_WARD, epsilon).json()
    return told


# Budgets ---------------------------------------------------------------------------------------


def test_a_grant_is_set_aside_at_once_and_counts_in_full(running_service: RunningService) -> None:
    before = running_service.owner.get("budget").json()
    ann = running_service.person()
    grant = {"name": ann.person.name, "purpose": "beds", "epsilon": 2, "delta": 1e-6}
    made = running_service.owner.post("grants", grant)
    assert made.status_code == 201, made.text
    after = running_service.owner.get("budget").json()
    spent = after["spent"]["epsilon"] - before["spent"]["epsilon"]
    assert spent == pytest.approx(2)
    assert after["accounts"][made.json()["account"]]["remaining"] == {"epsilon": 2.0, "delta": 1e-6}


def test_a_grant_beyond_the_budget_is_refused_and_leaves_nothing(
    running_service: RunningService,
) -> None:
    ann = running_service.person()
    grant = {"name": ann.person.name, "purpose": "beds", "epsilon": 10**6}
    assert running_service.owner.post("grants", grant).json()["code"] == "budget_exhausted"
    assert ann.ask().json()["code"] == "no_grant"
    unclear = {"name": ann.person.name, "purpose": "beds"}
    assert running_service.owner.post("grants", unclear).json()["code"] == "spend_or_accuracy"
    nobody = {"name": "nobody", "purpose": "beds", "epsilon": 1}
    assert running_service.owner.post("grants", nobody).status_code == 404


def test_a_grant_that_was_interrupted_is_finished_at_the_next_start(
    running_service: RunningService,
) -> None:
    from discreet.server.state import grants

    ann = running_service.person()
    made = running_service.service.runtime.state.write_now(
        grants.add,
        person=ann.person.id,
        purpose="beds",
        budget=PureDP(epsilon=1),
        made_by=running_service.owner.person.id,
        most_people=64,
    )
    assert ann.ask().json()["code"] == "no_grant", "what is not set aside pays for nothing"
    running_service.call(running_service.service.budgets.finish())
    assert ann.ask().status_code == 200
    assert running_service.owner.get("budget").json()["accounts"][made.account]["spent"] == {
        "epsilon": 0.1
    }


def test_what_an_analyst_sees_does_not_depend_on_others(running_service: RunningService) -> None:
    ann, bob = running_service.analyst(), running_service.analyst()
    ann.ask()
    before = {path: ann.get(path).json() for path in ("account", "history", "releases", "schema")}
    for epsilon in (0.1, 0.2, 0.3):
        bob.ask(epsilon=epsilon)
    running_service.grant(bob, PureDP(epsilon=3))
    after = {path: ann.get(path).json() for path in before}
    assert after == before


def test_the_burn_down_tells_who_spent_what_when(running_service: RunningService) -> None:
    ann = running_service.analyst()
    for epsilon in (0.01, 0.02):
        ann.ask(epsilon=epsilon)
    charges, after = [], None
    while True:
        page = running_service.owner.get(
            "budget/charges", params={"count": 200, "after": after or "0"}
        ).json()
        charges += page["items"]
        after = page["next"]
        if after is None:
            break
    own = [each["charge"] for each in charges if each["analyst"] == ann.person.name]
    assert own == [{"epsilon": 0.01}, {"epsilon": 0.02}]


def test_the_ledger_is_read_and_verified_by_an_auditor(running_service: RunningService) -> None:
    auditor = running_service.person(PersonRole.AUDITOR)
    page = auditor.get("ledger/entries", params={"count": 3}).json()
    assert [each["number"] for each in page["items"]] == [1, 2, 3]
    assert page["items"][0]["kind"] == "opened"
    rest = auditor.get("ledger/entries", params={"count": 1, "after": page["next"]}).json()
    assert rest["items"][0]["number"] == 4
    assert auditor.post("ledger/verification", {}).json()["verified"]
    wrong = auditor.post("ledger/verification", {"checkpoint": "nonsense"})
    assert wrong.status_code == 400
    assert auditor.post("grants", {}).status_code == 403


def test_an_amendment_needs_every_number_and_a_reason(running_service: RunningService) -> None:
    before = running_service.owner.get("budget").json()["budget"]
    refused = running_service.owner.post("amendments", {"epsilon": 2000, "reason": "board"})
    assert refused.json()["code"] == "amendment_numbers"
    body = {"epsilon": before["epsilon"] + 1, "delta": before["delta"], "reason": "the board"}
    assert running_service.owner.post("amendments", body).status_code == 201
    low = {"epsilon": 0.001, "delta": before["delta"], "reason": "no"}
    assert running_service.owner.post("amendments", low).json()["code"] == "limit_below_spent"
    steward = running_service.person(PersonRole.STEWARD)
    assert steward.post("amendments", body).status_code == 403
    assert running_service.analyst().ask().status_code == 200, "workers go on under the new budget"
    entries = running_service.owner.get("audit-log").json()["items"]
    assert any(each["what"] == "amend" for each in entries)


# Publications ----------------------------------------------------------------------------------


def test_what_is_published_everybody_reads_without_knowing_whose_it_is(
    running_service: RunningService,
) -> None:
    ann, bob = running_service.analyst(), running_service.analyst()
    key = answered(ann)["release"]
    assert bob.get(f"releases/{key}").status_code == 404
    body = {"title": "Wards in 2024", "releases": [key]}
    made = running_service.owner.post("publications", body)
    assert (made.status_code, made.json()["verdict"]) == (201, "published"), made.text
    read = bob.get(f"publications/{made.json()['publication']}").json()
    shown, own = read["releases"][0]["result"], ann.get(f"releases/{key}").json()["result"]
    assert shown["rows"] == own["rows"]
    assert shown["release"]["measures"] == own["release"]["measures"]
    for told in (shown, bob.get(f"releases/{key}").json()["result"]):
        assert "budget" in own["release"]["statement"]
        assert not [name for name in told["release"]["statement"] if "budget" in name]
    assert "share that paid" in ann.get(f"releases/{key}/statement").text
    assert "share that paid" not in bob.get(f"releases/{key}/statement").text
    for form in ("json", "csv"):
        assert "share that paid" not in bob.get(f"releases/{key}.{form}").text
    assert "budget" not in bob.get(f"releases/{key}.json").text
    assert ann.person.name not in json.dumps(read)
    assert ann.person.id not in json.dumps(read)
    assert bob.get(f"releases/{key}.csv").status_code == 200
    assert bob.get("releases").json()["items"] == [], "it is not one's own"


@pytest.mark.parametrize("kind", ["batch", "synopsis"])
def test_other_kinds_are_published_too(running_service: RunningService, kind: str) -> None:
    ann, bob = running_service.analyst(PureDP(epsilon=20)), running_service.analyst()
    universe = {"table": "visits", "columns": ["ward"]}
    asked: dict[str, object] = {"kind": kind, "epsilon": 5}
    asked |= (
        {"queries": {"wards": BY_WARD, "all": "SELECT COUNT(*) AS n FROM visits"}}
        if kind == "batch"
        else {"universe": universe, "mechanism": "marginals"}
    )
    key = ann.post("questions", asked).json()["release"]
    made = running_service.owner.post("publications", {"title": kind, "releases": [key]}).json()
    assert made["verdict"] == "published", made
    name = {"name": "wards"} if kind == "batch" else {}
    read = bob.get(f"publications/{made['publication']}").text
    assert "budget" not in read
    statement = bob.get(f"releases/{key}/statement", params=name)
    assert statement.status_code == 200
    assert "epsilon 20" not in statement.text


def test_one_bad_release_holds_the_whole_publication(running_service: RunningService) -> None:
    ann, bob = running_service.analyst(), running_service.analyst()
    good, bad = answered(ann, 0.4)["release"], answered(ann, 0.3)["release"]
    tampered(running_service, str(bad))
    made = running_service.owner.post(
        "publications", {"title": "both", "releases": [good, bad]}
    ).json()
    assert made["verdict"] == "held"
    assert {each["release"] for each in made["findings"]} == {bad}
    key = made["publication"]
    assert bob.get(f"publications/{key}").status_code == 404
    assert bob.get(f"releases/{good}").status_code == 404, "nothing of it is out"
    assert running_service.owner.get(f"publications/{key}").json()["findings"] == made["findings"]
    listed = bob.get("publications", params={"count": 200}).json()["items"]
    assert key not in {each["publication"] for each in listed}


def tampered(running_service: RunningService, key: str) -> None:
    """Change a number of a stored release, as somebody with the database could."""
    from sqlalchemy import text

    def change(connection: object) -> None:
        found = connection.execute(  # type: ignore[attr-defined]
            text("SELECT document FROM releases WHERE id = :id"), {"id": key}
        ).scalar_one()
        document = json.loads(found)
        nudge(document["release"], 40)
        connection.execute(  # type: ignore[attr-defined]
            text("UPDATE releases SET document = :new WHERE id = :id"),
            {"new": json.dumps(document), "id": key},
        )

    running_service.service.runtime.state.write_now(change)


def nudge(release: dict[str, Any], by: int) -> None:
    """Change the first noisy value."""
    measure = release["measures"][0]
    measure["steps" if "steps" in measure else "values"][0] += by


def test_a_publication_needs_a_title_and_releases_that_are_there(
    running_service: RunningService,
) -> None:
    key = answered(running_service.analyst())["release"]
    for wrong in (
        {"title": " ", "releases": [key]},
        {"title": "x", "releases": [key, key]},
    ):
        assert (
            running_service.owner.post("publications", wrong).json()["code"] == "publication_terms"
        )
    unknown = {"title": "x", "releases": ["0" * 32]}
    assert running_service.owner.post("publications", unknown).json()["code"] == "release_unknown"


@pytest.fixture(scope="module")
def sound(running_service: RunningService) -> dict[str, object]:
    result: dict[str, object] = answered(running_service.analyst(PureDP(epsilon=3)), 2.0)["result"]  # type: ignore[assignment]
    return result


def changed(sound: dict[str, object], **parts: object) -> str:
    release = json.loads(json.dumps(sound["release"]))
    return json.dumps({"release": {**release, **parts}})


def test_a_sound_release_passes_every_check(sound: dict[str, object]) -> None:
    assert findings("key", json.dumps(sound)) == []


def test_each_check_finds_its_own_mistake(sound: dict[str, object]) -> None:
    release = json.loads(json.dumps(sound["release"]))
    impossible = json.loads(json.dumps(release))
    nudge(impossible, -(10**15))
    planted = {
        "private": changed(sound, statement={**release["statement"], "private": False}),
        "distinct": changed(sound, keys=[["ward", "text", ["medicine"] * 3]]),
        "possible": changed(sound, measures=impossible["measures"]),
        "whole": changed(
            sound,
            answers=[
                {
                    **release["answers"][0],
                    "interval": {"lower": [900, 0, 0], "upper": [999, 9999, 9999]},
                }
            ],
        ),
    }
    assert set(planted) == set(CHECKS)
    for name, document in planted.items():
        assert name in {each.check for each in findings("key", document)}, name
    lie = {**release["guarantee"], "epsilon": {"ratio": ["1", "100"]}}
    for unreadable in ("{}", changed(sound, guarantee=lie)):
        assert findings("key", unreadable)[0].check == "readable"
    assert findings("key", '{"release": {"version": 1}}')[0].check == "readable"


def test_the_ledgers_numbers_are_compared_with_those_published(sound: dict[str, object]) -> None:
    document = json.dumps(sound)
    kept = {"release": json.dumps(sound["release"])}
    assert same_as_kept("key", document, kept) == []
    assert same_as_kept("key", document, None)[0].check == "sealed"
    other = json.loads(json.dumps(sound["release"]))
    nudge(other, 1)
    assert same_as_kept("key", document, {"release": json.dumps(other)})[0].check == "sealed"


def test_a_budget_in_pairs_pays_gaussian_answers(running_service: RunningService) -> None:
    ann = running_service.analyst(ApproxDP(epsilon=1, delta=1e-6))
    told = ann.ask(epsilon=0.5, delta=1e-7)
    assert told.status_code == 200
    key = told.json()["release"]
    made = running_service.owner.post("publications", {"title": "gauss", "releases": [key]}).json()
    assert made["verdict"] == "published", made
