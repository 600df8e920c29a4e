"""Workers: what they say and when, and what becomes of a question when one dies."""

import json
import os
import signal
import threading
import time
from collections.abc import Iterator
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from discreet.core.guarantee import PureDP
from discreet.curator.project import Project
from discreet.release.guarantee import guarantee_to_dict
from discreet.server.jobs.sql import SqlKind
from discreet.server.workers.messages import WorkOrder
from discreet.server.workers.pool import WorkerProcess
from discreet.server.workers.worker import OrderHandler, WorkerSettings
from tests.server.running_service import COUNT, SERVICE, ApiUser, RunningService, hospital, running

pytestmark = pytest.mark.xdist_group("server")


class Overheard:
    """The end of a pipe that writes down what is said; it breaks at a word, if one is given."""

    def __init__(self, breaks_at: str = "") -> None:
        self.said: list[dict[str, Any]] = []
        self._breaks_at = breaks_at

    def send_bytes(self, text: bytes) -> None:
        message = json.loads(text)
        if self._breaks_at in message:
            raise BrokenPipeError
        self.said.append(message)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project.read(hospital(tmp_path))


def order(sql: str = COUNT, epsilon: float = 0.1, **more: Any) -> WorkOrder:
    told = {
        "kind": "sql",
        "request": {"sql": sql, "epsilon": epsilon},
        "account": "grant",
        "budget": guarantee_to_dict(PureDP(epsilon=1)),
        "analyst": "ann",
        "purpose": "planning",
    }
    return WorkOrder(**{**told, **more})


def workplace(project: Project, pipe: Overheard, *, tells_tables: bool = False) -> OrderHandler:
    settings = WorkerSettings("", Path(), tells_tables=tells_tables)
    return OrderHandler(project, settings, pipe)  # type: ignore[arg-type]


def test_what_is_reserved_is_told_before_the_answer(project: Project) -> None:
    pipe = Overheard()
    with workplace(project, pipe, tells_tables=True) as place:
        first = place.reply(order())
        again = place.reply(order())
    assert [list(message) for message in pipe.said] == [["tables"], ["reserved"], ["tables"]]
    assert pipe.said[0] == {"tables": ["visits"]}
    assert first == again, "what was paid for is read again, byte for byte"


def test_a_refusal_says_whether_data_had_a_part_in_it(project: Project) -> None:
    pipe = Overheard()
    with workplace(project, pipe) as place:
        free = place.reply(order("SELECT nonsense FROM visits"))
        assert (free["refused"]["code"], free["touched"]) == ("unknown_column", False)
        dear = place.reply(order(epsilon=5))
        assert (dear["refused"]["code"], dear["touched"]) == ("budget_exhausted", False)
    assert pipe.said == []


def test_a_failure_after_the_reservation_is_touched(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    pipe = Overheard()
    with workplace(project, pipe) as place:
        place.reply(order("SELECT COUNT(*) AS n FROM visits WHERE age > 90"))

        def fails(*_: object) -> None:
            raise OSError("/secret/path of a patient")  # noqa: EM101

        monkeypatch.setattr(
            "discreet.relational.planning.planned_query.PlannedQuery.measurement", fails
        )
        reply = place.reply(order())
    assert (reply["refused"]["code"], reply["touched"]) == ("engine_failed", True)
    assert "secret" not in json.dumps(reply)
    assert [list(message) for message in pipe.said] == [["reserved"], ["reserved"]]


def test_a_refusal_of_what_was_taken_up_is_touched(project: Project) -> None:
    request = {"conversation": "0" * 32, "where": [{"ward": "medicine"}]}
    with workplace(project, Overheard()) as place:
        reply = place.reply(order(kind="conversation_questions", request=request))
    assert (reply["refused"]["code"], reply["touched"]) == ("conversation_unknown", True)


def test_a_worker_that_dies_at_the_reservation_leaves_it_spent(project: Project) -> None:
    with (
        workplace(project, Overheard("reserved")) as place,
        pytest.raises(BrokenPipeError),
    ):
        place._job(order(), SqlKind())
    with project.curator() as curator:
        child = curator.child("grant", budget=PureDP(epsilon=1))
        assert child.spent == PureDP(epsilon=0.1).per(child.unit)
        (asked,) = child.history()
        assert asked.ended == "unfinished"


def test_a_mistake_of_the_software_says_nothing(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object) -> None:
        raise ZeroDivisionError("age of a patient: 97")  # noqa: EM101

    with workplace(project, Overheard()) as place:
        monkeypatch.setattr("discreet.server.jobs.sql.SqlKind.run", fails)
        reply = place.reply(order())
    assert (reply["refused"]["code"], reply["touched"]) == ("service_failed", True)
    assert "97" not in json.dumps(reply)


def test_an_order_with_unknown_fields_is_a_mistake_and_no_question(project: Project) -> None:
    with workplace(project, Overheard()) as place:
        reply = place.reply(order(request={"sql": COUNT, "epsilon": 1, "surprise": 1}))
        assert reply["refused"]["code"] == "service_failed"
        assert place.reply(order(kind="profile"))["refused"]["code"] == "kind_unknown"


# Processes -------------------------------------------------------------------------------------


def workers(user: ApiUser) -> list[WorkerProcess]:
    return list(user.running_service.service.runtime.pool._workers.get(user.person.id, []))


def process(user: ApiUser) -> int:
    (worker,) = workers(user)
    return int(worker._process.pid)


@pytest.fixture
def halted(running_service: RunningService) -> Iterator[ApiUser]:
    """Somebody whose worker stands still."""
    ann = running_service.analyst()
    assert ann.ask().status_code == 200
    os.kill(process(ann), signal.SIGSTOP)
    yield ann
    for worker in workers(ann):
        worker._process.kill()


def test_a_worker_that_dies_fails_its_question_and_nothing_else(halted: ApiUser) -> None:
    dead = process(halted)
    threading.Timer(0.3, os.kill, (dead, signal.SIGKILL)).start()
    reply = halted.ask(epsilon=0.2)
    assert (reply.status_code, reply.json()["code"]) == (500, "worker_lost")
    assert halted.ask(epsilon=0.2).status_code == 200
    assert process(halted) != dead
    assert halted.get("history").json()["items"][1]["error"]["code"] == "worker_lost"


def test_one_persons_dead_worker_is_nobody_elses(
    running_service: RunningService, halted: ApiUser
) -> None:
    bob = running_service.analyst()
    job = halted.post("questions", {"sql": COUNT, "epsilon": 0.3}, params={"wait": 0}).json()
    assert job["phase"] == "started"
    began = time.monotonic()
    assert bob.ask().status_code == 200
    assert time.monotonic() - began < 20
    assert halted.get(f"jobs/{job['job']}").json()["phase"] == "started"


def test_work_is_given_up_and_the_next_question_answered(halted: ApiUser) -> None:
    asked = {"sql": COUNT, "epsilon": 0.3}
    job = halted.post("questions", asked, params={"wait": 0}).json()["job"]
    waiting = halted.post("questions", {"sql": COUNT, "epsilon": 0.01}, params={"wait": 0}).json()
    assert waiting["phase"] == "accepted", "one question of a person at a time"
    told = halted.delete(f"jobs/{job}").json()
    assert told["phase"] == "cancelled"
    assert halted.delete(f"jobs/{job}").json()["phase"] == "cancelled"
    for _ in range(1200):
        second = halted.get(f"jobs/{waiting['job']}").json()
        if second["phase"] == "finished":
            break
        time.sleep(0.05)
    assert second["phase"] == "finished"
    assert halted.get(f"jobs/{job}").json()["phase"] == "cancelled"


def test_a_question_that_waits_its_turn_is_given_up_for_nothing(halted: ApiUser) -> None:
    first = halted.post("questions", {"sql": COUNT, "epsilon": 0.3}, params={"wait": 0}).json()
    second = halted.post("questions", {"sql": COUNT, "epsilon": 0.4}, params={"wait": 0}).json()
    assert halted.delete(f"jobs/{second['job']}").json()["phase"] == "cancelled"
    assert halted.delete(f"jobs/{first['job']}").json()["phase"] == "cancelled"
    (account,) = halted.get("account").json()["accounts"]
    assert account["spent"] == {"epsilon": 0.1}


def test_idle_workers_end_and_others_stay(running_service: RunningService) -> None:
    ann, bob = running_service.analyst(), running_service.analyst()
    assert ann.ask().status_code == bob.ask().status_code == 200
    pool = running_service.service.runtime.pool
    (old,) = workers(ann)
    old.used_at -= 10_000
    running_service.call(pool.end_idle())
    assert not old.alive
    assert workers(ann) == []
    assert workers(bob)[0].alive
    assert ann.ask().status_code == 200


def test_a_worker_ends_with_its_front(tmp_path: Path) -> None:
    place = hospital(tmp_path)
    worker = WorkerProcess(WorkerSettings(place.read_text(encoding="utf-8"), tmp_path))
    pipe: Connection[Any, Any] = worker._pipe
    pipe.close()
    worker._process.join(30)
    assert worker._process.exitcode == 0
    worker.end_now()


def test_work_beyond_the_public_limit_is_ended(tmp_path: Path) -> None:
    service = SERVICE + "longest = 5\n"
    with running(tmp_path, service=service) as running_service:
        ann = running_service.analyst()
        ann.ask()
        os.kill(process(ann), signal.SIGSTOP)
        running_service.service.runtime.settings.__dict__["longest"] = 0.5
        reply = ann.ask(epsilon=0.2)
        assert (reply.status_code, reply.json()["code"]) == (500, "work_too_long")
        running_service.service.runtime.settings.__dict__["longest"] = 60.0
        assert ann.ask(epsilon=0.2).status_code == 200


def test_a_file_that_was_replaced_is_opened_anew(tmp_path: Path) -> None:
    with running(tmp_path) as running_service:
        ann = running_service.analyst(PureDP(epsilon=100))
        before = ann.ask(epsilon=10).json()["result"]["rows"][0]["n"]
        rows = pl.read_parquet(tmp_path / "visits.parquet")
        rows.head(300).write_parquet(tmp_path / "new.parquet")
        (tmp_path / "new.parquet").replace(tmp_path / "visits.parquet")
        assert ann.ask(epsilon=9).status_code == 200, "another question opens the new file"
        refused = ann.ask(epsilon=10).json()
        assert refused["code"] == "paid_before_other_snapshot"
        after = ann.ask(epsilon=10, paid_before="pay_again").json()["result"]["rows"][0]["n"]
        assert before - after > 200


def test_what_is_written_into_the_project_file_holds_from_the_next_start_on(tmp_path: Path) -> None:
    with running(tmp_path) as running_service:
        ann = running_service.analyst()
        running_service.place.write_text("nonsense", encoding="utf-8")
        assert ann.ask().status_code == 200
