"""Which columns an answer will have, before it is bought: from the plan alone, and free.

Names and kinds depend on the question, never on what was measured. So every number has a lower and
an upper end here, which stay empty where no interval can be stated.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

from discreet.curator.sql import planned_sql
from discreet.relational.aggregates.count import Count
from discreet.relational.plan.keys import DiscoveredKeys
from discreet.relational.plan.query import (
    AggregateOutput,
    DerivedOutput,
    KeyOutput,
    Query,
    QueryOverAnswers,
    is_label,
)
from discreet.relational.post_processing.tables import ColumnRole
from discreet.relational.types.data_type import DataType
from discreet.server.jobs.kind import JobKind, JobProduct, Paid, Task
from discreet.server.jobs.models import Sql

_NUMBER, _WHOLE = DataType.DOUBLE.value, DataType.INTEGER.value


class ColumnsRequest(Paid):
    """The question, with its price in it."""

    kind: Literal["columns"] = "columns"
    sql: Sql


class ColumnsKind(JobKind[ColumnsRequest]):
    """Reads no private row, so it leaves at once."""

    name = "columns"
    request = ColumnsRequest
    reads_data = False
    kept = False

    def run(self, task: Task, request: ColumnsRequest) -> JobProduct:
        query, _ = planned_sql(task.session.context, request.sql, None)
        return JobProduct(result={"columns": list(columns_of(query))})


def columns_of(query: Query) -> Iterator[dict[str, Any]]:
    """Each column in the order of a release: name, kind, and whether it has two ends."""
    if isinstance(query, QueryOverAnswers):
        yield from _over_answers(query)
        return
    yield from _keys(query)
    for output in query.outputs:
        if isinstance(output, DerivedOutput) and is_label(output.expression):
            yield _column(output.name, output.expression.domain.kind.value)
    for output in query.outputs:
        if isinstance(output, AggregateOutput):
            counts = isinstance(query.aggregates[output.number], Count)
            yield _column(output.name, _WHOLE if counts else _NUMBER, ends=True)
        elif isinstance(output, DerivedOutput) and not is_label(output.expression):
            yield _column(output.name, _NUMBER, ends=True)


def _keys(query: Query) -> Iterator[dict[str, Any]]:
    """Keys, those too that were not asked for: they tell rows apart."""
    asked = {each.number: each.name for each in query.outputs if isinstance(each, KeyOutput)}
    keys = query.keys
    for number, (block, place) in enumerate(query.key_places):
        expressions = (
            keys.expressions if isinstance(keys, DiscoveredKeys) else keys.blocks[block].expressions
        )
        kind = expressions[place].domain.kind
        yield _column(asked.get(number, f"key_{number + 1}"), kind.value)


def _over_answers(query: QueryOverAnswers) -> Iterator[dict[str, Any]]:
    labels = [_labels(each.kind, each.role) for each in query.table.columns]
    for column, label in zip(query.table.columns, labels, strict=True):
        if label:
            yield _column(column.name, column.kind.value)
    for column, label in zip(query.table.columns, labels, strict=True):
        if not label:
            yield _column(column.name, _NUMBER, ends=True)


def _labels(kind: DataType, role: ColumnRole) -> bool:
    """Whether a column stands beside the keys, without an interval."""
    return role is ColumnRole.KEY or not (kind.is_number or kind is DataType.BOOLEAN)


def _column(name: str, kind: str, *, ends: bool = False) -> dict[str, Any]:
    return {"name": name, "kind": kind, "ends": ends}
