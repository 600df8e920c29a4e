"""Aggregate functions: from a node of the parser to measures with public bounds.

Source: contract, "Columns", "Numbers"; modern-data:C2, Q2.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction

from sqlglot import exp

from discreet.core.errors import InvalidParameter
from discreet.core.parameters import exact
from discreet.relational.aggregates.aggregate import (
    Aggregate,
    Average,
    Correlation,
    Count,
    Covariance,
    Deviation,
    Maximum,
    Minimum,
    Quantile,
    Spread,
    Sum,
)
from discreet.relational.aggregates.measures import (
    CountPeople,
    CountRows,
    CountValues,
    Ranks,
    Total,
)
from discreet.relational.functions.arithmetic import MULTIPLY, SQUARE, SUBTRACT
from discreet.relational.functions.logic import AND, IS_NOT_NULL, NOT
from discreet.relational.plan.nodes import Rows, field_of, identifies
from discreet.relational.schema.declarations import Number
from discreet.relational.sql.catalog import Catalog
from discreet.relational.sql.expressions import expression_from
from discreet.relational.sql.parsed import number
from discreet.relational.sql.relation import Relation, unsupported
from discreet.relational.sql.undeclared import not_a_number, require_declared
from discreet.relational.types.column_domain import Facts, require_bounds
from discreet.relational.types.data_type import Kind
from discreet.relational.types.expression import Call, Case, Column, Expression, Literal

_FEW = 4096
_STEPS = 1000


@dataclass
class Aggregation:
    """Collects the aggregates of a question; the same one asked twice is found once."""

    below: Relation
    catalog: Catalog
    found: list[Aggregate] = field(default_factory=list)

    def column(self, node: exp.Expression) -> Expression:
        """The released column that stands for an aggregate node."""
        made = self._aggregate(node, None)
        if made not in self.found:
            self.found.append(made)
        whole = isinstance(made, Count) or (isinstance(made, Sum) and made.total.whole)
        kind = Kind.WHOLE if whole else Kind.REAL
        return Column(f"agg{self.found.index(made)}", Facts(kind, None, None, None, declared=True))

    def _aggregate(  # noqa: PLR0911 -- one line for each function
        self, node: exp.Expression, condition: Expression | None
    ) -> Aggregate:
        match node:
            case exp.Filter():
                where = expression_from(node.expression.this, self.below.resolve)
                return self._aggregate(node.this, where)
            case exp.Count():
                return self._count(node, condition)
            case exp.CountIf():
                chosen = expression_from(node.this, self.below.resolve)
                return Count(CountRows(_where(Literal(1), _both(condition, chosen))))
            case exp.Sum():
                return Sum(self._total(self._number(node.this, node, condition)))
            case exp.Avg():
                value = self._number(node.this, node, condition)
                return Average(CountRows(value), _centred(value))
            case exp.Variance() | exp.VariancePop():
                return Spread(*self._spread(node, condition), _freedom(node))
            case exp.Stddev() | exp.StddevSamp() | exp.StddevPop():
                return Deviation(*self._spread(node, condition), _freedom(node))
            case exp.CovarSamp() | exp.CovarPop():
                return self._covariance(node, condition)
            case exp.Corr():
                return self._correlation(node, condition)
        return self._quantile(node, condition)

    def _quantile(self, node: exp.Expression, condition: Expression | None) -> Aggregate:
        match node:
            case exp.Median():
                return Quantile(self._ranks(node.this, node, condition), 0.5)
            case exp.Min() | exp.Max() if not node.expressions:
                ranks = self._ranks(node.this, node, condition)
                return Minimum(ranks, 0.0) if isinstance(node, exp.Min) else Maximum(ranks, 1.0)
            case exp.Quantile() | exp.ApproxQuantile():
                ranks = self._ranks(node.this, node, condition)
                return _at(ranks, _level(node.args.get("quantile")))
            case exp.WithinGroup(this=exp.PercentileCont() | exp.PercentileDisc() as inner):
                ordered = node.expression.expressions[0]
                level = _level(inner.this)
                if ordered.args.get("desc"):
                    level = 1 - level
                return _at(self._ranks(ordered.this, node, condition), level)
            case exp.PercentileCont() | exp.PercentileDisc() if node.expression is not None:
                return _at(self._ranks(node.this, node, condition), _level(node.expression))
        raise unsupported(
            construct=node.sql(dialect="duckdb").split("(")[0].upper(),
            remedy="Use COUNT, SUM, AVG, VARIANCE, STDDEV, MEDIAN, QUANTILE, MIN, MAX or CORR.",
        )

    def _count(self, node: exp.Count, condition: Expression | None) -> Count:
        if node.expressions:
            raise unsupported(construct="COUNT(a, b)", remedy="Count one column.")
        if isinstance(node.this, exp.Star) or node.this is None:
            return Count(CountRows(None if condition is None else _where(Literal(1), condition)))
        if not isinstance(node.this, exp.Distinct):
            inside = expression_from(node.this, self.below.resolve)
            if not isinstance(inside, Literal):
                require_declared(inside, node.this.sql(), self.below.rows)
            return Count(CountRows(_where(inside, condition)))
        if len(node.this.expressions) != 1:
            raise unsupported(
                construct="COUNT(DISTINCT a, b)",
                remedy="Count one column, or DISTINCT in FROM (...).",
            )
        inside = expression_from(node.this.expressions[0], self.below.resolve)
        if isinstance(inside, Column) and identifies(inside.name, self.below.rows):
            if condition is not None:
                raise unsupported(
                    construct="FILTER with COUNT(DISTINCT person)",
                    remedy="Put the condition into WHERE.",
                )
            return Count(CountPeople())
        require_declared(inside, node.this.expressions[0].sql(), self.below.rows)
        return Count(CountValues(_where(inside, condition)))

    def _number(
        self, node: exp.Expression, outer: exp.Expression, condition: Expression | None
    ) -> Expression:
        if isinstance(node, exp.Distinct):
            raise unsupported(
                construct=f"DISTINCT in {outer.key.upper()}", remedy="Use DISTINCT in FROM (...)."
            )
        value = expression_from(node, self.below.resolve)
        if value.facts.kind is Kind.TRUTH:
            value = Case(((value, Literal(1)), (Call(NOT, (value,)), Literal(0))), Literal(None))
        if value.facts.kind not in (Kind.WHOLE, Kind.REAL):
            raise not_a_number(value, outer.key.upper(), self.below.rows)
        name = node.sql()
        require_declared(value, name, self.below.rows)
        require_bounds(value.facts, name)
        return _where(value, condition)

    def _total(self, value: Expression) -> Total:
        low, high = _bounds(value)
        return Total(value, low, high)

    def _spread(
        self, node: exp.Expression, condition: Expression | None
    ) -> tuple[CountRows, Total, Total]:
        value = self._number(node.this, node, condition)
        return CountRows(value), _centred(value), _product(value, value)

    def _pair(
        self, node: exp.Expression, condition: Expression | None
    ) -> tuple[Expression, Expression]:
        first = self._number(node.this, node, condition)
        second = self._number(node.expression, node, condition)
        return _where(first, _present(second)), _where(second, _present(first))

    def _covariance(self, node: exp.Expression, condition: Expression | None) -> Covariance:
        first, second = self._pair(node, condition)
        return Covariance(
            CountRows(first),
            _centred(first),
            _centred(second),
            _product(first, second),
            0 if isinstance(node, exp.CovarPop) else 1,
        )

    def _correlation(self, node: exp.Expression, condition: Expression | None) -> Correlation:
        first, second = self._pair(node, condition)
        return Correlation(
            *(CountRows(first), _centred(first), _centred(second), _product(first, second)),
            *(_product(first, first), _product(second, second)),
        )

    def _ranks(
        self, node: exp.Expression, outer: exp.Expression, condition: Expression | None
    ) -> Ranks:
        value = self._number(node, outer, condition)
        low, high = _bounds(value)
        step = self._step(value, low, high)
        size = int((exact(high) - exact(low)) / exact(step) + Fraction(1, 2)) + 1
        return Ranks(value, low, step, size)

    def _step(self, value: Expression, low: int | float, high: int | float) -> int | float:
        """The declared spacing of candidates, or a public default."""
        declared = _declaration(value, self.below.rows)
        if isinstance(declared, Number) and declared.step is not None:
            return declared.step  # type: ignore[return-value]
        if value.facts.kind is Kind.WHOLE:
            return 1 if high - low < _FEW else -(-(int(high) - int(low)) // _STEPS)
        # Bounds that are equal or next to each other leave one candidate, whatever the step.
        return (high - low) / _STEPS or 1.0


def _at(ranks: Ranks, level: float) -> Quantile:
    """A quantile; the ends of the scale are minimum and maximum."""
    if level == 0:
        return Minimum(ranks, 0.0)
    return Maximum(ranks, 1.0) if level == 1 else Quantile(ranks, level)


def _where(value: Expression, condition: Expression | None) -> Expression:
    """The value where the condition holds, NULL elsewhere."""
    return value if condition is None else Case(((condition, value),), Literal(None))


def _both(condition: Expression | None, other: Expression) -> Expression:
    return other if condition is None else Call(AND, (condition, other))


def _present(value: Expression) -> Expression:
    return Call(IS_NOT_NULL, (value,))


def _bounds(value: Expression) -> tuple[int | float, int | float]:
    low, high = value.facts.low, value.facts.high
    assert isinstance(low, int | float)
    assert isinstance(high, int | float)
    _require_finite(high - low, (low, high))
    return low, high


def _require_finite(size: int | float, received: object) -> None:
    """Refuse bounds so wide that a double cannot tell how wide they are."""
    if isinstance(size, float) and not math.isfinite(size):
        raise InvalidParameter(
            code="bounds_too_far",
            expectation="bounds whose difference, and its square in a variance, is a finite double",
            received=received,
            remedy="Bound the argument: least(greatest(x, -1e100), 1e100).",
        )


def _middle(value: Expression) -> int | float:
    low, high = _bounds(value)
    return (low + high) // 2 if value.facts.kind is Kind.WHOLE else low + (high - low) / 2


def _centred(value: Expression) -> Total:
    low, high = _bounds(value)
    return Total(value, low, high, _middle(value))


def _product(first: Expression, second: Expression) -> Total:
    """The product of two centred values, itself centred where it is a square."""
    halves = []
    for value in (first, second):
        low, high = _bounds(value)
        middle = _middle(value)
        halves.append(max(high - middle, middle - low))
    left, right = (Call(SUBTRACT, (value, Literal(_middle(value)))) for value in (first, second))
    most = halves[0] * halves[1]
    _require_finite(most, tuple(halves))
    if first == second:
        return Total(Call(SQUARE, (left,)), 0, most)
    return Total(Call(MULTIPLY, (left, right)), -most, most)


def _freedom(node: exp.Expression) -> int:
    return 0 if isinstance(node, exp.VariancePop | exp.StddevPop) else 1


def _level(node: exp.Expression | None) -> float:
    if isinstance(node, exp.Literal) and not node.is_string:
        level = float(number(node.name))
        if 0 <= level <= 1:
            return level
    raise InvalidParameter(
        code="quantile_level",
        expectation="one level between 0 and 1 for a quantile",
        received=None if node is None else node.sql(),
        remedy="Write QUANTILE(x, 0.9); ask for several levels one by one.",
    )


def _declaration(value: Expression, rows: Rows) -> object:
    found = field_of(value.name, rows) if isinstance(value, Column) else None
    return None if found is None else found[1].declaration
