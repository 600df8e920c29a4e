"""A service that runs: on loopback, in a thread, over a small invented hospital.

``running(folder, ...)`` starts one; tests share the fixture ``running_service``, and add people of
their own.
"""

from __future__ import annotations

import asyncio
import itertools
import socket
import threading
import time
from collections.abc import Awaitable, Coroutine, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import httpx
import polars as pl
from sqlalchemy import text

from discreet.core.guarantee import Guarantee, PureDP
from discreet.server import Service, create_app
from discreet.server.operations.connection_limits import ConnectionLimits
from discreet.server.operations.http_connection import HttpConnection
from discreet.server.operations.http_server import HttpServer, listening_socket
from discreet.server.rights import PersonRole
from discreet.server.services.people import add_person, issue_token
from discreet.server.state.grants import Grant
from discreet.server.state.people import Member
from tests.server.loop_steps import LONGEST, measured

Result = TypeVar("Result")
WARDS = ["medicine", "surgery", "children"]
COUNT = "SELECT COUNT(*) AS n FROM visits"
RECORD = """
[record]
decision_makers = "the board"
data_users = "two analysts"
data_subjects = "patients"
impacted = "patients to come"
privacy_boundary = "this machine; its owner sees the raw rows"
purpose = "planning of beds and staff"
unit = "a patient with all visits"
data_window = "2024, once"
attack_model = "analysts who know all but one patient"
environment = "a machine of the tests"
accuracy = "within ten"
epsilon_set_by = "the board"
epsilon_reason = "so the tests say"
maintained_by = "the tests"
review_date = 2099-01-01
failure_plan = "stop it and look"
residual_harms = "what groups have in common"
"""
SERVICE = """
[service]
quantum = "off"
workers = 256
per_minute = 100000
"""
PROJECT = """
ledger = "visits.ledger"
owner_log = "owner.log"

[budget]
kind = "approx"
epsilon = 5000
delta = 1e-3

[tables.visits]
path = "visits.parquet"

[tables.visits.unit]
kind = "person"
id = "patient"
max_rows = 2

[tables.visits.columns]
ward = { kind = "category", values = ["medicine", "surgery", "children"] }
age = { kind = "number", low = 0, high = 100 }

[public.wards]
path = "wards.parquet"
"""


def hospital(folder: Path, *, service: str = SERVICE, record: str = RECORD) -> Path:
    """A project file beside its tables: 600 visits of 400 patients."""
    rows = pl.DataFrame(
        {
            "patient": [n % 400 for n in range(600)],
            "ward": [WARDS[n % 3] for n in range(600)],
            "age": [float(n % 97) for n in range(600)],
        }
    )
    rows.write_parquet(folder / "visits.parquet")
    pl.DataFrame({"ward": WARDS, "site": ["north", "north", "south"]}).write_parquet(
        folder / "wards.parquet"
    )
    place = folder / "discreet.toml"
    place.write_text(PROJECT + service + record, encoding="utf-8")
    return place


class ApiUser:
    """One person, with a token, as a client of the service."""

    def __init__(self, running_service: RunningService, person: Member, token: str) -> None:
        self.running_service, self.person, self.token = running_service, person, token
        self.http = httpx.Client(
            base_url=running_service.address,
            headers={"Authorization": f"Bearer {token}"},
            timeout=60,
        )
        running_service.clients.append(self)

    def post(self, path: str, body: Any = None, **more: Any) -> httpx.Response:
        return self.http.post(f"/api/v1/{path}", json=body, **more)

    def get(self, path: str, **more: Any) -> httpx.Response:
        return self.http.get(f"/api/v1/{path}", **more)

    def delete(self, path: str) -> httpx.Response:
        return self.http.delete(f"/api/v1/{path}")

    def finished(self, reply: httpx.Response) -> dict[str, Any]:
        """The job of a reply, once it is over."""
        found: dict[str, Any] = reply.json()
        end = time.monotonic() + 60
        while found["phase"] in ("accepted", "started") and time.monotonic() < end:
            time.sleep(0.05)
            found = self.get(f"jobs/{found['job']}").json()
        return found

    def ask(self, sql: str = COUNT, epsilon: float = 0.1, **more: Any) -> httpx.Response:
        return self.post("questions", {"sql": sql, "epsilon": epsilon, **more})


class RunningService:
    """A running service and its event loop."""

    def __init__(self, place: Path, owner: ApiUser | None = None) -> None:
        self.place = place
        self._loop = asyncio.new_event_loop()
        self.longest_step = measured(self._loop)
        self._numbers = itertools.count(1)
        self.clients: list[Any] = []
        self.service = Service(place)
        listening = listening_socket("127.0.0.1", 0)
        port = listening.getsockname()[1]
        self.limits, self._listening = ConnectionLimits(), listening
        self._server = HttpServer(
            create_app(self.service), listening, limits=self.limits, lifespan="on"
        )
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()
        while not self._server.started:
            if not self._thread.is_alive():
                raise RuntimeError(self.place)
            threading.Event().wait(0.01)
        self.address = f"http://127.0.0.1:{port}"
        known = None if owner is None else (owner.person, owner.token)
        self.owner = self._first_owner() if known is None else ApiUser(self, *known)

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            self._loop.run_until_complete(self._server.serve())
        finally:
            self._loop.run_until_complete(self._loop.shutdown_default_executor())
            self._loop.close()

    def _first_owner(self) -> ApiUser:
        state = self.service.runtime.state
        person = state.write_now(add_person, by="setup", name="olga", role=PersonRole.OWNER)
        token = state.write_now(issue_token, person=person, label="tests")
        return ApiUser(self, person, token.token)

    def call(self, work: Awaitable[Result]) -> Result:
        """Do something on the service's own event loop."""

        async def done() -> Result:
            return await work

        coroutine: Coroutine[Any, Any, Result] = done()
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result(60)

    def person(self, role: PersonRole = PersonRole.ANALYST, name: str | None = None) -> ApiUser:
        """Somebody new, with a token and without a budget."""
        name = name or f"{role.value}-{next(self._numbers)}"
        person = self.call(self.service.people.add(self.owner.person, name=name, role=role))
        token = self.call(self.service.people.new_token(person, label="tests"))
        return ApiUser(self, person, token.token)

    def grant(
        self, user: ApiUser, budget: Guarantee | None = None, purpose: str = "planning"
    ) -> Grant:
        """A budget for somebody."""
        return self.call(
            self.service.budgets.grant(
                self.owner.person,
                name=user.person.name,
                purpose=purpose,
                budget=PureDP(epsilon=1) if budget is None else budget,
            )
        )

    def analyst(self, budget: Guarantee | None = None) -> ApiUser:
        """Somebody new, with a token and a budget."""
        made = self.person()
        self.grant(made, budget)
        return made

    def at_work(self, user: ApiUser) -> int:
        """How many questions of somebody have a lease, at whichever front."""
        held = "SELECT COUNT(*) FROM jobs WHERE person_id = :id AND phase = 'started'"
        return int(
            self.service.runtime.state.read_now(
                lambda c: c.execute(text(held), {"id": user.person.id}).scalar_one()
            )
        )

    def connections(self) -> list[HttpConnection]:
        """Those over HTTP, as they are now."""
        every = list(self._server.server_state.connections)
        return [each for each in every if isinstance(each, HttpConnection)]

    @contextmanager
    def little_is_sent_ahead(self) -> Iterator[None]:
        """The system takes little of what is sent to who connects now, and does not read it."""
        kind = socket.SOL_SOCKET, socket.SO_SNDBUF
        usual = self._listening.getsockopt(*kind) // 2
        self._listening.setsockopt(*kind, 4096)
        try:
            yield
        finally:
            self._listening.setsockopt(*kind, usual)

    def stop(self) -> None:
        self._server.should_exit = True
        self._thread.join(60)
        for each in self.clients:
            each.http.close()
        longest = self.longest_step
        assert longest.seconds < LONGEST, (
            f"{longest.what} held everybody up for {longest.seconds:.2f} s"
        )


@contextmanager
def running(
    folder: Path, *, service: str = SERVICE, record: str = RECORD
) -> Iterator[RunningService]:
    """A service over a new hospital; stopped at the end."""
    running_service = RunningService(hospital(folder, service=service, record=record))
    try:
        yield running_service
    finally:
        running_service.stop()
