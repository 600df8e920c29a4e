"""Columns and aggregates for the dataframe builder: ``dp.col``, ``dp.count``, ``dp.mean``, ...

An aggregate takes the name of a column or a term; ``where`` restricts it to some rows.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import sqlglot
from sqlglot import exp

from discreet.core.errors import InvalidParameter
from discreet.relational.frontends.frame.term import (
    Term,
    node_of,
    read_column_argument,
    require_few_nodes,
)
from discreet.relational.sql.aggregate_calls import called, mark_aggregate_calls

Columnlike: TypeAlias = str | Term


def col(name: str, *, table: str | None = None) -> Term:
    """A column; ``table`` says of which, where a join has two of this name."""
    return Term(exp.column(name, table=table, quoted=True))


def expr(text: str) -> Term:
    """An expression in SQL, for everything that has no operator: ``dp.expr("month(day)")``."""
    try:
        require_few_nodes(len(text) // 2)  # a part has a letter, and most have several
        made: Any = sqlglot.parse_one(text, read="duckdb")
        return Term(mark_aggregate_calls(made))
    except (sqlglot.errors.SqlglotError, RecursionError):
        pass
    raise InvalidParameter(
        code="sql_syntax",
        expectation="one expression in SQL",
        received=text,
        remedy='Write for instance dp.expr("month(day)").',
    )


def count(column: Columnlike | None = None, *, where: Term | None = None) -> Term:
    """How many rows, or values that are not NULL."""
    counted = exp.Star() if column is None else read_column_argument(column)
    return _filtered(exp.Count(this=counted, big_int=True), where)


def count_distinct(column: Columnlike, *, where: Term | None = None) -> Term:
    """How many people, or different values."""
    distinct = exp.Distinct(expressions=[read_column_argument(column)])
    return _filtered(exp.Count(this=distinct, big_int=True), where)


def sum(column: Columnlike, *, where: Term | None = None) -> Term:
    """The sum of a column."""
    return _aggregate("SUM", read_column_argument(column), where=where)


def mean(column: Columnlike, *, where: Term | None = None) -> Term:
    """The mean of a column."""
    return _aggregate("AVG", read_column_argument(column), where=where)


def variance(column: Columnlike, *, where: Term | None = None) -> Term:
    """The variance, by n - 1."""
    return _aggregate("VARIANCE", read_column_argument(column), where=where)


def std(column: Columnlike, *, where: Term | None = None) -> Term:
    """The standard deviation, by n - 1."""
    return _aggregate("STDDEV_SAMP", read_column_argument(column), where=where)


def corr(first: Columnlike, second: Columnlike, *, where: Term | None = None) -> Term:
    """The correlation of two columns."""
    return _aggregate(
        "CORR", read_column_argument(first), read_column_argument(second), where=where
    )


def median(column: Columnlike, *, where: Term | None = None) -> Term:
    """The median of a column."""
    return _aggregate("MEDIAN", read_column_argument(column), where=where)


def quantile(column: Columnlike, q: float, *, where: Term | None = None) -> Term:
    """The value that a share of ``q`` of all values does not exceed."""
    return _aggregate("QUANTILE", read_column_argument(column), node_of(q), where=where)


def min(column: Columnlike, *, where: Term | None = None) -> Term:
    """The smallest value; of a person's rows exactly, of all people by rank."""
    return _aggregate("MIN", read_column_argument(column), where=where)


def max(column: Columnlike, *, where: Term | None = None) -> Term:
    """The largest value; of a person's rows exactly, of all people by rank."""
    return _aggregate("MAX", read_column_argument(column), where=where)


def first(column: Columnlike, *, by: Columnlike, where: Term | None = None) -> Term:
    """A person's value in the first row by a declared column: for features per person."""
    return _filtered(exp.First(this=_ordered(column, by)), where)


def last(column: Columnlike, *, by: Columnlike, where: Term | None = None) -> Term:
    """A person's value in the last row by a declared column: for features per person."""
    return _filtered(exp.Last(this=_ordered(column, by)), where)


def _ordered(column: Columnlike, by: Columnlike) -> exp.Expression:
    terms = [exp.Ordered(this=read_column_argument(by), nulls_first=False)]
    return exp.Order(this=read_column_argument(column), expressions=terms)


def _aggregate(name: str, *arguments: exp.Expression, where: Term | None) -> Term:
    """A call of a function that the registry of aggregates knows by this name."""
    return _filtered(called(name, *arguments), where)


def _filtered(aggregate: exp.Expression, where: Term | None) -> Term:
    if where is None:
        return Term(aggregate)
    return Term(exp.Filter(this=aggregate, expression=exp.Where(this=node_of(where))))
