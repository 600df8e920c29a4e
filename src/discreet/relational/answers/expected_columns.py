"""How wrong each column will be, from the plan alone: before anything is spent or read.

What is linear in counts and sums has one half-width, the same whatever the data. A ratio or a
contrast of means depends on how many values a group has. Its error is shown for several sizes, as
for an even spread of values over their declared bounds: the same formulas that will state the
intervals, applied to the totals that such groups would have.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from discreet.core.errors import DiscreetError
from discreet.relational.aggregates.aggregate import SIZES, Expected
from discreet.relational.aggregates.measures import CountRows, Linear, Total
from discreet.relational.answers.columns import Columns
from discreet.relational.functions.arithmetic import SQUARE
from discreet.relational.plan.keys import KeySet
from discreet.relational.plan.query import (
    AggregateOutput,
    DerivedOutput,
    QueryOverAnswers,
    is_label,
)
from discreet.relational.planning.planned_query import MeasuredValues, PlannedQuery, Settled
from discreet.relational.planning.top_k import Ranking
from discreet.relational.post_processing.tables import Role
from discreet.relational.types.expression import Call, Case

_EVEN = "typical, for values spread evenly over their declared bounds"
_COMPUTED = "computed from the released columns"
_ALIKE = 0.02
"""Errors at all sizes within this share are one number."""


def expected_columns(planned: PlannedQuery, confidence: float) -> tuple[Expected, ...]:
    """The expected error of every column of numbers."""
    query = planned.query
    if isinstance(query, QueryOverAnswers):
        return tuple(
            Expected(column.name, None, (), _COMPUTED)
            for column in query.table.columns
            if column.role is not Role.KEY
        )
    found = []
    for output in query.outputs:
        if isinstance(output, AggregateOutput):
            aggregate = query.aggregates[output.number]
            stated = aggregate.expected(output.name, planned, confidence)
            if stated.half_width is None:
                usual = _typical(planned, output, confidence)
                if usual is not None and stated.by_size:
                    stated = replace(stated, typical=usual.by_size)
                stated = stated if usual is None or stated.by_size else usual
            found.append(stated)
        elif isinstance(output, DerivedOutput) and not is_label(output.expression):
            made = _typical(planned, output, confidence)
            found.append(made or Expected(output.name, None, (), _COMPUTED))
    return tuple(found)


def _typical(
    planned: PlannedQuery, output: AggregateOutput | DerivedOutput, confidence: float
) -> Expected | None:
    """The half-width at each size; None where the formulas give no interval for such groups."""
    if isinstance(planned, Ranking) or not planned.allocation.noised:
        return None
    by_size = []
    for size in SIZES:
        try:
            width = _width(planned, output, size, confidence)
        except (DiscreetError, ArithmeticError, ValueError, LookupError):
            return None
        if width is not None:
            by_size.append((size, width))
    if not by_size:
        return None
    least, most = min(width for _, width in by_size), max(width for _, width in by_size)
    if most - least <= _ALIKE * most:
        return Expected(output.name, most, (), "the same in groups of every size")
    return Expected(output.name, None, tuple(by_size), _EVEN)


def _width(
    planned: PlannedQuery, output: AggregateOutput | DerivedOutput, size: int, confidence: float
) -> float | None:
    """The half-width that the answer would state for one group of ``size`` rows."""
    query = planned.query
    if not isinstance(query.keys, KeySet):
        return None
    one = replace(
        query,
        keys=KeySet(()),
        key_places=(),
        outputs=(output,),
        having=None,
        order=(),
        limit=None,
        offset=0,
    )
    noised = planned.allocation.noised
    settled = Settled(planned.allocation, tuple(f"m{place}" for place in range(len(noised))))
    values = tuple(
        np.array([round(_total(item.measure, size) / item.step)], dtype=np.int64) for item in noised
    )
    about = replace(planned, query=one, settled=settled)
    chosen = tuple(np.zeros((1, len(group))) for group in planned.choosing)
    columns = Columns(about, MeasuredValues(values, chosen), "expected", confidence)
    (column,) = columns.answers()
    if column.lower is None or column.upper is None:
        return None
    width = (column.upper[0] - column.lower[0]) / 2
    return width if math.isfinite(width) else None


def _total(measure: Linear, size: int) -> float:
    """What a measure comes to over ``size`` rows with evenly spread values.

    A condition holds for half of them; a square is a third of its largest value in the mean.
    """
    if not isinstance(measure, Total):
        chosen = isinstance(measure, CountRows) and isinstance(measure.argument, Case)
        return size / 2 if chosen else float(size)
    low, high, centre = (float(end) for end in (measure.low, measure.high, measure.centre))
    argument = measure.argument
    if isinstance(argument, Call) and argument.function == SQUARE:
        return size * high / 3
    return size * ((low + high) / 2 - centre)
