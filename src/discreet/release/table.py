"""A release as an aligned table of text, or as HTML for notebooks.

Whole numbers are shown in full, others with the digits that their intervals justify; intervals as
``± 6`` where they are even, else as two columns, rounded outward. Long tables are cut in the
middle. Below stand what each column's uncertainty means, what was paid, and warnings.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Sequence
from datetime import datetime
from html import escape
from statistics import median
from typing import NamedTuple

from discreet.release.column import HalfWidth, ReleasedColumn
from discreet.release.footer import footer
from discreet.release.format import above, below, decimals, format_number, one_line
from discreet.release.guarantee import guarantee_text
from discreet.release.keys import Key
from discreet.release.released_table import ReleasedTable

_ROUNDING = 1e-12
MOST_ROWS = 40
"""Longer tables show as many rows less one, half from each end."""


class _Column(NamedTuple):
    header: str
    cells: list[str]
    left: bool


def text(release: ReleasedTable) -> str:
    """The table for terminals."""
    rows = _rows(len(release))
    columns = _columns(release, rows)
    widths = [max(map(_width, (column.header, *column.cells))) for column in columns]
    lines = [
        "  ".join(map(_padded, cells, widths, (column.left for column in columns))).rstrip()
        for cells in zip(*([column.header, *column.cells] for column in columns), strict=True)
    ]
    hidden = len(release) - len(rows)
    if hidden:
        lines.insert(1 + MOST_ROWS // 2, f"… {hidden} more rows …")
    return "\n".join((*lines, *map(one_line, footer(release)), *_left_out(release)))


def html(release: ReleasedTable) -> str:
    """The table for notebooks; every text in it is escaped."""
    rows = _rows(len(release))
    columns = _columns(release, rows)
    align = ["left" if column.left else "right" for column in columns]
    head = "".join(
        f'<th style="text-align:{side}">{escape(column.header)}</th>'
        for column, side in zip(columns, align, strict=True)
    )
    body = [
        "<tr>"
        + "".join(
            f'<td style="text-align:{side}">{escape(cell)}</td>'
            for cell, side in zip(cells, align, strict=True)
        )
        + "</tr>"
        for cells in zip(*(column.cells for column in columns), strict=True)
    ]
    hidden = len(release) - len(rows)
    if hidden:
        line = f'<tr><td colspan="{len(columns)}">… {hidden} more rows …</td></tr>'
        body.insert(MOST_ROWS // 2, line)
    told = [*footer(release), *_left_out(release)[:1]]
    below_it = "".join(f"<div><small>{escape(line)}</small></div>" for line in told)
    if release.left_out is not None:
        below_it += html(release.left_out)
    return (
        f"<div><table><thead><tr>{head}</tr></thead>"
        f"<tbody>{''.join(body)}</tbody></table>{below_it}</div>"
    )


def _rows(count: int) -> list[int]:
    """Which rows are shown."""
    if count <= MOST_ROWS:
        return list(range(count))
    first = MOST_ROWS // 2
    return [*range(first), *range(count - (MOST_ROWS - 1 - first), count)]


def _columns(release: ReleasedTable, rows: list[int]) -> list[_Column]:
    columns = [
        _Column(one_line(name), [_key(column[row]) for row in rows], left=_is_text(column))
        for name, column in release.keys.items()
    ]
    for answer in release.answers:
        columns += _answer(answer, rows)
    return columns


def _answer(answer: ReleasedColumn, rows: list[int]) -> list[_Column]:
    name, values = one_line(answer.name), [answer.values[row] for row in rows]
    if answer.lower is None or answer.upper is None:
        return [_Column(name, [format_number(value, None) for value in values], left=False)]
    lower, upper = ([ends[row] for row in rows] for ends in (answer.lower, answer.upper))
    if isinstance(answer.interval, HalfWidth):
        width = answer.interval.half_width
        places = decimals(width)
        even = all(
            (low, high) == (value - width, value + width)  # type: ignore[operator]
            for low, value, high in zip(lower, values, upper, strict=True)
        )
        if even:
            cells = [f"{format_number(value, places)} ± {above(width, places)}" for value in values]
            return [_Column(name, cells, left=False)]
    else:
        places = _places(lower, upper)
        if _are_even(values, lower, upper):
            cells = [
                f"{format_number(value, places)} ± {above((high - low) / 2, places)}"
                for low, value, high in zip(lower, values, upper, strict=True)
            ]
            return [_Column(name, cells, left=False)]
    return [
        _Column(name, [format_number(value, places) for value in values], left=False),
        _Column(f"{name}_lower", [below(end, places) for end in lower], left=False),
        _Column(f"{name}_upper", [above(end, places) for end in upper], left=False),
    ]


def _are_even(values: Sequence[float | None], lower: list[float], upper: list[float]) -> bool:
    """Whether every number is in the middle of its interval, but for rounding."""
    return all(
        value is not None
        and math.isfinite(high - low)
        and abs(high + low - 2 * value) <= _ROUNDING * (abs(high) + abs(low))
        for low, value, high in zip(lower, values, upper, strict=True)
    )


def _places(lower: list[float], upper: list[float]) -> int | None:
    widths = [
        (high - low) / 2
        for low, high in zip(lower, upper, strict=True)
        if 0 < high - low < math.inf
    ]
    return decimals(median(widths)) if widths else None


def _left_out(release: ReleasedTable) -> list[str]:
    """The report of what limits left out, below everything else."""
    if release.left_out is None:
        return []
    price = guarantee_text(release.left_out.guarantee)
    lines = text(release.left_out).splitlines()
    said = [line for line in lines if not line.startswith("guarantee: ")]
    return [f"left out by limits, for {price} of it:", *(f"  {line}" for line in said)]


def _key(value: Key) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, datetime):
        return value.isoformat(" ")
    return one_line(str(value))


def _is_text(column: tuple[Key, ...]) -> bool:
    return not any(type(value) in {int, float} for value in column)


def _width(text: str) -> int:
    """How many places a terminal gives the text."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(sign) else 1 + (unicodedata.east_asian_width(sign) in "WF")
        for sign in text
    )


def _padded(cell: str, width: int, left: object) -> str:
    space = " " * (width - _width(cell))
    return cell + space if left else space + cell
