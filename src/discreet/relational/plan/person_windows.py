"""Windows over the rows of one person: numbers, neighbours and running totals of each row.

Contract: a person's rows are bounded to R first, so every window is computed from at most R rows
of one person, with public bounds that follow from R and from those of its argument. Rows are put in
the order that was asked for, ties broken by the content of all columns that are read later: rows
that still tie are alike in everything that is seen of them. Sums are exact sums of whole steps.
Rows keep their owner, and nobody else's row depends on them.

Source: contract, "Bounding inside the engine", "Numbers". Proof: ``proofs/joins.md``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from discreet.relational.bounding.person_rows import Bounded
from discreet.relational.compile.compiler import Compiler, step_text
from discreet.relational.compile.dialect import Dialect
from discreet.relational.plan.features import Added, CountedRows, Feature, Least
from discreet.relational.plan.nodes import Output, PlanNode
from discreet.relational.types.column_domain import ColumnDomain, hull
from discreet.relational.types.data_type import DataType
from discreet.relational.types.expression import Column, Literal


@dataclass(frozen=True)
class WindowOrder:
    """One term of ORDER BY in a window; NULL is last."""

    column: Column
    descending: bool

    def text(self, dialect: Dialect) -> str:
        """As the engine orders by it."""
        way = " DESC" if self.descending else ""
        return f"{dialect.identifier(self.column.name)}{way} NULLS LAST"


class Numbering(Enum):
    """How rows are numbered: one by one, or those that tie alike."""

    ROW_NUMBER = "row_number"
    RANK = "rank"
    DENSE_RANK = "dense_rank"

    @property
    def identity_name(self) -> str:
        """The name in identities, fixed for ever."""
        return self.value


@dataclass(frozen=True)
class PersonWindow(ABC):
    """A column computed for each row from its person's rows with equal ``within``, in an order."""

    within: tuple[Column, ...]
    order: tuple[WindowOrder, ...]

    @abstractmethod
    def domain(self, rows: int) -> ColumnDomain:
        """What is public of it, for at most ``rows`` rows of a person."""

    @property
    def reads(self) -> tuple[Column, ...]:
        """The columns it is computed from."""
        return (*self.within, *(term.column for term in self.order))

    @abstractmethod
    def text(self, dialect: Dialect, rows: int, owner: str, content: Sequence[str]) -> str:
        """The window; ``content`` breaks ties."""

    def over(self, dialect: Dialect, owner: str, content: Sequence[str], frame: str = "") -> str:
        """PARTITION BY the owner, and ORDER BY the terms and then the content."""
        by = ", ".join([owner, *(dialect.identifier(column.name) for column in self.within)])
        terms = [*(term.text(dialect) for term in self.order), *content]
        order = f" ORDER BY {', '.join(terms)}" if terms else ""
        return f"OVER (PARTITION BY {by}{order}{frame})"


@dataclass(frozen=True)
class NumberedRow(PersonWindow):
    """The place of a row among its person's."""

    numbering: Numbering

    def domain(self, rows: int) -> ColumnDomain:
        """From one to all."""
        return ColumnDomain(DataType.INTEGER, 1, rows, None, declared=True)

    def text(self, dialect: Dialect, rows: int, owner: str, content: Sequence[str]) -> str:
        """Rows are told apart by content only where each has a number of its own."""
        ties = content if self.numbering is Numbering.ROW_NUMBER else ()
        number = f"{self.numbering.value}() {self.over(dialect, owner, ties)}"
        return dialect.clean_number(f"CAST({number} AS BIGINT)", self.domain(rows))


@dataclass(frozen=True)
class NeighbourRow(PersonWindow):
    """The value in the row ``distance`` places before this one, or after where it is negative.

    Where there is no such row it is ``otherwise``.
    """

    argument: Column
    distance: int
    otherwise: Literal

    def domain(self, rows: int) -> ColumnDomain:
        """Those of the argument, or the constant."""
        kind = self.argument.domain.kind
        return hull(kind, (self.argument.domain, self.otherwise.domain))

    @property
    def reads(self) -> tuple[Column, ...]:
        """The argument as well."""
        return (*super().reads, self.argument)

    def text(self, dialect: Dialect, rows: int, owner: str, content: Sequence[str]) -> str:
        """LAG or LEAD."""
        word = "LAG" if self.distance >= 0 else "LEAD"
        value = dialect.identifier(self.argument.name)
        over = self.over(dialect, owner, content)
        found = f"{word}({value}, {abs(self.distance)}) {over}"
        if self.otherwise.value is None:
            return found
        # Engines differ in how they convert a third argument; a row that is there may hold NULL.
        there = f"{word}(1, {abs(self.distance)}) {over}"
        return f"CASE WHEN {there} IS NULL THEN {dialect.render(self.otherwise)} ELSE {found} END"


@dataclass(frozen=True)
class OuterRow(PersonWindow):
    """The value in the person's first row, by the order."""

    argument: Column

    def domain(self, rows: int) -> ColumnDomain:
        """Those of the argument."""
        return self.argument.domain

    @property
    def reads(self) -> tuple[Column, ...]:
        """The argument as well."""
        return (*super().reads, self.argument)

    def text(self, dialect: Dialect, rows: int, owner: str, content: Sequence[str]) -> str:
        """FIRST_VALUE."""
        value = dialect.identifier(self.argument.name)
        return f"FIRST_VALUE({value}) {self.over(dialect, owner, content)}"


class LastRow(OuterRow):
    """The value in the person's last row, by the order."""

    def text(self, dialect: Dialect, rows: int, owner: str, content: Sequence[str]) -> str:
        """LAST_VALUE of all rows."""
        value = dialect.identifier(self.argument.name)
        frame = " ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING"
        return f"LAST_VALUE({value}) {self.over(dialect, owner, content, frame)}"


@dataclass(frozen=True)
class RunningFeature(PersonWindow):
    """A feature of the rows up to this one: those that tie with it too, or ``before`` rows alone.

    Without an order it is about all of the person's rows. ``before`` counts rows before this one:
    None means all of them with those that tie, -1 all of them row by row.
    """

    feature: Feature
    before: int | None

    def domain(self, rows: int) -> ColumnDomain:
        """Those of the feature."""
        return self.feature.domain(rows)

    @property
    def reads(self) -> tuple[Column, ...]:
        """Those of the feature as well."""
        return (*super().reads, *self.feature.reads)

    def text(self, dialect: Dialect, rows: int, owner: str, content: Sequence[str]) -> str:
        """The aggregate over a frame."""
        if self.before is None:
            over = self.over(dialect, owner, ())
        else:
            first = "UNBOUNDED" if self.before < 0 else str(self.before)
            frame = f" ROWS BETWEEN {first} PRECEDING AND CURRENT ROW"
            over = self.over(dialect, owner, content, frame)
        return _running(self.feature, dialect, rows, over)


def _running(feature: Feature, dialect: Dialect, rows: int, over: str) -> str:
    """An aggregate of which each part is a window."""
    whole = dialect.types[DataType.INTEGER]
    match feature:
        case CountedRows(argument):
            counted = "*" if argument is None else dialect.identifier(argument.name)
            text = f"CAST(COUNT({counted}) {over} AS {whole})"
        case Added():
            return feature.text_over(dialect, rows, f" {over}")
        case Least():
            return f"{feature.word}({dialect.identifier(feature.argument.name)}) {over}"
        case _:
            raise TypeError(type(feature).__name__)
    return dialect.clean_number(text, feature.domain(rows))


@dataclass(frozen=True)
class Windowed(PlanNode):
    """A person's bounded rows, each with windows over the rows of the same person.

    Stability: rows are those below; what is computed for them depends on their owner's rows.
    ``named`` is the column of the rows that holds the person's identifier, if any.
    """

    prefix: str
    rows: Bounded
    named: Column | None
    windows: tuple[PersonWindow, ...]
    outputs: tuple[Output, ...]

    @property
    def stability(self) -> int | None:
        """That of the rows before: each row gets further columns, and none comes or goes."""
        return self.rows.stability

    @property
    def privacy_id(self) -> str | None:
        return self.rows.privacy_id

    @property
    def person(self) -> str | None:
        """The column that holds the identifier."""
        return None if self.named is None else self.named.name

    @property
    def computed(self) -> tuple[Output, ...]:
        """The rows' own columns, and the windows."""
        return (*self.rows.outputs, *self.outputs)

    @property
    def inputs(self) -> tuple[PlanNode, ...]:
        return (self.rows,)

    def label(self) -> str:
        return f"{len(self.windows)} windows over the rows of each person"


@step_text.register
def windowed(rows: Windowed, compiler: Compiler, needed: frozenset[str]) -> str:
    """The needed windows beside the needed columns of the rows."""
    dialect, name = compiler.dialect, compiler.dialect.identifier
    owner = rows.rows.privacy_id or ""
    asked = [
        (window, output)
        for window, output in zip(rows.windows, rows.outputs, strict=True)
        if output.name in needed
    ]
    read = {column.name for window, _ in asked for column in window.reads}
    own = [o.name for o in rows.rows.outputs if o.name in needed or o.name in read]
    content = [f"{name(column)} NULLS LAST" for column in own]
    listed = [name(owner), *(name(column) for column in own)]
    listed += [
        f"{window.text(dialect, rows.rows.limit, name(owner), content)} AS {name(output.name)}"
        for window, output in asked
    ]
    inside = compiler.text(rows.rows, frozenset(own) | {owner})
    return f"SELECT {', '.join(listed)} FROM ({inside}) AS q"
