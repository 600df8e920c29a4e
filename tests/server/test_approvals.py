"""Expensive questions wait for somebody to agree; others' do not matter."""

import time
from collections.abc import Iterator

import pytest

from discreet.core.guarantee import ZCDP, ApproxDP, PureDP
from discreet.server.jobs.kind import is_above
from tests.server.running_service import COUNT, SERVICE, ApiUser, RunningService, running

pytestmark = pytest.mark.xdist_group("server")


@pytest.fixture(scope="module")
def careful(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningService]:
    service = SERVICE + "\n[service.approval]\nepsilon = 0.5\n"
    with running(tmp_path_factory.mktemp("careful"), service=service) as made:
        yield made


def ended(user: ApiUser, job: str) -> dict[str, object]:
    """What became of it; a moment after the owner's word it still waits."""
    for _ in range(3000):
        told: dict[str, object] = user.get(f"jobs/{job}").json()
        if told["phase"] not in ("waiting_for_approval", "accepted", "started"):
            return told
        time.sleep(0.02)
    raise AssertionError(job)


def test_cheap_questions_are_answered_at_once(careful: RunningService) -> None:
    assert careful.analyst().ask(epsilon=0.5).status_code == 200


def test_a_question_that_cannot_be_answered_is_refused_and_not_put_aside(
    careful: RunningService,
) -> None:
    ann = careful.analyst()
    assert ann.ask("SELECT nothing FROM visits", 0.9).status_code == 400
    assert careful.owner.get("approvals").json()["items"] == []


def test_a_question_that_cannot_be_paid_is_refused_and_does_not_wait(
    careful: RunningService,
) -> None:
    ann = careful.analyst(PureDP(epsilon=0.8))
    assert ann.ask(epsilon=0.36).status_code == 200
    batch = {"kind": "batch", "queries": {"a": COUNT}, "epsilon": 0.9}
    for refused in (ann.ask(epsilon=0.9), ann.post("questions", batch)):
        assert refused.status_code == 409, refused.text
        told = refused.json()
        assert (told["code"], told["charged"]) == ("budget_exhausted", False)
        assert "another grant" in told["remedy"]
        assert "0.44" in told["expectation"], "of the asker's own grant"
    assert careful.owner.get("approvals").json()["items"] == []
    cheap = ann.ask(epsilon=0.45)
    assert "another grant" in cheap.json()["remedy"], "below the limit the ledger refuses"


def test_an_expensive_question_waits_and_is_asked_once_agreed(careful: RunningService) -> None:
    ann = careful.analyst(PureDP(epsilon=2))
    waiting = ann.ask(epsilon=0.9)
    assert waiting.status_code == 202
    told = waiting.json()
    assert (told["phase"], told["price"]) == ("waiting_for_approval", {"epsilon": 0.9})
    assert ann.get("account").json()["accounts"][0]["spent"] == {"epsilon": 0.0}
    steward = careful.owner
    (asked,) = steward.get("approvals").json()["items"]
    assert (asked["name"], asked["price"]) == (ann.person.name, {"epsilon": 0.9})
    assert asked["request"]["sql"].startswith("SELECT COUNT")
    assert steward.post(f"approvals/{asked['approval']}/agree", {}).status_code == 200
    assert ended(ann, told["job"])["phase"] == "finished"
    assert steward.get("approvals").json()["items"] == []
    again = ann.ask(epsilon=0.9)
    assert again.status_code == 200, "what was agreed to once is not asked about again"
    assert ann.get("account").json()["accounts"][0]["spent"] == {"epsilon": 0.9}
    assert steward.post(f"approvals/{asked['approval']}/agree", {}).status_code == 404


def test_what_was_agreed_to_is_one_request_and_no_other(careful: RunningService) -> None:
    ann, bob = careful.analyst(PureDP(epsilon=9)), careful.analyst(PureDP(epsilon=9))
    job = ann.ask(epsilon=0.6).json()["job"]
    (asked,) = careful.owner.get("approvals").json()["items"]
    careful.owner.post(f"approvals/{asked['approval']}/agree", {})
    assert ended(ann, job)["phase"] == "finished"
    others = [ann.ask(epsilon=0.7), bob.ask(epsilon=0.6)]
    for reply in others:
        assert reply.json()["phase"] == "waiting_for_approval"
    for user, reply in zip((ann, bob), others, strict=True):
        user.delete(f"jobs/{reply.json()['job']}")


def test_a_price_that_the_limit_does_not_name_is_above_it() -> None:
    assert is_above(ZCDP(rho=0.001), {"epsilon": 1.0})
    assert is_above(ApproxDP(epsilon=0.1, delta=1e-9), {"epsilon": 1.0})
    assert not is_above(ApproxDP(epsilon=1, delta=0), {"epsilon": 1.0})
    assert not is_above(PureDP(epsilon=1), {"epsilon": 1.0, "delta": 1e-6})
    assert is_above(PureDP(epsilon=1.01), {"epsilon": 1.0})


def test_a_declined_question_is_refused_and_free(careful: RunningService) -> None:
    ann = careful.analyst(PureDP(epsilon=2))
    job = ann.ask(epsilon=0.8).json()["job"]
    (asked,) = careful.owner.get("approvals").json()["items"]
    reason = {"reason": "too dear"}
    assert careful.owner.post(f"approvals/{asked['approval']}/decline", reason).status_code == 200
    told = ended(ann, job)
    assert told["phase"] == "failed"
    assert told["error"]["code"] == "approval_declined"  # type: ignore[index]
    assert ann.get("account").json()["accounts"][0]["spent"] == {"epsilon": 0.0}


def test_a_question_that_waits_can_be_given_up(careful: RunningService) -> None:
    ann = careful.analyst(PureDP(epsilon=2))
    job = ann.ask(epsilon=0.7).json()["job"]
    assert ann.delete(f"jobs/{job}").json()["phase"] == "cancelled"
    assert careful.owner.get("approvals").json()["items"] == []
    assert ann.get("account").json()["accounts"][0]["spent"] == {"epsilon": 0.0}


def test_other_kinds_wait_too(careful: RunningService) -> None:
    ann = careful.analyst(PureDP(epsilon=50))
    batch = {"kind": "batch", "queries": {"n": "SELECT COUNT(*) AS n FROM visits"}, "epsilon": 1}
    universe = {"table": "visits", "columns": ["ward"]}
    synopsis = {"kind": "synopsis", "universe": universe, "epsilon": 1, "mechanism": "marginals"}
    bounds = {"kind": "bounds", "table": "visits", "column": "age", "epsilon": 1}
    exact = {"sql": "SELECT COUNT(*) AS n FROM visits", "accuracy": {"n": {"within": 1}}}
    fit = {"kind": "fit", "sql": "SELECT age FROM visits", "model": "scaler", "epsilon": 1}
    wrong = ann.post("questions", fit | {"bounds": [1, 0]}).json()
    assert wrong["code"] == "bounds_missing", "nobody is asked to agree to what cannot be done"
    for asked in (batch, synopsis, bounds, exact, fit):
        assert ann.post("questions", asked).json()["phase"] == "waiting_for_approval", asked
