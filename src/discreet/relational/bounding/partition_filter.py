"""One part of a table: the rows that fall into it, of the people assigned to it.

Each row of the table falls into one part, or into none. Where one person's rows may fall into
several parts, a rule keeps the person in at most k of them. Which ones is a function of this
person's rows and of a salt that is fixed for the whole partition: with a salt of its own for every
question, a person could be in another part each time. The hash is the portable one whatever the
engine uses elsewhere: all questions to a partition, on whatever engine and version, must keep a
person in the same parts.

Source: contract, "Units and neighbours", "Bounding inside the engine". Proof:
``proofs/sharing.md``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

from discreet.relational.bounding.hashing import PORTABLE, Content
from discreet.relational.compile.compiler import Compiler, privacy_id, step_text
from discreet.relational.plan.nodes import PlanNode
from discreet.relational.types.expression import Expression, columns


@dataclass(frozen=True)
class Assignment(ABC):
    """In which of the parts that a person's rows fall into the person is kept."""

    @property
    @abstractmethod
    def at_most(self) -> int | None:
        """The most parts for one person; None where nothing is cut."""

    @abstractmethod
    def label(self) -> str:
        """A few words for a reader."""


@dataclass(frozen=True)
class EveryPart(Assignment):
    """In all of them: rows are units, or there are no more parts than a person may be in."""

    @property
    def at_most(self) -> int | None:
        """Nothing is cut."""
        return None

    def label(self) -> str:
        return ""


@dataclass(frozen=True)
class SomeParts(Assignment):
    """In ``limit`` of them, the first by a hash of person and part under one salt for all."""

    limit: int
    salt: int

    @property
    def at_most(self) -> int | None:
        return self.limit

    def label(self) -> str:
        """The limit; the salt is not for readers."""
        return f" (each person in at most {self.limit} of the parts, by salted content)"


@dataclass(frozen=True)
class FirstParts(Assignment):
    """In the ``limit`` earliest: later rows never displace earlier ones."""

    limit: int

    @property
    def at_most(self) -> int | None:
        return self.limit

    def label(self) -> str:
        return f" (each person in the first {self.limit} of their parts)"


@dataclass(frozen=True)
class PartitionFilter(PlanNode):
    """The rows of one part. ``part`` is computed from cleaned columns; NULL is a part if listed.

    Stability: rows of a person are kept or dropped by that person's rows alone.
    """

    rows: PlanNode
    part: Expression
    value: object
    assignment: Assignment

    @property
    def stability(self) -> int | None:
        """That of the rows before: what one unit owns is kept or dropped by itself."""
        return self.rows.stability

    @property
    def privacy_id(self) -> str | None:
        return self.rows.privacy_id

    @property
    def inputs(self) -> tuple[PlanNode, ...]:
        return (self.rows,)

    def label(self) -> str:
        return f"part {self.value!s}{self.assignment.label()}"


@step_text.register
def filtered(rows: PartitionFilter, compiler: Compiler, needed: frozenset[str]) -> str:
    """The needed columns of the rows in the part; a row without a part is in none."""
    dialect = compiler.dialect
    part, value = dialect.render(rows.part), dialect.literal(rows.value)
    used, who = needed | columns(rows.part), ""
    if rows.assignment.at_most is not None:
        assert rows.privacy_id is not None
        used |= {rows.privacy_id}
        who = f" AND {dialect.identifier(rows.privacy_id)} IN ({_people(compiler, rows, value)})"
    return f"SELECT * FROM ({compiler.text(rows.rows, used)}) AS q WHERE {part} = {value}{who}"


def _people(compiler: Compiler, rows: PartitionFilter, value: str) -> str:
    """Who is kept in the part: people and their parts, each pair once, ranked for each person."""
    dialect, assignment = compiler.dialect, rows.assignment
    assert rows.privacy_id is not None
    owner, part = dialect.identifier(rows.privacy_id), dialect.render(rows.part)
    order = ["p"]
    if isinstance(assignment, SomeParts):
        contents = (privacy_id(rows, owner), Content("p", rows.part.domain.kind))
        order = [PORTABLE.write(dialect, contents, assignment.salt), "p"]
    inside = compiler.text(rows.rows, columns(rows.part) | {rows.privacy_id})
    pairs = f"SELECT DISTINCT {owner}, {part} AS p FROM ({inside}) AS q WHERE {part} IS NOT NULL"
    return (
        f"SELECT {owner} FROM (SELECT {owner}, p, row_number() OVER (PARTITION BY {owner} "
        f"ORDER BY {', '.join(order)}) AS k FROM ({pairs}) AS q) AS q "
        f"WHERE k <= {assignment.at_most} AND p = {value}"
    )
