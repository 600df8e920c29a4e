"""Universes in requests: a table with columns and expressions, or a question that groups."""

from __future__ import annotations

from collections.abc import Collection
from datetime import date, datetime
from typing import Annotated, Any, Literal

from pydantic import Field

from discreet.core.errors import InvalidParameter
from discreet.curator.context import tables_read
from discreet.curator.session import Session
from discreet.queries.workload.universe import Attribute, Universe
from discreet.relational.plan.keyed_universe import (
    KeyedUniverse,
    query_of_universe,
    universe_from,
)
from discreet.release.keys import column_to_json, kind_of
from discreet.server.jobs.kind import JobKind, JobProduct, JobRequest, Task
from discreet.server.jobs.models import Sql


class WantedUniverse(JobRequest):
    """What the cells are: columns and expressions of a table, or a question with GROUP BY.

    ``questions`` are the texts that the preview of a universe told, to name the same one again.
    """

    table: str | None = None
    columns: Annotated[list[str], Field(max_length=64, default_factory=list)]
    expressions: Annotated[dict[str, Sql], Field(max_length=64, default_factory=dict)]
    sql: Sql | None = None
    questions: Annotated[list[Sql], Field(max_length=64, default_factory=list)]

    def build_universe(self, session: Session) -> KeyedUniverse:
        """As the curator makes it; reads no private row."""
        if self.questions and not (self.table or self.sql or self.columns or self.expressions):
            return universe_from(self.questions, session.context.query)
        if self.sql is not None and self.table is None and not (self.columns or self.expressions):
            return session.universe(self.sql)
        if self.table is None or self.sql is not None or self.questions:
            raise InvalidParameter(
                code="universe_unclear",
                expectation="a table with columns and expressions, or sql that groups",
                remedy='Write {"table": "visits", "columns": ["ward"]}.',
            )
        return session.universe(self.table, *self.columns, **self.expressions)


class UniverseRequest(JobRequest):
    """Which attributes a universe has, with which values."""

    kind: Literal["universe"] = "universe"
    universe: WantedUniverse


class UniverseKind(JobKind[UniverseRequest]):
    """Answers from public declarations alone. Free."""

    name = "universe"
    request = UniverseRequest
    reads_data = False
    needs_grant = False
    kept = False

    def run(self, task: Task, request: UniverseRequest) -> JobProduct:
        made = request.universe.build_universe(task.session)
        return JobProduct(result=universe_to_dict(made))


def universe_to_dict(universe: KeyedUniverse) -> dict[str, Any]:
    """The attributes with their values, and the texts that name the same universe again."""
    return {
        "attributes": [_attribute(each) for each in universe.attributes],
        "questions": list(universe.questions),
    }


def _attribute(attribute: Attribute) -> list[Any]:
    kind = kind_of(attribute.name, attribute.values)  # type: ignore[arg-type]
    return [attribute.name, kind, column_to_json(kind, attribute.values)]  # type: ignore[arg-type]


def tables_of(task: Task, universe: WantedUniverse) -> Collection[str]:
    """The tables that counting its cells reads."""
    made = universe.build_universe(task.session)
    return tables_read(query_of_universe(made, task.session.context.query))


Condition = str | bool | int | float | None
Conditions = Annotated[dict[str, Condition | list[Condition]], Field(max_length=64)]
"""Values of attributes that records must have, by name: one, or a list of them."""


def conditions_for(universe: Universe, asked: Conditions) -> dict[str, object]:
    """Conditions with the universe's own values: days and moments were written as text."""
    return {name: _meant(universe, name, value) for name, value in asked.items()}


def _meant(universe: Universe, name: str, value: Any) -> object:
    attribute = universe.attributes[universe.place(name)]
    if isinstance(value, list):
        return [_value(attribute, each) for each in value]
    return _value(attribute, value)


def _value(attribute: Attribute, value: Any) -> object:
    """The value that a text stands for, where values are days or moments."""
    if not isinstance(value, str):
        return value
    named = {
        each.isoformat(): each for each in attribute.values if isinstance(each, date | datetime)
    }
    return named.get(value, value)
