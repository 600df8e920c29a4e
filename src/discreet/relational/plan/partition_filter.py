"""What is kept of a table in one part of it: the rows of one part, of people kept in it.

Each row of the table falls into one part, or into none. Where one person's rows may fall into
several parts, a rule keeps the person in at most k of them. Which ones is a function of this
person's rows and of a salt that is fixed for the whole partition: with a salt of its own for every
question, a person could be in another part each time.

Source: contract, "Units and neighbours", "Bounding inside the engine". Proof:
``proofs/sharing.md``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

from discreet.relational.plan.nodes import Rows
from discreet.relational.types.expression import Expression


@dataclass(frozen=True)
class Keeping(ABC):
    """In which of the parts that a person's rows fall into the person is kept."""

    @property
    @abstractmethod
    def at_most(self) -> int | None:
        """The most parts for one person; None where nothing is cut."""

    @abstractmethod
    def label(self) -> str:
        """A few words for a reader."""


@dataclass(frozen=True)
class EveryPart(Keeping):
    """In all of them: rows are units, or there are no more parts than a person may be in."""

    @property
    def at_most(self) -> int | None:
        """Nothing is cut."""
        return None

    def label(self) -> str:
        return ""


@dataclass(frozen=True)
class SomeParts(Keeping):
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
class FirstParts(Keeping):
    """In the ``limit`` earliest: later rows never displace earlier ones."""

    limit: int

    @property
    def at_most(self) -> int | None:
        return self.limit

    def label(self) -> str:
        return f" (each person in the first {self.limit} of their parts)"


@dataclass(frozen=True)
class Kept(Rows):
    """The rows of one part. ``part`` is computed from cleaned columns; NULL is a part if listed.

    Stability: rows of a person are kept or dropped by that person's rows alone.
    """

    rows: Rows
    part: Expression
    value: object
    keeping: Keeping

    @property
    def changed(self) -> int | None:
        """As below: what one unit owns is kept or dropped by itself."""
        return self.rows.changed

    @property
    def owner(self) -> str | None:
        return self.rows.owner

    @property
    def inputs(self) -> tuple[Rows, ...]:
        return (self.rows,)

    def label(self) -> str:
        return f"part {self.value!s}{self.keeping.label()}"
