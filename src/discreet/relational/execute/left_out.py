"""Counting in the engine what the limits leave out: exact whole numbers by cell, nothing else.

Rows, keys and owners are those of the question; limits and caps are in the statement
(``bounding/left_out``).

Source: contract, "Bounding inside the engine", "Numbers". Proof: ``proofs/left_out.md``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.relational.bounding.left_out import LeftOutCaps, Limits, left_out_text
from discreet.relational.compile.compiler import Compiler
from discreet.relational.engines.engine import Engine
from discreet.relational.execute.exact_aggregation import joined_halves
from discreet.relational.execute.row_contributions import RowContributions
from discreet.relational.limits.resources import require_statement
from discreet.relational.plan.query import Query


def left_out_exactly(
    query: Query, limits: Limits, caps: LeftOutCaps, engine: Engine, *, salt: int
) -> tuple[NDArray[Any], ...]:
    """People cut, and rows left out if they are asked for, by cell and in steps. Private."""
    cells = query.keys.cells
    size = 1 if caps.rows is None else 2
    if not cells:
        return tuple(np.zeros(0, dtype=np.int64) for _ in range(size))
    cell, *halves = engine.numbers(_text(query, limits, caps, engine, salt=salt))
    found = []
    for number in range(size):
        values = joined_halves(halves[2 * number], halves[2 * number + 1])
        spread: NDArray[Any] = np.zeros(cells, dtype=values.dtype)
        np.add.at(spread, cell, values)
        found.append(spread)
    return tuple(found)


def left_out_statement(query: Query, limits: Limits, caps: LeftOutCaps, engine: Engine) -> str:
    """The text that would run, with a salt of zero."""
    return require_statement(_text(query, limits, caps, engine, salt=0))


def _text(query: Query, limits: Limits, caps: LeftOutCaps, engine: Engine, *, salt: int) -> str:
    compiler = Compiler.of(engine, salt=salt)
    rows = RowContributions(query.rows, query.keys, (), compiler, engine.keys, owned=True)
    cells = rows.cells("a")
    source = f"({rows.text()}) AS a{cells.joins}{cells.where}"
    owned = f"SELECT o, CAST({cells.number} AS INTEGER) AS cell FROM {source}"
    return left_out_text(owned, limits, caps, engine.dialect)
