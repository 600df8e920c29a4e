"""Several fronts over one state and one ledger: what the service relies on in the library.

Some of it on files fast; all of it, also on PostgreSQL, under `slow`.
"""

import os
import signal
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from discreet.core.guarantee import PureDP
from discreet.curator.project import Project
from tests import postgres_server
from tests.server.replicas import shared_project
from tests.server.running_service import (
    COUNT,
    ApiUser,
    RunningService,
    hospital,
)

pytestmark = pytest.mark.xdist_group("server")
UNIVERSE = {"table": "visits", "columns": ["ward"], "expressions": {"old": "age >= 50"}}


@contextmanager
def pair(place: Path) -> Iterator[tuple[RunningService, RunningService]]:
    """Two fronts of one project."""
    first = RunningService(place)
    second = RunningService(place, owner=first.owner)
    try:
        yield first, second
    finally:
        second.stop()
        first.stop()


@pytest.fixture(scope="module")
def files(
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[tuple[RunningService, RunningService]]:
    with pair(hospital(tmp_path_factory.mktemp("pair"))) as made:
        yield made


@pytest.fixture(scope="module")
def servers(
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[tuple[RunningService, RunningService]]:
    folder = tmp_path_factory.mktemp("pair")
    with postgres_server.database() as conninfo, pair(shared_project(folder, conninfo)) as made:
        yield made


def at(user: ApiUser, other: RunningService) -> ApiUser:
    """The same person at another front."""
    return ApiUser(other, user.person, user.token)


def overspent(first: RunningService, second: RunningService) -> None:
    """Many questions at once, at both fronts, for one budget: what fits is answered, no more."""
    ann = first.analyst(PureDP(epsilon=1))
    fronts = [ann, at(ann, second)]

    def ask(number: int) -> int:
        sql = f"SELECT COUNT(*) AS n FROM visits WHERE age > {number}"
        return fronts[number % 2].ask(sql, 0.1).status_code

    with ThreadPoolExecutor(8) as threads:
        found = list(threads.map(ask, range(16)))
    assert sorted(found) == [200] * 10 + [409] * 6
    (account,) = ann.get("account").json()["accounts"]
    assert account["spent"] == {"epsilon": 1.0}
    assert len(ann.get("releases").json()["items"]) == 10
    for title in ann.get("releases").json()["items"]:
        assert fronts[1].get(f"releases/{title['release']}").status_code == 200


def one_at_a_time(first: RunningService, second: RunningService) -> None:
    """Leases of one person hold over both fronts."""
    ann = first.analyst(PureDP(epsilon=9))
    fronts = [ann, at(ann, second)]
    for front in fronts:
        front.ask()

    def ask(number: int) -> int:
        sql = f"SELECT COUNT(*) AS n FROM visits WHERE age < {number}"
        return fronts[number % 2].ask(sql, 0.1).status_code

    with ThreadPoolExecutor(6) as threads:
        running = [threads.submit(ask, number) for number in range(12)]
        most = 0
        while not all(each.done() for each in running):
            most = max(most, first.at_work(ann))
        assert [each.result() for each in running] == [200] * 12
    assert most <= 1


def same_children(first: RunningService, second: RunningService) -> None:
    """A grant is one account, whichever processes open it first, and at the same moment."""
    ann = first.analyst(PureDP(epsilon=1))
    fronts = [ann, at(ann, second)]
    with ThreadPoolExecutor(2) as threads:
        found = list(threads.map(lambda front: front.ask(epsilon=0.3).json(), fronts))
    assert found[0]["result"]["release"] == found[1]["result"]["release"]
    (account,) = ann.get("account").json()["accounts"]
    assert account["spent"] == {"epsilon": 0.3}


def conversations_move(first: RunningService, second: RunningService) -> None:
    """A conversation goes on at whichever front is asked."""
    ann = first.analyst(PureDP(epsilon=50))
    fronts = [ann, at(ann, second)]
    opened = ann.post(
        "questions",
        {
            "kind": "conversation",
            "universe": UNIVERSE,
            "epsilon": 20,
            "about": 500,
            "updates": 3,
            "questions": 10,
        },
    ).json()
    key = opened["result"]["conversation"]
    numbers = []
    for front in (1, 0, 1, 1, 0):
        asked = fronts[front].post(f"conversations/{key}/questions", {"where": [{"old": True}]})
        numbers.append(asked.json()["result"]["replies"][0]["number"])
    assert numbers == [1, 2, 3, 4, 5]


def rounds_take_submissions(first: RunningService, second: RunningService) -> None:
    """Analysts submit to one round at both fronts at once; it closes, and each has their share."""
    analysts = [first.analyst() for _ in range(4)]
    terms = {
        "universe": UNIVERSE,
        "analysts": [each.person.name for each in analysts],
        "queries_each": 3,
        "spend": {"epsilon": 5, "delta": 1e-6},
        "protects": "analyst",
        "promise": {"epsilon": 1, "delta": 1e-6},
        "ways": 2,
    }
    opened = first.owner.post("rounds", terms)
    assert opened.status_code == 201, opened.text
    key = opened.json()["round"]

    def submit(number: int) -> str:
        user = at(analysts[number], (first, second)[number % 2])
        where = {"where": [{"old": True}] * number}
        return str(user.finished(user.post(f"rounds/{key}/submissions", where))["phase"])

    with ThreadPoolExecutor(4) as threads:
        assert list(threads.map(submit, range(4))) == ["finished"] * 4
    stranger = first.analyst()
    assert stranger.post(f"rounds/{key}/submissions", {"where": []}).status_code == 404
    assert first.owner.post(f"rounds/{key}/close").status_code == 200
    assert first.owner.post(f"rounds/{key}/close").status_code == 200, "again, the same"
    assert analysts[0].post(f"rounds/{key}/submissions", {"where": []}).status_code in (400, 409)
    for number, each in enumerate(analysts):
        (title,) = each.get("releases").json()["items"]
        share = each.get(f"releases/{title['release']}").json()["result"]
        assert len(share["answers"]) == number
        assert share["synopsis"]["form"] == "synopsis-release/1"


Case = Callable[[RunningService, RunningService], None]
CASES: list[Case] = [
    overspent,
    one_at_a_time,
    same_children,
    conversations_move,
    rounds_take_submissions,
]


@pytest.mark.parametrize("case", [overspent, conversations_move], ids=lambda case: case.__name__)
def test_on_files(files: tuple[RunningService, RunningService], case: Case) -> None:
    case(*files)


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
def test_all_on_files(files: tuple[RunningService, RunningService], case: Case) -> None:
    case(*files)


@pytest.mark.slow
@postgres_server.needed
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
def test_on_servers(servers: tuple[RunningService, RunningService], case: Case) -> None:
    case(*servers)


@pytest.mark.slow
def test_a_job_is_given_up_at_another_front(files: tuple[RunningService, RunningService]) -> None:
    first, second = files
    ann = first.analyst()
    ann.ask()
    worker = first.service.runtime.pool._workers[ann.person.id][0]
    os.kill(worker._process.pid, signal.SIGSTOP)
    job = ann.post("questions", {"sql": COUNT, "epsilon": 0.2}, params={"wait": 0}).json()["job"]
    assert at(ann, second).delete(f"jobs/{job}").json()["phase"] == "cancelled"
    end = time.monotonic() + 30
    while worker.alive and time.monotonic() < end:
        time.sleep(0.1)
    assert not worker.alive, "the front that worked on it noticed"
    assert ann.ask(epsilon=0.01).status_code == 200


def test_the_ledger_is_whole_after_all_of_this(
    files: tuple[RunningService, RunningService],
) -> None:
    first, _ = files
    told = first.owner.post("ledger/verification", {}).json()
    assert told["verified"]
    with_checkpoint = first.owner.post(
        "ledger/verification", {"checkpoint": told["checkpoint"]}
    ).json()
    assert with_checkpoint["entries"] >= told["entries"]
    opened = Project.read(first.place).read_ledger()
    try:
        opened.verify(None)
    finally:
        opened.close()


@pytest.mark.slow
def test_a_front_that_is_gone_refuses_connections(tmp_path: Path) -> None:
    running_service = RunningService(hospital(tmp_path))
    running_service.stop()
    with pytest.raises(httpx.ConnectError):
        httpx.get(f"{running_service.address}/health", timeout=60)
