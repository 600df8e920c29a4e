"""Private SQL against the engine underneath it and against its peers, on a thousand groups."""

from __future__ import annotations

import shutil
import tempfile
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from relational_data import make
from relational_ours import analyst, curator, database, over, plain, private, reference
from relational_peers import peer_figures
from timing import Figure, alternate, clock, ratios, scaled

import discreet as dp

ROWS = 10_000_000
ROUNDS = 7
FEW = 3
MOST_OVER_PLAIN = {"ints": 2.0, "floats": 2.5}
MOST_DOUBLING = 2.2
MOST_FIXED = 15.0
MOST_OVER_REFERENCE = 1.3
TINY = 100
PERSON_GROUPS, PERSON_ROWS = 5, 20


def figures() -> list[Figure]:
    """All figures of this suite."""
    with tempfile.TemporaryDirectory(prefix="relational-") as name:
        folder = Path(name)
        return [
            *engine_figures(folder),
            *fixed_figures(folder),
            *doubling_figures(folder),
            *person_figures(folder),
            *peer_figures(folder),
        ]


def engine_figures(folder: Path) -> list[Figure]:
    """Rows protected: over the plain query on the same source."""
    path = make(folder, ROWS)
    found = []
    for name, (source, twin) in sources(path).items():
        for kind, aim in MOST_OVER_PLAIN.items():
            prefix = f"relational/{name}/{kind}"
            if source is None:
                remark = f"MISSING {name}: it is not installed"
                found.append(Figure(name=f"{prefix}/plain", values=(), unit="x", remark=remark))
                continue
            timers = {"private": private(source, dp.Row(), kind), "plain": plain(twin, kind)}
            seconds = alternate(prefix, timers, rounds=ROUNDS)
            found += [
                Figure(name=f"{prefix}/seconds", values=seconds["private"], unit="s"),
                Figure(name=f"{prefix}/plain_seconds", values=seconds["plain"], unit="s"),
                Figure(
                    name=f"{prefix}/plain",
                    values=ratios(seconds["private"], seconds["plain"]),
                    unit="x",
                    at_most=aim,
                    remark=f"{ROWS:.0e} rows",
                ),
            ]
    return found


def sources(path: Path) -> dict[str, tuple[Any, Any]]:
    """One table in several forms, for us and for the plain query.

    A database has a twin, because one process opens a file with one configuration only.
    """
    stored = database(path)
    twin = stored.with_stem(f"{stored.stem}_twin")
    shutil.copy(stored, twin)
    frame = None
    if find_spec("polars"):
        import polars as pl

        frame = pl.read_parquet(path)
    return {"parquet": (path, path), "duckdb": (stored, twin), "polars": (frame, frame)}


def fixed_figures(folder: Path) -> list[Figure]:
    """What one question costs on a table so small that its rows do not matter."""
    path = make(folder, TINY)
    engine = over(path)
    question = "SELECT COUNT(*) AS n FROM t"
    holders = {
        "sqlite": curator(path, dp.Row(), ledger=folder / "fixed.ledger"),
        "memory": curator(path, dp.Row()),
    }
    timers = {name: clock(analyst(each, question), calls=5) for name, each in holders.items()}
    timers["plain"] = clock(lambda: engine.execute(question).fetchall(), calls=5)
    seconds = alternate("fixed cost", timers, rounds=11)
    aims = {"sqlite": MOST_FIXED}
    return [
        Figure(
            name=f"relational/fixed/{name}",
            values=scaled(taken, 1e3),
            unit="ms",
            at_most=aims.get(name, float("inf")),
            remark="one count of 100 rows of Parquet",
        )
        for name, taken in seconds.items()
    ]


def doubling_figures(folder: Path) -> list[Figure]:
    """Twice the rows take at most a little over twice the time."""
    paths = {rows: make(folder, rows) for rows in (ROWS, 2 * ROWS)}
    timers = {str(rows): private(path, dp.Row()) for rows, path in paths.items()}
    seconds = alternate("doubling", timers, rounds=ROUNDS)
    paths[2 * ROWS].unlink()
    return [
        Figure(
            name="relational/doubling",
            values=ratios(seconds[str(2 * ROWS)], seconds[str(ROWS)]),
            unit="x",
            at_most=MOST_DOUBLING,
            remark=f"{2 * ROWS:.0e} over {ROWS:.0e} rows of Parquet",
        )
    ]


def person_figures(folder: Path) -> list[Figure]:
    """People protected: over bounding in the engine without noise."""
    found = []
    for who in ("uniform", "heavy", "unique"):
        path = make(folder, ROWS, who)
        unit = dp.Person("pid", max_rows=PERSON_ROWS, max_groups=PERSON_GROUPS)
        prefix = f"relational/person/{who}"
        timers = {
            "private": private(path, unit),
            "reference": reference(path, groups=PERSON_GROUPS, rows=PERSON_ROWS),
        }
        seconds = alternate(prefix, timers, rounds=FEW)
        found += [
            Figure(name=f"{prefix}/seconds", values=seconds["private"], unit="s"),
            Figure(name=f"{prefix}/reference_seconds", values=seconds["reference"], unit="s"),
            Figure(
                name=f"{prefix}/reference",
                values=ratios(seconds["private"], seconds["reference"]),
                unit="x",
                at_most=MOST_OVER_REFERENCE,
                remark=f"{PERSON_GROUPS} groups, {PERSON_ROWS} rows of a person",
            ),
        ]
    return found
