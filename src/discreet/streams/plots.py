"""Pictures of streams: errors against time, with what no counter can beat below them.

Altair (the extra ``plots``) is loaded on first use. Stated errors are public; measured ones are for
streams that are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.core.errors import InvalidParameter
from discreet.core.plotting import COLOURS, plotting
from discreet.streams.counter import ContinualCounter
from discreet.streams.lower_bounds import pure_counter_bound, spectral_bound
from discreet.streams.node_noise import LaplaceNoise, NormalNoise

if TYPE_CHECKING:
    import altair as alt

_DASHES = ([1, 0], [8, 3], [2, 2], [8, 3, 2, 3], [5, 2], [1, 3], [12, 4], [3, 1])
_POINTS = 120


def bound_at(counter: ContinualCounter, t: int) -> float:
    """An error that no counter of this price beats at all ticks to ``t`` for one event.

    Normal noise: the least largest deviation of a factorisation of t prefix sums is above the
    nuclear norm over t. Pure privacy: the largest error of all ticks, which is reached with
    probability one third.
    """
    if isinstance(counter.noise, NormalNoise):
        return spectral_bound(t) * float(counter.noise.multiplier)
    assert isinstance(counter.noise, LaplaceNoise)
    return pure_counter_bound(horizon=t, epsilon=counter.noise.epsilon)


def error_by_tick(
    counters: Mapping[str, ContinualCounter],
    measured: Mapping[str, Sequence[float]] | None = None,
) -> alt.Chart:
    """Root mean squared errors against time, one line each, above a bound for all of them.

    ``measured`` holds errors of runs, by the same names, one for each tick: drawn as points.
    """
    if not counters:
        raise InvalidParameter(
            code="nothing_to_draw",
            expectation="at least one counter",
            remedy="Pass counters by the names that the picture shows.",
        )
    first = next(iter(counters.values()))
    ticks = _ticks(min(each.horizon for each in counters.values()))
    rows: list[dict[str, Any]] = [
        {"counter": name, "tick": t, "error": float(np.sqrt(each.variance(t)))}
        for name, each in counters.items()
        for t in ticks
    ]
    bound = "no counter below"
    rows += [{"counter": bound, "tick": t, "error": e} for t in ticks if (e := bound_at(first, t))]
    names = [*counters, bound]
    altair = plotting()
    scale = altair.Scale(domain=names, range=list(COLOURS[: len(names)]))
    dashes = altair.Scale(domain=names, range=list(_DASHES[: len(names)]))
    x = altair.X("tick:Q", scale=altair.Scale(type="log", nice=False), title="tick")
    y = altair.Y("error:Q", scale=altair.Scale(type="log"), title="root mean squared error")
    colour = altair.Color("counter:N", scale=scale, title=None)
    lines = (
        altair.Chart(altair.Data(values=rows))
        .mark_line()
        .encode(x=x, y=y, color=colour, strokeDash=altair.StrokeDash("counter:N", scale=dashes))
    )
    points = [
        {"counter": name, "tick": t, "error": float(found[t - 1])}
        for name, found in (measured or {}).items()
        for t in ticks
        if t <= len(found) and found[t - 1] > 0
    ]
    if not points:
        chart: alt.Chart = lines
        return chart
    marks = altair.Chart(altair.Data(values=points)).mark_point(size=12).encode(x, y, colour)
    layered: alt.Chart = altair.layer(lines, marks)
    return layered


def _ticks(horizon: int) -> list[int]:
    spread = np.unique(np.rint(np.geomspace(1, horizon, _POINTS)).astype(int))
    return [int(t) for t in spread]
