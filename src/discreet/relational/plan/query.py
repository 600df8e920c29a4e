"""A question: rows, public keys, aggregates, and what is done with the released values.

Source: 004d:F22; contract, "Columns", "Spending" (identical questions).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from discreet.core.unit import PrivacyUnit
from discreet.relational.aggregates.aggregate import Aggregate
from discreet.relational.aggregates.measures import Measure
from discreet.relational.limits.memory import require_room, require_rows, require_short
from discreet.relational.plan.keys import DiscoveredKeys, KeySet, Listed
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

    ``listed`` are the keys as they were listed before conditions narrowed them, if they did: under
    these the same question was kept by earlier versions.
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
    listed: Listed | None = field(default=None, compare=False)

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

    def with_unit(self, unit: PrivacyUnit) -> Query:
        """The question under other bounds, in every query that is paid for."""
        return replace(self, unit=unit)

    def with_all_keys(self) -> Query | None:
        """The question over every listed key; None where conditions narrowed nothing."""
        if self.listed is None:
            return None
        return replace(self, keys=self.listed.keys, key_places=self.listed.places, listed=None)


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

    def with_unit(self, unit: PrivacyUnit) -> Query:
        """The same for all of them."""
        return replace(self, unit=unit, others=tuple(each.with_unit(unit) for each in self.others))


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
