"""Work that every version of discreet can do, run inside one checkout: ``earlier_versions`` asks.

Only names that have been public since the beginning are used, so that an old checkout answers too.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from peers import serve
from relational_data import GROUPS, MOST
from timing import Timer, clock

import discreet as dp
from discreet import events
from discreet.mechanisms import DiscreteLaplace, Gaussian, Laplace

QUESTIONS = {
    "ints": "SELECT grp, COUNT(*) AS n, SUM(v) AS s FROM t GROUP BY grp",
    "floats": "SELECT grp, COUNT(*) AS n, SUM(f) AS s FROM t GROUP BY grp",
    "count": "SELECT COUNT(*) AS n FROM t",
    "means": "SELECT grp, COUNT(*) AS n, SUM(v) AS s, AVG(v) AS a FROM t GROUP BY grp",
    "sampled": "SELECT grp, MEDIAN(v) AS m FROM t GROUP BY grp",
}
COLUMNS = {"grp": dp.Category(range(GROUPS)), "v": dp.Number(0, MOST), "f": dp.Number(0, MOST)}
MILLION = 1_000_000


def sql(
    *, path: str, question: str, person: bool, ledger: str | None = None, engine: str = "duckdb"
) -> Timer:
    """A private question over a file; each costs a little more, so none comes from the store."""
    unit = dp.Person("pid", max_rows=20, max_groups=5) if person else dp.Row()
    stored = "t" if path.endswith(".duckdb") else None
    table = dp.table(SOURCES[engine](path), table=stored, unit=unit, columns=COLUMNS)
    book = dp.ledger.Memory() if ledger is None else ledger
    curator = dp.Curator(t=table, budget=dp.PureDP(epsilon=1e6), ledger=book)
    asked = 0

    def ask() -> Any:
        nonlocal asked
        asked += 1
        return curator.sql(QUESTIONS[question], spend=dp.PureDP(epsilon=1 + asked * 1e-6))

    return clock(ask, calls=10 if question == "count" else 1)


def in_spark(path: str) -> Any:
    """A file as a view of a local session."""
    from spark import session

    session().read.parquet(path).createOrReplaceTempView(Path(path).stem)
    return dp.Spark(session()).table(Path(path).stem)


SOURCES: dict[str, Callable[[str], Any]] = {
    "duckdb": Path,
    "postgres": lambda address: dp.Postgres(address).table("public.t"),
    "spark": in_spark,
}


def noise(*, mechanism: str) -> Timer:
    """A million numbers released."""
    made: dict[str, Callable[[], Any]] = {
        "discrete_laplace": lambda: DiscreteLaplace(epsilon=0.1, sensitivity=1),
        "laplace": lambda: Laplace(epsilon=0.1, sensitivity=1),
        "gaussian": lambda: Gaussian(epsilon=0.5, delta=1e-6, sensitivity=1),
    }
    chosen, values = made[mechanism](), np.zeros(MILLION, dtype=np.int64)
    return clock(lambda: chosen.release(values))


def price(*, case: str) -> Timer:
    """A composition priced; the noise differs a little each time, so nothing is remembered."""
    asked = 0

    def ask() -> float:
        nonlocal asked
        asked += 1
        more = 1 + asked * 1e-6
        if case == "training":
            step = events.Gaussian(noise_multiplier=more).subsample(rate=0.01)
            return (step * 10_000).epsilon(delta=1e-5)
        together = events.Laplace(epsilon=0.1 * more) * 100
        for each in range(1, 50):
            together = together + events.Laplace(epsilon=0.01 * more * each)
        return together.epsilon(delta=1e-6)

    return clock(ask)


KINDS: dict[str, Callable[..., Timer]] = {"sql": sql, "noise": noise, "price": price}


@cache
def timer(kind: str, parameters: tuple[tuple[str, Any], ...]) -> Timer:
    """One timer for each case, so that what is opened once stays open."""
    return KINDS[kind](**dict(parameters))


def work(request: dict[str, Any]) -> float:
    """Do once what the request describes."""
    kind = request.pop("kind")
    return timer(kind, tuple(sorted(request.items())))()


if __name__ == "__main__":
    serve(work)
