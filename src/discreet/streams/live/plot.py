"""A picture of what a stream released: one line for each key, with how far it may be off.

Altair (the extra ``plots``) is loaded on first use. Everything drawn was released.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from discreet.core.errors import InvalidParameter
from discreet.core.plotting import COLOURS, plotting
from discreet.streams.live.tick import Tick

if TYPE_CHECKING:
    import altair as alt

MOST_KEYS = 8
_DASHES = ([1, 0], [8, 3], [2, 2], [8, 3, 2, 3], [5, 2], [1, 3], [12, 4], [3, 1])


def released_by_tick(ticks: Iterable[Tick], keys: Iterable[str] | None = None) -> alt.LayerChart:
    """Estimates against time, each within its band; at most eight keys at once."""
    told = list(ticks)
    names = list(told[0].values if told and keys is None else keys or ())
    if not told or not 0 < len(names) <= MOST_KEYS:
        raise InvalidParameter(
            code="nothing_to_draw",
            expectation=f"ticks that were released, and one to {MOST_KEYS} keys",
            received=len(names),
            remedy="Name the keys to draw: stream.plot(keys=[...]).",
        )
    rows = [
        {
            "ends": tick.ends.isoformat(),
            "key": key,
            "estimate": tick[key],
            "low": tick[key] - tick.within,
            "high": tick[key] + tick.within,
        }
        for tick in told
        for key in names
    ]
    altair = plotting()
    share = f"{100 * told[0].confidence:g}%"
    base = altair.Chart(altair.Data(values=rows)).encode(
        x=altair.X("ends:T", title="end of tick (UTC)"),
        color=altair.Color(
            "key:N",
            scale=altair.Scale(domain=names, range=list(COLOURS[: len(names)])),
            title=None,
        ),
    )
    band = base.mark_area(opacity=0.2).encode(
        y=altair.Y("low:Q", title=f"estimate, within {share}"), y2="high:Q"
    )
    dashes = altair.Scale(domain=names, range=list(_DASHES[: len(names)]))
    line = base.mark_line(interpolate="step-after").encode(
        y="estimate:Q", strokeDash=altair.StrokeDash("key:N", scale=dashes, title=None)
    )
    chart: alt.LayerChart = altair.layer(band, line).properties(width=560, height=260)
    return chart
