"""Synthetic tables: accuracy and speed on real tables, in turn with dpmm; wide and long tables.

Each contender fits and draws as many rows as there are. Errors are the mean total variation over
sixty fixed triples of columns, in one public binning for everybody; ``learning`` is the accuracy of
a classifier that saw synthetic rows, on real ones. Seconds are those of the processor. Peers take
minutes for each table, so only one round of them is run; ``EPSILONS`` and ``SEEDS`` can be raised.
"""

from __future__ import annotations

import os
import resource
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, median
from typing import Any

import numpy as np
import peers
from queries_data import Table
from synthetic_data import CodedRows, tables
from synthetic_scores import accuracy, three_way
from timing import Figure

from discreet.core.guarantee import ApproxDP
from discreet.queries.record_count import NoisyRecordCount
from discreet.queries.workload.universe import Universe
from discreet.queries.workload.workload import Workload
from discreet.synthetic.aim import AIM
from discreet.synthetic.independent_marginals import IndependentMarginals
from discreet.synthetic.mst import MST

EPSILONS = tuple(float(each) for each in os.environ.get("SYNTHETIC_EPSILONS", "1").split())
SEEDS = int(os.environ.get("SYNTHETIC_SEEDS", "2"))
PIPELINES = tuple(os.environ.get("SYNTHETIC_PEERS", "mst aim privbayes").split())
PATIENCE = int(os.environ.get("SYNTHETIC_PATIENCE", "900"))
"""Seconds after which a peer has not finished."""
DELTA = 1e-9
OURS: dict[str, Any] = {"aim": AIM, "mst": MST, "independent": IndependentMarginals}
WIDE = 100


@dataclass(frozen=True)
class Made:
    """One synthetic table: how wrong, how well learnt from, how long it took."""

    error: float
    learning: float
    seconds: float


def figures() -> list[Figure]:
    """All figures of this suite."""
    peers.ANSWER_SECONDS = PATIENCE
    found: list[Figure] = []
    for table in tables():
        for epsilon in EPSILONS:
            found += compared(table, epsilon)
    return found + wide() + longer()


def compared(table: Table, epsilon: float) -> list[Figure]:
    """Ours and dpmm's on one table."""
    name = f"synthetic/{table.name}/epsilon={epsilon:g}"
    print(name, file=sys.stderr, flush=True)
    done = {kind: [ours(make, table, epsilon) for _ in range(SEEDS)] for kind, make in OURS.items()}
    theirs: dict[str, Made] = {}
    for kind in PIPELINES:
        try:
            theirs[f"dpmm_{kind}"] = peer(kind, table, epsilon)
        except peers.Missing as reason:
            print(f"MISSING dpmm {kind}: {reason}", file=sys.stderr, flush=True)
    found = []
    for kind, made in [*done.items(), *((kind, [one]) for kind, one in theirs.items())]:
        found += [
            Figure(name=f"{name}/{kind}/error", values=[m.error for m in made], unit="tv"),
            Figure(name=f"{name}/{kind}/learning", values=[m.learning for m in made], unit="share"),
            Figure(name=f"{name}/{kind}/seconds", values=[m.seconds for m in made], unit="s"),
        ]
    if theirs:
        best = min(made.error for made in theirs.values())
        fastest = min(made.seconds for made in theirs.values())
        found.append(
            Figure(
                name=f"{name}/aim/error_over_best_peer",
                values=[mean(m.error for m in done["aim"]) / best],
                unit="ratio",
                at_most=1,
            )
        )
        found.append(
            Figure(
                name=f"{name}/mst/speed_over_fastest_peer",
                values=[fastest / median(m.seconds for m in done["mst"])],
                unit="ratio",
                at_least=2,
            )
        )
    return found


def ours(make: Any, table: Table, epsilon: float) -> Made:
    """One synthetic table of ours."""
    start = time.process_time()
    mechanism = make(
        workload=Workload.marginals(table.universe, 3),
        spend=ApproxDP(epsilon=epsilon, delta=DELTA),
        size=NoisyRecordCount(),
    )
    rows = mechanism.release(CodedRows(table)).sample(len(table.codes))
    return scored(table, rows, time.process_time() - start)


def peer(kind: str, table: Table, epsilon: float) -> Made:
    """One synthetic table of dpmm's."""
    with tempfile.TemporaryDirectory(prefix="synthetic-") as folder:
        given, to = Path(folder) / "table.npz", Path(folder) / "made.npz"
        table.write(given)
        with peers.Peer("dpmm", "peer_dpmm_synthetic.py") as worker:
            took = worker.seconds(
                table=str(given), pipeline=kind, epsilon=epsilon, delta=DELTA, to=str(to)
            )
        return scored(table, np.load(to)["codes"], took)


def scored(table: Table, rows: Any, seconds: float) -> Made:
    """The target of the classifier is the last column of two values."""
    shape = table.universe.shape
    target = max(place for place, size in enumerate(shape) if size == 2)
    error = three_way(table.codes, rows, shape)
    return Made(error, accuracy(rows, table.codes, shape, target), seconds)


def chained(rows: int, columns: int, seed: int = 0) -> Table:
    """A table in which each column depends on one of the five before it."""
    generator = np.random.default_rng(seed)
    sizes = [int(size) for size in generator.integers(2, 16, columns)]
    codes = np.zeros((rows, columns), dtype=np.int64)
    codes[:, 0] = generator.integers(0, sizes[0], rows)
    for place in range(1, columns):
        before = int(generator.integers(max(0, place - 5), place))
        laws = generator.dirichlet(np.full(sizes[place], 0.7), sizes[before]).cumsum(axis=1)
        drawn = generator.random(rows)[:, None] > laws[codes[:, before]]
        codes[:, place] = np.minimum(drawn.sum(axis=1), sizes[place] - 1)
    universe = Universe.of(**{f"c{place}": range(size) for place, size in enumerate(sizes)})
    return Table("chained", universe, codes)


def wide() -> list[Figure]:
    """A hundred columns and a hundred thousand rows: seconds, and the memory of this process."""
    table = chained(100_000, WIDE)
    start = time.process_time()
    AIM(
        workload=Workload.marginals(table.universe, 2),
        spend=ApproxDP(epsilon=1, delta=DELTA),
        size=NoisyRecordCount(),
    ).release(CodedRows(table))
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    took = time.process_time() - start
    return [
        Figure(name="synthetic/wide/aim/seconds", values=[took], unit="s"),
        Figure(name="synthetic/wide/memory", values=[most], unit="GiB", at_most=4),
    ]


def longer() -> list[Figure]:
    """Ten times the rows with the marginals fixed: the time of a fit apart from counting."""

    class Timed(CodedRows):
        counting = 0.0

        def counts(self, columns: Any) -> Any:
            start = time.process_time()
            found = super().counts(columns)
            self.counting += time.process_time() - start
            return found

    def apart(table: Table) -> float:
        rows = Timed(table)
        start = time.process_time()
        MST(
            workload=Workload.marginals(table.universe, 2),
            spend=ApproxDP(epsilon=1, delta=DELTA),
            size=NoisyRecordCount(),
            merging=0.0,
        ).release(rows)
        return time.process_time() - start - rows.counting

    short, long = chained(30_000, 14), chained(300_000, 14)
    pairs = [(apart(short), apart(long)) for _ in range(5)]
    values = [more / less for less, more in pairs]
    return [Figure(name="synthetic/rows_tenfold", values=values, unit="ratio", at_most=1.2)]
