"""Asks a question of the curator and of plain DuckDB, and says how the two answers differ."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import duckdb

import discreet as dp
from tests.relational.collections.collection import Question

PURE = dp.PureDP(epsilon=100_000)
WITH_DELTA = dp.ApproxDP(epsilon=100_000, delta=1e-6)
_CLAUSE = re.compile(r"with\s+(differential_privacy|anonymization)", re.IGNORECASE)

Row = tuple[Any, ...]


def ask(curator: dp.Curator, question: Question) -> dp.Release:
    """The curator's answer; the price stands in the text or is one of the two above."""
    if _CLAUSE.search(question.sql):
        return curator.sql(question.sql)
    return curator.sql(question.sql, spend=WITH_DELTA if question.spend == "delta" else PURE)


def difference(
    question: Question, release: dp.Release, plain: duckdb.DuckDBPyConnection
) -> str | None:
    """What is wrong with a release made without noise, or None."""
    result = plain.execute(question.plain)
    names = [column[0].lower() for column in result.description]
    wanted = [_cells(row) for row in result.fetchall()]
    found = _rows(release, names, leave_out_empty=question.empty_groups)
    if not question.ordered:
        wanted, found = sorted(wanted, key=_place), sorted(found, key=_place)
    if len(found) != len(wanted):
        return f"{len(found)} rows instead of {len(wanted)}: {found[:3]} instead of {wanted[:3]}"
    for mine, theirs in zip(found, wanted, strict=True):
        if not _alike(mine, theirs, question.within):
            return f"{mine} instead of {theirs}"
    return None


def _rows(release: dp.Release, names: Sequence[str], *, leave_out_empty: bool) -> list[Row]:
    """The released rows in the order of ``names``; keys that were not asked for are left out."""
    keys = {name.lower(): list(values) for name, values in release.keys.items()}
    numbers = {answer.name.lower(): list(answer.values) for answer in release.answers}
    columns = keys | numbers
    shown = [name.lower() for name in release.columns if name.lower() in columns]
    asked = set(names) <= set(shown) and set(shown) - set(names) <= set(keys)
    order = list(names) if asked else shown
    rows = list(zip(*(columns[name] for name in order), strict=True))
    if leave_out_empty:
        values = list(zip(*numbers.values(), strict=True))
        kept = (any(cell not in (None, 0) for cell in row) for row in values)
        rows = [row for row, keep in zip(rows, kept, strict=True) if keep]
    return [_cells(row) for row in rows]


def _cells(row: Sequence[Any]) -> Row:
    """Plain values; those of a list one after the other."""
    cells: list[Any] = []
    for cell in map(_plain, row):
        cells.extend(cell) if isinstance(cell, tuple) else cells.append(cell)
    return tuple(cells)


def _plain(cell: Any) -> Any:
    if isinstance(cell, Decimal):
        return float(cell)
    if isinstance(cell, datetime) and (cell.hour, cell.minute, cell.second) == (0, 0, 0):
        return cell.date()
    if isinstance(cell, list):
        return tuple(_plain(each) for each in cell)
    if hasattr(cell, "item"):
        return _plain(cell.item())
    return None if isinstance(cell, float) and math.isnan(cell) else cell


def _place(row: Row) -> tuple[Any, ...]:
    return tuple(_rank(cell) for cell in row)


def _rank(cell: Any) -> tuple[Any, ...]:
    if cell is None:
        return (0, 0)
    if isinstance(cell, bool | int | float):
        return (1, round(float(cell), 4))
    if isinstance(cell, date):
        return (2, cell.isoformat())
    return (3, str(cell))


def _alike(mine: Row, theirs: Row, within: float) -> bool:
    return len(mine) == len(theirs) and all(
        _same(a, b, within) for a, b in zip(mine, theirs, strict=True)
    )


def _same(mine: Any, theirs: Any, within: float) -> bool:
    numbers = isinstance(mine, bool | int | float) and isinstance(theirs, bool | int | float)
    if numbers:
        return math.isclose(mine, theirs, rel_tol=1e-6, abs_tol=max(within, 1e-6))
    return bool(mine == theirs)
