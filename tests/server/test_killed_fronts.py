"""Fronts killed as processes, and jobs given up elsewhere: what is said about charges.

A front that is killed takes nothing back: its worker may reserve before it, with it or after it.
"""

import asyncio
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from discreet.core.guarantee import PureDP
from tests import postgres_server
from tests.server.replicas import Replica, people_with_budgets, shared_project

pytestmark = [pytest.mark.xdist_group("server"), pytest.mark.slow, postgres_server.needed]

PRICE = 0.0625
DELAYS = (0.0, 0.01, 0.03, 0.1, 0.3, 1.0)
"""Seconds from the reply that it was accepted to the end of the front."""
_PATIENCE = 120.0


@dataclass
class Pair:
    """Two replicas, and somebody who asks at one and looks at the other."""

    first: Replica
    second: Replica
    token: str
    asked: int = 0

    def send(self, replica: Replica, method: str, path: str, **more: Any) -> httpx.Response:
        headers = {"Authorization": f"Bearer {self.token}"}
        place = f"{replica.address}/api/v1/{path}"
        return httpx.request(method, place, headers=headers, timeout=60, **more)

    def ask(self) -> str:
        """A question that was not asked before: its job."""
        self.asked += 1
        sql = f"SELECT COUNT(*) AS n FROM visits WHERE age > {self.asked}"
        body = {"sql": sql, "epsilon": PRICE}
        told = self.send(self.first, "POST", "questions", json=body, params={"wait": 0}).json()
        return str(told["job"])

    def over(self, job: str) -> dict[str, Any]:
        """What the other replica says of a job, once nothing more will come."""
        end = time.monotonic() + _PATIENCE
        while True:
            told: dict[str, Any] = self.send(self.second, "GET", f"jobs/{job}").json()
            if told["phase"] in ("finished", "failed", "cancelled"):
                return told
            assert time.monotonic() < end, told
            time.sleep(0.2)

    def in_history(self, job: str) -> bool:
        items = self.send(self.second, "GET", "history").json()["items"]
        (line,) = [each for each in items if each["job"] == job]
        return bool(line["charged"])

    def charges(self) -> float:
        """How many questions the ledger charged for."""
        (account,) = self.send(self.second, "GET", "account").json()["accounts"]
        return float(account["spent"].get("epsilon", 0.0)) / PRICE


@pytest.fixture(scope="module")
def replicas(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    with postgres_server.database() as conninfo:
        place: Path = shared_project(tmp_path_factory.mktemp("killed"), conninfo)
        _, tokens = asyncio.run(people_with_budgets(place, ["ann"], PureDP(epsilon=4)))
        pair = Pair(Replica(place), Replica(place), tokens["ann"].token)
        try:
            yield pair
        finally:
            pair.first.stop()
            pair.second.stop()


@pytest.mark.parametrize("delay", DELAYS)
def test_a_front_killed_just_after_a_question(replicas: Pair, delay: float) -> None:
    before = replicas.charges()
    job = replicas.ask()
    time.sleep(delay)
    replicas.first.kill()
    try:
        told = replicas.over(job)
        charged = replicas.charges() - before
        assert charged in (0, 1)
        assert told["charged"] is replicas.in_history(job) is (charged == 1), (told, charged)
    finally:
        replicas.first.start()
        replicas.first.wait()


@pytest.mark.parametrize("delay", DELAYS[:4])
def test_giving_up_at_another_replica(replicas: Pair, delay: float) -> None:
    before = replicas.charges()
    job = replicas.ask()
    time.sleep(delay)
    told = replicas.send(replicas.second, "DELETE", f"jobs/{job}").json()
    charged = replicas.charges() - before
    assert charged in (0, 1)
    assert told["charged"] is replicas.in_history(job) is (charged == 1), (told, charged)
    assert told["charged"] is replicas.over(job)["charged"]
