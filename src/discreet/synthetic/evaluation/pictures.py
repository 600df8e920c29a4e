"""Pictures of an evaluation, as SVG that stands inside of a page. Altair is loaded on first use."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from discreet.core.arrays import Floats
from discreet.core.plotting import BLUE, ORANGE, plotting

if TYPE_CHECKING:
    import altair as alt

_REAL, _SYNTHETIC = BLUE, ORANGE
_HEIGHT = 180
_BAND, _WIDEST = 28, 760


def column_chart(labels: Sequence[str], real: Floats, synthetic: Floats) -> alt.Chart:
    """The shares of each cell of a column in both tables, side by side."""
    altair = plotting()
    values = [
        {"cell": label, "place": place, "table": table, "share": float(shares[place])}
        for table, shares in (("real", real), ("synthetic", synthetic))
        for place, label in enumerate(labels)
    ]
    step = max(6, min(_BAND, _WIDEST // max(1, len(labels))))
    made: alt.Chart = (
        altair.Chart(altair.Data(values=values))
        .mark_bar()
        .encode(
            x=altair.X("cell:N", sort=altair.SortField("place"), title=None),
            xOffset=altair.XOffset("table:N"),
            y=altair.Y("share:Q", title="share of rows", axis=altair.Axis(format="%")),
            color=altair.Color(
                "table:N",
                title=None,
                scale=altair.Scale(domain=["real", "synthetic"], range=[_REAL, _SYNTHETIC]),
            ),
        )
        .properties(width=altair.Step(step / 2), height=_HEIGHT)
    )
    return made


def pair_chart(pairs: Mapping[tuple[str, str], float]) -> alt.Chart:
    """The distance of each pair of columns, as a heat map."""
    altair = plotting()
    names = list(dict.fromkeys(name for pair in pairs for name in pair))
    values = [
        {"first": one, "second": other, "distance": float(distance)}
        for (a, b), distance in pairs.items()
        for one, other in ((a, b), (b, a))
    ]
    step = max(10, min(_BAND, _WIDEST // max(1, len(names))))
    made: alt.Chart = (
        altair.Chart(altair.Data(values=values))
        .mark_rect()
        .encode(
            x=altair.X("first:N", sort=names, title=None),
            y=altair.Y("second:N", sort=names, title=None),
            color=altair.Color(
                "distance:Q",
                title="total variation",
                scale=altair.Scale(scheme="oranges", domainMin=0),
            ),
        )
        .properties(width=altair.Step(step), height=altair.Step(step))
    )
    return made


def picture(chart: alt.Chart) -> str:
    """A chart as SVG text."""
    text: str = plotting("vl_convert").vegalite_to_svg(chart.to_dict(), vl_version=_version())
    return text


def _version() -> str:
    """The version of Vega-Lite that Altair writes."""
    full: str = plotting().SCHEMA_VERSION.removeprefix("v")
    return ".".join(full.split(".")[:2])
