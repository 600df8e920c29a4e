"""A release as a table for a page: values with the digits that noise leaves, and intervals."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import datetime
from statistics import median
from typing import Any

from discreet.release import Release
from discreet.release.column import HalfWidth, ReleasedColumn
from discreet.release.format import above, below, decimals, format_number, percent

MOST_ROWS = 200


@dataclass(frozen=True)
class ShownCell:
    """A cell: its text, and whether it is a number."""

    text: str
    number: bool


@dataclass(frozen=True)
class ShownColumn:
    """The head of a column: its name, what is said beside it, whether it holds numbers."""

    name: str
    beside: str
    number: bool


@dataclass(frozen=True)
class ShownTable:
    """Heads and rows; the first ``keys`` cells of a row say what it is about."""

    heads: tuple[ShownColumn, ...]
    rows: tuple[tuple[ShownCell, ...], ...]
    keys: int
    hidden: int


def shown_table(release: Release) -> ShownTable:
    """The first rows of a release, each answer with its interval beside it."""
    count = min(len(release), MOST_ROWS)
    columns: list[tuple[ShownColumn, list[str]]] = []
    for name, values in release.keys.items():
        number = all(type(value) in {int, float} for value in values)
        columns.append((ShownColumn(name, "", number), [_key(value) for value in values[:count]]))
    for answer in release.answers:
        columns += _answer(answer, count, release.confidence)
    numbers = [head.number for head, _ in columns]
    return ShownTable(
        heads=tuple(head for head, _ in columns),
        rows=tuple(
            tuple(ShownCell(text, number) for text, number in zip(row, numbers, strict=True))
            for row in zip(*(cells for _, cells in columns), strict=True)
        ),
        keys=len(release.keys),
        hidden=len(release) - count,
    )


def _answer(
    answer: ReleasedColumn, count: int, confidence: float
) -> list[tuple[ShownColumn, list[str]]]:
    values = answer.values[:count]
    if answer.lower is None or answer.upper is None:
        head = ShownColumn(answer.name, "", number=True)
        return [(head, [_text(value, None) for value in values])]
    lower, upper = answer.lower[:count], answer.upper[:count]
    if isinstance(answer.interval, HalfWidth):
        width = answer.interval.half_width
        places = decimals(width)
        beside = f"± {above(width, places)}"
    else:
        wide = [
            (high - low) / 2
            for low, high in zip(lower, upper, strict=True)
            if 0 < high - low < math.inf
        ]
        places, beside = (decimals(median(wide)) if wide else None), ""
    within = [
        f"{below(low, places)} to {above(high, places)}"
        for low, high in zip(lower, upper, strict=True)
    ]
    return [
        (ShownColumn(answer.name, beside, number=True), [_text(v, places) for v in values]),
        (ShownColumn(f"{percent(confidence)} interval", answer.name, number=True), within),
    ]


def _text(value: Any, places: int | None) -> str:
    return (
        format_number(value, places)
        if value is None or isinstance(value, int | float)
        else str(value)
    )


def _key(value: Any) -> str:
    if value is None:
        return "NULL"
    return value.isoformat(" ") if isinstance(value, datetime) else str(value)
