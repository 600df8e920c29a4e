"""Linear regression over ten million rows in DuckDB, against the plain query of the same moments.

A fit is one pass: the engine adds up products of whole numbers, and no row is loaded. It is
compared with a query that adds up the same products in floating point and protects nobody, and with
a fit of half the rows. Rows are Parquet in a temporary folder. The machine may be busy, so that
there is a ratio of times on the clock and one of the processor's seconds, over all threads.

It takes minutes, so it is no part of ``learn``; it runs by itself.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from itertools import combinations_with_replacement
from pathlib import Path
from typing import Any

import duckdb
from run import machine, table
from timing import Figure, ratios

import discreet as dp
from discreet.learn import LinearRegression

ROWS = 10_000_000
ROUNDS = 7
WIDTHS = (3, 8)
MOST_OVER_PLAIN = 3.0
MOST_OVER_HALF = 2.2
Took = tuple[float, float]
"""Seconds on the clock, and of the processor."""


def make(folder: Path, rows: int, features: int) -> Path:
    """Features within [-1, 1] and a target within [-10, 10]: hashes of the rows' numbers."""
    path = folder / f"{features}_{rows}.parquet"
    columns = [
        f"(hash(i * {features} + {n}) >> 11) / 4503599627370496.0 - 1 AS x{n}"
        for n in range(features)
    ]
    target = " + ".join(f"{1 - n / features} * x{n}" for n in range(features))
    with duckdb.connect() as engine:
        engine.execute(
            f"COPY (SELECT *, {target} AS y FROM "
            f"(SELECT {', '.join(columns)} FROM range({rows}) AS numbers(i))) "
            f"TO '{path}' (FORMAT parquet)"
        )
    return path


def fit(path: Path, features: int) -> Callable[[], Took]:
    """Fit for a little more epsilon each time, so that no model comes from the store."""
    names = [f"x{n}" for n in range(features)]
    columns: dict[str, Any] = {name: dp.Number(-1, 1) for name in names}
    rows = dp.table(path, unit=dp.Row(), columns={**columns, "y": dp.Number(-10, 10)})
    budget = dp.PureDP(epsilon=1e6)
    curator = dp.Curator(t=rows, budget=budget, ledger=dp.ledger.Memory())
    question = f"SELECT {', '.join(names)}, y FROM t"
    asked = 0

    def work() -> None:
        nonlocal asked
        asked += 1
        spend = dp.PureDP(epsilon=1 + asked * 1e-6)
        made = curator.fit(LinearRegression(), question, target="y", spend=spend)
        assert abs(made.coef_[0] - 1) < 0.05, made.coef_

    return lambda: timed(work)


def plain(path: Path, features: int) -> Callable[[], Took]:
    """The number of rows, sums, and sums of all products, in one query."""
    names = [*(f"x{n}" for n in range(features)), "y"]
    sums = [f"SUM({name})" for name in names]
    products = [f"SUM({a} * {b})" for a, b in combinations_with_replacement(names, 2)]
    question = f"SELECT COUNT(*), {', '.join([*sums, *products])} FROM '{path}'"
    engine = duckdb.connect()
    return lambda: timed(lambda: engine.execute(question).fetchall())


def timed(work: Callable[[], object]) -> Took:
    """How long it took."""
    wall, used = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - wall, time.process_time() - used


def compared(folder: Path, features: int) -> list[Figure]:
    """The fit over the plain query, and over the fit of half the rows."""
    whole, half = (make(folder, rows, features) for rows in (ROWS, ROWS // 2))
    contenders = {
        "fit": fit(whole, features),
        "plain": plain(whole, features),
        "half": fit(half, features),
    }
    took: dict[str, list[Took]] = {name: [] for name in contenders}
    for turn in range(-1, ROUNDS):
        for name in list(contenders)[:: -1 if turn % 2 else 1]:
            one = contenders[name]()
            if turn >= 0:
                took[name].append(one)
        print(f"{features} features, round {turn}", file=sys.stderr, flush=True)
    for path in (whole, half):
        path.unlink()
    found: list[Figure] = []
    for place, kind in enumerate(("wall", "cpu")):
        seconds = {name: [each[place] for each in values] for name, values in took.items()}
        prefix = f"learn_large/{features}-features"
        found += [
            Figure(
                name=f"{prefix}/{kind}",
                values=seconds["fit"],
                unit="s",
                remark=f"{ROWS:.0e} rows of Parquet",
            ),
            Figure(
                name=f"{prefix}/over-plain/{kind}",
                values=ratios(seconds["fit"], seconds["plain"]),
                unit="x",
                at_most=MOST_OVER_PLAIN,
            ),
            Figure(
                name=f"{prefix}/over-half/{kind}",
                values=ratios(seconds["fit"], seconds["half"]),
                unit="x",
                at_most=MOST_OVER_HALF,
            ),
        ]
    return found


def figures() -> list[Figure]:
    """For few features and for more."""
    with tempfile.TemporaryDirectory(prefix="learn-") as name:
        return [figure for width in WIDTHS for figure in compared(Path(name), width)]


if __name__ == "__main__":
    print(machine(), flush=True)
    made = figures()
    print(f"\n{table(made)}\n")
    print("\n".join(figure.line for figure in made))
