"""A release as a chart: numbers with their intervals over the keys.

The first key is the horizontal axis (days on a time axis, numbers on a scale, text as it comes),
the second a colour, the third a row of panels. Counts and sums are bars, since their zero means
something; means and quantiles are points. Altair (the extra ``plots``) is loaded on first use.
"""

from __future__ import annotations

import math
from datetime import UTC
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.core.errors import InvalidParameter
from discreet.core.plotting import COLOURS, plotting
from discreet.release.column import ReleasedColumn
from discreet.release.format import percent
from discreet.release.formula import LinearFormula
from discreet.release.keys import kind_of
from discreet.release.released_table import ReleasedTable

if TYPE_CHECKING:
    import altair as alt

MOST_KEYS = 3

# Okabe and Ito's colours, which survive every common kind of colour blindness.
_DARK = "#222222"
_FEW = 30
_SCALES = {"date": "T", "time": "T", "whole": "Q", "real": "Q"}
_X, _COLOUR, _PANEL = "x", "colour", "panel"


def plot(release: ReleasedTable, column: str | None) -> alt.TopLevelMixin:
    """The chart of one answer; of the first one if none is named."""
    altair = plotting()
    answer = release.answers[0] if column is None else release[column]
    if len(release.keys) > MOST_KEYS:
        raise InvalidParameter(
            code="plot_keys",
            expectation=f"at most {MOST_KEYS} keys in a plot",
            received=list(release.keys),
            remedy="Export with `to_polars` or `to_csv`, and draw a part of it.",
        )
    kinds = [kind_of(name, values) for name, values in release.keys.items()]
    axis = _axis(release, kinds)
    records = _records(release, answer, kinds)
    data = altair.Data(values=records)
    width, height = _size(records, axis)
    base = altair.Chart(data, width=width, height=height).encode(**_place(altair, release, axis))
    coloured = base.encode(**_colour(altair, release))
    is_bar = axis == "O" and isinstance(answer.formula, LinearFormula)
    layers = [_marks(altair, coloured, axis, is_bar).encode(y=_height(altair, release, answer))]
    if answer.interval is not None:
        rule = (base if is_bar or len(kinds) < 2 else coloured).mark_rule(color=_DARK)
        layers.append(rule.encode(y=altair.Y("lower:Q"), y2="upper:Q"))
    chart: alt.TopLevelMixin = altair.layer(*layers)
    if len(kinds) == MOST_KEYS:
        panel = altair.Column(f"{_PANEL}:N", title=list(release.keys)[2], sort=None)
        chart = altair.layer(*layers, data=data).facet(column=panel)
    return chart


def save_plot(release: ReleasedTable, path: str | PathLike[str], column: str | None) -> None:
    """Write the chart in the style of the documentation; the ending says in which format."""
    from discreet.core.plotting import save

    chart: Any = plot(release, column)
    save(chart, Path(path))


def _records(
    release: ReleasedTable, answer: ReleasedColumn, kinds: list[str]
) -> list[dict[str, Any]]:
    """A record for each row; ends that are infinite stop where the others do."""
    keys = [
        [_label(kind, value) for value in column]
        for kind, column in zip(kinds, release.keys.values(), strict=True)
    ]
    lower = answer.lower or (None,) * len(answer)
    upper = answer.upper or (None,) * len(answer)
    numbers = [v for v in (*answer.values, *lower, *upper) if v is not None and math.isfinite(v)]
    least, most = (min(numbers), max(numbers)) if numbers else (0, 0)
    records = []
    for row, (value, low, high) in enumerate(zip(answer.values, lower, upper, strict=True)):
        record: dict[str, Any] = {"value": value}
        if low is not None and high is not None:
            record |= {"lower": max(low, least), "upper": min(high, most)}
        for name, column in zip((_X, _COLOUR, _PANEL), keys, strict=False):
            record[name] = column[row]
        records.append(record)
    return records


def _label(kind: str, value: Any) -> Any:
    """A key as Vega reads it: times without a zone as UTC, like days; texts by name."""
    if value is None:
        return None if kind in _SCALES else "NULL"
    if kind == "time":
        zoned = value.replace(tzinfo=UTC) if value.utcoffset() is None else value
        return zoned.astimezone(UTC).isoformat()
    if kind == "date":
        return value.isoformat()
    return value if kind in _SCALES else str(value)


def _axis(release: ReleasedTable, kinds: list[str]) -> str:
    """The kind of the horizontal axis; of a few whole numbers, colours stand side by side."""
    if not kinds:
        return "O"
    few = len(set(next(iter(release.keys.values())))) <= _FEW
    return "O" if kinds[0] == "whole" and len(kinds) > 1 and few else _SCALES.get(kinds[0], "O")


def _place(altair: Any, release: ReleasedTable, axis: str) -> dict[str, Any]:
    names = list(release.keys)
    if not names:
        return {}
    if axis == "T":
        scale = altair.Scale(type="utc", padding=10)
        return {"x": altair.X(f"{_X}:T", title=names[0], scale=scale)}
    if axis == "Q":
        scale = altair.Scale(zero=False, padding=10)
        return {"x": altair.X(f"{_X}:Q", title=names[0], scale=scale)}
    labels = {str(value) for value in release.keys[names[0]]}
    upright = len(labels) <= _FEW and max(map(len, labels), default=0) <= 6
    slant = altair.Axis(labelAngle=0 if upright else -40)
    places = {"x": altair.X(f"{_X}:O", title=names[0], sort=None, axis=slant)}
    if len(names) > 1:
        places["xOffset"] = altair.XOffset(f"{_COLOUR}:N", sort=None)
    return places


def _colour(altair: Any, release: ReleasedTable) -> dict[str, Any]:
    names = list(release.keys)
    if len(names) < 2:
        return {}
    scale = altair.Scale(range=list(COLOURS))
    return {"color": altair.Color(f"{_COLOUR}:N", title=names[1], sort=None, scale=scale)}


def _height(altair: Any, release: ReleasedTable, answer: ReleasedColumn) -> Any:
    stated = f" ({percent(release.confidence)} interval)" if answer.interval is not None else ""
    zero = isinstance(answer.formula, LinearFormula)
    return altair.Y("value:Q", title=answer.name + stated, scale=altair.Scale(zero=zero))


def _marks(altair: Any, base: Any, axis: str, is_bar: object) -> Any:
    if is_bar:
        marked = base.mark_bar(color=COLOURS[0], opacity=0.8)
    elif axis == "T":
        marked = base.mark_line(point=True, color=COLOURS[0])
    else:
        marked = base.mark_point(filled=True, opacity=1, size=60, color=COLOURS[0])
    return marked.encode(
        tooltip=[altair.Tooltip(f"{end}:Q") for end in ("value", "lower", "upper")]
    )


def _size(records: list[dict[str, Any]], axis: str) -> tuple[int, int]:
    """Width and height in pixels: text needs room for every value."""
    if axis != "O":
        return 420, 240
    places = len({(record.get(_X), record.get(_COLOUR)) for record in records})
    return min(max(60 + 30 * places, 150), 900), 240
