"""Synthetic tables: accuracy and speed on real tables beside peers; wide and long tables.

Each contender fits and draws as many rows as there are. Errors are the mean total variation over
sixty fixed triples of columns, in one public binning for everybody; ``learning`` is the accuracy of
a classifier that saw synthetic rows, on real people that nobody saw. Seconds are those of the
processor. Peers are dpmm and SmartNoise, from the record (``synthetic_peers.py``), which asks them
where it has nothing.
"""

from __future__ import annotations

import os
import resource
import sys
import time
from functools import partial
from statistics import fmean, median, stdev
from typing import Any

import numpy as np
import peers
import synthetic_peers
from queries_data import Table
from synthetic_data import CodedRows, Trial, trials
from synthetic_peers import DELTA, PEERS, Made, scored
from synthetic_scores import accuracy
from timing import Figure

from discreet.core.guarantee import ZCDP, ApproxDP
from discreet.queries.record_count import NoisyRecordCount
from discreet.queries.workload.universe import Universe
from discreet.queries.workload.workload import Workload
from discreet.synthetic.aim import AIM
from discreet.synthetic.independent_marginals import IndependentMarginals
from discreet.synthetic.mst import MST

EPSILONS = tuple(float(each) for each in os.environ.get("SYNTHETIC_EPSILONS", "0.3 1 3 10").split())
SEEDS = int(os.environ.get("SYNTHETIC_SEEDS", "5"))
CONTENDERS = tuple(os.environ.get("SYNTHETIC_PEERS", " ".join(PEERS)).split())
OURS: dict[str, Any] = {"aim": AIM, "mst": MST, "independent": IndependentMarginals}
WHAT = ("error", "learning", "seconds")
WIDE = 100


def figures() -> list[Figure]:
    """All figures of this suite."""
    found: list[Figure] = []
    for trial in trials():
        shape = trial.table.universe.shape
        real = accuracy(trial.table.codes, trial.held_out, shape, trial.place)
        found.append(
            Figure(name=f"synthetic/{trial.name}/real/learning", values=[real], unit="share")
        )
        for epsilon in EPSILONS:
            found += compared(trial, epsilon)
    return found + wide() + longer()


def compared(trial: Trial, epsilon: float) -> list[Figure]:
    """Ours and the peers' on one table."""
    name = f"synthetic/{trial.name}/epsilon={epsilon:g}"
    done: dict[str, list[Made]] = {}
    for kind, make in OURS.items():
        done[kind] = [ours(make, trial, epsilon) for _ in range(SEEDS)]
        print(f"{name}/{kind}: {told(done[kind])}", file=sys.stderr, flush=True)
    theirs: dict[str, list[Made]] = {}
    for kind in CONTENDERS:
        ask = epsilon in synthetic_peers.EPSILONS
        try:
            runs = synthetic_peers.asked(kind, trial, epsilon, runs=int(ask))
        except peers.Missing as reason:
            print(f"MISSING {kind}: {reason}", file=sys.stderr, flush=True)
            continue
        if runs:
            theirs[kind] = runs
    found = []
    for kind, made in [*done.items(), *theirs.items()]:
        found += [
            Figure(name=f"{name}/{kind}/error", values=[m.error for m in made], unit="tv"),
            Figure(name=f"{name}/{kind}/learning", values=[m.learning for m in made], unit="share"),
            Figure(name=f"{name}/{kind}/seconds", values=[m.seconds for m in made], unit="s"),
        ]
    return found + (against(name, done, list(theirs.values())) if theirs else [])


def against(name: str, done: dict[str, list[Made]], theirs: list[list[Made]]) -> list[Figure]:
    """Our default against the most accurate peer, and our quickest against the quickest."""
    aim, mst = done["aim"], done["mst"]
    best = min(theirs, key=lambda made: mean(made, "error"))
    learner = max(theirs, key=lambda made: mean(made, "learning"))
    learnt = mean(learner, "learning") - mean(aim, "learning")
    fastest = min(theirs, key=lambda made: mean(made, "seconds"))
    return [
        Figure(
            name=f"{name}/aim/error_over_best_peer",
            values=[mean(aim, "error") / mean(best, "error")],
            unit="ratio",
            at_most=1 + error_apart(aim, best, "error") / mean(best, "error"),
        ),
        Figure(
            name=f"{name}/aim/learning_behind_best_peer",
            values=[learnt],
            unit="share",
            at_most=error_apart(aim, learner, "learning"),
        ),
        Figure(
            name=f"{name}/aim/speed_over_best_peer",
            values=[mean(best, "seconds") / median(made.seconds for made in aim)],
            unit="ratio",
            at_least=1,
        ),
        Figure(
            name=f"{name}/mst/speed_over_fastest_peer",
            values=[mean(fastest, "seconds") / median(made.seconds for made in mst)],
            unit="ratio",
            at_least=2,
        ),
        Figure(
            name=f"{name}/mst/error_over_fastest_peer",
            values=[mean(mst, "error") / mean(fastest, "error")],
            unit="ratio",
            at_most=1,
        ),
    ]


def mean(made: list[Made], what: str) -> float:
    """Of some runs."""
    return fmean(getattr(each, what) for each in made)


def standard_error(values: list[float]) -> float:
    """Of a mean of some runs."""
    return stdev(values) / len(values) ** 0.5 if len(values) > 1 else float("inf")


def error_apart(ours: list[Made], theirs: list[Made], what: str) -> float:
    """The standard error of a difference of means; one run is taken to vary as ours do."""
    mine = standard_error([getattr(each, what) for each in ours])
    if len(theirs) > 1:
        other = standard_error([getattr(each, what) for each in theirs])
    else:
        other = mine * len(ours) ** 0.5
    return (mine**2 + other**2) ** 0.5


def told(made: list[Made]) -> str:
    """Means, with their standard errors, for whoever watches."""
    parts = []
    for what in WHAT:
        values = [getattr(each, what) for each in made]
        parts.append(f"{what} {fmean(values):.4f} ± {standard_error(values):.4f}")
    return ", ".join(parts)


def ours(make: Any, trial: Trial, epsilon: float) -> Made:
    """One synthetic table of ours."""
    start = time.process_time()
    mechanism = make(
        workload=Workload.marginals(trial.table.universe, 3),
        spend=ApproxDP(epsilon=epsilon, delta=DELTA),
        size=NoisyRecordCount(),
    )
    rows = mechanism.release(CodedRows(trial.table)).sample(len(trial.table.codes))
    return scored(trial, rows, time.process_time() - start)


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
    """Ten times the rows with the marginals fixed: the time of a fit apart from counting.

    MST measures as many pairs at the same spend. AIM would find more to measure, so it gets noise
    that grows with the rows: the same table ten times, a hundredth of rho.
    """
    short, long = chained(30_000, 14), chained(300_000, 14)
    often = Table(short.name, short.universe, np.tile(short.codes, (10, 1)))
    tree = partial(MST, merging=0.0)
    pairs = [(apart(tree, short, 0.1), apart(tree, long, 0.1)) for _ in range(5)]
    rounds = [(apart(AIM, short, 0.1), apart(AIM, often, 0.001)) for _ in range(3)]
    return [
        Figure(
            name=f"synthetic/rows_tenfold/{kind}",
            values=[more / less for less, more in found],
            unit="ratio",
            at_most=1.2,
        )
        for kind, found in (("mst", pairs), ("aim", rounds))
    ]


class TimedRows(CodedRows):
    """Rows that know how long counting took."""

    counting = 0.0

    def counts(self, columns: Any) -> Any:
        """Exact counts by some attributes."""
        start = time.process_time()
        found = super().counts(columns)
        self.counting += time.process_time() - start
        return found


def apart(make: Any, table: Table, rho: float) -> float:
    """Seconds of a release without those of counting."""
    rows = TimedRows(table)
    start = time.process_time()
    make(
        workload=Workload.marginals(table.universe, 2),
        spend=ZCDP(rho=rho),
        size=NoisyRecordCount(),
    ).release(rows)
    return time.process_time() - start - rows.counting
