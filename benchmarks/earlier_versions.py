"""This checkout against earlier ones, in the same rounds.

    python benchmarks/earlier_versions.py ../old [more checkouts]

Each checkout works in a process of its own, with the packages of this environment and the sources
of that checkout, on the same files. A figure is the time of this checkout over that of the earlier
one, round by round; ``--rounds`` says how many, ``--only`` which cases, by their beginning.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any

import duckdb
from peers import HERE, ROOT, Missing, Worker
from postgres import server_module
from relational_data import make
from relational_ours import database
from run import table
from timing import Figure, alternate, ratios

ROWS = 10_000_000
TINY = 100
LARGE = ("relational/parquet", "relational/duckdb", "relational/person", "relational/sampled")
FEW = 500_000
"""Rows where three engines are compared."""


def cases(folder: Path, only: str) -> dict[str, dict[str, Any]]:
    """What is compared, by name: the suites relational, noise and accounting in short."""
    asked = _large(folder) if any(_meant(name, only) for name in LARGE) else {}
    asked["relational/fixed"] = {
        "kind": "sql",
        "path": str(make(folder, TINY)),
        "question": "count",
        "person": False,
    }
    for mechanism in ("discrete_laplace", "laplace", "gaussian"):
        asked[f"noise/{mechanism}"] = {"kind": "noise", "mechanism": mechanism}
    for case in ("training", "mixed"):
        asked[f"accounting/{case}"] = {"kind": "price", "case": case}
    return {name: request for name, request in asked.items() if name.startswith(only)}


def _meant(name: str, only: str) -> bool:
    """Whether some case that begins so is among those asked for."""
    return name.startswith(only) or only.startswith(name)


def _large(folder: Path) -> dict[str, dict[str, Any]]:
    """Questions about tables that take a minute to write."""
    rows = {who: make(folder, ROWS, who) for who in ("unique", "uniform", "heavy")}
    stored = database(rows["unique"])
    asked: dict[str, dict[str, Any]] = {
        f"relational/{name}/{question}": {
            "kind": "sql",
            "path": str(path),
            "question": question,
            "person": False,
        }
        for name, path in (("parquet", rows["unique"]), ("duckdb", stored))
        for question in ("ints", "floats")
    }
    asked |= {
        f"relational/person/{who}": {
            "kind": "sql",
            "path": str(path),
            "question": "ints",
            "person": True,
        }
        for who, path in rows.items()
    }
    asked |= {
        f"relational/sampled/{who}": {
            "kind": "sql",
            "path": str(path),
            "question": "sampled",
            "person": True,
        }
        for who, path in rows.items()
    }
    return asked


def in_engines(folder: Path, address: str, only: str) -> dict[str, dict[str, Any]]:
    """Questions about people, counted by weight and sampled, on three engines."""
    if not _meant("engines", only):
        return {}
    file = str(make(folder, FEW, "uniform"))
    asked = {
        f"engines/{engine}/{question}": {
            "kind": "sql",
            "path": path,
            "question": question,
            "person": True,
            "engine": engine,
        }
        for engine, path in (("duckdb", file), ("postgres", address), ("spark", file))
        for question in ("means", "sampled")
    }
    return {name: request for name, request in asked.items() if name.startswith(only)}


@contextmanager
def served(folder: Path, only: str) -> Iterator[str]:
    """A PostgreSQL server of our own with the rows in it; no address where none is needed."""
    server = server_module()
    if not _meant("engines/postgres", only) or server.missing() is not None:
        yield ""
        return
    import psycopg

    with server.Server({"fsync": "off", "shared_buffers": "256MB"}) as running:
        rows = duckdb.sql(f"SELECT * FROM '{make(folder, FEW, 'uniform')}'").fetchall()
        with psycopg.connect(running.conninfo(), autocommit=True) as connection:
            connection.execute(
                "CREATE UNLOGGED TABLE public.t (pid int8, grp int4, v int4, f float8)"
            )
            with connection.cursor() as cursor, cursor.copy("COPY public.t FROM STDIN") as copy:
                for row in rows:
                    copy.write_row(row)
            connection.execute("VACUUM ANALYZE public.t")
        yield running.conninfo()


def worker(checkout: Path, script: str = "earlier_work.py") -> Worker:
    """A process that runs a script on the sources of a checkout."""
    source = checkout / "src" / "discreet"
    if not source.is_dir():
        message = f"{checkout} is no checkout: it has no src/discreet"
        raise SystemExit(message)
    environment = {**os.environ, "PYTHONPATH": str(checkout / "src")}
    return Worker(str(checkout), [sys.executable, HERE / script], environment)


def compared(asked: dict[str, dict[str, Any]], earlier: list[Path], *, rounds: int) -> list[Figure]:
    """One figure for each case and earlier checkout."""
    found = []
    workers = {name: worker(path) for name, path in [("here", ROOT), *named(earlier)]}
    try:
        for case, request in asked.items():
            timers = {
                name: (lambda each=each, request=request: each.seconds(**request))
                for name, each in workers.items()
            }
            try:
                seconds = alternate(case, timers, rounds=rounds)
            except Missing as reason:
                found.append(Figure(name=case, values=(), unit="x", remark=f"MISSING: {reason}"))
                continue
            found += [
                Figure(
                    name=f"{case}/over/{name}",
                    values=ratios(seconds["here"], seconds[name]),
                    unit="x",
                    remark=f"{median(seconds['here']):.4g} s here; "
                    f"minima {min(seconds['here']) / min(seconds[name]):.3f}",
                )
                for name, _ in named(earlier)
            ]
    finally:
        for each in workers.values():
            each.close()
    return found


def named(checkouts: list[Path]) -> list[tuple[str, Path]]:
    """Each checkout by the name of its folder."""
    return [(path.resolve().name, path.resolve()) for path in checkouts]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("earlier", nargs="+", type=Path, help="folders of earlier checkouts")
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--only", default="", help="cases whose name begins so")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="versions-") as name:
        home = Path(name)
        asked = cases(home, chosen.only)
        with served(home, chosen.only) as address:
            asked |= in_engines(home, address, chosen.only)
            figures = compared(asked, chosen.earlier, rounds=chosen.rounds)
    print(table(figures))
    for figure in figures:
        print(figure.line)
