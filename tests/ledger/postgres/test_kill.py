"""Writers are killed and connections cut at any moment, and the server too; nothing is lost."""

import random
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from discreet.accounting.adaptive.steps import STEPS
from discreet.ledger import EntryKind, PostgreSQL
from tests import postgres_server
from tests.ledger.writer import LIMIT, terms
from tests.ledger.writers import Writers, committed, writers
from tests.postgres_server import Server
from tests.tcp_proxy import Proxy

pytestmark = postgres_server.needed


class Scene:
    """Writers behind a network that fails, and a watcher that reaches the server directly."""

    def __init__(self, folder: Path, server: Server, proxy: Proxy, crowd: Writers) -> None:
        self.server, self.proxy, self.crowd = server, proxy, crowd
        self.chance = random.Random(20260315)
        self.watcher = PostgreSQL(server.conninfo(), name="visits", key=folder / "visits.key")
        self.spent: tuple[int, ...] = (0,)
        self.released = 0
        self.figures = {"kills": 0, "cuts": 0, "ended by the server": 0, "server crashes": 0}

    def harm(self) -> None:
        """Once something more was released, kill a writer, cut a connection, or have one ended."""
        while not (busy := self.crowd.busy()) or len(self.crowd.released()) <= self.released:
            time.sleep(0.002)
        self.released = len(self.crowd.released())
        time.sleep(self.chance.uniform(0, 0.02))
        what = self.chance.choice(["kills", "kills", "cuts", "ended by the server"])
        match what:
            case "kills":
                self.crowd.kill(self.chance.choice(busy))
                self.crowd.launch()
            case "cuts":
                while not self.proxy.cut(self.chance):
                    time.sleep(0.002)
            case _:
                self.server.execute(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE client_port ="
                    " (SELECT client_port FROM pg_stat_activity WHERE application_name ="
                    " 'discreet ledger' ORDER BY random() LIMIT 1)"
                )
        self.figures[what] += 1

    def crash(self) -> None:
        """Kill the server and start it again."""
        self.server.kill()
        time.sleep(self.chance.uniform(0, 0.1))
        self.server.start()
        self.figures["server crashes"] += 1

    def check(self) -> None:
        """What is spent never falls and never exceeds the limit."""
        seen = self.watcher.spent()
        assert self.spent <= seen <= LIMIT
        self.spent = seen


@contextmanager
def scene(folder: Path, crowd_size: int) -> Iterator[Scene]:
    with Server() as server, Proxy(server.port) as proxy:
        place = server.conninfo(port=proxy.port)
        with writers(folder, crowd_size, "for ever", place) as crowd:
            made = Scene(folder, server, proxy, crowd)
            with made.watcher:
                made.watcher.open(terms())
                crowd.start()
                yield made


def survive(folder: Path, *, crowd_size: int, points: int, crashes: int) -> dict[str, int]:
    """Do harm again and again, watch the spending, and check what is left."""
    with scene(folder, crowd_size) as made:
        crowd, ledger, figures = made.crowd, made.watcher, made.figures
        for point in range(points):
            made.harm()
            made.check()
            if crashes and point % (points // crashes) == points // crashes - 1:
                made.crash()
                made.check()
            if point % 10 == 0:
                ledger.verify()
        checkpoint = ledger.checkpoint()
        for process in list(crowd.running):
            crowd.kill(process)
        released = crowd.released()
        made.check()
        ledger.verify(checkpoint)
        kept = committed(ledger)
        assert released <= kept
        kinds = [entry.kind for entry in ledger.entries()]
        unfinished = kinds.count(EntryKind.RESERVED) - kinds.count(EntryKind.COMMITTED)
        # A cut leaves nothing unfinished: its operation was settled or repeated.
        assert 0 <= unfinished <= figures["kills"] + crowd_size
        assert kinds.count(EntryKind.OPENED) == 1
        return figures | {
            "entries": ledger.checkpoint().number,
            "spent": ledger.spent()[0] // STEPS,
            "seen releases": len(released),
            "kept releases": len(kept),
            "unfinished reservations": unfinished,
        }


def test_nothing_is_lost_when_writers_are_killed_and_connections_cut(tmp_path: Path) -> None:
    figures = survive(tmp_path, crowd_size=4, points=20, crashes=0)
    assert figures["seen releases"] >= 20


@pytest.mark.slow
def test_nothing_is_lost_at_two_hundred_points_of_eight_writers(tmp_path: Path) -> None:
    figures = survive(tmp_path, crowd_size=8, points=200, crashes=5)
    sys.stdout.write(f"{figures}\n")
    assert figures["seen releases"] >= 200
    assert figures["spent"] == LIMIT[0] // STEPS
