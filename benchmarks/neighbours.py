"""Whatever one analyst does, another notices nothing beyond the quantum.

    python benchmarks/neighbours.py
    python benchmarks/neighbours.py --seconds 3 --only nothing long_statement

A service runs as a process of its own. One analyst does one thing after the other as fast as eight
connections allow; others meanwhile ask over HTTP, over the PostgreSQL protocol and through the
client of the library, six of them each, and one looks at a page now and then. Each cell of the
matrix says how many of their requests were answered, how many were refused, and how the median, the
95th percentile and the longest of their times moved against the quiet service. Of each action it is
said how often it was answered, refused, and ended by an error; one that kept up no load does not
count. At the end nobody else may have an overrun. The quantum should be eight times what a question
takes by itself.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import itertools
import json
import socket
import sys
import tempfile
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from multiprocessing import get_context
from pathlib import Path
from statistics import median, quantiles
from typing import Any

import httpx

sys.path.insert(0, str(Path(__file__).parents[1]))

import discreet as dp
from discreet.server import Service
from discreet.server.services.authentication import _logged_in
from discreet.server.services.login_attempts import Visitor
from discreet.server.state import people
from tests.server.replicas import Replica, people_with_budgets
from tests.server.running_service import SERVICE, hospital
from tests.server.wire.raw_client import (
    SYNC,
    RawClient,
    bind,
    describe,
    execute,
    letters,
    parse,
    query,
)

QUANTUM = 3.0
_CONNECTIONS = 8
_OBSERVERS = ("http", "page", "psql", "client")
_EACH = {"http": 6, "page": 1, "psql": 6, "client": 6}
_PAUSE = {"http": 0.115, "page": 1.0, "psql": 0.115, "client": 0.115}
"""Seconds between two requests of an observer, who has 600 in a minute."""
_NUMBERS = itertools.count(1)


@dataclass
class Doors:
    """Where the service listens, and what everybody comes in with."""

    address: str
    wire: int
    tokens: dict[str, str]
    cookies: dict[str, str]
    actor: str = ""

    def http(self, name: str, *, timeout: float = 60) -> httpx.Client:
        """A client of somebody who has a token."""
        headers = {"Authorization": f"Bearer {self.tokens[name]}"}
        return httpx.Client(base_url=self.address, headers=headers, timeout=timeout)

    def entered(self, name: str) -> RawClient:
        """A connection of somebody over the PostgreSQL protocol."""
        made = RawClient(self.wire, timeout=60)
        made.enter(name, self.tokens[name])
        return made


@dataclass
class Cell:
    """What one observer saw during one action."""

    seconds: list[float] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)

    def summary(self) -> tuple[float, float, float]:
        """Median, 95th percentile and longest."""
        ordered = sorted(self.seconds)
        return median(ordered), quantiles(ordered, n=20)[-1], ordered[-1]


def counted() -> str:
    """A question that nobody asked before."""
    return f"SELECT COUNT(*) AS n FROM visits WHERE age > {next(_NUMBERS) / 10_000}"


# What is observed -------------------------------------------------------------------------------


def ask_http(doors: Doors, name: str) -> Iterator[None]:
    """A question over HTTP."""
    with doors.http(name) as http:
        while True:
            asked = {"sql": counted(), "epsilon": 0.001}
            http.post("/api/v1/questions", json=asked).raise_for_status()
            yield


def see_page(doors: Doors, name: str) -> Iterator[None]:
    """One's account in the browser."""
    with httpx.Client(base_url=doors.address, cookies=_cookie(doors, name), timeout=60) as http:
        while True:
            for page in ("/record", "/account"):
                reply = http.get(page)
                assert reply.status_code == 200, reply.status_code
                yield


def ask_psql(doors: Doors, name: str) -> Iterator[None]:
    """A priced statement over the PostgreSQL protocol."""
    with doors.entered(name) as client:
        while True:
            priced = "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=.001)"
            found = client.ask(query(counted().replace("SELECT", priced)))
            assert "D" in letters(found), letters(found)
            yield


def ask_client(doors: Doors, name: str) -> Iterator[None]:
    """A question through the library's client."""
    remote = dp.connect(doors.address, doors.tokens[name])
    while True:
        remote.sql(counted(), spend=dp.PureDP(epsilon=0.001))
        yield


OBSERVERS: dict[str, Callable[[Doors, str], Iterator[None]]] = dict(
    zip(_OBSERVERS, (ask_http, see_page, ask_psql, ask_client), strict=True)
)


Act = Callable[[Doors], Iterator[bool]]
"""Does something again and again, and says each time whether it was answered, not refused."""


# What somebody does -----------------------------------------------------------------------------


def _cookie(doors: Doors, name: str) -> dict[str, str]:
    return {"discreet_login": doors.cookies[name]}


def posting(path: str, body: bytes, kind: str = "application/json") -> Act:
    """Send one body again and again."""

    def act(doors: Doors) -> Iterator[bool]:
        with doors.http(doors.actor) as http:
            while True:
                yield http.post(path, content=body, headers={"Content-Type": kind}).is_success

    return act


def getting(path: str, *, junk: bool = False) -> Act:
    """Look at one address again and again; with a token that nobody has, if ``junk``."""

    def act(doors: Doors) -> Iterator[bool]:
        with doors.http(doors.actor) as http:
            for number in itertools.count():
                made = {"Authorization": f"Bearer dsc_{number:064d}"} if junk else {}
                yield http.get(path, headers=made).is_success

    return act


def paging(doors: Doors) -> Iterator[bool]:
    """Send long forms to a page."""
    form = b"sql=" + b"%2B" * 200_000
    headers = {"Content-Type": "application/x-www-form-urlencoded"}
    with httpx.Client(
        base_url=doors.address, cookies=_cookie(doors, doors.actor), timeout=60
    ) as http:
        while True:
            yield http.post("/questions", content=form, headers=headers).is_success


def looking(doors: Doors) -> Iterator[bool]:
    """Look at the largest page again and again."""
    with httpx.Client(base_url=doors.address, cookies=_cookie(doors, doors.actor)) as http:
        while True:
            yield http.get("/record", timeout=60).is_success


def logging_in(doors: Doors) -> Iterator[bool]:
    """Guess passwords of somebody else, and links."""
    with httpx.Client(base_url=doors.address, timeout=60) as http:
        for number in itertools.count():
            guess = {"name": "http0", "password": f"a guess {number}"}
            yield http.post("/api/v1/login", json=guess).is_success
            made = {"password": f"a password {number}"}
            yield http.post(f"/api/v1/links/{number:064d}", json=made).is_success


def half_opening(doors: Doors) -> Iterator[bool]:
    """Begin requests and entries, and finish none."""
    host, port = doors.address.removeprefix("http://").split(":")
    kept: deque[socket.socket] = deque(maxlen=50)
    for number in itertools.count():
        made = socket.create_connection((host, (int(port), doors.wire)[number % 2]), 10)
        made.sendall((b"POST /api/v1/questions HTTP/1.1\r\nHos", b"\0\0\0\x20\0")[number % 2])
        if len(kept) == kept.maxlen:
            kept.popleft().close()
        kept.append(made)
        yield True
        time.sleep(0.01)


def begun(said: str, *, room: int = 0) -> Act:
    """Begin many requests with a token, and go on with none: say no more, or take no answer."""

    def act(doors: Doors) -> Iterator[bool]:
        host, port = doors.address.removeprefix("http://").split(":")
        head = said.replace("TOKEN", doors.tokens[doors.actor]).encode()
        kept: deque[socket.socket] = deque(maxlen=15)
        while True:
            made = socket.socket()
            if room:
                made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, room)
            made.settimeout(10)
            made.connect((host, int(port)))
            made.sendall(head)
            if len(kept) == kept.maxlen:
                kept.popleft().close()
            kept.append(made)
            yield True
            time.sleep(0.1)

    return act


def giving_up(doors: Doors) -> Iterator[bool]:
    """Ask and give up, and look again and again at what only the ledger knows then."""
    with doors.http(doors.actor) as http:
        asked = {"sql": counted(), "epsilon": 0.001}
        job = http.post("/api/v1/questions", params={"wait": 0}, json=asked).json().get("job", "")
        yield http.delete(f"/api/v1/jobs/{job}").is_success
        for _ in range(50):
            yield http.get(f"/api/v1/jobs/{job}").is_success


def changing_tokens(doors: Doors) -> Iterator[bool]:
    """Have tokens made, and end them."""
    with doors.http(doors.actor) as http:
        while True:
            made = http.post("/api/v1/tokens", json={"label": "one more"})
            key = made.json().get("id", "")
            yield made.is_success and http.delete(f"/api/v1/tokens/{key}").is_success


def asking_pages(doors: Doors) -> Iterator[bool]:
    """Ask from a page, one question after the other."""
    with httpx.Client(
        base_url=doors.address, cookies=_cookie(doors, doors.actor), timeout=60
    ) as http:
        csrf = http.get("/api/v1/session").json()["csrf"]
        while True:
            form = {"csrf": csrf, "sql": counted(), "epsilon": "0.001"}
            yield http.post("/ask", data=form).status_code == 303


def asking_psql(doors: Doors) -> Iterator[bool]:
    """Ask over the PostgreSQL protocol, one question after the other."""
    for _ in ask_psql(doors, doors.actor):
        yield True


def previewing(doors: Doors) -> Iterator[bool]:
    """Ask for prices through the client, of questions that nobody asked before."""
    remote = dp.connect(doors.address, doors.tokens[doors.actor])
    while True:
        remote.preview(counted(), spend=dp.PureDP(epsilon=0.001))
        yield True


def saying(*messages: bytes) -> Act:
    """Send messages of the PostgreSQL protocol again and again, and read what comes."""

    def act(doors: Doors) -> Iterator[bool]:
        with doors.entered(doors.actor) as client:
            while True:
                yield "E" not in letters(client.ask(b"".join(messages)))

    return act


def flooding(doors: Doors) -> Iterator[bool]:
    """Send tiny messages without waiting for any answer."""
    with doors.entered(doors.actor) as client:
        reader = threading.Thread(target=client.rest, daemon=True)
        reader.start()
        while True:
            client.send(SYNC * 5000)
            yield True


def asking(doors: Doors) -> Iterator[bool]:
    """Ask through the client, heavy questions one after the other."""
    remote = dp.connect(doors.address, doors.tokens[doors.actor])
    while True:
        number = next(_NUMBERS)
        sql = (
            "SELECT ward, COUNT(*) AS n, AVG(age) AS a, SUM(age * age) AS s FROM visits "
            f"WHERE age * age + {number} > 5 GROUP BY ward"
        )
        remote.sql(sql, spend=dp.PureDP(epsilon=0.001))
        yield True


def connecting(doors: Doors) -> Iterator[bool]:
    """Come in by psql and leave, again and again."""
    while True:
        with doors.entered(doors.actor):
            yield True


_HEAD = "POST /openapi.json HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer TOKEN\r\n"
_PRICED = frozenset(("client_questions", "page_questions", "psql_questions"))
LONG = "SELECT " + "+" * 97_999
ACTIONS: dict[str, Act | None] = {
    "nothing": None,
    "long_statement": saying(query(LONG)),
    "many_statements": saying(query("BEGIN;" * 16_000)),
    "hundred_statements": saying(query("BEGIN;" * 100)),
    "long_parameters": saying(
        parse("SELECT " + "$1," * 3_000 + "1"), bind(), describe(), execute(), SYNC
    ),
    "tiny_messages": flooding,
    "catalogue": saying(query("SELECT * FROM pg_catalog.pg_type a, pg_catalog.pg_type b")),
    "psql_logins": connecting,
    "long_sql": posting("/api/v1/previews", json.dumps({"sql": LONG, "epsilon": 1}).encode()),
    "many_keys": posting(
        "/api/v1/questions", json.dumps({f"k{n}": 1 for n in range(60_000)}).encode()
    ),
    "many_lists": posting("/api/v1/questions", b'{"sql": [' + b"[]," * 330_000 + b"[]]}"),
    "long_forms": paging,
    "requests": getting("/api/v1/me"),
    "junk_tokens": getting("/api/v1/me", junk=True),
    "history": getting("/api/v1/history?count=100"),
    "pages": looking,
    "guesses": logging_in,
    "half_open": half_opening,
    "half_sent": begun(_HEAD + "Content-Length: 9\r\n\r\n{"),
    "answers_not_taken": begun(_HEAD.replace("POST", "GET") + "\r\n", room=2048),
    "given_up": giving_up,
    "token_changes": changing_tokens,
    "readiness": getting("/ready", junk=True),
    "page_questions": asking_pages,
    "psql_questions": asking_psql,
    "client_previews": previewing,
    "client_questions": asking,
}


def actor_of(action: str) -> str:
    """Who does it: for each action somebody else, who owes nothing for another one."""
    return f"actor{list(ACTIONS).index(action)}"


@dataclass
class Load:
    """What came of an action: how often it was answered, refused, and ended by an error."""

    counts: Any
    error: Any

    def count(self, place: int) -> None:
        """One more of a kind."""
        with self.counts.get_lock():
            self.counts[place] += 1

    def told(self) -> tuple[int, int, int, str]:
        """All three, and one of the errors."""
        answered, refused, errors = self.counts[:]
        return answered, refused, errors, self.error.value.decode(errors="replace")


def keep_doing(doors: Doors, action: str, load: Load) -> None:
    """Do it until the process is ended, whatever comes back, and count what came."""
    act = ACTIONS[action]
    assert act is not None

    def again() -> None:
        while True:
            try:
                for answered in act(doors):
                    load.count(0 if answered else 1)
            except Exception as error:
                load.count(2)
                load.error.value = repr(error).encode()[:120]
            time.sleep(0.01)

    for _ in range(_CONNECTIONS):
        threading.Thread(target=again, daemon=True).start()
    threading.Event().wait()


@contextlib.contextmanager
def going_on(doors: Doors, action: str) -> Iterator[Load]:
    """Somebody does something, in a process of their own, and what comes of it is counted."""
    context = get_context("spawn")
    load = Load(context.Array("q", 3), context.Array("c", 128))
    if ACTIONS[action] is None:
        yield load
        return
    who = replace(doors, actor=actor_of(action))
    process = context.Process(target=keep_doing, args=(who, action, load), daemon=True)
    process.start()
    end = time.monotonic() + 60
    while not any(load.counts[:]) and time.monotonic() < end:
        time.sleep(0.05)
    try:
        yield load
    finally:
        process.kill()
        process.join()


def observe(doors: Doors, channel: str, name: str, seconds: float) -> Cell:
    """One observer for so many seconds."""
    cell, end = Cell(), time.monotonic() + seconds
    steps = OBSERVERS[channel](doors, name)
    while time.monotonic() < end:
        began = time.perf_counter()
        try:
            next(steps)
        except Exception as refusal:
            cell.refused.append(repr(refusal)[:200])
            steps = OBSERVERS[channel](doors, name)
        else:
            cell.seconds.append(time.perf_counter() - began)
        time.sleep(_PAUSE[channel])
    return cell


def observers() -> list[tuple[str, str]]:
    """Everybody who observes: their channel and their name."""
    return [(channel, f"{channel}{n}") for channel, many in _EACH.items() for n in range(many)]


def observe_all(doors: Doors, seconds: float, threads: ThreadPoolExecutor) -> dict[str, Cell]:
    """What all observers of each channel saw, for so many seconds."""
    cells = {channel: Cell() for channel in OBSERVERS}
    everybody = observers()
    found = threads.map(lambda who: observe(doors, who[0], who[1], seconds), everybody)
    for (channel, _), cell in zip(everybody, found, strict=True):
        cells[channel].seconds += cell.seconds
        cells[channel].refused += cell.refused
    return cells


@contextlib.contextmanager
def both_doors(folder: Path, quantum: float, actions: list[str]) -> Iterator[Doors]:
    """A service with both doors, over a small hospital, for who acts and who observes."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        wire = int(probe.getsockname()[1])
    more = f"quantum = {quantum}\noverruns = 20\nwait = 50"
    settings = SERVICE.replace('quantum = "off"', more).replace("workers = 256", "workers = 64")
    settings = settings.replace("per_minute = 100000", "per_minute = 600")
    place = hospital(folder, service=f"{settings}\n[service.wire]\nport = {wire}\n")
    actors = [actor_of(action) for action in actions]
    names = [*actors, *(name for _, name in observers())]
    _, tokens = asyncio.run(people_with_budgets(place, names, dp.PureDP(epsilon=20)))
    cookies = asyncio.run(_cookies(place, [*actors, "page0"]))
    replica = Replica(place)
    try:
        found = {name: each.token for name, each in tokens.items()}
        yield Doors(replica.address, wire, found, cookies)
    finally:
        replica.stop()


async def _cookies(place: Path, names: list[str]) -> dict[str, str]:
    service, found = Service(place), {}
    for name in names:
        person = await service.runtime.state.read(people.require, name)
        login = await service.runtime.state.write(
            _logged_in, person=person, visitor=Visitor("127.0.0.1"), how="link"
        )
        found[name] = login.secret
    await service.runtime.close()
    return found


def run(seconds: float, only: list[str], quantum: float = QUANTUM, *, timed: bool = True) -> bool:
    """The matrix; whether it holds, but for times where it is not ``timed``."""
    actions = [name for name in ACTIONS if not only or name in only]
    holds, trials = True, Counter[str]()
    quiet: dict[str, tuple[float, float, float]] = {}
    with (
        tempfile.TemporaryDirectory() as folder,
        both_doors(Path(folder), quantum, actions) as doors,
        ThreadPoolExecutor(len(observers())) as threads,
    ):
        observe_all(doors, 0.1, threads)  # workers start
        before = overruns(doors)
        for action in actions:
            began = time.monotonic()
            with going_on(doors, action) as load:
                cells = observe_all(doors, seconds, threads)
            holds = kept_up(action, load, time.monotonic() - began) and holds
            for name, cell in cells.items():
                trials[name] += len(cell.seconds) + len(cell.refused)
                found = cell.summary() if len(cell.seconds) > 1 else (float("inf"),) * 3
                quiet.setdefault(name, found)
                moved = [now - then for now, then in zip(found, quiet[name], strict=True)]
                fine = not cell.refused and (max(moved) <= quantum or not timed)
                holds = holds and fine
                print(
                    f"{action:18} {name:6} {len(cell.seconds):4} answered, "
                    f"{len(cell.refused)} refused, median {found[0]:.3f} s, moved "
                    f"{moved[0]:+.3f}, p95 {moved[1]:+.3f}, longest {moved[2]:+.3f}"
                    f"{'' if fine else '  NOTICED ' + '; '.join(cell.refused[:1])}",
                    flush=True,
                )
            time.sleep(1)
        late = {name: count for name, count in overruns(doors).items() if count > before[name]}
    holds = holds and not (late and timed)
    print(f"{trials.total()} trials in {len(actions) * len(OBSERVERS)} cells: {dict(trials)}")
    print(f"overruns of others: {late}")
    print("holds" if holds else "DOES NOT HOLD")
    return holds


def kept_up(action: str, load: Load, seconds: float) -> bool:
    """Say what came of an action; whether each connection got something through, if slowly.

    Who has used up a share of the event loop waits, which is no lack of trying; and of questions
    that are priced one analyst has one at a time.
    """
    if ACTIONS[action] is None:
        return True
    answered, refused, errors, error = load.told()
    rate = (answered + refused) / seconds
    fine = answered + refused >= (1 if action in _PRICED else _CONNECTIONS)
    print(
        f"{action:18} was done {rate:.1f} times a second: {answered} answered, {refused} refused, "
        f"{errors} errors {error}{'' if fine else '  NO LOAD'}",
        flush=True,
    )
    return fine


def overruns(doors: Doors) -> dict[str, int]:
    """Of everybody who observes, today."""
    found = {}
    for _, name in observers():
        with doors.http(name) as http:
            found[name] = http.get("/api/v1/account").json()["overruns_today"]
    return found


def main() -> None:
    """Run it."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=16.0, help="for each action")
    parser.add_argument("--only", nargs="*", default=[], choices=list(ACTIONS))
    parser.add_argument("--quantum", type=float, default=QUANTUM)
    parser.add_argument("--few", action="store_true", help="one observer at each door")
    parser.add_argument("--untimed", action="store_true", help="only who is answered counts")
    given = parser.parse_args()
    if given.few:
        _EACH.update(dict.fromkeys(_EACH, 1))
    sys.exit(not run(given.seconds, given.only, given.quantum, timed=not given.untimed))


if __name__ == "__main__":
    main()
