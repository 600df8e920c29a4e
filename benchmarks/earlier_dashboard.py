"""The errors of a dashboard here and in earlier checkouts, for the same budget in the same run.

    python benchmarks/earlier_dashboard.py ../old [more checkouts]

Fifty counts and twenty means under ``ApproxDP(epsilon=1, delta=1e-6, by=ZCDP)``, each row a person:
asked one by one at equal shares of rho, one by one at the largest equal epsilon, and as one batch.
The table is repeated with the number of the copy as a public group, so that one answer is two
hundred releases of the same question. A figure is the root mean squared error here over the
earlier one, turn by turn, or what a question may spend over what it might; ``--turns`` says how
many.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from statistics import median

import duckdb
from earlier_dashboard_work import COPIES, DIAGNOSES, MOST, PANELS, WARDS, WAYS
from earlier_versions import named, worker
from peers import ROOT, Missing, Worker
from run import table
from timing import Figure, ratios

PEOPLE = 20_000
"""Rows of one copy."""
SAYS = {**dict.fromkeys(PANELS, "root mean squared error"), "share": "spent on a question"}


def invented(folder: Path) -> Path:
    """Hospital visits, hashes of their numbers; the same in every copy."""
    path = folder / "visits.parquet"
    columns = ", ".join(
        (
            f"CAST(hash(i, 1) % {DIAGNOSES} AS INTEGER) AS diagnosis",
            f"CAST(hash(i, 2) % {WARDS} AS INTEGER) AS ward",
            f"CAST(hash(i, 3) % {MOST + 1} AS INTEGER) AS cost",
        )
    )
    with duckdb.connect() as engine:
        engine.execute(
            f"COPY (SELECT CAST(c AS INTEGER) AS copy, {columns} "
            f"FROM range({PEOPLE}) AS people(i), range({COPIES}) AS copies(c)) "
            f"TO '{path}' (FORMAT parquet)"
        )
    return path


def compared(path: Path, earlier: list[Path], *, turns: int) -> list[Figure]:
    """One figure for each way to ask, kind of panels and earlier checkout."""
    found: list[Figure] = []
    checkouts = [("here", ROOT), *named(earlier)]
    workers = {name: worker(folder, "earlier_dashboard_work.py") for name, folder in checkouts}
    try:
        for way in WAYS:
            try:
                for kind in (*PANELS, "share"):
                    found += _one(workers, path, way, kind, turns)
            except Missing as reason:
                found.append(Figure(name=way, values=(), unit="x", remark=f"MISSING: {reason}"))
    finally:
        for each in workers.values():
            each.close()
    return found


def _one(workers: dict[str, Worker], path: Path, way: str, kind: str, turns: int) -> list[Figure]:
    def asking(each: Worker) -> list[float]:
        request = {"path": str(path), "way": way, "kind": kind}
        return [each.seconds(**request, turn=turn) for turn in range(turns)]

    errors = {name: asking(each) for name, each in workers.items()}
    here = errors.pop("here")
    return [
        Figure(
            name=f"dashboard/{way}/{kind}/over/{name}",
            values=ratios(here, before),
            unit="x",
            remark=f"{SAYS[kind]} {median(before):.5g} before, {median(here):.5g} here",
        )
        for name, before in errors.items()
    ]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("earlier", nargs="+", type=Path, help="folders of earlier checkouts")
    parser.add_argument("--turns", type=int, default=3)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="dashboard-") as name:
        figures = compared(invented(Path(name)), chosen.earlier, turns=chosen.turns)
    print(table(figures))
    for figure in figures:
        print(figure.line)
