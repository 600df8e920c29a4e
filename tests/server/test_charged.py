"""What is said about charges is what the ledger says, whatever dies at any point of a purchase."""

import json
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from discreet.core.guarantee import PureDP
from tests.server.dying_worker import CHARGED, POINTS, die, dying_workers, has_died
from tests.server.running_service import (
    COUNT,
    SERVICE,
    ApiUser,
    RunningService,
    hospital,
)

pytestmark = pytest.mark.xdist_group("server")

PRICE = 0.125
SLOW = pytest.mark.slow
SOME = [each if each == "reserved" else pytest.param(each, marks=SLOW) for each in POINTS]
"""All points; the fast tests have the one where the ledger alone knows."""


@pytest.fixture(scope="module")
def fronts(
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[tuple[RunningService, RunningService]]:
    """Two fronts, whose workers may die, and which do three questions of an analyst at a time."""
    service = SERVICE + "per_analyst = 3\n"
    place = hospital(tmp_path_factory.mktemp("charged"), service=service)
    with dying_workers():
        first = RunningService(place)
        second = RunningService(place, owner=first.owner)
        try:
            yield first, second
        finally:
            second.stop()
            first.stop()


def at(user: ApiUser, front: RunningService) -> ApiUser:
    return ApiUser(front, user.person, user.token)


def spent(user: ApiUser) -> float:
    """What the ledger says."""
    (account,) = user.get("account").json()["accounts"]
    return float(account["spent"].get("epsilon", 0.0))


def said(user: ApiUser, job: str) -> set[bool]:
    """All that is said about the charge of a job: by itself, and in the history."""
    (line,) = [each for each in user.get("history").json()["items"] if each["job"] == job]
    return {user.get(f"jobs/{job}").json()["charged"], line["charged"]}


def ask(user: ApiUser, **headers: str) -> dict[str, Any]:
    body = {"sql": COUNT, "epsilon": PRICE}
    told: dict[str, Any] = user.post("questions", body, params={"wait": 0}, headers=headers).json()
    return told


def wait_until_silent(place: Path) -> None:
    end = time.monotonic() + 30
    while not has_died(place.parent) and time.monotonic() < end:
        time.sleep(0.01)
    assert has_died(place.parent)
    time.sleep(0.05)  # the signal is on its way


def forget(front: RunningService, job: str) -> None:
    """The front is gone: nobody renews the lease, nobody hears the worker."""
    task = front.service.job_runner._tasks[job]
    front.call(_cancelled(task))
    state = front.service.runtime.state
    gone = text("UPDATE jobs SET lease_until = 1 WHERE id = :job")
    state.write_now(lambda connection: connection.execute(gone, {"job": job}))


async def _cancelled(task: Any) -> None:
    task.cancel()


@pytest.mark.parametrize("point", SOME)
def test_a_worker_that_dies(fronts: tuple[RunningService, RunningService], point: str) -> None:
    first, second = fronts
    ann = first.analyst(PureDP(epsilon=1))
    die(first.place.parent, point)
    told = ann.post("questions", {"sql": COUNT, "epsilon": PRICE}).json()
    assert told["code"] == "worker_lost", told
    assert told["charged"] is (point in CHARGED)
    assert spent(ann) == PRICE * (point in CHARGED)
    assert said(ann, told["job"]) == said(at(ann, second), told["job"]) == {point in CHARGED}


@pytest.mark.parametrize("point", SOME)
def test_a_front_that_dies(fronts: tuple[RunningService, RunningService], point: str) -> None:
    first, second = fronts
    ann = first.analyst(PureDP(epsilon=1))
    die(first.place.parent, point, "stop")
    told = ask(ann)
    wait_until_silent(first.place)
    forget(first, told["job"])
    assert said(at(ann, second), told["job"]) == {point in CHARGED}
    assert spent(at(ann, second)) == PRICE * (point in CHARGED)
    first.call(first.service.job_runner.interrupt(told["job"]))


@pytest.mark.parametrize("elsewhere", [pytest.param(False, marks=SLOW), True])
@pytest.mark.parametrize("point", SOME)
def test_giving_up(
    fronts: tuple[RunningService, RunningService],
    point: str,
    elsewhere: bool,  # noqa: FBT001
) -> None:
    first, second = fronts
    ann = first.analyst(PureDP(epsilon=1))
    die(first.place.parent, point, "stop")
    job = ask(ann)["job"]
    wait_until_silent(first.place)
    other = at(ann, second) if elsewhere else ann
    with ThreadPoolExecutor(1) as threads:
        reply = threads.submit(other.delete, f"jobs/{job}")
        while elsewhere and not reply.done():
            first.call(first.service._renew())  # it looks every few seconds
            time.sleep(0.1)
        told = reply.result().json()
    assert (told["phase"], told["charged"]) == ("cancelled", point in CHARGED)
    assert said(ann, job) == said(other, job) == {point in CHARGED}
    assert spent(other) == PRICE * (point in CHARGED)


@pytest.mark.parametrize("point", SOME)
def test_the_key_of_a_lost_job_is_answered_or_charged_once(
    fronts: tuple[RunningService, RunningService], point: str
) -> None:
    first, second = fronts
    ann = first.analyst(PureDP(epsilon=1))
    die(first.place.parent, point, "stop")
    lost = ask(ann, **{"Idempotency-Key": point})
    wait_until_silent(first.place)
    forget(first, lost["job"])
    other = at(ann, second)
    body, key = {"sql": COUNT, "epsilon": PRICE}, {"Idempotency-Key": point}
    for _ in range(2):
        told = other.post("questions", body, headers=key).json()
        assert told["job"] == lost["job"]
        answered = point in ("before reserving", "committed")
        assert (told.get("phase") == "finished") is answered, told
        assert answered or told["code"] == "worker_lost"
        assert told["charged"] is True
        assert spent(other) == PRICE
    assert said(other, lost["job"]) == {True}
    first.call(first.service.job_runner.interrupt(lost["job"]))


def test_a_lost_job_that_waits_for_its_second_turn_stays_charged(
    fronts: tuple[RunningService, RunningService],
) -> None:
    """It was said not to be, while it waited and where it was given up before its turn."""
    front = fronts[0]
    ann = front.analyst(PureDP(epsilon=1))
    busy = [ann.ask(epsilon=PRICE / 8 * n).json()["job"] for n in (1, 2, 3)]
    before = spent(ann)
    die(front.place.parent, "reserved")
    body, key = {"sql": COUNT, "epsilon": PRICE}, {"Idempotency-Key": "again"}
    lost = ann.post("questions", body, headers=key).json()
    assert (lost["code"], lost["charged"]) == ("worker_lost", True)
    hold_leases(front, busy, until=10**14)
    waits = ann.post("questions", body, headers=key, params={"wait": 0}).json()
    assert (waits["job"], waits["phase"], waits["charged"]) == (lost["job"], "accepted", True)
    assert said(ann, lost["job"]) == {True}
    with ThreadPoolExecutor(1) as threads:
        reply = threads.submit(ann.post, "questions", body, headers=key)
        time.sleep(0.3)
        given_up = ann.delete(f"jobs/{lost['job']}").json()
    for told in (given_up, reply.result().json()):
        assert (told["phase"], told["charged"]) == ("cancelled", True)
    assert said(ann, lost["job"]) == {True}
    hold_leases(front, busy, until=1)
    assert spent(ann) == before + PRICE


def hold_leases(front: RunningService, held: list[str], *, until: int) -> None:
    """Whoever asked waits for their turn until then."""
    changed = text("UPDATE jobs SET lease_until = :until WHERE id = :job")
    rows = [{"job": job, "until": until} for job in held]
    front.service.runtime.state.write_now(lambda connection: connection.execute(changed, rows))


def test_the_same_question_in_flight_is_charged_once(
    fronts: tuple[RunningService, RunningService],
) -> None:
    ann = fronts[0].analyst(PureDP(epsilon=1))
    texts = [COUNT, COUNT.lower(), f"{COUNT} ", COUNT.replace("visits", "visits AS v"), COUNT]
    with ThreadPoolExecutor(5) as threads:
        told = list(threads.map(lambda sql: ann.ask(sql, PRICE).json(), texts))
    assert {each["phase"] for each in told} == {"finished"}
    assert len({json.dumps(each["result"]["rows"]) for each in told}) == 1
    assert sorted(each["charged"] for each in told) == [False] * 4 + [True]
    assert spent(ann) == PRICE


def test_a_question_waits_for_the_same_one_and_goes_on_when_that_is_lost(
    fronts: tuple[RunningService, RunningService],
) -> None:
    place, ann = fronts[0].place, fronts[0].analyst(PureDP(epsilon=1))
    die(place.parent, "told", "stop")
    first = ask(ann)["job"]
    wait_until_silent(place)
    second = ask(ann)["job"]
    time.sleep(1.0)
    assert ann.get(f"jobs/{second}").json()["phase"] == "started"
    assert spent(ann) == PRICE, "the second waits"
    assert ann.delete(f"jobs/{first}").json()["charged"] is True
    told = ann.finished(ann.get(f"jobs/{second}"))
    assert (told["phase"], told["charged"]) == ("finished", True)
    assert spent(ann) == 2 * PRICE, "what was given up stays charged"
