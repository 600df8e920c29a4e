"""The universe of records: named attributes with finitely many public values each.

A record lies in one cell. Cells are numbered in row-major order of the attributes. A universe is
only a description; nothing of its size is ever allocated here.

Source: 000a:A12; 004b:A1.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property

from discreet.core.domain import Categories, Record
from discreet.core.errors import InvalidParameter

LARGEST = 1 << 24
"""Cells that fit into memory as one vector, with room for several of them."""


@dataclass(frozen=True)
class Attribute:
    """A named attribute and its values, in order where they have one.

    Assumptions: the values are public, finitely many and different; they are never read off the
    data.

    Guarantee: refused if they are not, when it is made.

    Source: 000a:A12.
    """

    name: str
    values: tuple[object, ...]

    def __post_init__(self) -> None:
        """Refuse an empty list of values and repeated ones."""
        given: object = self.values
        if isinstance(given, str) or not isinstance(given, Iterable):
            raise _no_values(self.name, type(given).__name__)
        object.__setattr__(self, "values", tuple(self.values))
        try:
            different = len(set(self.values))
        except TypeError:  # lists, say
            raise _no_values(self.name, "values that cannot be told apart by hash") from None
        if not self.name or not self.values or different < len(self.values):
            raise _no_values(self.name, len(self.values))

    @property
    def size(self) -> int:
        """How many values there are."""
        return len(self.values)


@dataclass(frozen=True)
class Universe:
    """A product of attributes.

    >>> u = Universe.of(ward=["A", "B", "C"], age=range(10))
    >>> u.size, u.shape
    (30, (3, 10))

    Assumptions: attributes are public and have different names.

    Guarantee: every record lies in exactly one cell; nothing of the universe's size is allocated.

    Source: 000a:A12.
    """

    attributes: tuple[Attribute, ...]

    def __post_init__(self) -> None:
        """Refuse names that are not distinct."""
        if not self.attributes or len(set(self.names)) < len(self.attributes):
            raise InvalidParameter(
                code="attribute_names",
                expectation="at least one attribute, each with a name of its own",
                received=self.names,
                remedy="Rename the attributes.",
            )

    @classmethod
    def of(cls, **attributes: Iterable[object]) -> Universe:
        """A universe from names and values."""
        return cls(tuple(Attribute(name, values) for name, values in attributes.items()))  # type: ignore[arg-type]

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The attributes' names, in order."""
        return tuple(attribute.name for attribute in self.attributes)

    @cached_property
    def shape(self) -> tuple[int, ...]:
        """How many values each attribute has."""
        return tuple(attribute.size for attribute in self.attributes)

    @cached_property
    def size(self) -> int:
        """How many cells there are."""
        return math.prod(self.shape)

    @cached_property
    def domain(self) -> Record:
        """Records with these attributes, as the calculus describes them."""
        return Record.of({each.name: Categories(each.values) for each in self.attributes})

    def place(self, name: str) -> int:
        """The position of an attribute."""
        if name not in self.names:
            raise InvalidParameter(
                code="attribute_unknown",
                expectation=f"one of the attributes {list(self.names)}",
                received=name,
                remedy=_nearest(name, self.names),
            )
        return self.names.index(name)

    def require_explicit(self, *, method: str) -> None:
        """Refuse a method that needs one number per cell where there are too many cells."""
        if self.size > LARGEST:
            raise InvalidParameter(
                code="universe_too_large",
                expectation=f"at most {LARGEST} cells for {method}",
                received=self.size,
                remedy="Use marginals with a product strategy, fewer attributes, or coarser bins.",
            )


def _no_values(name: str, received: object) -> InvalidParameter:
    return InvalidParameter(
        code="attribute_values",
        expectation="a name, and a list of at least one value, each of them once",
        received=(name, received),
        remedy='Write Attribute("ward", ("A", "B")), or Universe.of(ward=["A", "B"]).',
    )


def _nearest(name: object, names: tuple[str, ...]) -> str:
    if not isinstance(name, str):
        return "Pass each name by itself, as text."
    close = get_close_matches(name, names, n=1)
    return f"Did you mean {close[0]}?" if close else "Check the spelling."
