"""Many clients at two replicas that are killed meanwhile; then clients and ledger are compared.

Each analyst has more questions than budget, so that the last ones are refused. A client that loses
its connection asks the other replica the same again, and so does one whose job was lost.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import random
import time
from collections import Counter, defaultdict
from contextlib import suppress
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path

import httpx

from discreet.core.guarantee import PureDP
from discreet.curator.project import Project
from discreet.ledger import EntryKind
from tests.server.replicas import Replica, people_with_budgets

PRICE = Fraction(1, 128)
"""Of a question: a number that computers add up without error."""
_AGAIN = 0.2
_MOST_TRIES = 400


@dataclass(frozen=True)
class Load:
    """How much is asked, by how many, and how often a replica is killed."""

    analysts: int
    clients: int
    questions: int
    answered_each: int
    kills: int
    seed: int = 1

    @property
    def each(self) -> int:
        """Questions of one analyst."""
        return self.questions // self.analysts


@dataclass
class ClientRecord:
    """What clients got: by analyst the release of each question, refusals, and what went wrong."""

    released: dict[str, dict[int, str]] = field(default_factory=lambda: defaultdict(dict))
    exhausted: Counter[str] = field(default_factory=Counter)
    trouble: Counter[str] = field(default_factory=Counter)
    killed: int = 0
    seconds: float = 0.0

    @property
    def done(self) -> int:
        """Questions that were answered or refused."""
        return sum(map(len, self.released.values())) + self.exhausted.total()


@dataclass
class LedgerRecord:
    """What the ledger says of each analyst."""

    reserved: Counter[str] = field(default_factory=Counter)
    committed: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    failed: Counter[str] = field(default_factory=Counter)
    unfinished: Counter[str] = field(default_factory=Counter)


def run_load(place: Path, load: Load) -> tuple[ClientRecord, LedgerRecord, dict[str, float]]:
    """Ask everything; what clients got, what the ledger has, and what accounts say is spent."""
    names = [f"analyst-{number}" for number in range(load.analysts)]
    budget = PureDP(epsilon=float(PRICE * load.answered_each))
    _, tokens = asyncio.run(people_with_budgets(place, names, budget))
    secrets = {name: each.token for name, each in tokens.items()}
    replicas = [Replica(place), Replica(place)]
    try:
        record = asyncio.run(_asked(replicas, secrets, load))
        for replica in replicas:
            replica.wait()
        spent = asyncio.run(_spent(replicas, secrets))
    finally:
        for replica in replicas:
            replica.stop()
    return record, read_ledger(place), spent


async def _asked(replicas: list[Replica], secrets: dict[str, str], load: Load) -> ClientRecord:
    record, waiting = ClientRecord(), _questions(list(secrets), load)
    began = time.monotonic()
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=load.clients * 2)
    async with httpx.AsyncClient(timeout=120, limits=limits) as http:
        killing = asyncio.create_task(_killed(replicas, record, load))
        clients = [
            _client(http, replicas, secrets, waiting, record, first=number % 2)
            for number in range(load.clients)
        ]
        await asyncio.gather(*clients)
        await killing
    record.seconds = time.monotonic() - began
    return record


def _questions(names: list[str], load: Load) -> itertools.chain[tuple[str, int]]:
    """Questions of all analysts in turn."""
    return itertools.chain.from_iterable(
        ((name, number) for name in names) for number in range(load.each)
    )


async def _client(
    http: httpx.AsyncClient,
    replicas: list[Replica],
    secrets: dict[str, str],
    waiting: itertools.chain[tuple[str, int]],
    record: ClientRecord,
    *,
    first: int,
) -> None:
    """Ask one question after the other, each until it is answered or refused for good."""
    for name, number in waiting:
        headers = {"Authorization": f"Bearer {secrets[name]}"}
        sql = f"SELECT COUNT(*) AS n FROM visits WHERE age > {number / 1000}"
        body = {"sql": sql, "epsilon": float(PRICE)}
        for attempt in range(_MOST_TRIES):
            address = replicas[(first + attempt) % 2].address
            try:
                reply = await http.post(f"{address}/api/v1/questions", json=body, headers=headers)
            except httpx.HTTPError as error:
                record.trouble[type(error).__name__] += 1
                await asyncio.sleep(_AGAIN)
                continue
            if reply.status_code == 202:
                reply = await _over(http, address, headers, reply)
            if reply.status_code == 200 and reply.json()["phase"] == "finished":
                record.released[name][number] = reply.json()["result"]["release"]["id"]
                break
            told = reply.json()
            code = (told.get("error") or told).get("code", told.get("phase"))
            if code == "budget_exhausted":
                record.exhausted[name] += 1
                break
            record.trouble[f"{reply.status_code} {code}"] += 1
            await asyncio.sleep(_AGAIN)
        else:
            record.trouble["given up"] += 1


async def _over(
    http: httpx.AsyncClient, address: str, headers: dict[str, str], reply: httpx.Response
) -> httpx.Response:
    """A job that goes on, once it is over; as it was last where its replica is gone."""
    key = reply.json()["job"]
    with suppress(httpx.HTTPError):
        while reply.is_success and reply.json()["phase"] in ("accepted", "started"):
            await asyncio.sleep(_AGAIN)
            reply = await http.get(f"{address}/api/v1/jobs/{key}", headers=headers)
    return reply


async def _killed(replicas: list[Replica], record: ClientRecord, load: Load) -> None:
    """Kill one replica or the other at random moments of the second half, and start it again."""
    chance = random.Random(load.seed)
    half = load.questions // 2
    moments = sorted(chance.randrange(half, half + half * 9 // 10) for _ in range(load.kills))
    for moment in moments:
        while record.done < moment:
            await asyncio.sleep(0.05)
        victim = chance.choice(replicas)
        await asyncio.to_thread(victim.kill)
        record.killed += 1
        await asyncio.sleep(chance.random())
        victim.start()
        await asyncio.to_thread(victim.wait)


async def _spent(replicas: list[Replica], secrets: dict[str, str]) -> dict[str, float]:
    found = {}
    async with httpx.AsyncClient(timeout=120) as http:
        for name, token in secrets.items():
            headers = {"Authorization": f"Bearer {token}"}
            account = await http.get(f"{replicas[0].address}/api/v1/account", headers=headers)
            found[name] = account.json()["accounts"][0]["spent"]["epsilon"]
    return found


def read_ledger(place: Path) -> LedgerRecord:
    """Verify the ledger, and count how every reservation ended."""
    ledger = Project.read(place).read_ledger()
    found = LedgerRecord()
    askers: dict[str, str] = {}
    try:
        ledger.verify(None)
        for entry in ledger.entries():
            if entry.kind is EntryKind.RESERVED:
                askers[entry.id] = str(entry.body["asker"])
                found.reserved[askers[entry.id]] += 1
                found.unfinished[askers[entry.id]] += 1
            elif entry.kind is EntryKind.COMMITTED:
                found.unfinished[askers[entry.subject]] -= 1
                released = json.loads(entry.body["release"])["id"]
                found.committed[askers[entry.subject]].add(released)
            elif entry.kind is EntryKind.FAILED:
                found.unfinished[askers[entry.subject]] -= 1
                found.failed[askers[entry.subject]] += 1
    finally:
        ledger.close()
    return found
