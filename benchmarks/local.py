"""Local privacy: a million people, a domain of 1024, clients and server together, and the peer.

Reports are really made, written as bytes, read and checked one by one; randomness is exact. The
peer works on fewer people, and its time is multiplied: its hashing takes over ten minutes for a
million, and its unary reports of a million people do not fit into memory.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from peers import Missing, Peer
from timing import Figure, Timer, alternate, clock_on, ratios, scaled

from discreet import local
from discreet.local.oracle import FrequencyOracle

PEOPLE, DOMAIN, EPSILON = 1_000_000, 1024, 1
ROUNDS = 3
BY_JSON = 5_000
PEER_PEOPLE = {"direct": 100_000, "unary": 10_000, "hashing": 1_000}
LEAST = {"direct": 1, "unary": 3, "hashing": 50}


def oracles() -> dict[str, FrequencyOracle]:
    """The oracles that the peer has too, and those that it has not."""
    return {
        "direct": local.DirectEncoding(epsilon=EPSILON, domain=DOMAIN),
        "unary": local.OptimizedUnary(epsilon=EPSILON, domain=DOMAIN),
        "hashing": local.OptimalLocalHashing(epsilon=EPSILON, domain=DOMAIN),
        "hadamard": local.HadamardResponse(epsilon=EPSILON, domain=DOMAIN, bits=2),
    }


def values(people: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """What people have: frequencies fall as a power of the rank."""
    chances = 1 / np.arange(1, DOMAIN + 1) ** 1.1
    return np.random.default_rng().choice(DOMAIN, people, p=chances / chances.sum())


def in_batches(oracle: FrequencyOracle, people: np.ndarray[tuple[int], np.dtype[np.int64]]) -> None:
    """Clients to bytes, bytes to estimates."""
    sent = oracle.privatize_many(people).to_bytes(oracle.fields)
    oracle.estimate(oracle.aggregate(local.ReportBatch.from_bytes(sent, oracle.fields)))


def by_json(oracle: FrequencyOracle, people: np.ndarray[tuple[int], np.dtype[np.int64]]) -> None:
    """The client of devices, one report after the other, and the collector."""
    asked = local.Collection(name="benchmark", version=1, oracle=oracle, memoised=False)
    client, collector = asked.client(), local.Collector(asked)
    collector.take([client.privatize(int(value)) for value in people])
    collector.estimate()


def figures() -> list[Figure]:
    """All figures of this suite."""
    found = []
    try:
        with Peer("ldpy", "peer_ldpy_local.py") as peer:
            found += [each for name in oracles() for each in measured(name, peer)]
    except Missing as reason:
        remark = f"MISSING ldpy: {reason}"
        found += [each for name in oracles() for each in measured(name, None)]
        found += [
            Figure(name=f"local/{name}/speedup", values=(), unit="x", at_least=least, remark=remark)
            for name, least in LEAST.items()
        ]
    return found


def measured(name: str, peer: Peer | None) -> list[Figure]:
    """One oracle: seconds for a million, times the peer's speed, and JSON apart."""
    oracle = oracles()[name]
    mine: Callable[[], float] = clock_on(partial(values, PEOPLE), partial(in_batches, oracle))
    timers: dict[str, Timer] = {"ours": mine}
    if peer is not None and name in LEAST:
        asked = {"oracle": name, "users": PEER_PEOPLE[name], "domain": DOMAIN, "epsilon": EPSILON}
        timers["peer"] = lambda: peer.seconds(**asked)
    seconds = alternate(f"local {name}", timers, rounds=ROUNDS)
    found = [Figure(name=f"local/{name}/million", values=seconds["ours"], unit="s")]
    if "peer" in timers:
        factor = PEOPLE / PEER_PEOPLE[name]
        found.append(
            Figure(
                name=f"local/{name}/speedup",
                values=ratios(seconds["peer"], seconds["ours"], factor=factor),
                unit="x",
                at_least=LEAST[name],
                remark=f"the peer on {PEER_PEOPLE[name]} people, times {factor:g}",
            )
        )
    json = clock_on(partial(values, BY_JSON), partial(by_json, oracle))
    times = alternate(f"local {name} by JSON", {"json": json}, rounds=ROUNDS)["json"]
    each = scaled(times, 1e6 / BY_JSON)
    found.append(Figure(name=f"local/{name}/json_report", values=each, unit="us"))
    return found
