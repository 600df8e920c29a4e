"""A released column as a chart: numbers with their intervals over the keys.

Days and numbers as keys are a line of points from left to right; anything else is a bar for each
row, from top to bottom, which stays readable on a phone. Means and quantiles are dots.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from discreet.release import Release
from discreet.release.column import ReleasedColumn
from discreet.release.formula import LinearFormula
from discreet.server.web.charts.scale import LinearScale, scale_of

MOST_BARS = 40
WIDTH = 560
_LEFT, _RIGHT, _ROW = 150, 16, 26


@dataclass(frozen=True)
class Mark:
    """One number with its interval, in places on paper."""

    label: str
    at: float
    value: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True)
class IntervalChart:
    """All that a template needs to draw it.

    Attributes:
        name: Of the column.
        lines: Whether it is points from left to right, else a row for each.
        dots: Whether a row is a dot, since zero means nothing for its number; else a bar.
        marks: One for each row.
        axis: Round numbers of the values, with their places.
        keys_axis: Texts along the keys, with their places.
        origin: The place of zero, or of the least number.
        height: Of the paper.
        hidden: How many rows are not shown.
        words: What it shows, for who does not see it.
    """

    name: str
    lines: bool
    dots: bool
    marks: tuple[Mark, ...]
    axis: tuple[tuple[float, str], ...]
    keys_axis: tuple[tuple[float, str], ...]
    origin: float
    height: int
    hidden: int
    words: str


def charts_of(release: Release, most: int = 4) -> list[IntervalChart]:
    """A chart for each of the first columns that have numbers."""
    named = [each for each in release.answers if any(map(_is_number, each.values))]
    return [_chart(release, answer) for answer in named[:most]]


def _chart(release: Release, answer: ReleasedColumn) -> IntervalChart:
    lower = answer.lower or (None,) * len(answer)
    upper = answer.upper or (None,) * len(answer)
    keys = list(zip(*release.keys.values(), strict=True)) if release.keys else [()]
    rows = list(zip(keys, answer.values, lower, upper, strict=True))
    along = _positions([key[0] for key in keys]) if len(release.keys) == 1 else None
    if along is not None and len(rows) > 3:
        return _line(answer, rows, along)
    return _bars(answer, rows)


def _bars(answer: ReleasedColumn, rows: list[tuple[Any, ...]]) -> IntervalChart:
    seen = rows[:MOST_BARS]
    zero = isinstance(answer.formula, LinearFormula)
    scale = scale_of(_numbers(seen), _LEFT, WIDTH - _RIGHT, zero=zero)
    marks = tuple(
        Mark(_label(key), 20 + _ROW * n, *_places(scale, row)) for n, (key, *row) in enumerate(seen)
    )
    return IntervalChart(
        name=answer.name,
        lines=False,
        dots=not zero,
        marks=marks,
        axis=tuple(scale.marks()),
        keys_axis=(),
        origin=scale(0.0),
        height=20 + _ROW * len(seen) + 24,
        hidden=len(rows) - len(seen),
        words=f"{answer.name} in {len(seen)} rows, with intervals; the table has them.",
    )


def _line(answer: ReleasedColumn, rows: list[tuple[Any, ...]], along: list[float]) -> IntervalChart:
    zero = isinstance(answer.formula, LinearFormula)
    height = 260
    scale = scale_of(_numbers(rows), height - 40, 12, zero=zero)
    across = scale_of(along, 64, WIDTH - _RIGHT - 8, zero=False)
    marks = tuple(
        Mark(_label(key), across(place), *_places(scale, row))
        for place, (key, *row) in sorted(zip(along, rows, strict=True), key=lambda each: each[0])
    )
    every = max(1, math.ceil(len(marks) / 5))
    return IntervalChart(
        name=answer.name,
        lines=True,
        dots=True,
        marks=marks,
        axis=tuple(scale.marks()),
        keys_axis=tuple((mark.at, mark.label) for mark in marks[::every]),
        origin=scale(0.0),
        height=height,
        hidden=0,
        words=f"{answer.name} at {len(rows)} places, with intervals; the table has them.",
    )


def _places(scale: LinearScale, row: list[Any]) -> list[float | None]:
    """Value and ends on paper; an end that is infinite is at the edge."""
    return [None if each is None or each != each else scale(float(each)) for each in row]  # noqa: PLR0124


def _numbers(rows: list[tuple[Any, ...]]) -> list[float | None]:
    return [None if each is None else float(each) for _, *row in rows for each in row]


def _positions(keys: list[Any]) -> list[float] | None:
    """Where keys stand on a line; None where they are names."""
    if all(isinstance(key, datetime) for key in keys):
        return [key.timestamp() for key in keys]
    if all(isinstance(key, date) and not isinstance(key, datetime) for key in keys):
        return [float(key.toordinal()) for key in keys]
    if all(_is_number(key) and not isinstance(key, bool) for key in keys):
        return [float(key) for key in keys]
    return None


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and math.isfinite(value)


def _label(key: tuple[Any, ...]) -> str:
    return " · ".join("NULL" if part is None else str(part) for part in key) or "all"
