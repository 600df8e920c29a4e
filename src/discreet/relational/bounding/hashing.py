"""Salted hashes of content: what decides which groups, keys and rows are kept.

The native hash of an engine is its fastest; the portable one gives the same order on every
engine, so that the very same rows are kept. Both are functions of content and salt alone, and an
order by them breaks ties by the content itself: no tie is left that matters.

Source: contract, "Bounding inside the engine". Proof: ``proofs/relational.md``,
``proofs/engines.md``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from discreet.relational.compile.dialect import Dialect, ordered
from discreet.relational.functions.text import LENGTH
from discreet.relational.types.data_type import DataType


@dataclass(frozen=True)
class Content:
    """Text of a value in the universe of its kind."""

    text: str
    kind: DataType

    def spelled(self, dialect: Dialect) -> str:
        """The value as text: equal on every engine for equal values."""
        if self.kind is DataType.TEXT:
            return self.text
        if self.kind is DataType.DOUBLE:
            return dialect.on_grid(self.text)
        return dialect.cast(self.text, self.kind, DataType.TEXT)


@dataclass(frozen=True)
class Identifier:
    """Text of a person's identifier, and the type in which it is stored: it was not cleaned."""

    text: str
    stored: str

    def spelled(self, dialect: Dialect) -> str:
        """The identifier as text: equal for equal identifiers, and no stored value can fail."""
        return dialect.spelled(self.text, self.stored)


Hashed: TypeAlias = Content | Identifier


class Hashing(ABC):
    """A way to shuffle rows."""

    @abstractmethod
    def write(self, dialect: Dialect, contents: Sequence[Hashed], salt: int) -> str:
        """Text to order by, which depends on all contents and on the salt."""

    @abstractmethod
    def number(self, dialect: Dialect, contents: Sequence[Hashed], salt: int) -> str:
        """The same as a whole number from 0 to 2**60 - 1."""


@dataclass(frozen=True)
class Native(Hashing):
    """The engine's own hash."""

    def write(self, dialect: Dialect, contents: Sequence[Hashed], salt: int) -> str:
        """As the dialect has it."""
        return dialect.hash([content.text for content in contents], salt)

    def number(self, dialect: Dialect, contents: Sequence[Hashed], salt: int) -> str:
        """Sixty bits of it."""
        return dialect.hash_number(self.write(dialect, contents, salt))


@dataclass(frozen=True)
class Portable(Hashing):
    """SHA-256 of the salt and of each value's text with its length; ``-`` stands for NULL."""

    def write(self, dialect: Dialect, contents: Sequence[Hashed], salt: int) -> str:
        """Equal on every engine for equal values; both zeros are one value."""
        parts = [dialect.text(f"{salt};"), *(_spelled(dialect, content) for content in contents)]
        return dialect.digest(" || ".join(parts))

    def number(self, dialect: Dialect, contents: Sequence[Hashed], salt: int) -> str:
        """The first fifteen digits to the base of sixteen."""
        return dialect.digest_number(self.write(dialect, contents, salt))


NATIVE = Native()
PORTABLE = Portable()


@dataclass(frozen=True)
class Shuffle:
    """The order of rows for one query: by what hash, in whose words, under which salt."""

    hashing: Hashing
    dialect: Dialect
    salt: int

    def hash(self, contents: Sequence[Hashed]) -> str:
        """What rows are ordered by, first."""
        return self.hashing.write(self.dialect, contents, self.salt)

    def number(self, contents: Sequence[Hashed]) -> str:
        """Where a systematic sample begins."""
        return self.hashing.number(self.dialect, contents, self.salt)

    def order(self, contents: Sequence[Content], owner: Hashed) -> str:
        """Salted hash of the content, then the content: text for ORDER BY."""
        return ordered([self.hash([owner, *contents]), *(content.text for content in contents)])


def first_rows(
    inside: str, columns: str, by: str, order: str, kept: str, *, rank: str = "k"
) -> str:
    """The rows of ``inside`` whose ``rank`` within ``by`` makes the condition ``kept`` true."""
    return (
        f"SELECT {columns} FROM (SELECT {columns}, row_number() OVER (PARTITION BY {by} "
        f"ORDER BY {order}) AS {rank} FROM ({inside}) AS q) AS q WHERE {kept}"
    )


def _spelled(dialect: Dialect, content: Hashed) -> str:
    text = content.spelled(dialect)
    template = dialect.templates[LENGTH.name]
    assert isinstance(template, str)
    length = dialect.cast(template.format(text), DataType.INTEGER, DataType.TEXT)
    return f"COALESCE({length} || {dialect.text(':')} || {text}, {dialect.text('-')})"
