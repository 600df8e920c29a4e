"""How wrong each column will be, from the plan alone: before anything is spent or read.

What is linear in counts and sums has one half-width, the same whatever the data. A ratio or a
contrast of means depends on how many values a group has. Its error is shown for several sizes, as
for an even spread of values over their declared bounds: the same formulas that will state the
intervals, applied to the totals that such groups would have. So are tables computed from answers,
with every group of the same size; of their rows the one in the middle is shown.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.errors import DiscreetError
from discreet.relational.aggregates.aggregate import SIZES
from discreet.relational.answers.columns import Columns
from discreet.relational.answers.even_values import EvenValues
from discreet.relational.answers.table_columns import TableColumns
from discreet.relational.plan.keys import KeySet
from discreet.relational.plan.query import (
    AggregateOutput,
    DerivedOutput,
    KeyOutput,
    QueryOverAnswers,
    is_label,
)
from discreet.relational.planning.planned_query import MeasuredValues, PlannedQuery, Settled
from discreet.relational.planning.top_k import Ranking
from discreet.relational.post_processing.tables import ColumnRole
from discreet.relational.sql.answer_sizes import AnswerSizes
from discreet.release import ReleasedColumn
from discreet.release.preview import Expected

_EVEN = "typical, for values spread evenly over their declared bounds"
_COMPUTED = "computed from the released columns"
_ALIKE = 0.02
"""Errors at all sizes within this share are one number."""
_FEW = 200
"""Cells up to which a table computed from answers is tried out at every size."""
_ROWS = 2_000
"""Rows of all its steps, joins with public tables included, up to which it is."""
_MOST = 64
"""Sums up to which answers are tried out at every size; each is added up over invented rows."""


def expected_columns(planned: PlannedQuery, confidence: float) -> tuple[Expected, ...]:
    """The expected error of every column of numbers."""
    query = planned.query
    if isinstance(query, QueryOverAnswers):
        return _expected_table(planned, query, confidence)
    found, groups = [], cache(lambda: _groups(planned, confidence))
    for output in query.outputs:
        if isinstance(output, AggregateOutput):
            aggregate = query.aggregates[output.number]
            stated = aggregate.expected(output.name, planned, confidence)
            if stated.half_width is None:
                usual = _typical(groups(), output)
                if usual is not None and stated.by_size:
                    stated = replace(stated, typical=usual.by_size)
                stated = stated if usual is None or stated.by_size else usual
            found.append(stated)
        elif isinstance(output, DerivedOutput) and not is_label(output.expression):
            made = _typical(groups(), output)
            found.append(made or Expected(output.name, None, (), _COMPUTED))
    return tuple(found)


def _groups(planned: PlannedQuery, confidence: float) -> Mapping[int, Columns]:
    """One group of each size, of which any column can be computed; none where there is no group.

    None either where more than ``_MOST`` sums are asked at once: previews take no longer then.
    """
    query = planned.query
    if isinstance(planned, Ranking) or not isinstance(query.keys, KeySet):
        return {}
    if not 0 < len(planned.allocation.noised) <= _MOST:
        return {}
    shown = tuple(each for each in query.outputs if not isinstance(each, KeyOutput))
    one = replace(
        query,
        keys=KeySet(()),
        key_places=(),
        outputs=shown,
        having=None,
        order=(),
        limit=None,
        offset=0,
    )
    names = tuple(f"m{place}" for place in range(len(planned.allocation.noised)))
    chosen = tuple(np.zeros((1, len(group))) for group in planned.choosing)
    found = {}
    try:
        about = replace(planned, query=one, settled=Settled(planned.allocation, names))
        even = _even(about)
        for size in SIZES:
            values = MeasuredValues(_typical_values(about, even, size), chosen)
            found[size] = Columns(about, values, "expected", confidence)
    except _NO_INTERVAL:
        return {}
    return found


_NO_INTERVAL = (DiscreetError, ArithmeticError, ValueError, LookupError)


def _typical(
    groups: Mapping[int, Columns], output: AggregateOutput | DerivedOutput
) -> Expected | None:
    """The half-width at each size; None where the formulas give no interval for such groups."""
    by_size = []
    for size, columns in groups.items():
        try:
            width = _middle_width(columns.answer(output))
        except _NO_INTERVAL:
            return None
        if width is not None:
            by_size.append((size, width))
    return _at_sizes(output.name, by_size)


def _at_sizes(name: str, by_size: list[tuple[int, float]]) -> Expected | None:
    """One half-width for all sizes if they are alike, else one for each; None without any."""
    if not by_size:
        return None
    least, most = min(width for _, width in by_size), max(width for _, width in by_size)
    if most - least <= _ALIKE * most:
        return Expected(name, most, (), "the same in groups of every size")
    return Expected(name, None, tuple(by_size), _EVEN)


def _expected_table(
    planned: PlannedQuery, query: QueryOverAnswers, confidence: float
) -> tuple[Expected, ...]:
    """The same of a table computed from answers, where it has few cells that are known now."""
    numbers = [column.name for column in query.table.columns if column.role is not ColumnRole.KEY]
    found: dict[str, list[tuple[int, float]]] = {name: [] for name in numbers}
    few = len(planned.allocation.noised) <= _MOST
    known = all(isinstance(p.keys, KeySet) and p.keys.cells <= _FEW for p in query.parts)
    if few and known and AnswerSizes(query.parts).are_few(query.table, _ROWS):
        even = _even(planned)
        for size in SIZES:
            try:
                typical = _typical_values(planned, even, size)
                measured = MeasuredValues(typical, planned.blank().chosen)
                answers = TableColumns(planned, measured, "expected", confidence).answers()
            except _NO_INTERVAL:
                break
            for answer in answers:
                width = _middle_width(answer)
                if width is not None:
                    found[answer.name].append((size, width))
    return tuple(
        _at_sizes(name, found[name]) or Expected(name, None, (), _COMPUTED) for name in numbers
    )


def _even(planned: PlannedQuery) -> EvenValues:
    return EvenValues(tuple(item.measure for item in planned.allocation.noised))


def _typical_values(planned: PlannedQuery, even: EvenValues, size: int) -> tuple[NDArray[Any], ...]:
    """What every measure comes to, in steps, if each of its cells has ``size`` rows."""
    noised = planned.allocation.noised
    return tuple(
        np.full(len(cells), round(even.total(item.measure, size) / item.step), dtype=np.int64)
        for item, cells in zip(noised, planned.blank().linear, strict=True)
    )


def _middle_width(column: ReleasedColumn) -> float | None:
    """The half-width of the row in the middle; None where no row has one."""
    if column.lower is None or column.upper is None:
        return None
    widths = [(high - low) / 2 for low, high in zip(column.lower, column.upper, strict=True)]
    known = [width for width in widths if math.isfinite(width)]
    return statistics.median_high(known) if known else None
