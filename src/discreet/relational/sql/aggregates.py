"""Aggregate functions: from a node of the parser to an aggregate with public bounds.

Which functions there are, and what their arguments must be, stands with the aggregates.

Source: contract, "Columns", "Numbers"; modern-data:C2, Q2. Proof: ``proofs/relational.md``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from sqlglot import exp

from discreet.core.errors import InvalidParameter
from discreet.core.parameters import exact
from discreet.relational.aggregates.aggregate import Aggregate
from discreet.relational.aggregates.arguments import both, bounds, where
from discreet.relational.aggregates.different_values import DISTINCT
from discreet.relational.aggregates.function import Argument
from discreet.relational.aggregates.measures import CountPeople, CountRows, CountValues, Ranks
from discreet.relational.functions.casts import cast
from discreet.relational.functions.logic import IS_NOT_NULL, NOT
from discreet.relational.limits.resources import require_aggregates
from discreet.relational.plan.nodes import PlanNode, field_of, identifies
from discreet.relational.schema.declarations import Number
from discreet.relational.sql.aggregate_calls import AggregateCall, call_of
from discreet.relational.sql.catalog import Catalog
from discreet.relational.sql.different_combinations import combination
from discreet.relational.sql.expressions import expression_from
from discreet.relational.sql.padded_rows import counted_without_partner
from discreet.relational.sql.parsed import number
from discreet.relational.sql.relation import SQLRelation, unsupported
from discreet.relational.sql.undeclared import not_a_number, require_bounded, require_declared
from discreet.relational.types.column_domain import ColumnDomain
from discreet.relational.types.data_type import DataType
from discreet.relational.types.expression import Call, Case, Column, Expression, Literal

_FEW = 4096
_STEPS = 1000


@dataclass
class Aggregation:
    """Collects the aggregates of a question; the same one asked twice is found once."""

    below: SQLRelation
    catalog: Catalog
    found: list[Aggregate] = field(default_factory=list)
    _places: dict[Aggregate, int] = field(default_factory=dict)

    def column(self, node: exp.Expression) -> Expression:
        """The released column that stands for an aggregate node."""
        made = self._aggregate(node, None)
        place = self._places.setdefault(made, len(self.found))
        if place == len(self.found):
            self.found.append(made)
        require_aggregates(len(self.found))
        kind = DataType.INTEGER if made.whole else DataType.DOUBLE
        return Column(f"agg{place}", ColumnDomain(kind, None, None, None, declared=True))

    def _aggregate(self, node: exp.Expression, condition: Expression | None) -> Aggregate:
        if isinstance(node, exp.Filter):
            chosen = expression_from(node.expression.this, self.below.resolve)
            return self._aggregate(node.this, chosen)
        call = call_of(node)
        reading = _Reading(self.below, call, condition)
        if call.arguments and isinstance(call.arguments[0], exp.Distinct):
            of_values = DISTINCT.get(call.function.names[0])
            if of_values is not None:
                return of_values(reading.values(call.arguments[0]))
        return call.function.make(
            *(
                _READERS[argument](reading, part)
                for argument, part in zip(call.function.arguments, call.arguments, strict=True)
            )
        )


@dataclass(frozen=True)
class _Reading:
    """Reads the arguments of one call over the rows below it, where a condition holds."""

    below: SQLRelation
    call: AggregateCall
    condition: Expression | None

    def read_count_measure(self, node: exp.Expression) -> CountRows | CountPeople | CountValues:
        condition = self.condition
        if isinstance(node, exp.Star):
            if self.below.padded and condition is None:
                raise counted_without_partner()
            return CountRows(None if condition is None else where(Literal(1), condition))
        if not isinstance(node, exp.Distinct):
            inside = expression_from(node, self.below.resolve)
            if isinstance(inside, Column) and identifies(inside.name, self.below.rows):
                # Rows without an identifier are nobody's, and dropped.
                return CountRows(None if condition is None else where(Literal(1), condition))
            if not isinstance(inside, Literal) and not inside.domain.declared:
                # Whether there is a value bounds it, whatever the value is.
                inside = Case(((Call(IS_NOT_NULL, (inside,)), Literal(1)),), Literal(None))
            return CountRows(where(inside, condition))
        listed = node.expressions
        bracket = len(listed) == 1 and isinstance(listed[0], exp.Tuple)
        if bracket or len(listed) > 1:
            nodes = listed[0].expressions if bracket else listed
            parts = [expression_from(each, self.below.resolve) for each in nodes]
            return CountValues(where(combination(parts, with_nulls=bracket), condition))
        inside = expression_from(node.expressions[0], self.below.resolve)
        if isinstance(inside, Column) and identifies(inside.name, self.below.rows):
            if condition is not None:
                raise unsupported(
                    construct="FILTER with COUNT(DISTINCT person)",
                    remedy="Put the condition into WHERE.",
                )
            return CountPeople()
        require_declared(inside, node.expressions[0].sql(), self.below.rows)
        return CountValues(where(inside, condition))

    def chosen(self, node: exp.Expression) -> Expression:
        return both(self.condition, expression_from(node, self.below.resolve))

    def number(self, node: exp.Expression) -> Expression:
        title = self.call.title
        if isinstance(node, exp.Distinct):
            raise unsupported(construct=f"DISTINCT in {title}", remedy=_DISTINCT)
        value = expression_from(node, self.below.resolve)
        if value.domain.kind is DataType.BOOLEAN:
            value = Case(((value, Literal(1)), (Call(NOT, (value,)), Literal(0))), Literal(None))
        if value.domain.untyped:
            value = Call(cast(DataType.DOUBLE), (value,))
        if value.domain.kind not in (DataType.INTEGER, DataType.DOUBLE):
            raise not_a_number(value, title, self.below.rows)
        if not (value.domain.bounded and value.domain.declared):
            require_bounded(value, node.sql(), self.below.rows)
        return where(value, self.condition)

    def values(self, node: exp.Distinct) -> Expression:
        """What is inside DISTINCT: one whole number with a finite list of values."""
        if len(node.expressions) != 1 or node.args.get("on"):
            raise unsupported(construct=f"DISTINCT in {self.call.title}", remedy=_DISTINCT)
        value = self.number(node.expressions[0])
        if value.domain.kind is not DataType.INTEGER:
            raise unsupported(
                construct=f"DISTINCT in {self.call.title} of real numbers",
                remedy="Different values are counted of whole numbers: round(x), or CAST(x AS "
                f"BIGINT). {_DISTINCT}",
            )
        return value

    def candidates(self, node: exp.Expression) -> Ranks:
        value = self.number(node)
        low, high = bounds(value)
        step = _step(value, low, high, self.below.rows)
        size = int((exact(high) - exact(low)) / exact(step) + Fraction(1, 2)) + 1
        return Ranks(value, low, step, size)

    def level(self, node: exp.Expression) -> float:
        if isinstance(node, exp.Literal) and not node.is_string:
            level = float(number(node.name))
            if 0 <= level <= 1:
                return 1 - level if self.call.descending else level
        raise InvalidParameter(
            code="quantile_level",
            expectation="one level between 0 and 1 for a quantile",
            received=node.sql(),
            remedy="Write QUANTILE(x, 0.9), or QUANTILE(x, [0.25, 0.5, 0.75]) AS q for several.",
        )


_DISTINCT = "Use DISTINCT in FROM (...)."

_READERS: Mapping[Argument, Callable[[_Reading, exp.Expression], object]] = {
    Argument.COUNTED: _Reading.read_count_measure,
    Argument.CONDITION: _Reading.chosen,
    Argument.NUMBER: _Reading.number,
    Argument.CANDIDATES: _Reading.candidates,
    Argument.LEVEL: _Reading.level,
}


def _step(value: Expression, low: int | float, high: int | float, rows: PlanNode) -> int | float:
    """The declared spacing of candidates, or a public default."""
    declared = _declaration(value, rows)
    if isinstance(declared, Number) and declared.step is not None:
        return declared.step  # type: ignore[return-value]
    if value.domain.kind is DataType.INTEGER:
        return 1 if high - low < _FEW else -(-(int(high) - int(low)) // _STEPS)
    # Bounds that are equal or next to each other leave one candidate, whatever the step.
    return (high - low) / _STEPS or 1.0


def _declaration(value: Expression, rows: PlanNode) -> object:
    found = field_of(value.name, rows) if isinstance(value, Column) else None
    return None if found is None else found[1].declaration
