"""Run benchmark suites: ``python benchmarks/run.py [suite …]``, all of them by default.

A suite is a module of this folder with a function ``figures()`` that returns a list of figures. Its
name has no underscore, unless it stands in ``OF_TWO_WORDS``.
"""

from __future__ import annotations

import os
import platform
import sys
import time
from importlib import import_module
from importlib.metadata import version
from pathlib import Path

from timing import Figure

MACHINERY = {"run", "timing", "peers"}
OF_TWO_WORDS = {"accounting_prices", "join_sensitivity", "small_questions"}
LONG = {
    "learn_large",
    "relational_large",
    "synthetic_large",
    "analysts_runs",
    "analysts_universes",
    "local_files",
}  # suites that run only when they are asked for
HEADINGS = ("figure", "median", "unit", "quartiles", "target", "")


def suites() -> list[str]:
    """Names of the suites in this folder."""
    names = {path.stem for path in Path(__file__).parent.glob("*.py")}
    plain = {name for name in names - MACHINERY if "_" not in name}
    return sorted(plain | OF_TWO_WORDS)


def machine() -> str:
    """What the figures were measured on, and how busy it is."""
    load = " ".join(f"{each:.2f}" for each in os.getloadavg())
    return (
        f"{os.cpu_count()} cores, load {load}, Python {platform.python_version()}, "
        f"numpy {version('numpy')}, discreet {version('discreet')}"
    )


def table(figures: list[Figure]) -> str:
    """Figures in aligned columns."""
    rows = [HEADINGS] + [
        (each.name, f"{each.value:.4g}", each.unit, each.spread, each.target, each.remark)
        for each in figures
    ]
    widths = [max(len(row[column]) for row in rows) for column in range(len(HEADINGS))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    )


def main(wanted: list[str]) -> int:
    """Run the suites wanted and print the table, then one line per figure."""
    known = suites()
    unknown = [name for name in wanted if name not in known and name not in LONG]
    if unknown:
        print(f"no suite {', '.join(unknown)}; suites: {', '.join(known)}", file=sys.stderr)
        return 2
    print(machine(), flush=True)
    start = time.perf_counter()
    figures: list[Figure] = []
    for name in wanted or known:
        figures += import_module(name).figures()
    print(f"\n{table(figures)}\n\n{time.perf_counter() - start:.0f} s; {machine()}\n")
    for figure in figures:
        print(figure.line)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
