"""Error against the number of queries, for each mechanism: drawn into the documentation.

Three-way marginals of the Adult table are added one after the other in a fixed order. A circle
marks where a mechanism becomes better than independent noise, a dotted line where another one
becomes the best. Peers stand at the right end, on all of them, as they were recorded; private
multiplicative weights online promise nothing on so few records, and are left out.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from typing import Any, cast

import numpy as np
from peers import ROOT
from queries_data import Table
from queries_mechanisms import MECHANISMS, release
from queries_record import CONTENDERS, EPSILONS, key, recorded

from discreet.errors import InvalidParameter
from discreet.queries.matrix.mechanism import MatrixMechanism
from discreet.queries.workload.workload import Workload

PICTURE = ROOT / "docs" / "figures" / "query-release.svg"
MARGINALS = (1, 2, 4, 8, 16, 32, 56)
RELEASES = 3
ROUNDING = 1e-6
EQUAL = 0.05
"""A mechanism that is never worse by more than this, in logarithms, does not cross another."""
LINES = {
    "independent": ("independent noise", "#222222", []),
    "identity": ("noisy histogram", "#999999", [2, 2]),
    "product": ("matrix, one product", "#E69F00", [4, 4]),
    "residual": ("matrix, residuals", "#D55E00", []),
    "mwem_printed": ("MWEM, single queries", "#009E73", [1, 2]),
    "mwem": ("MWEM, whole marginals", "#0072B2", []),
}
PEERS = {
    "aim": ("OpenDP's AIM", "#CC79A7"),
    "mwem_short": ("SmartNoise's MWEM, cut short", "#882255"),
}
FORETOLD = {"independent", "product", "residual"}
"""Their expected error is known; for the others it is the median of some releases."""


@dataclass(frozen=True)
class Point:
    """The error of one mechanism on one workload."""

    mechanism: str
    epsilon: float
    queries: float
    error: float


def workload_curves(table: Table) -> list[Point]:
    """All points of the mechanisms drawn; none where one finds no strategy."""
    products = Workload.marginals(table.universe, 3).products
    order = np.random.default_rng(0).permutation(len(products))
    records, points = int(table.counts.sum()), []
    for many in MARGINALS:
        workload = Workload(table.universe, tuple(products[place] for place in order[:many]))
        for epsilon in EPSILONS:
            for kind in LINES:
                try:
                    mechanism = MECHANISMS[kind](workload, epsilon, records)
                except InvalidParameter as reason:
                    print(f"MISSING {kind}: {reason}", file=sys.stderr)
                    continue
                errors = (
                    [cast(MatrixMechanism, mechanism).rmse]
                    if kind in FORETOLD
                    else [release(mechanism, workload, table.counts).rmse for _ in range(RELEASES)]
                )
                points.append(Point(kind, epsilon, workload.queries, median(errors)))
            print(".", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    return points


def crossings(points: Iterable[Point], of: str, over: str) -> list[Point]:
    """Where a mechanism becomes better than another, between two points drawn."""
    known = list(points)
    found = []
    for epsilon in EPSILONS:
        ours, theirs = (
            [p for p in known if p.mechanism == kind and p.epsilon == epsilon]
            for kind in (of, over)
        )
        gaps = [math.log(p.error / q.error) for p, q in zip(ours, theirs, strict=True)]
        for (before, above), (after, below) in pairwise(zip(ours, gaps, strict=True)):
            if above > ROUNDING and below <= 0 and max(gaps) > EQUAL:
                part = above / (above - below)
                queries = _between(before.queries, after.queries, part)
                error = _between(before.error, after.error, part)
                found.append(Point(of, epsilon, queries, error))
    return found


def _between(low: float, high: float, part: float) -> float:
    return math.exp((1 - part) * math.log(low) + part * math.log(high))


def leaders(points: Iterable[Point]) -> list[Point]:
    """Where another mechanism becomes the best of all, and stays it for the next point drawn."""
    known = list(points)
    found = []
    for epsilon in EPSILONS:
        counts = sorted({p.queries for p in known})
        best = [
            min((p for p in known if (p.epsilon, p.queries) == (epsilon, many)), key=_error)
            for many in counts
        ]
        for before, after in pairwise(best):
            if before.mechanism != after.mechanism:
                found += [
                    p
                    for p in crossings(known, after.mechanism, before.mechanism)
                    if p.epsilon == epsilon and before.queries <= p.queries <= after.queries
                ]
    return found


def _error(point: Point) -> float:
    return point.error


def peers_at_the_end(queries: float) -> list[Point]:
    """The medians of what was recorded about all three-way marginals."""
    entries = recorded()
    return [
        Point(each.name, epsilon, queries, median(numbers["rmse"] for numbers in found))
        for each in CONTENDERS
        for epsilon in EPSILONS
        if (found := entries.get(key(each, "adult", epsilon, 3)))
    ]


def draw(points: list[Point]) -> None:
    """Write the picture, if the extra ``plots`` is installed."""
    try:
        import altair as alt

        from discreet.core.plotting import styled
    except ImportError as reason:
        print(f"MISSING plots: {reason}", file=sys.stderr)
        return
    names = [name for name, _, _ in LINES.values()] + [name for name, _ in PEERS.values()]
    colours = [colour for _, colour, _ in LINES.values()] + [colour for _, colour in PEERS.values()]
    dashes = [dash for _, _, dash in LINES.values()] + [[]] * len(PEERS)
    called = {kind: each[0] for kind, each in (LINES | PEERS).items()}
    peers, led = peers_at_the_end(max(p.queries for p in points)), leaders(points)
    crossed = [p for kind in LINES for p in crossings(points, kind, "independent")]

    def rows(some: list[Point]) -> list[dict[str, Any]]:
        return [
            {
                **vars(p),
                "mechanism": called[p.mechanism],
                "from": f"best from {float(f'{p.queries:.2g}'):,.0f}",
            }
            for p in some
        ]

    across = [min(p.queries for p in points) * 0.9, max(p.queries for p in points) * 1.2]
    x = alt.X("queries:Q", title="queries", scale=alt.Scale(type="log", nice=False, domain=across))
    y = alt.Y("error:Q", title="typical error of a count, in people", scale=alt.Scale(type="log"))
    legend = alt.Legend(columns=3, labelLimit=300, symbolType="square")
    colour = alt.Color(
        "mechanism:N", title=None, legend=legend, scale=alt.Scale(domain=names, range=colours)
    )
    dash = alt.StrokeDash("mechanism:N", legend=None, scale=alt.Scale(domain=names, range=dashes))

    def panel(epsilon: float) -> Any:
        def at(some: list[Point]) -> Any:
            return alt.Chart(
                alt.Data(values=rows([p for p in some if p.epsilon == epsilon])),
                title=f"epsilon = {epsilon:g}",
            )

        lines = at(points).mark_line(strokeWidth=2).encode(x, y, colour, dash)
        ends = at(peers).mark_point(shape="diamond", size=90, filled=True).encode(x, y, colour)
        rings = at(crossed).mark_point(size=70, fill="white", opacity=1).encode(x, y, colour)
        rules = at(led).mark_rule(strokeDash=[2, 3]).encode(x, color=colour)
        texts = (
            at(led)
            .mark_text(align="right", dx=-4)
            .encode(x, color=colour, y=alt.value(290), text="from:N")
        )
        return alt.layer(rules, lines, ends, rings, texts).properties(width=330, height=300)

    chart = alt.hconcat(*(panel(epsilon) for epsilon in EPSILONS)).resolve_scale(y="shared")
    styled(chart).save(PICTURE)
