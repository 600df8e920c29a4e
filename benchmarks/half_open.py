"""Connections that are begun and not finished: whether others are served meanwhile.

    python benchmarks/half_open.py
    python benchmarks/half_open.py --connections 200 --seconds 20

A service with both doors runs as a process of its own. So many connections are kept half open, in
turn with half a request line, half a header, half a body, half a PostgreSQL message, or nothing;
what the service ends is opened again at once. Meanwhile others ask over HTTP and the PostgreSQL
protocol from the same address, with a new connection each time. Said is how many were served, the
95th percentile of their times before and during, and by how much the log grew for it.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import selectors
import socket
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from statistics import quantiles

import httpx

sys.path.insert(0, str(Path(__file__).parents[1]))

import discreet as dp
from tests.server.replicas import Replica, people_with_budgets
from tests.server.running_service import SERVICE, hospital
from tests.server.wire.raw_client import RawClient, query, startup

MOST_LOG = 500_000
"""Bytes in a minute: a thousand lines of each of a few kinds."""
_CLIENTS = 4


@dataclass
class Served:
    """What became of others' requests."""

    seconds: list[float] = field(default_factory=list)
    refused: Counter[str] = field(default_factory=Counter)

    def p95(self) -> float:
        """The 95th percentile of their times."""
        return quantiles(self.seconds, n=20)[-1] if len(self.seconds) > 1 else float("nan")


class HalfOpen(threading.Thread):
    """Keeps connections half open until told to stop."""

    def __init__(self, port: int, wire: int, count: int) -> None:
        """Keep ``count`` of them at two ports, once started."""
        super().__init__(daemon=True)
        head = b"POST /api/v1/questions HTTP/1.1\r\nHost: x\r\n"
        self._kinds = [
            (port, b"GET /health HT"),
            (port, head + b"X-Slow: a"),
            (port, head + b"Content-Length: 1000\r\n\r\n{"),
            (port, b""),
            (wire, startup(user="ann")[:9]),
            (wire, b""),
        ]
        self._count = count
        self._over = threading.Event()
        self.opened = 0

    def run(self) -> None:
        """Open, and open again what was ended."""
        with selectors.DefaultSelector() as kept:
            while not self._over.is_set():
                missing = self._count - len(kept.get_map())
                for _ in range(min(missing, 100)):
                    made = self._one()
                    if made is not None:
                        kept.register(made, selectors.EVENT_READ)
                for key, _ in kept.select(0.02):
                    ended = key.fileobj
                    assert isinstance(ended, socket.socket)
                    with contextlib.suppress(OSError):
                        if ended.recv(4096):
                            continue
                    kept.unregister(ended)
                    ended.close()
            for key in list(kept.get_map().values()):
                assert isinstance(key.fileobj, socket.socket)
                key.fileobj.close()

    def stop(self) -> None:
        """Close them all."""
        self._over.set()
        self.join()

    def _one(self) -> socket.socket | None:
        port, said = self._kinds[self.opened % len(self._kinds)]
        self.opened += 1
        try:
            made = socket.create_connection(("127.0.0.1", port), 5)
            made.sendall(said)
        except OSError:
            return None
        return made


def ask_http(address: str, token: str) -> None:
    """One request on a connection of its own."""
    headers = {"Authorization": f"Bearer {token}"}
    httpx.get(f"{address}/api/v1/me", headers=headers, timeout=10).raise_for_status()


def ask_wire(port: int, token: str) -> None:
    """One statement on a connection of its own."""
    with RawClient(port, timeout=10) as client:
        client.enter("ann", token)
        assert client.ask(query("SELECT 1"))[-1][0] == b"Z"


def others(address: str, wire: int, token: str, seconds: float) -> dict[str, Served]:
    """Requests of others for so many seconds."""
    found = {"http": Served(), "wire": Served()}
    end = time.monotonic() + seconds

    def one(number: int) -> None:
        while time.monotonic() < end:
            name = ("http", "wire")[number % 2]
            began = time.perf_counter()
            try:
                if name == "http":
                    ask_http(address, token)
                else:
                    ask_wire(wire, token)
            except (httpx.HTTPError, OSError, EOFError, AssertionError) as error:
                found[name].refused[type(error).__name__] += 1
            else:
                found[name].seconds.append(time.perf_counter() - began)
            time.sleep(0.05)

    with ThreadPoolExecutor(_CLIENTS) as threads:
        list(threads.map(one, range(_CLIENTS)))
    return found


@contextlib.contextmanager
def both_doors(folder: Path) -> Iterator[tuple[Replica, int, str, Path]]:
    """A service with both doors; its wire port, ann's token and its log."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        wire = int(probe.getsockname()[1])
    place = hospital(folder, service=f"{SERVICE}\n[service.wire]\nport = {wire}\n")
    _, tokens = asyncio.run(people_with_budgets(place, ["ann"], dp.PureDP(epsilon=5)))
    replica = Replica(place)
    try:
        (log,) = folder.glob("replica-*.log")
        yield replica, wire, tokens["ann"].token, log
    finally:
        replica.stop()


def run(connections: int, seconds: float) -> bool:
    """Quiet first, then with connections half open; whether others were served."""
    with (
        tempfile.TemporaryDirectory() as folder,
        both_doors(Path(folder)) as (replica, wire, token, log),
    ):
        quiet = others(replica.address, wire, token, min(20.0, seconds / 4))
        flood = HalfOpen(int(replica.address.rpartition(":")[2]), wire, connections)
        flood.start()
        time.sleep(2)
        before = log.stat().st_size
        busy = others(replica.address, wire, token, seconds)
        with log.open("rb") as lines:
            lines.seek(before)
            # Lines of those who were served are there on a quiet day too.
            grown = sum(len(line) for line in lines if b'"status": 200' not in line)
        flood.stop()
    holds = grown < MOST_LOG * max(1.0, seconds / 60)
    print(f"{connections} connections half open for {seconds:g} s; {flood.opened} were opened")
    for name, each in busy.items():
        holds = holds and not each.refused and len(each.seconds) > seconds
        print(
            f"  {name}: {len(each.seconds)} served, "
            f"{each.refused.total()} refused {dict(each.refused)}, "
            f"p95 {1e3 * each.p95():.0f} ms (quiet: {1e3 * quiet[name].p95():.0f} ms), "
            f"longest {1e3 * max(each.seconds, default=0.0):.0f} ms"
        )
    print(f"  the log grew by {grown / 1e3:.0f} kB, without the lines of those who were served")
    print("holds" if holds else "DOES NOT HOLD")
    return holds


def main() -> None:
    """Run it."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--connections", type=int, default=2_000)
    parser.add_argument("--seconds", type=float, default=300.0)
    given = parser.parse_args()
    sys.exit(not run(given.connections, given.seconds))


if __name__ == "__main__":
    main()
