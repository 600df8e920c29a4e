"""A ledger kept from an earlier version: what was asked of it, and the program that wrote it.

``clinic.sqlite`` and ``clinic.sqlite.key`` were written by the version before stored answers named
the split they were made with; ``clinic.json`` says what came out. They are never written again:
what later versions make of them is the test. To make a set for another version, run this file with
that version::

    python -m tests.curator.golden.clinic FOLDER

All people are invented, and the key guards nothing.
"""

from __future__ import annotations

import json
import sys
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl

import discreet as dp
from discreet.mechanisms import Sparse
from discreet.queries.analysts.guarantee import OneQuery
from discreet.queries.analysts.query_class import Conjunctions
from discreet.queries.online.pmw import private_gap_weights
from discreet.relational.planning.planned_query import PlannedQuery

NAME = "clinic.sqlite"
TOLD = "clinic.json"
WARDS = ("A", "B", "C")
PEOPLE = 400
PERSON = dp.Person("patient", max_rows=3)

COUNT = "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"
BOTH = "SELECT ward, COUNT(*) AS n, SUM(cost) AS s FROM visits GROUP BY ward"
DEAR = "SELECT COUNT(*) AS n, SUM(cost) AS s FROM visits WHERE age < 50"
MEAN = "SELECT AVG(cost) AS m, MEDIAN(age) AS half FROM visits"
FIRST = "SELECT ward FROM visits GROUP BY ward ORDER BY COUNT(DISTINCT patient) DESC LIMIT 2"
SITES = "SELECT site, COUNT(DISTINCT patient) AS n FROM visits GROUP BY site"
SPREAD = "SELECT ward, STDDEV(cost) AS d, CORR(cost, age) AS r FROM visits GROUP BY ward"
INSIDE = "SELECT COUNT(*) AS n FROM visits WHERE age > 30"

WANTED = {"n": dp.Within(40), "s": dp.Within(100_000)}
TWO = dp.PureDP(epsilon=2)
PAIR = dp.ApproxDP(epsilon=2, delta=1e-4)
ASKED: dict[str, tuple[str, Any]] = {
    "count": (COUNT, TWO),
    "both": (BOTH, TWO),
    "mean": (MEAN, TWO),
    "first": (FIRST, TWO),
    "sites": (SITES, PAIR),
    "spread": (SPREAD, PAIR),
}
TOGETHER = {"wards": COUNT, "all": "SELECT COUNT(*) AS n FROM visits"}
JOINT = {"spread": SPREAD, "all": "SELECT COUNT(*) AS n FROM visits"}
WATCHING = Sparse.pure(epsilon=30, cutoff=3, threshold=600, sensitivity=3)
EVERYBODY = "SELECT COUNT(*) AS n FROM visits"
NOBODY = "SELECT COUNT(*) AS n FROM visits WHERE age > 200"
SUBMITTED: list[Any] = [{"ward": "B"}, {"ward": ["A", "C"]}]


def visits() -> pl.DataFrame:
    """Two visits of every person; everything follows from their numbers."""
    return pl.DataFrame(
        {
            "patient": [row // 2 for row in range(2 * PEOPLE)],
            "ward": [WARDS[(row * row) % 7 % 3] for row in range(2 * PEOPLE)],
            "age": [20 + (7 * row) % 60 for row in range(2 * PEOPLE)],
            "site": [(row // 2) % 4 for row in range(2 * PEOPLE)],
            "cost": [float((13 * row) % 1000) for row in range(2 * PEOPLE)],
        }
    )


def curator(path: Path) -> dp.Curator:
    """The clinic's, on a ledger at ``path``."""
    table = dp.table(
        visits(),
        unit=PERSON,
        columns={
            "ward": dp.Category(WARDS),
            "age": dp.Number(0, 120),
            "site": dp.Discovered(),
            "cost": dp.Number(0, 1000),
        },
        snapshot="one",
    )
    budget = dp.ApproxDP(epsilon=500, delta=1e-2)
    return dp.Curator(visits=table, budget=budget, ledger=path)


def universe(source: Any) -> Any:
    """Twelve cells."""
    return source.universe("visits", "ward", age="FLOOR(age / 30)")


def workload(source: Any) -> Any:
    """All marginals of one attribute."""
    return dp.queries.Workload.marginals(universe(source), 1)


def write(folder: Path) -> None:
    """Ask everything once, and leave some of it unfinished."""
    told: dict[str, Any] = {}
    with curator(folder / NAME) as source:
        for name, (text, spend) in ASKED.items():
            told[name] = source.sql(text, spend=spend).to_json()
        told["dear"] = source.sql(DEAR, accuracy=WANTED).to_json()
        batch = source.batch(TOGETHER, spend=TWO, importance={"all": 3})
        told["batch"] = {name: release.to_json() for name, release in batch.items()}
        joint = source.batch(JOINT, spend=PAIR)
        told["joint"] = {name: release.to_json() for name, release in joint.items()}
        bounds = source.bounds("visits", "cost", spend=TWO)
        told["bounds"] = [bounds.low, bounds.high]
        synopsis = source.synopsis(
            workload(source), mechanism=dp.queries.MatrixMechanism, spend=TWO
        )
        told["synopsis"] = synopsis.counts.tolist()
        told["child"] = (
            source.child("research", budget=dp.PureDP(epsilon=5)).sql(COUNT, spend=TWO).to_json()
        )
        parts = source.partition("visits", by="ward", budget=dp.PureDP(epsilon=5), k=2)
        told["part"] = parts["B"].sql(INSIDE, spend=TWO).to_json()

        watch = source.open(WATCHING, spend=dp.PureDP(epsilon=30))
        told["watch"] = [watch.id, watch.ask(EVERYBODY), watch.ask(NOBODY)]
        talk = source.converse(
            universe(source),
            mechanism=partial(private_gap_weights, about=800, updates=6),
            spend=dp.PureDP(epsilon=50),
            questions=60,
        )
        replies = [talk.ask("ward", ward) for ward in WARDS]
        told["conversation"] = [talk.id, talk.asked, talk.left, [r.count for r in replies]]
        about = source.round(
            universe(source),
            analysts=["ann", "bob"],
            queries_each=3,
            spend=TWO,
            protects=OneQuery(),
            promise=dp.ApproxDP(epsilon=1, delta=1e-6),
            asked=Conjunctions(2),
        )
        about.submit("ann", SUBMITTED)
        told["round"] = about.id
        _interrupted(source)
        told["entries"] = len(list(source.ledger.entries()))
        told["spent"] = [str(amount) for amount in source.ledger.spent()]
    (folder / TOLD).write_text(json.dumps(told, indent=1), encoding="utf-8")


def _interrupted(source: dp.Curator) -> None:
    """Leave a reservation behind as a killed process does."""

    def stopped(*_: object) -> None:
        raise KeyboardInterrupt

    kept = PlannedQuery.release
    PlannedQuery.release = stopped  # type: ignore[assignment,method-assign]
    try:
        source.sql(EVERYBODY, spend=TWO)
    except KeyboardInterrupt:
        pass
    finally:
        PlannedQuery.release = kept  # type: ignore[method-assign]


if __name__ == "__main__":
    write(Path(sys.argv[1]))
