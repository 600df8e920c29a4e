"""Pictures of query release: error by query, error against their number, updates used.

Each function takes plain numbers and returns an Altair chart; ``styled`` and ``save`` of
:mod:`discreet.core.plotting` give it the look of the documentation and write it. Altair (the
extra ``plots``) is loaded on first use.

Whoever draws realised errors holds the true answers: such a picture is for public data and for
the data owner. Predicted deviations and updates are public.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from discreet.core.errors import InvalidParameter
from discreet.core.plotting import COLOURS, plotting

if TYPE_CHECKING:
    import altair as alt

# Okabe and Ito's colours, which survive every common kind of colour blindness; lines differ in
# their dashes as well.
_DASHES = ([1, 0], [8, 3], [2, 2], [8, 3, 2, 3], [5, 2], [1, 3], [12, 4])
_MOST = 500
"""Points of one line; more cannot be told apart."""


class BenchmarkRow(Protocol):
    """The error of one mechanism on one workload: a row of a benchmark."""

    @property
    def mechanism(self) -> str:
        """The name of the mechanism."""

    @property
    def queries(self) -> int:
        """How many queries there were."""

    @property
    def error(self) -> float:
        """Of a query, in records; NaN where there is none."""


def error_by_query(errors: Mapping[str, Sequence[float]]) -> alt.Chart:
    """The error of each query, from the best to the worst, one line for each mechanism.

    ``errors`` are standard deviations that were predicted, or distances from true answers.
    """
    points = [
        {"mechanism": name, "share": place / max(1, len(found) - 1), "error": found[place]}
        for name, given in errors.items()
        for found in [sorted(abs(float(value)) for value in given)]
        for place in _few(len(found))
    ]
    altair = plotting()
    return _lines(
        points,
        tuple(errors),
        x=altair.X("share:Q", title="queries, best to worst", axis=altair.Axis(format="%")),
        y=altair.Y("error:Q", title="error of the query, in records"),
    )


def error_by_number(rows: Iterable[BenchmarkRow]) -> alt.Chart:
    """The error against the number of queries, one line for each mechanism, on both logarithms.

    Where lines cross, another mechanism becomes the better one.
    """
    points = [
        {"mechanism": row.mechanism, "queries": row.queries, "error": row.error}
        for row in rows
        if math.isfinite(row.error) and row.error > 0
    ]
    altair = plotting()
    logarithm = altair.Scale(type="log", nice=False)
    return _lines(
        points,
        tuple(dict.fromkeys(str(point["mechanism"]) for point in points)),
        x=altair.X("queries:Q", title="number of queries", scale=logarithm),
        y=altair.Y("error:Q", title="error of a query, in records", scale=logarithm),
    )


def updates_by_question(used: Sequence[int], *, cutoff: int) -> alt.LayerChart:
    """Updates that an online conversation has used after each question; ``cutoff`` are paid."""
    points = [
        {"question": place + 1, "updates": int(used[place])}
        for place in (_few(len(used)) if used else ())
    ]
    _require(points)
    altair = plotting()
    steps = (
        altair.Chart(altair.Data(values=points))
        .mark_line(interpolate="step-after", color=COLOURS[0], strokeWidth=2)
        .encode(
            x=altair.X("question:Q", title="questions asked"),
            y=altair.Y("updates:Q", title="updates used"),
        )
    )
    paid = (
        altair.Chart(altair.Data(values=[{"updates": cutoff}]))
        .mark_rule(color="#999999", strokeDash=[4, 3])
        .encode(y="updates:Q")
    )
    layers: alt.LayerChart = (steps + paid).properties(width=420, height=240)
    return layers


def _few(count: int) -> list[int]:
    """Places among ``count``, the first and the last included, at most 500."""
    if count <= _MOST:
        return list(range(count))
    return sorted({round(number * (count - 1) / (_MOST - 1)) for number in range(_MOST)})


def _lines(
    points: list[dict[str, Any]], order: tuple[str, ...], *, x: alt.X, y: alt.Y
) -> alt.Chart:
    _require(points)
    altair = plotting()
    styles = [number % len(COLOURS) for number in range(len(order))]
    colours = altair.Scale(domain=list(order), range=[COLOURS[number] for number in styles])
    dashes = altair.Scale(domain=list(order), range=[_DASHES[number] for number in styles])
    chart: alt.Chart = (
        altair.Chart(altair.Data(values=points))
        .mark_line(strokeWidth=2, clip=True)
        .encode(
            x=x,
            y=y,
            color=altair.Color("mechanism:N", title=None, scale=colours),
            strokeDash=altair.StrokeDash("mechanism:N", title=None, scale=dashes),
        )
        .properties(width=420, height=240)
    )
    return chart


def _require(points: list[dict[str, Any]]) -> None:
    if not points:
        raise InvalidParameter(
            code="plot_empty",
            expectation="one number to draw, at least",
            remedy="Ask something first, or measure a mechanism that has a finite error.",
        )
