"""Tables of released values, as nodes: what is done with answers after they were released.

A node names its columns; expressions read those of the table below as ``c0``, ``c1``, ... All are
frozen and hold public things only, so that they can be compared and told in an identity.

Source: contract, "What may be seen" (functions of noisy values), "Columns" (ORDER BY and LIMIT).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import TypeAlias

from discreet.relational.post_processing.outer_aggregates import OuterAggregate
from discreet.relational.post_processing.windows import Window
from discreet.relational.types.column_domain import ColumnDomain
from discreet.relational.types.data_type import DataType
from discreet.relational.types.expression import Column, Expression

MAX_ROWS = 100_000
"""Cells of an answer that other tables are computed from."""
MAX_PAIRS = 1_000_000
"""Pairs of rows that a join of answers looks at."""
MAX_LOOKED_AT = 750_000
"""Rows in the frames of all windows of a question, each once for every noise in it."""
MAX_PUBLIC_PAIRS = 20_000
"""Pairs of rows that all joins of public tables in a question look at, before anybody pays."""


class ColumnRole(Enum):
    """What a column is in the answer: a key or label, a number with noise, a place in an order."""

    KEY = "key"
    NUMBER = "number"
    PLACE = "place"


@dataclass(frozen=True)
class AnswerColumn:
    """A column by its name and kind; its role follows from how it is computed."""

    name: str
    kind: DataType
    role: ColumnRole = field(compare=False)
    empty: bool = field(default=False, compare=False)
    """Whether it is NULL in every row, and so of any kind."""

    def column(self, place: int) -> Column:
        """The column as expressions read it."""
        return Column(f"c{place}", ColumnDomain(self.kind, None, None, None, declared=True))


@dataclass(frozen=True)
class Answer:
    """The answer to one of the queries that are paid for, by its number."""

    part: int
    columns: tuple[AnswerColumn, ...]


@dataclass(frozen=True)
class OneRow:
    """A row without columns: SELECT without FROM."""

    columns: tuple[AnswerColumn, ...] = ()


@dataclass(frozen=True)
class PublicRowsTable:
    """Rows of public tables beside answers."""

    entries: tuple[tuple[object, ...], ...]
    columns: tuple[AnswerColumn, ...]


@dataclass(frozen=True)
class Projected:
    """Rows where a condition holds, with columns computed from them."""

    source: TableNode
    condition: Expression | None
    expressions: tuple[Expression, ...]
    columns: tuple[AnswerColumn, ...]


@dataclass(frozen=True)
class GroupedAnswer:
    """Rows added up: keys, then for each key whether it was added up over, then aggregates.

    ``sets`` has one entry for each way of grouping: the numbers of its keys.
    """

    source: TableNode
    keys: tuple[Expression, ...]
    sets: tuple[tuple[int, ...], ...]
    aggregates: tuple[OuterAggregate, ...]
    columns: tuple[AnswerColumn, ...]


@dataclass(frozen=True)
class WindowedAnswer:
    """The same rows with more columns, each computed from the rows around."""

    source: TableNode
    windows: tuple[Window, ...]
    columns: tuple[AnswerColumn, ...]


@dataclass(frozen=True)
class Joined:
    """Pairs of rows where a condition holds; ``outer`` keeps rows of the left without partner."""

    left: TableNode
    right: TableNode
    condition: Expression | None
    outer: bool
    columns: tuple[AnswerColumn, ...]


@dataclass(frozen=True)
class CombinedAnswers:
    """Rows of two tables: ``kind`` is union, intersect or except; ``distinct`` or all of them."""

    kind: str
    distinct: bool
    left: TableNode
    right: TableNode
    columns: tuple[AnswerColumn, ...]


@dataclass(frozen=True)
class Sorting:
    """One term of an order: which way, and whether NULL comes first."""

    expression: Expression
    sign: int
    nulls_first: bool


@dataclass(frozen=True)
class Arranged:
    """Rows in an order, some of them; different ones only where ``distinct``."""

    source: TableNode
    order: tuple[Sorting, ...]
    limit: int | None
    offset: int
    distinct: bool
    columns: tuple[AnswerColumn, ...]


TableNode: TypeAlias = (
    Answer
    | OneRow
    | PublicRowsTable
    | Projected
    | GroupedAnswer
    | WindowedAnswer
    | Joined
    | CombinedAnswers
    | Arranged
)
