"""Rounds: submitted to by the analysts listed, closed in public, each with a share of their own."""

import time
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.server.running_service import ApiUser, RunningService

pytestmark = pytest.mark.xdist_group("server")


def terms(analysts: list[ApiUser], **more: Any) -> dict[str, Any]:
    return {
        "universe": {"table": "visits", "columns": ["ward"]},
        "analysts": [each.person.name for each in analysts],
        "queries_each": 2,
        "spend": {"epsilon": 5, "delta": 1e-6},
        "protects": "query",
        "promise": {"epsilon": 1, "delta": 1e-6},
        "ways": 1,
        **more,
    }


def test_a_round_from_opening_to_shares(running_service: RunningService) -> None:
    ann, bob, eve = running_service.analyst(), running_service.analyst(), running_service.analyst()
    before = running_service.owner.get("budget").json()["spent"]["epsilon"]
    opened = running_service.owner.post("rounds", terms([ann, bob]))
    assert opened.status_code == 201, opened.text
    after = running_service.owner.get("budget").json()["spent"]["epsilon"]
    assert after - before == pytest.approx(5), "it is paid when it is opened, by the whole budget"
    key = opened.json()["round"]
    assert [each["round"] for each in ann.get("rounds").json()["items"]] == [key]
    assert eve.get("rounds").json()["items"] == []
    submit = f"rounds/{key}/submissions"
    assert (
        ann.post(submit, {"where": [{"ward": "medicine"}, {"ward": "surgery"}]}).status_code == 200
    )
    too_many = ann.post(submit, {"where": [{"ward": "medicine"}] * 3})
    assert too_many.status_code == 400, "a refusal is for its own analyst, and what stood stands"
    assert eve.post(submit, {"where": []}).json()["code"] == "round_not_found"
    assert ann.post(f"rounds/{key}/close").status_code == 403
    closed = running_service.owner.post(f"rounds/{key}/close")
    assert closed.json()["closed_at"] is not None, closed.text
    assert ann.post(submit, {"where": []}).json()["code"] == "round_closed"
    shares = {}
    for user in (ann, bob):
        (title,) = user.get("releases").json()["items"]
        shares[user] = user.get(f"releases/{title['release']}").json()["result"]
    assert (len(shares[ann]["answers"]), len(shares[bob]["answers"])) == (2, 0)
    assert shares[ann]["synopsis"] == shares[bob]["synopsis"], "everybody has the same synopsis"
    (title,) = ann.get("releases").json()["items"]
    free = ann.post(f"synopses/{title['release']}/queries", {"by": ["ward"]}).json()["result"]
    assert len(free["rows"]) == 3


def test_a_round_with_a_time_closes_then_and_not_before(running_service: RunningService) -> None:
    ann = running_service.analyst()
    closes = datetime.now(UTC) + timedelta(seconds=6)
    opened = running_service.owner.post("rounds", terms([ann], closes=closes.isoformat())).json()
    key = opened["round"]
    early = running_service.owner.post(f"rounds/{key}/close")
    assert early.json()["code"] == "round_open"
    assert ann.post(f"rounds/{key}/submissions", {"where": []}).status_code == 200
    time.sleep(max(0.0, (closes - datetime.now(UTC)).total_seconds()) + 0.1)
    running_service.call(running_service.service.rounds.close_due())
    assert [each["kind"] for each in ann.get("releases").json()["items"]] == ["round"]


def test_only_people_with_a_process_of_their_own_are_listed(
    running_service: RunningService,
) -> None:
    refused = running_service.owner.post("rounds", terms([running_service.person()]))
    assert refused.json()["code"] == "round_members"
