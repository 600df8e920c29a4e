"""The relational plan: rows built from scans by a few steps, each with a known stability.

``stability`` is the number of rows of a step's output that one unit can add or remove; where rows
have owners, it is how many each person owns. None means that a person may own any number until
bounding cuts them down. ``privacy_id`` is the column that says
whose row it is, where rows still have one owner each. Column names are unique in a plan.

Source: 004d:F5, F9, F22; 004b:A21; contract, "Units and neighbours". Proof:
``proofs/relational.md``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from functools import cached_property

from discreet.core.errors import Mismatch
from discreet.relational.schema.declarations import Declaration
from discreet.relational.types.column_domain import ColumnDomain
from discreet.relational.types.data_type import DataType
from discreet.relational.types.expression import Column, Expression


class JoinKind(Enum):
    """Whether rows without a partner stay."""

    INNER = "JOIN"
    LEFT = "LEFT JOIN"

    @property
    def identity_name(self) -> str:
        """The name in identities, fixed for ever, whatever the join is called here."""
        return {JoinKind.INNER: "INNER", JoinKind.LEFT: "LEFT"}[self]


@dataclass(frozen=True)
class Field:
    """A column of a table: its name there, how its kind is stored, what was declared."""

    name: str
    stored: str
    domain: ColumnDomain
    declaration: Declaration | None


@dataclass(frozen=True)
class DerivedField(Field):
    """A column that the owner derives from stored ones: ``derivation`` reads ``inputs`` by name."""

    derivation: Expression
    inputs: tuple[Field, ...]


@dataclass(frozen=True)
class Route:
    """The way from a table to the person through another table: its key and its person column."""

    table: str
    key: str
    person: str


@dataclass(frozen=True)
class PlanNode(ABC):
    """Rows of a table or of a step."""

    @property
    @abstractmethod
    def stability(self) -> int | None:
        """Rows that one unit can add or remove, if bounded yet."""

    @property
    @abstractmethod
    def privacy_id(self) -> str | None:
        """Column that identifies the person, where each row has one."""

    @property
    def person(self) -> str | None:
        """A column made by this step that holds the owner's identifier in every row, if any."""
        return None

    @property
    def as_stored(self) -> bool:
        """Whether columns of the tables below may be read as they are stored, and not cleaned."""
        return all(below.as_stored for below in self.inputs)

    @property
    def computed(self) -> tuple[Output, ...] | None:
        """The columns that this step computes; None where it passes on those below."""
        return getattr(self, "outputs", None)

    @property
    def added(self) -> tuple[Output, ...]:
        """The columns that this step puts beside those below."""
        return ()

    def made_field(self, column: str) -> Field | None:
        """What was declared of a column that this step makes, if anything was."""
        return None

    @property
    def repeated(self) -> tuple[tuple[str, Expression], ...]:
        """Keys that this step only repeats, with what they stand for two steps below."""
        return ()

    @property
    @abstractmethod
    def inputs(self) -> tuple[PlanNode, ...]:
        """The steps below."""

    @abstractmethod
    def label(self) -> str:
        """One line for a reader."""


@dataclass(frozen=True)
class Scan(PlanNode):
    """A private or public table, cleaned as declared.

    ``identifier`` is set for people's rows; ``identity`` is the type in which it is stored. ``row``
    is the column that the owner says tells a person's rows apart, if any.
    """

    table: str
    prefix: str
    fields: Mapping[str, Field]
    private: bool
    identifier: str | None = None
    route: Route | None = None
    identity: str = ""
    row: str | None = None

    @property
    def stability(self) -> int | None:
        """One row where each row is a unit; none of a public table."""
        if not self.private:
            return 0
        return None if self.identifier else 1

    @property
    def key(self) -> str:
        """The type in which the key of the route is stored."""
        field = self.fields.get(self.route.key) if self.route is not None else None
        return "" if field is None else field.stored

    @property
    def privacy_id(self) -> str | None:
        return f"{self.prefix}!" if self.identifier else None

    @property
    def inputs(self) -> tuple[PlanNode, ...]:
        return ()

    @cached_property
    def names(self) -> frozenset[str]:
        """The unique names of its columns, cleaned and as stored, and of the owner."""
        owner = () if self.privacy_id is None else (self.privacy_id,)
        cleaned, stored = map(self.column, self.fields), map(self.stored, self.fields)
        return frozenset((*cleaned, *stored, *owner))

    def column(self, name: str) -> str:
        """The unique name of one of its columns, cleaned."""
        return f"{self.prefix}.{name}"

    def stored(self, name: str) -> str:
        """The unique name of one of its columns as it is stored, for those who clean it."""
        return f"{self.prefix}:{name}"

    def field(self, column: str) -> Field | None:
        """The field behind a unique name, if it is one of this table's cleaned columns."""
        known, mark = column[: len(self.prefix) + 1], f"{self.prefix}."
        return self.fields.get(column[len(mark) :]) if known == mark else None

    def label(self) -> str:
        return f"{'scan' if self.private else 'public'} {self.table}"


@dataclass(frozen=True)
class Filtered(PlanNode):
    """Rows for which a condition is true."""

    rows: PlanNode
    condition: Expression

    def __post_init__(self) -> None:
        """Refuse what is no condition: an engine would read each row as one, and could fail."""
        if self.condition.domain.kind is not DataType.BOOLEAN:
            raise Mismatch(
                code="type_clash",
                expectation="a condition on rows",
                received=self.condition.domain.kind.value,
                remedy="Compare something: x > 0, x IS NOT NULL.",
            )

    @property
    def stability(self) -> int | None:
        """That of the rows before: a row is kept or dropped by itself."""
        return self.rows.stability

    @property
    def privacy_id(self) -> str | None:
        return self.rows.privacy_id

    @property
    def inputs(self) -> tuple[PlanNode, ...]:
        return (self.rows,)

    def label(self) -> str:
        return "filter"


@dataclass(frozen=True)
class JoinedPeople(PlanNode):
    """Rows of two private tables that belong to the same person and agree on the pairs ``on``.

    The person stays the unit.
    """

    left: PlanNode
    right: PlanNode
    kind: JoinKind
    on: tuple[tuple[Expression, Expression], ...] = ()

    @property
    def stability(self) -> int | None:
        """The product of what a person owns on both sides, where that is bounded."""
        left, right = self.left.stability, self.right.stability
        return None if left is None or right is None else left * max(right, 1)

    @property
    def privacy_id(self) -> str | None:
        """The person of both."""
        return self.left.privacy_id

    @property
    def inputs(self) -> tuple[PlanNode, ...]:
        return (self.left, self.right)

    def label(self) -> str:
        """That it keeps the unit."""
        more = f" and {len(self.on)} more columns" if self.on else ""
        return f"{self.kind.value.lower()} on the person{more}"


@dataclass(frozen=True)
class Output:
    """A column that a step computes: its unique name, what is known of it."""

    name: str
    domain: ColumnDomain


@dataclass(frozen=True)
class UnionAll(PlanNode):
    """All rows of several branches, each giving the expressions of the common columns."""

    prefix: str
    branches: tuple[tuple[PlanNode, tuple[Expression, ...]], ...]
    outputs: tuple[Output, ...]

    @property
    def stability(self) -> int | None:
        """The sum of the branches."""
        parts = [rows.stability for rows, _ in self.branches]
        bounded = [part for part in parts if part is not None]
        return sum(bounded) if len(bounded) == len(parts) else None

    @property
    def privacy_id(self) -> str | None:
        """Present where every branch has one."""
        owned = all(rows.privacy_id for rows, _ in self.branches)
        return f"{self.prefix}!" if owned else None

    @property
    def inputs(self) -> tuple[PlanNode, ...]:
        return tuple(rows for rows, _ in self.branches)

    def label(self) -> str:
        return f"union all of {len(self.branches)}"


@dataclass(frozen=True)
class Distinct(PlanNode):
    """Each combination of values once. Rows no longer belong to one person."""

    prefix: str
    rows: PlanNode
    expressions: tuple[Expression, ...]
    outputs: tuple[Output, ...]

    @property
    def stability(self) -> int | None:
        """That of the rows before: one row fewer removes one combination at most."""
        return self.rows.stability

    @property
    def privacy_id(self) -> str | None:
        """None: several people may share a combination."""
        return None

    @property
    def inputs(self) -> tuple[PlanNode, ...]:
        return (self.rows,)

    def label(self) -> str:
        return "distinct"


def owned_inputs(rows: PlanNode) -> tuple[PlanNode, ...]:
    """The inputs whose identifier is that of every row: not the right side of a LEFT JOIN."""
    if isinstance(rows, JoinedPeople):
        return rows.inputs if rows.kind is JoinKind.INNER else rows.inputs[:1]
    return tuple(
        below for below in rows.inputs if rows.privacy_id and below.privacy_id == rows.privacy_id
    )


def identifies(column: str, rows: PlanNode) -> bool:
    """Whether a column holds, in every row, the identifier of the person whose row it is."""
    if isinstance(rows, Scan):
        direct = rows.identifier is not None and rows.route is None
        return direct and column == rows.column(rows.identifier or "")
    if column == rows.person:
        return True
    return any(identifies(column, below) for below in owned_inputs(rows))


def field_of(column: str, rows: PlanNode) -> tuple[Scan, Field] | None:
    """The table and field that a unique name stands for; None for computed columns."""
    for scan in scans(rows):
        field = scan.field(column)
        if field is not None:
            return scan, field
    return None


def declared_field(column: str, rows: PlanNode) -> Field | None:
    """The field alone, also of columns that steps make and that were declared.

    Keys of people are such, which are repeated under names of their own, and elements of texts.
    """
    found = field_of(column, rows)
    if found is not None:
        return found[1]
    for name, behind in rows.repeated:
        if name == column and isinstance(behind, Column):
            return declared_field(behind.name, rows)
    below = (declared_field(column, each) for each in rows.inputs)
    return rows.made_field(column) or next(filter(None, below), None)


def upwards(rows: PlanNode) -> list[PlanNode]:
    """The steps of a plan, those below before those above, each as often as it stands there."""
    found = [rows]
    for step in found:  # it grows meanwhile
        found += step.inputs
    return found[::-1]


def scans(rows: PlanNode) -> list[Scan]:
    """The tables that a plan reads, from left to right."""
    found, waiting = list[Scan](), [rows]
    while waiting:
        step = waiting.pop()
        if isinstance(step, Scan):
            found.append(step)
        else:
            waiting.extend(reversed(step.inputs))
    return found


def row_columns(rows: PlanNode) -> dict[str, DataType]:
    """The columns that tell a person's rows apart, as far as rows still have them."""
    named = [scan.column(scan.row) for scan in scans(rows) if scan.row is not None]
    kept = columns_of(rows) if named else {}
    return {name: kept[name] for name in named if name in kept}


def columns_of(rows: PlanNode) -> dict[str, DataType]:
    """The columns that rows have, owners apart: those a step computes, or all that came below."""
    if isinstance(rows, Scan):
        return {rows.column(name): field.domain.kind for name, field in rows.fields.items()}
    if rows.computed is None:
        found = {name: kind for below in rows.inputs for name, kind in columns_of(below).items()}
        return found | {output.name: output.domain.kind for output in rows.added}
    return {output.name: output.domain.kind for output in rows.computed}
