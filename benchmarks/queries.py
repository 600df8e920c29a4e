"""Many linear queries at once: all marginals of the Adult table, and a long online conversation.

Errors are root mean squared errors of a count over all queries of a workload, in records, at the
same epsilon under add/remove neighbours: independent noise on every marginal, the matrix mechanism,
MWEM as printed (one query a round, small steps, replayed) and MWEM by default (one marginal
a round, scaling). The online figures are about dense queries over 2**16 cells, kept in memory.
"""

from __future__ import annotations

import math
import resource
import sys
import time

import numpy as np
from numpy.typing import NDArray
from peers import ROOT
from queries_figure import draw, workload_curves
from timing import Figure, alternate, clock, ratios

import discreet as dp
from discreet.queries.fitting import SmallSteps
from discreet.queries.linear_query import Weights
from discreet.queries.matrix.mechanism import MatrixMechanism
from discreet.queries.mwem import MWEM, suggested_rounds
from discreet.queries.mwem_rounds import OneQuery
from discreet.queries.online_construction import OnlineSession
from discreet.queries.pmw import private_multiplicative_weights
from discreet.queries.record_count import BoughtCount, PublicCount
from discreet.queries.universe import Universe
from discreet.queries.workload import Workload

sys.path.append(str(ROOT / "examples"))

RELEASES = 5
ROUNDS = 9
CELLS = 1 << 16
RECORDS = 10_000_000
QUESTIONS = 1_000_000
STORED = 32


def figures() -> list[Figure]:
    """All figures of this suite."""
    try:
        universe, counts = adult()
    except FileNotFoundError as reason:
        missing = Figure(name="queries", values=(), unit="x", remark=f"MISSING adult: {reason}")
        return [missing, *online()]
    found = []
    for ways in (2, 3):
        workload = Workload.marginals(universe, ways)
        for epsilon in (0.1, 1.0):
            found += compared(workload, counts, epsilon, f"queries/{ways}-way/epsilon={epsilon:g}")
    draw(workload_curves(universe, counts))
    return found + online()


def adult() -> tuple[Universe, NDArray[np.int64]]:
    """The Adult table over eight attributes: 235 200 cells, 32 561 people."""
    import adult as source

    data = source.load()
    columns = {
        "age": (7, [min((age - 15) // 10, 6) for age in data.age]),
        "education": (8, [(years - 1) // 2 for years in data.education_years]),
        "marital": (7, [source.MARITAL_STATUSES.index(x) for x in data.marital_status]),
        "relationship": (6, [source.RELATIONSHIPS.index(x) for x in data.relationship]),
        "race": (5, [source.RACES.index(x) for x in data.race]),
        "sex": (2, [source.SEXES.index(x) for x in data.sex]),
        "hours": (5, [min(hours // 20, 4) for hours in data.hours_per_week]),
        "income": (2, [source.INCOMES.index(x) for x in data.income]),
    }
    universe = Universe.of(**{name: range(size) for name, (size, _) in columns.items()})
    counts = np.zeros(universe.shape, dtype=np.int64)
    np.add.at(counts, tuple(np.array(values) for _, values in columns.values()), 1)
    return universe, counts


def compared(
    workload: Workload, counts: NDArray[np.int64], epsilon: float, name: str
) -> list[Figure]:
    """Errors of all mechanisms on one workload, and the time of MWEM."""
    print(name, end=" ", file=sys.stderr, flush=True)
    exact, spend = workload.answers(counts), dp.PureDP(epsilon=epsilon)
    alone = math.sqrt(2) * len(workload.products) / epsilon
    matrix = MatrixMechanism(workload, spend).rmse
    rounds = suggested_rounds(spend, records=int(counts.sum()), most=len(workload.products))
    found = [
        Figure(name=f"{name}/independent", values=(alone,), unit="records"),
        Figure(name=f"{name}/matrix", values=(matrix,), unit="records"),
    ]
    printed = OneQuery(stepping=SmallSteps())
    for kind, mechanism in (
        ("mwem_printed", MWEM(workload, spend, BoughtCount(), 30, each=printed, passes=20)),
        ("mwem", MWEM(workload, spend, BoughtCount(), rounds)),
    ):
        errors, seconds = [], []
        for _ in range(RELEASES):
            start = time.perf_counter()
            released = mechanism.release(counts)
            seconds.append(time.perf_counter() - start)
            squares = (released.answers(workload) - exact) ** 2
            errors.append(math.sqrt(float(squares.mean())))
        print(".", end="", file=sys.stderr, flush=True)
        found += [
            Figure(name=f"{name}/{kind}", values=errors, unit="records"),
            Figure(name=f"{name}/{kind}/seconds", values=seconds, unit="s"),
        ]
    print(file=sys.stderr)
    return found


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
        Figure(name="queries/online/updates", values=(plan.cutoff - session.left,), unit="updates"),
    ]


def settle(session: OnlineSession, queries: list[Weights]) -> None:
    """Ask until nothing new is learnt."""
    left = -1
    while left != session.left:
        left = session.left
        for query in queries:
            session.ask(query)


def conversation(session: OnlineSession, queries: list[Weights]) -> float:
    """A million questions, each chosen by the answer before it."""
    answer, ask = 0.0, session.ask
    for turn in range(QUESTIONS):
        answer = ask(queries[(turn + int(answer * 1e6)) % STORED])
    return answer
