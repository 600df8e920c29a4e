"""What a lazy answer of private multiplicative weights costs, and a million of them.

Dense queries over 2**16 cells, kept in memory; the yardstick is the two dot products that an answer
needs, of the query with the data and with the hypothesis, in the query's stored form.
"""

from __future__ import annotations

import resource

import numpy as np
from timing import Figure, alternate, clock, ratios

import discreet as dp
from discreet.queries.online.construction import OnlineSession
from discreet.queries.online.pmw import private_multiplicative_weights
from discreet.queries.record_count import PublicCount
from discreet.queries.workload.linear_query import Weights

ROUNDS = 9
CELLS = 1 << 16
RECORDS = 10_000_000
QUESTIONS = 1_000_000
STORED = 32


def online() -> list[Figure]:
    """What a lazy answer costs, and a million of them."""
    numbers = np.random.default_rng(1)
    law = numbers.dirichlet(np.full(CELLS, 0.01))
    counts = numbers.multinomial(RECORDS, law)
    queries = [Weights(numbers.random(CELLS) < 0.5) for _ in range(STORED)]
    plan = private_multiplicative_weights(
        cells=CELLS,
        spend=dp.ZCDP(rho=0.5),
        size=PublicCount(RECORDS),
        questions=QUESTIONS,
        confidence=0.95,
    )
    session = plan.open(counts)
    settle(session, queries)
    table, hypothesis = counts.astype(np.float64), law.copy()

    def dots() -> float:
        return sum(float(q.values @ table) + float(q.values @ hypothesis) for q in queries)

    def lazy() -> float:
        return sum(session.ask(query) for query in queries)

    seconds = alternate(
        "queries/lazy", {"ask": clock(lazy, calls=20), "dots": clock(dots, calls=20)}, rounds=ROUNDS
    )
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    took = clock(lambda: conversation(session, queries))()
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    return [
        Figure(
            name="queries/online/lazy_over_dots",
            values=ratios(seconds["ask"], seconds["dots"]),
            unit="x",
            at_most=3,
        ),
        Figure(name="queries/online/million/seconds", values=(took,), unit="s"),
        Figure(name="queries/online/million/grown", values=(grown,), unit="MB", at_most=64),
        Figure(
            name="queries/online/updates",
            values=(plan.cutoff - session.updates_left,),
            unit="updates",
        ),
    ]


def settle(session: OnlineSession, queries: list[Weights]) -> None:
    """Ask until nothing new is learnt."""
    left = -1
    while left != session.updates_left:
        left = session.updates_left
        for query in queries:
            session.ask(query)


def conversation(session: OnlineSession, queries: list[Weights]) -> float:
    """A million questions, each chosen by the answer before it."""
    answer, ask = 0.0, session.ask
    for turn in range(QUESTIONS):
        answer = ask(queries[(turn + int(answer * 1e6)) % STORED])
    return answer
