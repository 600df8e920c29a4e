"""TopDown: error by level beside levels released alone, sums, and a country of many towns.

``make bench only=topdown``. Errors are mean squares over the cells of a level and all runs; the
ratio is to that of the same level released alone at its share of the spend, which is known
exactly. A ratio may be one standard error above one. The large country is counted in DuckDB.
"""

from __future__ import annotations

import tempfile
import time
import tracemalloc
from functools import partial
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from timing import Figure
from topdown_data import Flights, country, flights, towns

import discreet as dp
from discreet.queries import NoisyRecordCount, Workload
from discreet.synthetic import CellTable, TopDown, level_counts
from discreet.synthetic.hierarchy.tree import Tree

EPSILONS = (0.1, 1.0)
RUNS = 300
PEOPLE = 1_000_000


def figures() -> list[Figure]:
    """All figures."""
    found: list[Figure] = []
    for table in flights():
        for epsilon in EPSILONS:
            found += errors(table, epsilon)
    return [*found, *large()]


def errors(table: Flights, epsilon: float) -> list[Figure]:
    """The ratio of squared errors for each level, and whether all sums agree."""
    made = TopDown(
        workload=Workload.marginal(table.universe, ["dest"]),
        spend=dp.PureDP(epsilon=epsilon),
        size=NoisyRecordCount(),
        hierarchy=table.hierarchy,
    )
    truth = levels(made.tree, table.counts)
    squares = np.zeros((RUNS, len(truth)))
    wrong, seconds = 0, []
    for run in range(RUNS):
        start = time.perf_counter()
        released = made.release(table.counts)
        seconds.append(time.perf_counter() - start)
        found = levels(made.tree, released.marginal(table.universe.names))
        squares[run] = [((x - y) ** 2).mean() for x, y in zip(found, truth, strict=True)]
        wrong += disagreements(made, released)
    title = f"topdown_{table.name}_{epsilon:g}"
    result = [Figure(name=f"{title}_disagreements", values=[wrong], unit="sums", at_most=0)]
    for level, told in enumerate(made.errors):
        mean, spread = squares[:, level].mean(), squares[:, level].std(ddof=1) / RUNS**0.5
        alone = told.alone**2
        result.append(
            Figure(
                name=f"{title}_{told.level}",
                values=[mean / alone],
                unit="x",
                at_most=1 + spread / alone,
                remark=f"± {spread / alone:.3f}; planned {(told.cell / told.alone) ** 2:.3f}; "
                f"rmse {mean**0.5:.3g} against {told.alone:.3g} alone",
            )
        )
    result.append(Figure(name=f"{title}_seconds", values=seconds, unit="s"))
    return result


def levels(tree: Tree, table: NDArray[np.generic]) -> list[NDArray[np.float64]]:
    """The counts of every level's cells, from those of the universe."""
    flat = np.asarray(table, dtype=np.float64).ravel()
    nodes, detail = np.indices((tree.nodes[-1], tree.detail)).reshape(2, -1)
    found = [flat[tree.cells(nodes, detail)].reshape(-1, tree.detail)]
    for level in range(len(tree.nodes) - 2, -1, -1):
        found.insert(0, np.add.reduceat(found[0], tree.starts[level][:-1], axis=0))
    return found


def disagreements(made: TopDown, released: CellTable) -> int:
    """Published totals of nodes that are not whole, negative, or not the sum of those below."""
    tree = made.tree
    tables = [
        np.array(list(level_counts(made.hierarchy, released, name).values()))
        for name in made.hierarchy.names
    ]
    wrong = sum(int(((table < 0) | (table != np.rint(table))).sum()) for table in tables)
    for level, (above, below) in enumerate(pairwise(tables)):
        sums = np.add.reduceat(below, tree.starts[level][:-1])
        wrong += int((sums != above).sum())
    return wrong


def large() -> list[Figure]:
    """Forty million leaf cells of a million people, counted in DuckDB block by block."""
    hierarchy = towns()
    with tempfile.TemporaryDirectory() as folder:
        curator = country(Path(folder) / "people.parquet", PEOPLE)
        universe = curator.universe("people", "town", "woman", "age")
        asked = Workload.marginal(universe, ["woman", "age"])
        tracemalloc.start()
        start = time.perf_counter()
        released = curator.synopsis(
            asked, mechanism=partial(TopDown, hierarchy=hierarchy), spend=dp.PureDP(epsilon=1)
        )
        seconds = time.perf_counter() - start
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    cells = universe.size
    total = float(released.answers(Workload.marginal(universe, ["woman"])).sum())
    off = abs(total - PEOPLE)
    return [
        Figure(name="topdown_large_cells", values=[cells / 1e6], unit="million"),
        Figure(name="topdown_large_seconds", values=[seconds], unit="s"),
        Figure(
            name="topdown_large_bytes_per_cell",
            values=[peak / cells],
            unit="B",
            remark=f"peak of arrays and objects {peak / 2**20:.0f} MiB; one array of doubles "
            f"would be {8 * cells / 2**20:.0f}",
        ),
        Figure(name="topdown_large_total_off", values=[off], unit="records"),
    ]
