"""Expressions over columns, put together with Python's operators.

A term holds a piece of SQL as a tree and knows nothing of data or of bounds; those are checked
where the whole question is read.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from datetime import date, datetime
from typing import Any, TypeAlias

from sqlglot import exp

from discreet.core.errors import InvalidParameter
from discreet.relational.sql.tree import nodes

MOST_NODES = 50_000
"""Parts of a question that is put together: as text, more would be longer than any may be."""

Value: TypeAlias = "Term | bool | int | float | str | date | datetime | None"


class Term:
    """A column, a constant, or what operators make of them: ``dp.col("cost") / 1000 > 1``.

    Conditions are combined with ``&``, ``|`` and ``~``.
    """

    def __init__(self, node: exp.Expression) -> None:
        """Hold a tree."""
        require_few_nodes(len(nodes(node)))
        self.node = node

    def __add__(self, other: Value) -> Term:
        return self._two(exp.Add, other)

    def __radd__(self, other: Value) -> Term:
        return self._from(exp.Add, other)

    def __sub__(self, other: Value) -> Term:
        return self._two(exp.Sub, other)

    def __rsub__(self, other: Value) -> Term:
        return self._from(exp.Sub, other)

    def __mul__(self, other: Value) -> Term:
        return self._two(exp.Mul, other)

    def __rmul__(self, other: Value) -> Term:
        return self._from(exp.Mul, other)

    def __truediv__(self, other: Value) -> Term:
        return self._two(exp.Div, other)

    def __rtruediv__(self, other: Value) -> Term:
        return self._from(exp.Div, other)

    def __floordiv__(self, other: Value) -> Term:
        return self._two(exp.IntDiv, other)

    def __mod__(self, other: Value) -> Term:
        return self._two(exp.Mod, other)

    def __neg__(self) -> Term:
        return Term(exp.Neg(this=_inside(self.node)))

    def __lt__(self, other: Value) -> Term:
        return self._two(exp.LT, other)

    def __le__(self, other: Value) -> Term:
        return self._two(exp.LTE, other)

    def __gt__(self, other: Value) -> Term:
        return self._two(exp.GT, other)

    def __ge__(self, other: Value) -> Term:
        return self._two(exp.GTE, other)

    def __eq__(self, other: Value) -> Term:  # type: ignore[override]
        return self._two(exp.EQ, other)

    def __ne__(self, other: Value) -> Term:  # type: ignore[override]
        return self._two(exp.NEQ, other)

    __hash__ = None  # type: ignore[assignment]

    def __and__(self, other: Term) -> Term:
        return self._two(exp.And, other)

    def __or__(self, other: Term) -> Term:
        return self._two(exp.Or, other)

    def __invert__(self) -> Term:
        return Term(exp.Not(this=_inside(self.node)))

    def __bool__(self) -> bool:
        raise InvalidParameter(
            code="term_not_known",
            expectation="conditions combined with &, | and ~",
            received=repr(self),
            remedy="Write (a > 1) & (b < 2), not `and`, `or`, `not` or `if`.",
        )

    def is_null(self) -> Term:
        """Whether there is no value."""
        return Term(exp.Is(this=_inside(self.node), expression=exp.Null()))

    def is_in(self, values: Iterable[Value]) -> Term:
        """Whether it is one of the listed constants."""
        listed = [node_of(value) for value in values]
        return Term(exp.In(this=_inside(self.node), expressions=listed))

    def between(self, low: Value, high: Value) -> Term:
        """Whether it lies between two values, both included."""
        return Term(exp.Between(this=_inside(self.node), low=node_of(low), high=node_of(high)))

    def bin(self, low: float, high: float, number: int) -> Term:
        """The lower edge of its bin, of ``number`` equal bins: a key with a finite list."""
        given = [self.node.copy(), *(node_of(value) for value in (low, high, number))]
        return Term(exp.Anonymous(this="bin", expressions=given))

    def desc(self) -> Term:
        """Largest first, in ``order_by``."""
        return Term(exp.Ordered(this=self.node.copy(), desc=True, nulls_first=False))

    def __repr__(self) -> str:
        return self.node.sql(dialect="duckdb")

    def _two(self, kind: type[exp.Expression], other: Any) -> Term:
        return Term(kind(this=_inside(self.node), expression=_inside(node_of(other))))

    def _from(self, kind: type[exp.Expression], other: Any) -> Term:
        return Term(kind(this=_inside(node_of(other)), expression=_inside(self.node)))


def require_few_nodes(number: int) -> None:
    """Refuse what has too many parts; a thing joined with itself has twice as many each time."""
    if number > MOST_NODES:
        raise InvalidParameter(
            code="expression_too_large",
            expectation=f"a question of at most {MOST_NODES} parts, each as often as it is used",
            received=number,
            remedy="Use a frame or a term fewer times; name its columns in an inner select.",
        )


def node_of(value: Any) -> exp.Expression:
    """The tree of a term or of a constant."""
    if isinstance(value, Term):
        return value.node.copy()
    plain = value is None or isinstance(value, bool | int | float | str | date)
    if not plain or (isinstance(value, float) and not math.isfinite(value)):
        raise InvalidParameter(
            code="bad_literal",
            expectation="a column, or a constant: a finite number, text, a date, a moment",
            received=type(value).__name__,
            remedy='Write dp.col("cost") > 100.',
        )
    made: Any = exp.convert(value)
    return made  # type: ignore[no-any-return]


def read_column_argument(column: Any) -> exp.Expression:
    """A column by its name, or a term as it is."""
    if isinstance(column, Term):
        return column.node.copy()
    if isinstance(column, str) and column:
        return exp.column(column, quoted=True)
    raise InvalidParameter(
        code="bad_name",
        expectation="the name of a column, or a term",
        received=type(column).__name__,
        remedy='Write "ward" or dp.col("ward").',
    )


def _inside(node: exp.Expression) -> exp.Expression:
    """A tree as part of another, in parentheses where precedence could matter."""
    node = node.copy()
    loose = isinstance(node, exp.Binary | exp.Unary | exp.Between | exp.In | exp.Is | exp.Case)
    return exp.Paren(this=node) if loose and not isinstance(node, exp.Paren) else node
