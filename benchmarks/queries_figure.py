"""Error against the number of queries, for each mechanism: drawn into the documentation.

Three-way marginals of the Adult table are added one after the other in a fixed order. Where curves
cross, another mechanism becomes the better one.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from peers import ROOT

import discreet as dp
from discreet.core.guarantee import PureDP
from discreet.errors import InvalidParameter
from discreet.queries.fitting import SmallSteps
from discreet.queries.matrix.mechanism import MatrixMechanism
from discreet.queries.mwem import MWEM, suggested_rounds
from discreet.queries.mwem_rounds import OneQuery
from discreet.queries.record_count import BoughtCount
from discreet.queries.universe import Universe
from discreet.queries.workload import Workload

PICTURE = ROOT / "docs" / "figures" / "query-release.svg"
MARGINALS = (1, 2, 4, 8, 16, 32, 56)
EPSILONS = (0.1, 1.0)
RELEASES = 3
Counts = NDArray[np.int64]
Error = Callable[[Workload, Counts, PureDP], float]


@dataclass(frozen=True)
class Point:
    """The error of one mechanism on one workload."""

    mechanism: str
    epsilon: float
    queries: int
    error: float


def independent(workload: Workload, counts: Counts, spend: PureDP) -> float:
    """Noise on every marginal by itself."""
    return math.sqrt(2) * len(workload.products) / float(spend.epsilon)


def matrix(workload: Workload, counts: Counts, spend: PureDP) -> float:
    """The matrix mechanism, as it foretells; no point where it finds no strategy."""
    try:
        return MatrixMechanism(workload, spend).rmse
    except InvalidParameter as reason:
        print(f"MISSING matrix: {reason}", file=sys.stderr)
        return math.nan


def mwem(workload: Workload, counts: Counts, spend: PureDP) -> float:
    """MWEM by default."""
    most = len(workload.products)
    rounds = suggested_rounds(spend, records=int(counts.sum()), most=most)
    return measured(MWEM(workload, spend, BoughtCount(), rounds), counts)


def printed(workload: Workload, counts: Counts, spend: PureDP) -> float:
    """MWEM as printed: one query a round."""
    each = OneQuery(stepping=SmallSteps())
    return measured(MWEM(workload, spend, BoughtCount(), 30, each=each, passes=20), counts)


MECHANISMS: dict[str, Error] = {
    "independent noise": independent,
    "matrix mechanism": matrix,
    "MWEM, single queries": printed,
    "MWEM, whole marginals": mwem,
}
COLOURS = ("#222222", "#E69F00", "#009E73", "#0072B2")
DASHES = ([], [4, 4], [1, 2], [])


def measured(mechanism: MWEM, counts: Counts) -> float:
    """The root mean squared error of some releases."""
    exact = mechanism.workload.answers(counts)
    squares = [
        float(((mechanism.release(counts).answers(mechanism.workload) - exact) ** 2).mean())
        for _ in range(RELEASES)
    ]
    return math.sqrt(sum(squares) / len(squares))


def workload_curves(universe: Universe, counts: Counts) -> list[Point]:
    """All points."""
    products = Workload.marginals(universe, 3).products
    order = np.random.default_rng(0).permutation(len(products))
    points = []
    for many in MARGINALS:
        workload = Workload(universe, tuple(products[place] for place in order[:many]))
        for epsilon in EPSILONS:
            spend = dp.PureDP(epsilon=epsilon)
            points += [
                Point(name, epsilon, workload.queries, error(workload, counts, spend))
                for name, error in MECHANISMS.items()
            ]
            print(".", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    return points


def draw(points: list[Point]) -> None:
    """Write the picture, if the extra ``plots`` is installed."""
    try:
        import altair as alt

        from discreet.accounting.plots import styled
    except ImportError as reason:
        print(f"MISSING plots: {reason}", file=sys.stderr)
        return
    names = list(MECHANISMS)
    rows = [
        {**vars(point), "panel": f"epsilon = {point.epsilon:g}"}
        for point in points
        if point.error > 0
    ]
    chart = (
        alt.Chart(alt.Data(values=rows))
        .mark_line(strokeWidth=2, point=True)
        .encode(
            x=alt.X("queries:Q", title="queries", scale=alt.Scale(type="log", nice=False)),
            y=alt.Y(
                "error:Q", title="typical error of a count, in people", scale=alt.Scale(type="log")
            ),
            color=alt.Color(
                "mechanism:N", title=None, scale=alt.Scale(domain=names, range=COLOURS)
            ),
            strokeDash=alt.StrokeDash(
                "mechanism:N", title=None, scale=alt.Scale(domain=names, range=list(DASHES))
            ),
        )
        .properties(width=300, height=220)
        .facet(column=alt.Column("panel:N", title=None))
    )
    styled(chart).save(PICTURE)
