"""Frames: a question built step by step, asked as the SQL that it stands for.

A frame holds a SELECT as a tree. Steps return new frames; nothing is computed and nothing is
read until it is asked through the curator, where its text goes through the same door as any other.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, TypeAlias

from sqlglot import exp

from discreet.core.errors import InvalidParameter
from discreet.relational.frontends.frame.term import (
    Term,
    node_of,
    read_column_argument,
    require_few_nodes,
)
from discreet.relational.sql.tree import nodes

Key: TypeAlias = str | Sequence[str] | Mapping[str, str]


class Queryable(Protocol):
    """Who answers: a curator, a child or a part of one."""

    @property
    def sql(self) -> Callable[..., Any]:
        """Answers a query in SQL."""

    @property
    def preview(self) -> Callable[..., Any]:
        """Says what error to expect."""

    @property
    def explain(self) -> Callable[..., Any]:
        """Shows the plan."""


@dataclass(frozen=True, eq=False)
class Frame:
    """Rows of a table and what is asked about them.

    >>> from discreet.relational.frontends.frame.functions import col, count
    >>> visits = Frame.of("visits")
    >>> visits.filter(col("cost") > 100).group_by("ward").agg(n=count()).sql()
    'SELECT "ward", COUNT(*) AS "n" FROM "visits" WHERE "cost" > 100 GROUP BY "ward"'
    """

    tree: exp.Select
    analyst: Queryable | None = None

    def __post_init__(self) -> None:
        """Refuse more parts than a question may have, before they are doubled again."""
        require_few_nodes(len(nodes(self.tree)))

    @classmethod
    def of(cls, table: str, analyst: Queryable | None = None) -> Frame:
        """All rows of a table."""
        return cls(exp.select("*").from_(exp.table_(table, quoted=True)), analyst)

    def filter(self, *conditions: Term) -> Frame:
        """Rows for which all conditions hold; of an answer, groups for which they hold."""
        frame = self if self._aggregated or self._whole else self._nested()
        tree = frame.tree.copy()
        for condition in conditions:
            if frame._aggregated:
                tree.having(node_of(condition), copy=False)
            else:
                tree.where(node_of(condition), copy=False)
        return replace(frame, tree=tree)

    def with_columns(self, **terms: Term) -> Frame:
        """All columns and further ones, computed row by row."""
        frame = self if self._whole else self._nested()
        return replace(frame, tree=frame.tree.select(*_aliased(terms)))

    def select(self, *columns: str | Term, **terms: Term) -> Frame:
        """These columns alone."""
        frame = self if self._whole else self._nested()
        listed = [*map(read_column_argument, columns), *_aliased(terms)]
        return replace(frame, tree=frame.tree.select(*listed, append=False))

    def distinct(self) -> Frame:
        """Each combination of the selected columns once."""
        return replace(self, tree=self.tree.distinct())

    def join(self, other: Frame, *, on: Key) -> Frame:
        """Pairs of rows that agree: on a column of both, several, or a mapping left to right."""
        return self._joined(other, on, "inner")

    def left_join(self, other: Frame, *, on: Key) -> Frame:
        """The same, with rows that have no partner."""
        return self._joined(other, on, "left")

    def union(self, other: Frame) -> Frame:
        """The rows of both, by position of their columns."""
        every = exp.union(self.tree, other.tree, distinct=False)
        return replace(self, tree=exp.select("*").from_(every.subquery("both")))

    def group_by(self, *keys: str | Term, **terms: Term) -> Grouped:
        """Groups: by columns, or by named terms. Grouped by the person: features."""
        return Grouped(self, tuple(map(read_column_argument, keys)), dict(terms))

    def agg(self, **aggregates: Term) -> Frame:
        """Aggregates over all rows."""
        return self.group_by().agg(**aggregates)

    def order_by(self, *columns: str | Term) -> Frame:
        """The order of an answer: ``dp.col("n").desc()``."""
        return replace(self, tree=self.tree.order_by(*map(read_column_argument, columns)))

    def limit(self, rows: int, *, offset: int = 0) -> Frame:
        """The first rows of an answer."""
        tree = self.tree.limit(rows)
        return replace(self, tree=tree.offset(offset) if offset else tree)

    def sql(self) -> str:
        """The SQL it stands for."""
        return self.tree.sql(dialect="duckdb")

    def release(self, **options: Any) -> Any:
        """Ask, as :meth:`Curator.sql` does: ``spend=`` or ``accuracy=``, and the rest."""
        return self._queryable().sql(self.sql(), **options)

    def preview(self, **options: Any) -> Any:
        """Expected errors, as :meth:`Curator.preview` does."""
        return self._queryable().preview(self.sql(), **options)

    def explain(self, **options: Any) -> Any:
        """The plan, as :meth:`Curator.explain` does."""
        return self._queryable().explain(self.sql(), **options)

    def __repr__(self) -> str:
        return f"Frame({self.sql()})"

    @property
    def _aggregated(self) -> bool:
        grouped = self.tree.args.get("group") is not None
        return grouped or any(item.find(exp.AggFunc) for item in self.tree.expressions)

    @property
    def _whole(self) -> bool:
        """Whether it still has exactly the columns of its tables."""
        return self.tree.is_star and len(self.tree.expressions) == 1 and not self._distinct

    @property
    def _distinct(self) -> bool:
        return self.tree.args.get("distinct") is not None

    def _nested(self) -> Frame:
        return replace(self, tree=exp.select("*").from_(self.tree.subquery("inside")))

    def _source(self, alias: str) -> Any:
        """What stands in FROM for it: a plain table by its own name, else an inner query."""
        plain = {"expressions", "from_", "from"}
        if self._whole and all(name in plain for name, value in self.tree.args.items() if value):
            clause = self.tree.args.get("from_") or self.tree.args["from"]
            table: Any = clause.this.copy()
            return table
        return self.tree.subquery(alias)

    def _joined(self, other: Frame, on: Key, kind: str) -> Frame:
        left, right = self._source("left"), other._source("right")
        if left.alias_or_name == right.alias_or_name:
            right = exp.alias_(right, "right", table=True)
        tree = exp.select("*").from_(left)
        if isinstance(on, Mapping):
            sides = (left.alias_or_name, right.alias_or_name)
            pairs = [
                exp.EQ(
                    this=exp.column(a, table=sides[0], quoted=True),
                    expression=exp.column(b, table=sides[1], quoted=True),
                )
                for a, b in on.items()
            ]
            return replace(self, tree=tree.join(right, on=exp.and_(*pairs), join_type=kind))
        columns = [on] if isinstance(on, str) else list(on)
        using: list[Any] = [exp.to_identifier(column, quoted=True) for column in columns]
        return replace(self, tree=tree.join(right, using=using, join_type=kind))

    def _queryable(self) -> Queryable:
        if self.analyst is None:
            raise InvalidParameter(
                code="frame_without_curator",
                expectation="a frame that belongs to a curator",
                remedy='Begin with curator.frame("visits").',
            )
        return self.analyst


@dataclass(frozen=True, eq=False)
class Grouped:
    """A frame divided into groups, to be aggregated."""

    frame: Frame
    keys: tuple[exp.Expression, ...]
    terms: Mapping[str, Term]

    def agg(self, **aggregates: Term) -> Frame:
        """One row for each group: keys, then aggregates by the names they are given."""
        frame = self.frame if self.frame._whole else self.frame._nested()
        listed = [*self.keys, *_aliased(self.terms), *_aliased(aggregates)]
        tree = frame.tree.select(*listed, append=False)
        groups = [*self.keys, *(term.node.copy() for term in self.terms.values())]
        return replace(frame, tree=tree.group_by(*groups) if groups else tree)


def _aliased(terms: Mapping[str, Term]) -> list[Any]:
    return [exp.alias_(node_of(term), name, quoted=True) for name, term in terms.items()]
