"""Estimated counts as a picture: bars by one attribute, a heat map by two.

Bars carry the intervals of their counts as whiskers, where the noise does not depend on data.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from discreet.core.errors import InvalidParameter
from discreet.core.plotting import BLUE, plotting
from discreet.release.format import percent
from discreet.release.release import Release

if TYPE_CHECKING:
    import altair as alt

_DARK = "#222222"
_HEIGHT = 240
_BAND, _WIDEST = 28, 900
"""The width of one bar or cell, and of all of them together."""


def plot(table: Release) -> alt.TopLevelMixin:
    """The chart of the first column of a table with one or two keys."""
    altair = plotting()
    names, count = list(table.keys), table.answers[0]
    if len(names) not in (1, 2):
        raise InvalidParameter(
            code="plot_keys",
            expectation="one attribute, or two",
            received=names,
            remedy="Export a larger table with `table(...).to_polars()`, and draw a part of it.",
        )
    base = altair.Chart(altair.Data(values=_records(table)))
    known = count.interval is not None
    whiskers = known and len(names) == 1
    stated = f", {percent(table.confidence)} intervals" if whiskers else ""
    title = f"records ({count.name}), estimated{stated}"
    across = altair.X("k0:N", title=names[0], sort=None)
    noted = [
        *(altair.Tooltip(f"k{place}:N", title=name) for place, name in enumerate(names)),
        altair.Tooltip("value:Q", title=count.name, format=",.1f"),
        *(altair.Tooltip("sd:Q", title=each.name, format=",.1f") for each in table.answers[1:]),
        *(altair.Tooltip(f"{end}:Q", format=",.1f") for end in ("low", "high") if known),
    ]
    if len(names) == 1:
        bars: alt.Chart = (
            base.mark_bar(color=BLUE)
            .encode(x=across, y=altair.Y("value:Q", title=title), tooltip=noted)
            .properties(width=_step(table, 0), height=_HEIGHT)
        )
        return bars + _whiskers(base, across) if known else bars
    shade = altair.Color("value:Q", title=title, scale=altair.Scale(scheme="blues"))
    cells: alt.Chart = (
        base.mark_rect()
        .encode(x=across, y=altair.Y("k1:N", title=names[1], sort=None), color=shade, tooltip=noted)
        .properties(width=_step(table, 0), height=_step(table, 1))
    )
    return cells


def _records(table: Release) -> list[dict[str, object]]:
    """One record for each row: its keys, its count, and the noise where that is known."""
    count = table.answers[0]
    nothing = (None,) * len(count)
    spread = table.answers[1].values if len(table.answers) > 1 else nothing
    lower, upper = count.lower or nothing, count.upper or nothing
    found: list[dict[str, object]] = []
    for value, sd, low, high, *row in zip(
        count.values, spread, lower, upper, *table.keys.values(), strict=True
    ):
        keys = {f"k{place}": _label(key) for place, key in enumerate(row)}
        ends = {"low": low, "high": high} if _finite(low) and _finite(high) else {}
        found.append({"value": value, "sd": sd, **ends, **keys})
    return found


def _finite(end: float | None) -> bool:
    return end is not None and math.isfinite(end)


def _whiskers(base: alt.Chart, across: alt.X) -> alt.Chart:
    drawn: alt.Chart = base.mark_rule(color=_DARK, strokeWidth=1.5).encode(
        x=across, y="low:Q", y2="high:Q"
    )
    return drawn


def _step(table: Release, place: int) -> alt.Step:
    """The room for each key of an attribute, so that all of them fit."""
    keys = len(set(list(table.keys.values())[place]))
    step: alt.Step = plotting().Step(max(2, min(_BAND, _WIDEST // keys)))
    return step


def _label(key: object) -> str:
    return "NULL" if key is None else str(key)
