"""Errors of all options against universe size and number of queries: drawn into the documentation.

What the noise's law or a proof says before anything is spent, at (1, 1e-6) for data and for one
query, any linear query; marginals answer conjunctions of three bits only. Where a game's promise
crosses the best release that no query influences, it breaks even.
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from functools import cache

import numpy as np
from peers import ROOT

import discreet as dp
from discreet.accounting.zcdp import zcdp_rho
from discreet.queries.analysts.planning_game import (
    GameBudget,
    PerQuery,
    expected_setting,
    sampled_setting,
)
from discreet.queries.analysts.predicted_error import normal_errors
from discreet.queries.analysts.public_marginals import PublicMarginals
from discreet.queries.record_count import PublicCount
from discreet.queries.workload.universe import Universe

PICTURE = ROOT / "docs" / "figures" / "analysts.svg"
RECORDS = 1_000_000
BITS, QUERIES = tuple(range(8, 37, 2)), tuple(10.0**k for k in range(3, 16))
AT_BITS, AT_QUERIES = 30, 1e10
EPSILON, DELTA = 1.0, 1e-6
MULTIPLIER = 4.22468
CELL = 2.79889
"""The noise of a cell of the histogram: Laplace at epsilon 1, of which a record moves two."""
OPTIONS = {
    "independent noise": ("#222222", [1, 2]),
    "noisy histogram": ("#0072B2", []),
    "marginals, conjunctions only": ("#56B4E9", [6, 3]),
    "sampled game": ("#E69F00", []),
    "expected game": ("#009E73", [4, 4]),
}
PERFECT = ("independent noise", "noisy histogram")
GAMES = ("sampled game", "expected game")


@dataclass(frozen=True)
class Price:
    """How much larger an error was than that of MWEM, which hides no analyst."""

    records: int
    option: str
    error: str
    ratio: float


def error(option: str, bits: int, queries: float) -> float:
    """The largest error, predicted or promised, as a share."""
    if option == "independent noise":
        return normal_errors([(MULTIPLIER * math.sqrt(queries) / RECORDS, queries)]).largest
    if option == "noisy histogram":
        deviation = CELL * 2 ** (bits / 2) / 2 / RECORDS
        return normal_errors([(deviation, queries)]).largest
    if option.startswith("marginals"):
        distinct = 8 * math.comb(bits, 3)
        return normal_errors([(_cell(bits) / RECORDS, min(queries, distinct))]).largest
    rho = float(zcdp_rho(EPSILON, DELTA))
    setting = sampled_setting if option == "sampled game" else expected_setting
    budget = GameBudget(2.0**bits, RECORDS, rho, EPSILON, DELTA, rho, wrong=0.5)
    return setting(PerQuery(int(queries)), budget).error


@cache
def _cell(bits: int) -> float:
    universe = Universe.of(**{f"b{place}": range(2) for place in range(bits)})
    spend = dp.ApproxDP(epsilon=EPSILON, delta=DELTA)
    return PublicMarginals(universe, 3, spend, PublicCount(RECORDS)).deviation((0, 1, 2))


def break_even(found: dict[str, np.ndarray], along: np.ndarray) -> float:
    """Where the better game crosses the better release that no query influences; in ``along``."""
    perfect = np.minimum(*(found[name] for name in PERFECT))
    gap = np.log(np.minimum(*(found[name] for name in GAMES)) / perfect)
    after = int(np.argmax(gap < 0))
    if gap[after] >= 0 or after == 0:
        return math.nan
    part = gap[after - 1] / (gap[after - 1] - gap[after])
    return float(along[after - 1] + part * (along[after] - along[after - 1]))


def draw(prices: list[Price]) -> None:
    """Write the picture, if the extra ``plots`` is installed."""
    try:
        import altair as alt

        from discreet.core.plotting import styled
    except ImportError as reason:
        print(f"MISSING plots: {reason}", file=sys.stderr)
        return
    names = list(OPTIONS)
    colour = alt.Color(
        "option:N",
        title=None,
        scale=alt.Scale(domain=names, range=[shade for shade, _ in OPTIONS.values()]),
        legend=alt.Legend(orient="top", columns=3, symbolSize=600),
    )
    dash = alt.StrokeDash(
        "option:N",
        title=None,
        scale=alt.Scale(domain=names, range=[dashes for _, dashes in OPTIONS.values()]),
        legend=alt.Legend(orient="top", columns=3, symbolSize=600),
    )
    panels = []
    for title, axis, points, along in (
        (
            "1 000 000 records, 10^10 queries",
            "cells of the universe, log2",
            [(bits, AT_QUERIES) for bits in BITS],
            np.array(BITS, dtype=float),
        ),
        (
            f"1 000 000 records, 2^{AT_BITS} cells",
            "queries, log10",
            [(AT_BITS, queries) for queries in QUERIES],
            np.log10(QUERIES),
        ),
    ):
        found = {name: np.array([error(name, *point) for point in points]) for name in names}
        rows = [
            {"x": float(x), "error": float(y), "option": name}
            for name in names
            for x, y in zip(along, found[name], strict=True)
            if y < 3
        ]
        lines = (
            alt.Chart(alt.Data(values=rows), title=title)
            .mark_line(strokeWidth=2, clip=True)
            .encode(
                x=alt.X("x:Q", title=axis, scale=alt.Scale(zero=False, nice=False)),
                y=alt.Y(
                    "error:Q",
                    title="largest error of a share",
                    scale=alt.Scale(type="log", domain=[1e-5, 3]),
                    axis=alt.Axis(format="~g", values=[10.0**k for k in range(-5, 1)]),
                ),
                color=colour,
                strokeDash=dash,
            )
        )
        crossing = break_even(found, along)
        print(f"break-even, {title}: {axis} = {crossing:.1f}", file=sys.stderr)
        layers = [lines]
        if math.isfinite(crossing):
            mark = alt.Data(values=[{"x": crossing, "text": f"break-even {crossing:.1f}"}])
            layers.append(alt.Chart(mark).mark_rule(strokeDash=[2, 2]).encode(x="x:Q"))
            layers.append(
                alt.Chart(mark).mark_text(align="right", dx=-4, y=10).encode(x="x:Q", text="text:N")
            )
        panels.append(alt.layer(*layers).properties(width=270, height=220))
    dots = [
        {
            "records": f"{price.records:,}".replace(",", " "),
            "ratio": price.ratio,
            "error": f"{price.error} error",
            "option": "planner's choice" if price.option == "planned" else price.option,
        }
        for price in prices
    ]
    priced = (
        alt.Chart(alt.Data(values=dots), title="error over that of MWEM; measured, 2^12 cells")
        .mark_point(size=90, filled=True)
        .encode(
            y=alt.Y("records:N", title="records", sort=None),
            x=alt.X(
                "ratio:Q",
                title="price of analyst privacy: ratio of errors",
                scale=alt.Scale(type="log", domain=[0.1, 1000]),
                axis=alt.Axis(format="~g", values=[0.1, 1, 10, 100, 1000]),
            ),
            color=alt.Color(
                "option:N",
                title=None,
                scale=alt.Scale(
                    domain=["planner's choice", "sampled game"], range=["#0072B2", "#E69F00"]
                ),
                legend=alt.Legend(orient="right"),
            ),
            shape=alt.Shape("error:N", title=None, legend=alt.Legend(orient="right")),
        )
    )
    even = (
        alt.Chart(alt.Data(values=[{"ratio": 1}])).mark_rule(strokeDash=[2, 2]).encode(x="ratio:Q")
    )
    price = alt.layer(even, priced).properties(width=430, height=110)
    chart = alt.vconcat(alt.hconcat(*panels), price).resolve_scale(
        color="independent", strokeDash="independent", shape="independent"
    )
    styled(chart).save(PICTURE)
