"""A hundred million rows under an engine limit of 4 GB: seconds, and the most memory held.

It takes minutes and gigabytes of disk, so it is no part of ``relational``; it runs by itself.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
from pathlib import Path

from relational_data import make
from relational_ours import private
from run import machine, table
from timing import Figure

import discreet as dp

ROWS = 100_000_000
MEMORY = "4GB"
MOST_RSS = 5.0
UNITS = {
    "row": dp.Row(),
    "person": dp.Person("pid", max_rows=20, max_groups=5),
}


def figures() -> list[Figure]:
    """All figures of this suite, each question in a process of its own."""
    found = []
    with tempfile.TemporaryDirectory(prefix="relational-") as name:
        path = make(Path(name), ROWS, "uniform")
        for unit in UNITS:
            print(f"large, {unit}", file=sys.stderr, flush=True)
            command = [sys.executable, __file__, unit, str(path)]
            done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
            seconds, peak = map(float, done.stdout.split()[-2:])
            prefix = f"relational_large/{unit}"
            remark = f"{ROWS:.0e} rows of Parquet"
            found += [
                Figure(name=f"{prefix}/seconds", values=[seconds], unit="s", remark=remark),
                Figure(name=f"{prefix}/peak", values=[peak], unit="GB", at_most=MOST_RSS),
            ]
    return found


def measured(unit: str, path: str) -> tuple[float, float]:
    """Seconds of one question, and the most memory this process has held, in gigabytes."""
    engine = dp.DuckDB(memory_limit=MEMORY, temp_directory=Path(path).parent)
    seconds = private(Path(path), UNITS[unit], engine=engine)()
    return seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9


if __name__ == "__main__":
    if sys.argv[1:]:
        print(*measured(*sys.argv[1:]))
    else:
        print(machine(), flush=True)
        made = figures()
        print(f"\n{table(made)}\n")
        print("\n".join(figure.line for figure in made))
