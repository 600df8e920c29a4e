"""Replicas as processes of their own, on one PostgreSQL server, to be killed and started again."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import httpx

from discreet.core.guarantee import Guarantee
from discreet.server import Service
from discreet.server.rights import PersonRole
from discreet.server.services.people import NewToken, add_person, issue_token
from discreet.server.state import people
from tests.server.running_service import PROJECT, RECORD, SERVICE, hospital
from tests.server.states import name_address

_PATIENCE = 120.0
_SERVE = "from discreet.cli import main; main()"


def shared_project(folder: Path, conninfo: str, *, service: str = SERVICE) -> Path:
    """The small hospital with ledger and state on a server, whose address is in a variable."""
    variable = name_address(conninfo)
    ledger = f'[ledger]\nkind = "postgres"\naddress_from = "{variable}"\nname = "visits"\n'
    state = f'state = {{ kind = "postgres", address_from = "{variable}" }}\n'
    text = PROJECT.replace('ledger = "visits.ledger"\n', 'key = "owner.key"\n')
    place = hospital(folder)
    place.write_text(text + ledger + service + state + RECORD, encoding="utf-8")
    return place


class Replica:
    """One `discreet serve`, in a group of processes of its own."""

    def __init__(self, place: Path) -> None:
        """Start it, and wait until it answers."""
        self._place = place
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self._port = int(probe.getsockname()[1])
        self.address = f"http://127.0.0.1:{self._port}"
        self.start()
        self.wait()

    def start(self) -> None:
        """Start it; it answers a while later."""
        command = ["serve", "--project", str(self._place), "--port", str(self._port)]
        with (self._place.parent / f"replica-{self._port}.log").open("ab") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-c", _SERVE, *command],
                stdout=log,
                stderr=log,
                stdin=subprocess.DEVNULL,
                start_new_session=True,
            )

    def wait(self) -> None:
        """Until it answers."""
        end = time.monotonic() + _PATIENCE
        while not self.answers():
            if self._process.poll() is not None or time.monotonic() > end:
                raise RuntimeError(self._place)
            time.sleep(0.1)

    def answers(self) -> bool:
        """Whether it is ready."""
        try:
            return httpx.get(f"{self.address}/ready", timeout=10).status_code == 200
        except httpx.HTTPError:
            return False

    def kill(self) -> None:
        """End the front at once, in the middle of whatever it does."""
        self._process.kill()
        self._process.wait()

    def stop(self) -> None:
        """Ask it to end, and see that it does, with nothing wrong."""
        self._process.send_signal(signal.SIGTERM)
        self._process.wait(_PATIENCE)


async def people_with_budgets(
    place: Path, names: list[str], budget: Guarantee
) -> tuple[NewToken, dict[str, NewToken]]:
    """An owner, and analysts with a budget each; their tokens."""
    service = Service(place)
    state = service.runtime.state
    owner = await state.write(add_person, by="tests", name="olga", role=PersonRole.OWNER)
    key = await state.write(issue_token, person=owner, label="tests")
    found = {}
    for name in names:
        await service.people.add(owner, name=name, role=PersonRole.ANALYST)
        await service.budgets.grant(owner, name=name, purpose="planning", budget=budget)
        person = await state.read(people.require, name)
        found[name] = await state.write(issue_token, person=person, label="tests")
    await service.runtime.close()
    return key, found
