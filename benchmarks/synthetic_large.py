"""A hundred million rows in a Parquet file, synthesised through DuckDB; run only by name.

The rows are hashes of their numbers, so they are the same every time. They are counted inside the
engine, of which counts alone reach Python: what is measured is the processor time of everything and
the most memory that the process had, and that the counts are all there.
"""

from __future__ import annotations

import resource
import tempfile
import time
from pathlib import Path

import duckdb
from timing import Figure

import discreet as dp

ROWS = 100_000_000
SPEND = dp.ApproxDP(epsilon=1, delta=1e-9)
COLUMNS = {
    "region": ("h % 5", dp.Category(range(5))),
    "age": ("(h // 5) % 100", dp.Integer(0, 99)),
    "sex": ("(h // 500) % 2", dp.Category(range(2))),
    "ward": ("(h // 1000) % 4 + h % 5", dp.Category(range(8))),
    "visits": ("(h // 4000) % 10", dp.Integer(0, 9)),
    "smokes": ("(h // 40000) % 3 + (h // 500) % 2", dp.Category(range(4))),
}


def figures() -> list[Figure]:
    """Seconds and memory, with a tenth of the rows beside them."""
    found = []
    with tempfile.TemporaryDirectory(prefix="synthetic-") as folder:
        for rows in (ROWS // 10, ROWS):
            path = Path(folder) / f"rows_{rows}.parquet"
            write(path, rows)
            name = f"synthetic_large/{rows}_rows"
            start = time.process_time()
            total = synthesised(path)
            took = time.process_time() - start
            most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
            found += [
                Figure(name=f"{name}/seconds", values=[took], unit="s"),
                Figure(name=f"{name}/memory", values=[most], unit="GiB", at_most=1),
                Figure(
                    name=f"{name}/total_off", values=[abs(total - rows)], unit="rows", at_most=1000
                ),
            ]
            path.unlink()
    return found


def write(path: Path, rows: int) -> None:
    """Six columns, of which two depend on others."""
    columns = ", ".join(f"CAST({text} AS INTEGER) AS {name}" for name, (text, _) in COLUMNS.items())
    with duckdb.connect() as engine:
        engine.execute(
            f"COPY (SELECT {columns} FROM (SELECT hash(i) AS h FROM range({rows}) AS numbers(i))) "
            f"TO '{path}' (FORMAT parquet)"
        )


def synthesised(path: Path) -> int:
    """The default mechanism on all triples; the noisy number of rows."""
    declared = {name: column for name, (_, column) in COLUMNS.items()}
    curator = dp.Curator(
        people=dp.table(path, unit=dp.Row(), columns=declared),
        budget=SPEND,
        ledger=dp.ledger.Memory(),
    )
    return curator.synthesize("people", spend=SPEND).total
