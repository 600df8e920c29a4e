"""The columns of a table that is computed from answers: post-processing only.

Keys and labels stand first, as in every release; numbers carry the noise of all that they were
computed from.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from discreet.relational.answers.columns import Columns
from discreet.relational.plan.keys import KeySet
from discreet.relational.plan.query import AggregateOutput, KeyOutput, QueryOverAnswers
from discreet.relational.planning.planned_query import MeasuredValues, PlannedQuery
from discreet.relational.planning.together import PlannedTogether
from discreet.relational.post_processing.column import numbers_column, places_column
from discreet.relational.post_processing.compute import compute
from discreet.relational.post_processing.evaluate import Rows, rows_of
from discreet.relational.post_processing.tables import AnswerColumn, ColumnRole
from discreet.relational.post_processing.uncertain import Value, point
from discreet.relational.sql.answer_sizes import AnswerSizes
from discreet.relational.types.data_type import DataType
from discreet.release import ReleasedColumn

_FEW = 2_000
"""Cells up to which a table is tried out before it is paid for."""
_ROWS = 20_000
"""Rows of all its steps, joins with public tables included, up to which it is."""
_ROW = "row"
"""The key of a table that has no other."""


@dataclass(frozen=True)
class TableColumns:
    """The columns of one question over answers."""

    planned: PlannedQuery
    measured: MeasuredValues
    release: str
    confidence: float

    def keys(self) -> dict[str, tuple[Any, ...]]:
        """Keys and labels; the numbers of the rows where there are none."""
        found = {
            column.name: tuple(point(row[place]) for row in self._rows)
            for place, column in enumerate(self._answer_columns)
            if _is_label(column)
        }
        if not found and len(self._rows) != 1:
            return {_ROW: tuple(range(1, len(self._rows) + 1))}
        return found

    def answers(self) -> tuple[ReleasedColumn, ...]:
        """The released columns."""
        found = []
        for place, column in enumerate(self._answer_columns):
            values = [row[place] for row in self._rows]
            if _is_label(column):
                continue
            if column.role is ColumnRole.PLACE:
                found.append(places_column(column.name, values))
            else:
                found.append(numbers_column(column.name, values, self.confidence))
        return tuple(found)

    @property
    def _answer_columns(self) -> tuple[AnswerColumn, ...]:
        query = self.planned.query
        assert isinstance(query, QueryOverAnswers)
        return query.table.columns

    @cached_property
    def _rows(self) -> Rows:
        query = self.planned.query
        assert isinstance(query, QueryOverAnswers)
        parts = [(self.planned, self.measured)]
        if isinstance(self.planned, PlannedTogether):
            parts = self.planned.each(self.measured)
        return rows_of(query.table, [self._answer(*part) for part in parts])

    def _answer(self, planned: PlannedQuery, measured: MeasuredValues) -> Rows:
        """The rows of one of the answers, over the cells that it shows."""
        columns = Columns(planned, measured, self.release, self.confidence)
        return [_row(columns, cell) for cell in columns.cells]


def columns_of(
    planned: PlannedQuery, measured: MeasuredValues, release: str, confidence: float
) -> Columns | TableColumns:
    """The columns of an answer, or of a table computed from answers."""
    over = isinstance(planned.query, QueryOverAnswers)
    return (TableColumns if over else Columns)(planned, measured, release, confidence)


def try_out(planned: PlannedQuery, confidence: float) -> None:
    """Compute a table from values that nobody released, so that what cannot be is known now."""
    query = planned.query
    if not isinstance(query, QueryOverAnswers):
        return
    known = all(isinstance(part.keys, KeySet) and part.keys.cells <= _FEW for part in query.parts)
    if known and AnswerSizes(query.parts).are_few(query.table, _ROWS):
        columns = TableColumns(planned, planned.blank(), "nothing", confidence)
        columns.keys()
        columns.answers()


def _row(columns: Columns, cell: int) -> tuple[Value, ...]:
    found: list[Value] = []
    released = columns.everything(cell)
    for output in columns.planned.query.outputs:
        if isinstance(output, KeyOutput):
            found.append(released[f"key{output.number}"])
        elif isinstance(output, AggregateOutput):
            found.append(released[f"agg{output.number}"])
        else:
            found.append(compute(output.expression, released))
    return tuple(found)


def _is_label(column: AnswerColumn) -> bool:
    number = column.kind.is_number or column.kind is DataType.BOOLEAN
    return column.role is ColumnRole.KEY or not number
