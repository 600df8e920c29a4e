"""Pictures of prices: epsilon against steps, trade-off curves, accountants side by side.

Each function computes certified numbers and returns an Altair chart; ``core/plotting`` has its look
and saves it. Altair (the extra ``plots``) is loaded on first use.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.accounting.compare import Quote, accountants, quotes
from discreet.core.accountant import Accountant
from discreet.core.errors import InvalidParameter
from discreet.core.events.event import Event
from discreet.core.plotting import COLOURS, plotting

if TYPE_CHECKING:
    import altair as alt

# Lines differ in their dashes as well as in colour.
_DASHES = ([1, 0], [8, 3], [2, 2], [8, 3, 2, 3], [5, 2], [1, 3], [12, 4])
_ALPHAS = np.unique(np.concatenate((np.linspace(0, 1, 101), np.geomspace(1e-4, 0.1, 30))))


def epsilon_against_steps(
    event_of_steps: Callable[[int], Event],
    steps: Sequence[int],
    *,
    delta: float,
    among: Mapping[str, Accountant[Any]] | None = None,
) -> alt.Chart:
    """How the price grows with the number of steps, one line for each accountant.

    Accountants that cannot price the event have no line.
    """
    points = [
        {"steps": number, **_point(quote)}
        for number in steps
        for quote in quotes(event_of_steps(number), delta=delta, among=among)
        if math.isfinite(quote.epsilon)
    ]
    altair = plotting()
    return _lines(
        points,
        "accountant",
        _finest_first(among),
        x=altair.X("steps:Q", title="steps", axis=altair.Axis(format=",d", tickCount=5)),
        y=altair.Y("epsilon:Q", title=f"epsilon at delta = {delta:g}"),
    )


def accountants_side_by_side(
    event: Event,
    deltas: Sequence[float],
    *,
    among: Mapping[str, Accountant[Any]] | None = None,
) -> alt.Chart:
    """What each accountant says about one event, over a range of deltas."""
    points = [
        {"delta": delta, **_point(quote)}
        for delta in deltas
        for quote in quotes(event, delta=delta, among=among)
        if math.isfinite(quote.epsilon)
    ]
    altair = plotting()
    return _lines(
        points,
        "accountant",
        _finest_first(among),
        x=altair.X(
            "delta:Q",
            title="delta",
            scale=altair.Scale(type="log", nice=False),
            axis=altair.Axis(format="~e", tickCount=6),
        ),
        y=altair.Y("epsilon:Q", title="epsilon", scale=altair.Scale(zero=True)),
    )


def tradeoff_curves(named: Mapping[str, Event]) -> alt.LayerChart:
    """The least type II error against the type I error of any test for one person's presence.

    The diagonal is guessing; the closer a curve lies to it, the better the privacy.
    """
    points = [
        {"event": name, "false alarms": float(alpha), "misses": float(beta)}
        for name, event in named.items()
        for alpha, beta in zip(_ALPHAS, event.tradeoff()(_ALPHAS), strict=True)
    ]
    altair = plotting()
    errors = {"scale": altair.Scale(domain=[0, 1]), "axis": altair.Axis(format="~g", tickCount=5)}
    curves = _lines(
        points,
        "event",
        tuple(named),
        x=altair.X("false alarms:Q", title="false alarms (type I error)", **errors),
        y=altair.Y("misses:Q", title="misses (type II error), at least", **errors),
    ).properties(width=300, height=300)
    ends = [{"false alarms": 0, "misses": 1}, {"false alarms": 1, "misses": 0}]
    guessing = (
        altair.Chart(altair.Data(values=ends))
        .mark_line(color="#999999", strokeWidth=1)
        .encode(x="false alarms:Q", y="misses:Q")
    )
    label = (
        altair.Chart(altair.Data(values=[{"false alarms": 0.62, "misses": 0.38}]))
        .mark_text(align="left", dx=5, dy=-5, color="#777777", text="guessing")
        .encode(x="false alarms:Q", y="misses:Q")
    )
    layers: alt.LayerChart = guessing + curves + label
    return layers


def _finest_first(among: Mapping[str, Accountant[Any]] | None) -> tuple[str, ...]:
    """The names in the order of the legend; the first is drawn as a solid line."""
    return tuple(reversed(tuple(accountants() if among is None else among)))


def _point(quote: Quote) -> dict[str, object]:
    return {"accountant": quote.accountant, "epsilon": quote.epsilon}


def _lines(
    points: list[dict[str, Any]], field: str, order: tuple[str, ...], *, x: alt.X, y: alt.Y
) -> alt.Chart:
    """A line for each value of ``field`` that occurs; a name keeps its colour in every chart."""
    if not points:
        raise InvalidParameter(
            code="plot_empty",
            expectation="an accountant with a finite price at one point at least",
            remedy="Choose delta > 0, and an event that the accountants can price.",
        )
    altair = plotting()
    present = {point[field] for point in points}
    style = {name: number % len(_DASHES) for number, name in enumerate(order) if name in present}
    colours = altair.Scale(domain=list(style), range=[COLOURS[number] for number in style.values()])
    dashes = altair.Scale(domain=list(style), range=[_DASHES[number] for number in style.values()])
    chart: alt.Chart = (
        altair.Chart(altair.Data(values=points))
        .mark_line(strokeWidth=2, clip=True)
        .encode(
            x=x,
            y=y,
            color=altair.Color(f"{field}:N", title=None, scale=colours),
            strokeDash=altair.StrokeDash(f"{field}:N", title=None, scale=dashes),
        )
        .properties(width=420, height=240)
    )
    return chart
