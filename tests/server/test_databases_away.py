"""A database that goes away in the middle: refusals, and no answer is lost or charged twice."""

import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from discreet.core.guarantee import PureDP
from tests import postgres_server
from tests.server.replicas import shared_project
from tests.server.running_service import ApiUser, RunningService

pytestmark = [pytest.mark.xdist_group("server"), pytest.mark.slow, postgres_server.needed]


@pytest.fixture
def server() -> Iterator[postgres_server.Server]:
    with postgres_server.Server() as made:
        yield made


@pytest.fixture
def running_service(server: postgres_server.Server, tmp_path: Path) -> Iterator[RunningService]:
    made = RunningService(shared_project(tmp_path, server.conninfo()))
    yield made
    made.stop()


def test_everything_is_refused_while_it_is_away_and_goes_on_afterwards(
    running_service: RunningService, server: postgres_server.Server
) -> None:
    ann = running_service.analyst()
    assert ann.ask().status_code == 200
    server.kill()
    refused = ann.ask(epsilon=0.2)
    assert (refused.status_code, refused.json()["code"]) == (503, "state_unavailable")
    assert ann.http.get("/ready").status_code == 503
    assert ann.http.get("/health").status_code == 200
    server.start()
    again = ann.ask(epsilon=0.2)
    assert again.status_code == 200, again.text
    (account,) = ann.get("account").json()["accounts"]
    assert account["spent"] == {"epsilon": 0.3}


def test_what_was_charged_equals_what_was_received_or_is_reserved(
    running_service: RunningService, server: postgres_server.Server
) -> None:
    analysts = [running_service.analyst(PureDP(epsilon=20)) for _ in range(2)]
    for user in analysts:
        user.ask()
    received: dict[ApiUser, set[int]] = {user: set() for user in analysts}
    over = threading.Event()

    def ask(user: ApiUser) -> None:
        for number in range(40):
            sql = f"SELECT COUNT(*) AS n FROM visits WHERE age > {number}"
            while not over.is_set():
                reply = user.ask(sql, 0.1)
                if reply.status_code == 200:
                    received[user].add(number)
                    break
                assert reply.status_code in (500, 503), reply.text
                time.sleep(0.1)

    threads = [threading.Thread(target=ask, args=(user,)) for user in analysts]
    for thread in threads:
        thread.start()
    for _ in range(3):
        time.sleep(1.0)
        server.kill()
        time.sleep(0.3)
        server.start()
    for thread in threads:
        thread.join(120)
    over.set()
    assert all(len(each) == 40 for each in received.values()), "no question is lost"
    for user in analysts:
        spent = user.get("account").json()["accounts"][0]["spent"]["epsilon"]
        entries = paid_by(running_service, user)
        assert spent == pytest.approx(0.1 * sum(entries.values()))
        assert entries["released"] == 41, "each answer once, however often it was asked"
        assert entries["unfinished"] + entries["failed"] <= 6


def paid_by(running_service: RunningService, user: ApiUser) -> dict[str, int]:
    """How the reservations of somebody ended, as the ledger says."""
    found = {"released": 0, "unfinished": 0, "failed": 0}
    reserved: set[str] = set()
    ends: dict[str, str] = {}
    after: str | None = "0"
    while after is not None:
        page = running_service.owner.get(
            "ledger/entries", params={"count": 200, "after": after}
        ).json()
        for entry in page["items"]:
            if entry["kind"] == "reserved" and entry["body"]["asker"] == user.person.name:
                reserved.add(entry["id"])
            if entry["kind"] in ("committed", "failed"):
                ends[entry["subject"]] = entry["kind"]
        after = page["next"]
    words = {"committed": "released", "failed": "failed"}
    for name in reserved:
        found[words.get(ends.get(name, ""), "unfinished")] += 1
    return found
