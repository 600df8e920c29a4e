"""A question: rows, public keys, aggregates, and what is done with the released values.

Source: 004d:F22; contract, "Columns", "Spending" (identical questions).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TypeAlias

from discreet.core.unit import Person, PrivacyUnit, add_remove
from discreet.relational.aggregates.aggregate import Aggregate
from discreet.relational.aggregates.measures import Measure
from discreet.relational.bounding.person_limits import PersonLimits
from discreet.relational.limits.memory import require_room, require_rows, require_short
from discreet.relational.plan.keys import DiscoveredKeys, KeySet
from discreet.relational.plan.nodes import PlanNode
from discreet.relational.post_processing.tables import TableNode
from discreet.relational.types.data_type import DataType
from discreet.relational.types.expression import Expression


@dataclass(frozen=True)
class KeyOutput:
    """A column of the answer that is one of the keys."""

    name: str
    number: int


@dataclass(frozen=True)
class AggregateOutput:
    """A column of the answer that is one of the aggregates."""

    name: str
    number: int


@dataclass(frozen=True)
class DerivedOutput:
    """A column computed from released values: columns ``agg0``, ... and ``key0``, ..."""

    name: str
    expression: Expression


def is_label(expression: Expression) -> bool:
    """Whether a column is text or calendar: shown beside the keys, without an interval."""
    kind = expression.domain.kind
    return not (kind.is_number or kind is DataType.BOOLEAN)


Output: TypeAlias = KeyOutput | AggregateOutput | DerivedOutput


@dataclass(frozen=True)
class Order:
    """One term of ORDER BY, on released values."""

    expression: Expression
    sign: int


@dataclass(frozen=True)
class Query:
    """What is asked. ``key_places`` says which block and place each ``key`` column is.

    ``limits`` says how much of one person counts, where that is not what the unit says.
    """

    rows: PlanNode
    unit: PrivacyUnit
    keys: KeySet | DiscoveredKeys
    key_places: tuple[tuple[int, int], ...]
    aggregates: tuple[Aggregate, ...]
    outputs: tuple[Output, ...]
    having: Expression | None = None
    order: tuple[Order, ...] = ()
    limit: int | None = None
    offset: int = 0
    limits: PersonLimits | None = None

    def __post_init__(self) -> None:
        """Refuse what writes too much text for one row, or holds too much of one unit."""
        require_rows(self.rows)
        require_short(self)
        require_room(self.rows, self.keys, self.aggregates)

    @property
    def parts(self) -> tuple[Query, ...]:
        """The queries that are paid for: itself."""
        return (self,)

    def with_rows(self, change: Callable[[PlanNode], PlanNode]) -> Query:
        """The question about other rows, in every query that is paid for."""
        return replace(self, rows=change(self.rows))

    def with_limits(self, change: Callable[[Query], Query]) -> Query:
        """The question under other limits, in every query that is paid for."""
        return change(self)

    @cached_property
    def person(self) -> Person | None:
        """The person whose rows are bounded, where rows have owners.

        Where steps below leave a person fewer rows than the limits allow, these are the bound.
        """
        unit = add_remove(self.unit)
        if not isinstance(unit, Person) or not self.rows.privacy_id:
            return None
        limits = PersonLimits.of(unit) if self.limits is None else self.limits
        return limits.at_most(self.rows.stability).bounding(unit)


@dataclass(frozen=True)
class QueryOverAnswers(Query):
    """A query that is paid for, perhaps with ``others``, and a table computed from the answers.

    Its own fields are those of the first of these queries.
    """

    table: TableNode = field(kw_only=True)
    others: tuple[Query, ...] = ()

    @property
    def parts(self) -> tuple[Query, ...]:
        """The queries that are paid for."""
        return (self, *self.others)

    def with_rows(self, change: Callable[[PlanNode], PlanNode]) -> Query:
        """The same for all of them."""
        others = tuple(each.with_rows(change) for each in self.others)
        return replace(self, rows=change(self.rows), others=others)

    def with_limits(self, change: Callable[[Query], Query]) -> Query:
        """The same for all of them."""
        own = change(self)
        others = tuple(each.with_limits(change) for each in self.others)
        return replace(self, unit=own.unit, limits=own.limits, others=others)


@dataclass(frozen=True)
class PrivatePart:
    """What a query measures. Everything else of it is done with released values, and is free.

    Queries with the same private part, spend, split and snapshot are answered from the same noisy
    values. ``measured`` are the different measures, and what is chosen by rank, in an order of
    their own: which columns are computed from them, and in which order, is no part.
    """

    rows: PlanNode
    unit: PrivacyUnit
    keys: KeySet | DiscoveredKeys
    key_places: tuple[tuple[int, int], ...]
    measured: tuple[Measure | Aggregate, ...]
    limits: PersonLimits | None = None
