"""Answers leave at the quantum; what comes before tells nothing; overruns are few."""

import asyncio
import os
import signal
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

from discreet.core.guarantee import PureDP
from tests.server.running_service import COUNT, SERVICE, RunningService, running

pytestmark = pytest.mark.xdist_group("server")
QUANTUM = 0.8
TALK = {
    "kind": "conversation",
    "universe": {"table": "visits", "columns": ["ward"], "expressions": {"old": "age >= 50"}},
    "epsilon": 20,
    "about": 500,
    "updates": 3,
    "questions": 10,
}


@pytest.fixture(scope="module")
def padded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningService]:
    service = SERVICE.replace('quantum = "off"', f"quantum = {QUANTUM}\nstep = 2\noverruns = 50")
    with running(tmp_path_factory.mktemp("padded"), service=service) as made:
        yield made


@pytest.fixture(scope="module")
def hurried(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningService]:
    service = SERVICE.replace('quantum = "off"', "quantum = 0.0001\nstep = 2\noverruns = 2")
    with running(tmp_path_factory.mktemp("hurried"), service=service) as made:
        yield made


def seconds(began: float) -> float:
    return time.monotonic() - began


def test_an_answer_leaves_at_a_level(padded: RunningService) -> None:
    ann = padded.analyst()
    ann.ask(epsilon=0.01)
    for epsilon in (0.02, 0.01):  # one is bought, one is read again: alike
        began = time.monotonic()
        assert ann.ask(epsilon=epsilon).status_code == 200
        took = seconds(began)
        slot = min((QUANTUM * 2**k for k in range(6)), key=lambda each: abs(took - each))
        assert -0.02 < took - slot < 0.5


def test_a_refusal_that_data_had_no_part_in_leaves_at_once(padded: RunningService) -> None:
    ann = padded.analyst()
    ann.post("previews", {"sql": COUNT, "epsilon": 1})
    began = time.monotonic()
    for _ in range(3):
        assert ann.ask("SELECT nothing FROM visits").status_code == 400
        assert ann.post("previews", {"sql": COUNT, "epsilon": 1}).status_code == 200
    assert seconds(began) < QUANTUM


def test_until_it_has_left_a_job_is_started_and_nothing_else(padded: RunningService) -> None:
    ann = padded.analyst()
    ann.post("previews", {"sql": COUNT, "epsilon": 1})
    began = time.monotonic()
    job = ann.post("questions", {"sql": COUNT, "epsilon": 0.1}, params={"wait": 0}).json()["job"]
    while True:
        releases, history = ann.get("releases").json()["items"], ann.get("history").json()["items"]
        told = ann.get(f"jobs/{job}").json()
        if told["phase"] == "finished":
            break
        assert (told["phase"], told["result"], told["release"]) == ("started", None, None)
        assert not told["charged"], "it is known with the outcome"
        assert (releases, history[0]["phase"]) == ([], "started")
        time.sleep(0.05)
    assert seconds(began) > QUANTUM - 0.05
    (title,) = ann.get("releases").json()["items"]
    whole = ann.get(f"releases/{title['release']}").json()
    for moment in (title["made_at"], whole["made_at"]):
        assert moment - told["created_at"] > 1000 * (QUANTUM - 0.05), "the end of the work is seen"


def test_a_conversation_is_opened_when_the_answer_leaves(padded: RunningService) -> None:
    ann = padded.analyst(PureDP(epsilon=100))
    ann.post("previews", {"sql": COUNT, "epsilon": 1})
    job = ann.post("questions", TALK, params={"wait": 0}).json()["job"]
    while True:
        listed, told = ann.get("conversations").json()["items"], ann.get(f"jobs/{job}").json()
        if told["phase"] != "started":
            break
        assert listed == []
        time.sleep(0.05)
    assert told["phase"] == "finished"
    (talk,) = ann.get("conversations").json()["items"]
    assert talk["opened_at"] - told["created_at"] > 1000 * (QUANTUM - 0.05)


def test_the_next_request_of_a_person_waits_until_then(padded: RunningService) -> None:
    ann = padded.analyst()
    ann.post("previews", {"sql": COUNT, "epsilon": 1})
    began = time.monotonic()
    ann.post("questions", {"sql": COUNT, "epsilon": 0.1}, params={"wait": 0})
    assert ann.get("account").status_code == 200
    assert seconds(began) > QUANTUM - 0.05, "the account would say when it was charged"


def test_a_failure_leaves_like_an_answer(padded: RunningService) -> None:
    ann = padded.analyst()
    ann.post("previews", {"sql": COUNT, "epsilon": 1})
    (worker,) = padded.service.runtime.pool._workers[ann.person.id]
    os.kill(worker._process.pid, signal.SIGSTOP)
    threading.Timer(0.1, os.kill, (worker._process.pid, signal.SIGKILL)).start()
    began = time.monotonic()
    assert ann.ask().json()["code"] == "worker_lost"
    assert seconds(began) > QUANTUM - 0.05


def test_phases_come_as_events_when_they_are_public(padded: RunningService) -> None:
    ann = padded.analyst()
    ann.post("previews", {"sql": COUNT, "epsilon": 1})
    began = time.monotonic()
    job = ann.post("questions", {"sql": COUNT, "epsilon": 0.1}, params={"wait": 0}).json()["job"]
    with ann.http.stream("GET", f"/api/v1/jobs/{job}/events") as stream:
        assert stream.headers["content-type"].startswith("text/event-stream")
        lines = [(line, seconds(began)) for line in stream.iter_lines()]
    told = "event: "
    seen = [(line.removeprefix(told), when) for line, when in lines if line.startswith(told)]
    assert [name for name, _ in seen] == ["started", "finished"]
    assert seen[1][1] > QUANTUM - 0.05


def test_overruns_are_counted_and_then_refused_before_any_charge(hurried: RunningService) -> None:
    ann, bob = hurried.analyst(PureDP(epsilon=3)), hurried.analyst()
    for epsilon in (0.1, 0.2):
        assert ann.ask(epsilon=epsilon).status_code == 200
    refused = ann.ask(epsilon=0.3)
    assert (refused.status_code, refused.json()["code"]) == (429, "overruns_used_up")
    account = ann.get("account").json()
    assert account["overruns_today"] == 2
    assert account["accounts"][0]["spent"]["epsilon"] == pytest.approx(0.3)
    assert ann.post("previews", {"sql": COUNT, "epsilon": 1}).status_code == 200
    assert bob.ask().status_code == 200, "another's overruns are another's"
    listed = hurried.owner.get("overruns").json()["items"]
    assert [each["name"] for each in listed].count(ann.person.name) == 2
    assert all(each["level"] >= 1 for each in listed)


def test_giving_up_what_is_under_way_counts_as_an_overrun(padded: RunningService) -> None:
    ann = padded.analyst()
    ann.post("previews", {"sql": COUNT, "epsilon": 1})
    job = ann.post("questions", {"sql": COUNT, "epsilon": 0.1}, params={"wait": 0}).json()["job"]
    assert ann.delete(f"jobs/{job}").json()["phase"] == "cancelled"
    assert ann.get("account").json()["overruns_today"] == 1


def test_lateness_of_the_front_is_nobodys_overrun(
    padded: RunningService, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two quanta before and after the work: the answer leaves late, at a multiple, uncounted."""
    ann, pool = padded.analyst(), padded.service.runtime.pool
    ann.post("previews", {"sql": COUNT, "epsilon": 1})
    asked = pool.ask

    async def slowly(*args: Any, **more: Any) -> dict[str, Any]:
        await asyncio.sleep(QUANTUM)
        found = await asked(*args, **more)
        await asyncio.sleep(QUANTUM)
        return found

    monkeypatch.setattr(pool, "ask", slowly)
    began = time.monotonic()
    assert ann.ask(epsilon=0.03).status_code == 200
    took = seconds(began)
    assert took > 2 * QUANTUM
    assert -0.02 < took - QUANTUM * round(took / QUANTUM) < 0.4
    assert ann.get("account").json()["overruns_today"] == 0
