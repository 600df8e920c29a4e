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
from pathlib import Path
from statistics import median
from typing import Any

from peers import HERE, ROOT, Missing, Worker
from relational_data import make
from relational_ours import database
from run import table
from timing import Figure, alternate, ratios

ROWS = 10_000_000
TINY = 100


def cases(folder: Path) -> dict[str, dict[str, Any]]:
    """What is compared, by name: the suites relational, noise and accounting in short."""
    rows = {who: make(folder, ROWS, who) for who in ("unique", "uniform", "heavy")}
    tiny = make(folder, TINY)
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
    asked["relational/fixed"] = {
        "kind": "sql",
        "path": str(tiny),
        "question": "count",
        "person": False,
    }
    for mechanism in ("discrete_laplace", "laplace", "gaussian"):
        asked[f"noise/{mechanism}"] = {"kind": "noise", "mechanism": mechanism}
    for case in ("training", "mixed"):
        asked[f"accounting/{case}"] = {"kind": "price", "case": case}
    return asked


def worker(checkout: Path) -> Worker:
    """A process that runs the sources of a checkout."""
    source = checkout / "src" / "discreet"
    if not source.is_dir():
        message = f"{checkout} is no checkout: it has no src/discreet"
        raise SystemExit(message)
    environment = {**os.environ, "PYTHONPATH": str(checkout / "src")}
    return Worker(str(checkout), [sys.executable, HERE / "earlier_work.py"], environment)


def compared(folder: Path, earlier: list[Path], *, rounds: int, only: str) -> list[Figure]:
    """One figure for each case and earlier checkout."""
    found = []
    workers = {name: worker(path) for name, path in [("here", ROOT), *named(earlier)]}
    try:
        for case, request in cases(folder).items():
            if not case.startswith(only):
                continue
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
        figures = compared(Path(name), chosen.earlier, rounds=chosen.rounds, only=chosen.only)
    print(table(figures))
    for figure in figures:
        print(figure.line)
