"""A ledger that is kept: one of everything that a ledger can hold.

``hospital.sqlite`` and ``hospital.sqlite.key`` are as the first release writes them, and
``hospital.json`` says what came out, down to the last digit and the last entry. They are not
written again after it: what later versions make of them is the test. To make a set for another
version, run this file with that version::

    python -m tests.curator.golden.hospital FOLDER

What must come back, item by item:

- every answer of ``sql``, ``batch``, ``bounds`` and ``synopsis``: the same bytes, for free;
- child, partition, blocks: the same answers, and what each has left, to the last digit;
- the reservation that never ended: spent, and no answer;
- conversation, watch and open round: go on where they were, for free; a closed round is read;
- policy, external record and amendment: in the entries, under the same digests;
- the head, the spend and what remains: equal.

All people are invented, and the key guards nothing.
"""

from __future__ import annotations

import hashlib
import json
import sys
from datetime import date, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import discreet as dp
from discreet.mechanisms import AboveThreshold, NumericSparse, Sparse
from discreet.queries.analysts.guarantee import OneAnalyst, OneQuery
from discreet.queries.analysts.query_class import Conjunctions
from discreet.queries.online.pmw import private_gap_weights
from discreet.relational.planning.planned_query import PlannedQuery

NAME = "hospital.sqlite"
TOLD = "hospital.json"
WARDS = ("A", "B", "C")
PEOPLE = 600
PERSON = dp.Person("patient", max_rows=3, max_groups=2)
SETTLED = date(2024, 6, 1)
FIRST_DAY, LAST_DAY = date(2024, 1, 1), date(2024, 12, 31)

ONE, TWO, FIVE = (dp.PureDP(epsilon=number) for number in (1, 2, 5))
PAIR = dp.ApproxDP(epsilon=2, delta=1e-4)
BUDGET = dp.ApproxDP(epsilon=900, delta=1e-2)
AMENDED = dp.ApproxDP(epsilon=1000, delta=2e-2)
POLICY = dp.Policy(
    max_spend={"epsilon": 100, "delta": 1e-3},
    tables={
        "visits": {
            "filter": ["ward", "age", "cost", "day", "urgent", "site"],
            "group": ["ward", "age", "site", "day", "urgent", "cost"],
            "aggregate": ["patient", "cost", "age", "day"],
        }
    },
    purposes=["care"],
)

EVERYBODY = "SELECT COUNT(*) AS n FROM visits"
NOBODY = "SELECT COUNT(*) AS n FROM visits WHERE age > 200"
COUNT = "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"
INSIDE = "SELECT COUNT(*) AS n FROM visits WHERE age > 30"
ASKED: dict[str, tuple[str, Any]] = {
    "count": (COUNT, TWO),
    "fraction": ("SELECT COUNT(DISTINCT patient) AS n, COUNT(cost) AS c FROM visits", TWO),
    "sums": ("SELECT ward, SUM(cost) AS s, AVG(age) AS m FROM visits GROUP BY ward", TWO),
    "quantiles": ("SELECT MEDIAN(cost) AS half, MIN(age) AS lo, MAX(age) AS hi FROM visits", TWO),
    "variance": (
        "SELECT VARIANCE(cost) AS v, STDDEV(age) AS d, COVAR_SAMP(cost, age) AS k, "
        "CORR(cost, age) AS r FROM visits",
        PAIR,
    ),
    "sites": ("SELECT site, COUNT(DISTINCT patient) AS n FROM visits GROUP BY site", PAIR),
    "named": ("SELECT site FROM visits GROUP BY site", PAIR),
    "first": (
        "SELECT ward FROM visits GROUP BY ward ORDER BY COUNT(DISTINCT patient) DESC LIMIT 2",
        TWO,
    ),
    "case": (
        "SELECT SUM(CASE WHEN urgent THEN cost ELSE 0 END) / COUNT(*) AS r FROM visits "
        "WHERE day >= DATE '2024-03-01' AND ward IN ('A', 'B')",
        TWO,
    ),
    "features": (
        "SELECT COUNT(*) AS n FROM (SELECT patient, COUNT(*) AS k, SUM(cost) AS s FROM visits "
        "GROUP BY patient) AS people WHERE k > 1",
        TWO,
    ),
    "months": (
        "SELECT date_trunc('month', day) AS month, COUNT(*) AS n FROM visits "
        "GROUP BY date_trunc('month', day) HAVING COUNT(*) > 5 ORDER BY n DESC",
        TWO,
    ),
}
DEAR = "SELECT COUNT(*) AS n, SUM(cost) AS s FROM visits WHERE age < 50"
WANTED = {"n": dp.Within(40), "s": dp.Within(100_000)}
TOGETHER = {"wards": COUNT, "all": EVERYBODY, "sum": "SELECT SUM(cost) AS s FROM visits"}
PAIRED = {"variance": ASKED["variance"][0], "all": EVERYBODY}
WATCHED: dict[str, Any] = {
    "sparse": Sparse.pure(epsilon=30, cutoff=3, threshold=600, sensitivity=3),
    "above": AboveThreshold(epsilon=20, threshold=600, sensitivity=3),
    "numeric": NumericSparse(epsilon=40, cutoff=3, threshold=600, sensitivity=3),
}
SUBMITTED: list[Any] = [{"ward": "B"}, {"ward": ["A", "C"]}]
CARE: dict[str, Any] = {"purpose": "care"}


def visits() -> pl.DataFrame:
    """Two visits of every person; everything follows from their numbers."""
    rows = range(2 * PEOPLE)
    return pl.DataFrame(
        {
            "patient": [row // 2 for row in rows],
            "ward": [WARDS[(row * row) % 7 % 3] for row in rows],
            "age": [20 + (7 * row) % 60 for row in rows],
            "site": [f"s{(row // 2) % 4}" for row in rows],
            "cost": [float((13 * row) % 1000) for row in rows],
            "urgent": [row % 3 == 0 for row in rows],
            "day": [FIRST_DAY + timedelta(days=(5 * row) % 150) for row in rows],
        }
    )


def table() -> Any:
    """The visits, declared."""
    columns: dict[str, Any] = {
        "ward": dp.Category(WARDS),
        "age": dp.Number(0, 120),
        "site": dp.Discovered(),
        "cost": dp.Number(0, 1000),
        "urgent": dp.Category((False, True)),
        "day": dp.Dates(FIRST_DAY, LAST_DAY),
    }
    return dp.table(visits(), unit=PERSON, columns=columns, snapshot="one")


def curator(path: Path, budget: Any = AMENDED) -> dp.Curator:
    """The hospital's, on a ledger at ``path``; the budget was amended once."""
    return dp.Curator(visits=table(), budget=budget, ledger=path, policy=POLICY)


def universe(source: Any) -> Any:
    """Twelve cells."""
    return source.universe("visits", "ward", age="FLOOR(age / 30)")


def marginals(source: Any) -> Any:
    """All marginals of one attribute."""
    return dp.queries.Workload.marginals(universe(source), 1)


def boxes(source: Any) -> Any:
    """Ranges of ages and costs, for trees."""
    line = source.universe("visits", age="FLOOR(age / 8)", cost="FLOOR(cost / 64)")
    ranges = {"age": dp.queries.Ranges(16), "cost": dp.queries.Ranges(16)}
    return dp.queries.Workload.of(line, ranges)


def weighed(source: Any) -> Any:
    """Several families, with a list of one's own."""
    listed = dp.queries.Listed([[1.0, 0.0, 0.0], [1.0, 1.0, 0.0]])
    return dp.queries.Workload.of(universe(source), {"ward": listed, "age": dp.queries.Each(5)})


def made() -> dict[str, tuple[Any, Any, Any]]:
    """Every mechanism that leaves a synopsis."""
    q = dp.queries
    return {
        "matrix": (marginals, q.MatrixMechanism, TWO),
        "matrix-nonnegative": (
            marginals,
            partial(q.MatrixMechanism, reconstruction=q.NonNegative()),
            PAIR,
        ),
        "matrix-listed": (weighed, q.MatrixMechanism, TWO),
        "marginal": (marginals, q.MarginalMechanism, PAIR),
        "mwem": (marginals, partial(q.MWEM, rounds=4), TWO),
        "best": (marginals, partial(q.best_mechanism, about=1200), TWO),
        "best-boxes": (boxes, partial(q.best_mechanism, about=1200), TWO),
        "independent": (marginals, q.IndependentNoise, TWO),
        "quadtree": (boxes, q.QuadTree, TWO),
        "privtree": (boxes, q.PrivTree, TWO),
        "dawa": (boxes, q.DAWA, TWO),
        "projection": (marginals, q.ProjectionMechanism, PAIR),
        "contest": (
            marginals,
            partial(q.Contest, contenders=(q.MatrixMechanism, q.IndependentNoise)),
            TWO,
        ),
    }


def round_of(source: Any, protects: Any, **more: Any) -> Any:
    """A round for two analysts."""
    return source.round(
        universe(source),
        analysts=["ann", "bob"],
        queries_each=3,
        spend=TWO,
        protects=protects,
        promise=dp.ApproxDP(epsilon=1, delta=1e-6),
        **more,
        **CARE,
    )


def digest(answers: Any) -> str:
    """Of numbers, bit for bit."""
    return hashlib.sha256(np.asarray(answers, dtype="<f8").tobytes()).hexdigest()


def sums(results: Any) -> list[Any]:
    """What both analysts were told."""
    return [list(map(float, results.for_analyst(name).answers)) for name in ("ann", "bob")]


def left(account: Any) -> list[str]:
    """What an account has left, exactly."""
    return [str(amount) for amount in account.context.account.remaining()]


def write(folder: Path) -> None:
    """Ask everything once, and leave some of it unfinished."""
    told: dict[str, Any] = {}
    with curator(folder / NAME, BUDGET) as source:
        source.record(dp.PureDP(epsilon=1), reason="a report")
        source.record(dp.events.Laplace(epsilon=0.5), reason="a map", spent_on=FIRST_DAY)
        source.amend(budget=AMENDED, reason="the board agreed")
        for name, (text, spend) in ASKED.items():
            told[name] = source.sql(text, spend=spend, **CARE).to_json()
        told["dear"] = source.sql(DEAR, accuracy=WANTED, **CARE).to_json()
        for name, asked, spend in (("batch", TOGETHER, TWO), ("paired", PAIRED, PAIR)):
            batch = source.batch(asked, spend=spend, **CARE)
            told[name] = {key: release.to_json() for key, release in batch.items()}
        bounds = source.bounds("visits", "cost", spend=TWO, **CARE)
        told["bounds"] = [bounds.low, bounds.high]
        told["synopses"] = {}
        for name, (about, mechanism, spend) in made().items():
            workload = about(source)
            found = source.synopsis(workload, mechanism=mechanism, spend=spend, **CARE)
            told["synopses"][name] = [found.id, found.query, digest(found.answers(workload))]
        _shared(source, told)
        _spoken(source, told)
        _interrupted(source)
        ledger = source.ledger
        told["head"] = str(ledger.checkpoint())
        told["entries"] = len(list(ledger.entries()))
        told["spent"] = [str(amount) for amount in ledger.spent()]
        told["left"] = left(source)
        told["policy"] = POLICY.digest
    key = folder / f"{NAME}.key"
    key.write_bytes(
        key.read_bytes()[:32]
    )  # the secret alone: a fence names the place, and it moves
    (folder / TOLD).write_text(json.dumps(told, indent=1), encoding="utf-8")


def shared(source: Any) -> dict[str, Any]:
    """Everything that has a budget of its own."""
    parts = source.partition("visits", by="ward", budget=FIVE, k=2)
    ages = source.partition("visits", by="bin(age, 0, 120, 40)", budget=FIVE, k=1, name="ages")
    months = source.blocks(
        "visits",
        by="date_trunc('month', day)",
        budget=FIVE,
        k=1,
        settled=SETTLED,
        name="the table",
    )
    return {
        "child": source.child("research", budget=FIVE),
        "part": parts["B"],
        "aged": ages[42],
        "month": months[date(2024, 2, 17)],
    }


def _shared(source: Any, told: dict[str, Any]) -> None:
    told["shared"] = {}
    for name, account in shared(source).items():
        release = account.sql(INSIDE, spend=TWO, **CARE)
        told["shared"][name] = [release.to_json(), left(account)]


def _spoken(source: Any, told: dict[str, Any]) -> None:
    told["watches"] = {}
    for name, mechanism in WATCHED.items():
        spend = dp.PureDP(epsilon=50)
        watch = source.open(mechanism, spend=spend, **CARE)
        replies = [watch.ask(NOBODY)] if name == "above" else []
        if not replies:
            replies = [watch.ask(EVERYBODY), watch.ask(NOBODY)]
        told["watches"][name] = [watch.id, [str(each) for each in replies]]
    talk = source.converse(
        universe(source),
        mechanism=partial(private_gap_weights, about=1200, updates=6),
        spend=dp.PureDP(epsilon=50),
        questions=60,
        **CARE,
    )
    replies = [talk.ask("ward", ward) for ward in WARDS]
    told["conversation"] = [
        talk.id,
        talk.questions_asked,
        talk.updates_left,
        [r.count for r in replies],
    ]
    about = round_of(source, OneQuery(), asked=Conjunctions(2))
    about.submit("ann", SUBMITTED)
    told["open round"] = about.id
    ended = round_of(source, OneAnalyst())
    ended.submit("ann", SUBMITTED)
    ended.submit("bob", [{"ward": "A"}])
    told["closed round"] = [ended.id, sums(ended.close())]


def _interrupted(source: Any) -> None:
    """Leave a reservation behind as a killed process does."""

    def stopped(*_: object) -> None:
        raise KeyboardInterrupt

    kept = PlannedQuery.release
    PlannedQuery.release = stopped  # type: ignore[assignment,method-assign]
    try:
        source.sql(EVERYBODY, spend=FIVE, **CARE)
    except KeyboardInterrupt:
        pass
    finally:
        PlannedQuery.release = kept  # type: ignore[method-assign]


if __name__ == "__main__":
    write(Path(sys.argv[1]))
