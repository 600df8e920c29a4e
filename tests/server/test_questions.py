"""Asking over HTTP: answers, refusals, jobs, and who sees what."""

import json
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError
from sqlalchemy import text

from discreet.core.guarantee import PureDP
from discreet.release import Release
from discreet.server.api.questions import Question
from discreet.server.state import jobs
from tests.server.running_service import COUNT, RunningService

pytestmark = pytest.mark.xdist_group("server")


def test_a_question_is_answered_with_a_release(running_service: RunningService) -> None:
    ann = running_service.analyst()
    reply = ann.ask("SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward", 0.5)
    assert reply.status_code == 200, reply.text
    told = reply.json()
    assert told["phase"] == "finished"
    assert [row["ward"] for row in told["result"]["rows"]] == ["medicine", "surgery", "children"]
    release = Release.from_json(json.dumps(told["result"]["release"]))
    assert isinstance(release.guarantee, PureDP)
    assert float(release.guarantee.epsilon) == 0.5


def test_the_same_question_again_is_the_same_release_and_free(
    running_service: RunningService,
) -> None:
    ann = running_service.analyst(PureDP(epsilon=0.3))
    first = ann.ask(epsilon=0.2).json()
    again = ann.ask(epsilon=0.2).json()
    assert again["result"] == first["result"]
    assert again["release"] == first["release"]
    assert ann.ask(epsilon=0.1).status_code == 200
    refused = ann.ask(epsilon=0.05)
    assert (refused.status_code, refused.json()["code"]) == (409, "budget_exhausted")


def test_another_analyst_is_answered_afresh_and_pays(running_service: RunningService) -> None:
    ann, bob = running_service.analyst(), running_service.analyst(PureDP(epsilon=0.2))
    theirs, own = ann.ask(epsilon=0.2).json(), bob.ask(epsilon=0.2).json()
    assert own["result"]["release"]["id"] != theirs["result"]["release"]["id"]
    assert bob.ask("SELECT COUNT(*) AS m FROM visits WHERE age > 3").status_code == 409


def test_a_refusal_says_where_and_is_free(running_service: RunningService) -> None:
    ann = running_service.analyst(PureDP(epsilon=0.1))
    refused = ann.ask("SELECT COUNT(*) AS n FROM visit").json()
    assert refused["code"] == "unknown_table"
    assert COUNT.replace("visits", "visit")[refused["start"] : refused["end"]] == "visit"
    assert ann.ask("SELEC COUNT(*) FROM visits").json()["code"] == "sql_syntax"
    assert ann.ask(epsilon=0.1).status_code == 200


def test_a_job_of_another_is_as_unknown_as_one_that_never_was(
    running_service: RunningService,
) -> None:
    ann, bob = running_service.analyst(), running_service.analyst()
    job = ann.ask().json()["job"]
    assert ann.get(f"jobs/{job}").json()["result"]["rows"]
    seen, unseen = bob.get(f"jobs/{job}"), bob.get(f"jobs/{'0' * 32}")
    assert seen.status_code == unseen.status_code == 404
    assert {**seen.json(), "received": ""} == {**unseen.json(), "received": ""}


def test_nobody_is_let_in_without_a_valid_token(running_service: RunningService) -> None:
    ann = running_service.analyst()
    for header in ({}, {"Authorization": f"Bearer dsc_{'0' * 64}"}, {"Authorization": "Basic x"}):
        reply = ann.http.post(
            "/api/v1/questions",
            json={"sql": COUNT, "epsilon": 0.1},
            headers={"Authorization": "", **header},
        )
        assert (reply.status_code, reply.json()["code"]) == (401, "not_let_in")


def test_giving_up_one_job_many_times_at_once_is_looked_at_once(
    running_service: RunningService, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A front elsewhere has the lease for a second; forty requests wait for it meanwhile."""
    ann, looked, is_worked_on = running_service.analyst(), list[float](), jobs.is_worked_on
    job = ann.ask().json()["job"]
    lease = text(
        "UPDATE jobs SET lease_until = :until, release_id = NULL, result = NULL WHERE id = :job"
    )

    def set_lease(until: int) -> None:
        state = running_service.service.runtime.state
        values = {"until": until, "job": job}
        state.write_now(lambda connection: connection.execute(lease, values))

    def counted(*args: Any) -> bool:
        looked.append(time.monotonic())
        return is_worked_on(*args)

    monkeypatch.setattr(jobs, "is_worked_on", counted)
    set_lease(2**60)
    with ThreadPoolExecutor(40) as threads:
        told = [threads.submit(ann.delete, f"jobs/{job}") for _ in range(40)]
        time.sleep(1.0)
        assert not any(each.done() for each in told)
        set_lease(1)
        assert {each.result().status_code for each in told} == {200}
    seconds = looked[-1] - looked[0]
    assert len(looked) < 2 + seconds / 0.05, "as often as one of them would look"


def test_ids_and_keys_of_somebody_else_are_of_no_use(running_service: RunningService) -> None:
    """Reservations are named after jobs: nobody chooses a job's id, or comes to another's."""
    ann, bob = running_service.analyst(), running_service.analyst()
    body, key = {"sql": COUNT, "epsilon": 0.1}, {"Idempotency-Key": "the same"}
    first, other = (each.post("questions", body, headers=key).json() for each in (ann, bob))
    assert first["job"] != other["job"]
    assert (first["charged"], other["charged"]) == (True, True)
    assert first["result"]["release"]["id"] != other["result"]["release"]["id"]
    for named in ("id", "job", "reservation", "reservation_id"):
        assert bob.post("questions", {**body, named: first["job"]}).status_code == 422
    again = bob.post("questions", body, headers={"Idempotency-Key": first["job"]}).json()
    assert again["job"] not in (first["job"], other["job"])
    assert (again["charged"], again["release"]) == (False, other["release"])
    for way in (bob.get, bob.delete):
        assert way(f"jobs/{first['job']}").status_code == 404
    for each in (ann, bob):
        (account,) = each.get("account").json()["accounts"]
        assert account["spent"] == {"epsilon": 0.1}


@pytest.mark.parametrize(
    "body",
    [
        {f"k{number}": 1 for number in range(60_000)},
        {"sql": "SELECT 1", "accuracy": {f"k{number}": 1 for number in range(60_000)}},
        {"kind": "batch", "queries": {"a": [[number] for number in range(30_000)]}},
    ],
    ids=["fields", "names", "entries"],
)
def test_a_body_of_many_parts_is_refused_in_one_look(body: dict[str, Any]) -> None:
    """Each part that fits nowhere took the loop's time for all who ask: 60 000 of them .2 s."""
    begun = time.process_time()
    with pytest.raises(ValidationError, match="at most 20,000 parts") as refused:
        TypeAdapter(Question).validate_python(body)
    assert len(refused.value.errors()) == 1
    assert time.process_time() - begun < 0.05
