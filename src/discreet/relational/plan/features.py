"""Features: what is computed from each person's own rows before anybody is aggregated.

Contract: a person's rows are bounded to R first, by salted content, so every feature is a
function of at most R rows of one person, with public bounds that follow from R and from those of
its argument. Sums are sums of whole steps and do not depend on the order of rows; the first and
the last row are those by a declared column, ties broken by content.

Source: contract, "Bounding inside the engine", "Numbers"; 004d:F22. Proof:
``proofs/joins.md``.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction

from discreet.core.errors import InvalidParameter
from discreet.core.parameters import exact
from discreet.relational.plan.nodes import Output, Rows
from discreet.relational.types.column_domain import Facts
from discreet.relational.types.data_type import LARGEST_WHOLE, Kind
from discreet.relational.types.expression import Column

_EXACT = 53
"""Whole doubles are exact up to two to this power."""


class Feature(ABC):
    """One number, day or word for each person."""

    @abstractmethod
    def facts(self, rows: int) -> Facts:
        """What is public of it, for at most ``rows`` rows of a person; it may also be NULL."""

    @property
    @abstractmethod
    def reads(self) -> tuple[Column, ...]:
        """The columns it is computed from."""


@dataclass(frozen=True)
class Counted(Feature):
    """How many rows, or how many in which ``argument`` is not NULL."""

    argument: Column | None = None

    def facts(self, rows: int) -> Facts:
        """From none to all."""
        return Facts(Kind.WHOLE, 0, rows, None, declared=True)

    @property
    def reads(self) -> tuple[Column, ...]:
        """The argument, if any."""
        return () if self.argument is None else (self.argument,)


@dataclass(frozen=True)
class _Of(Feature):
    argument: Column

    @property
    def reads(self) -> tuple[Column, ...]:
        return (self.argument,)


class CountedValues(_Of):
    """How many different values."""

    def facts(self, rows: int) -> Facts:
        """Not more than rows, nor than values there are."""
        values = self.argument.facts.values
        most = rows if values is None else min(rows, len(values))
        return Facts(Kind.WHOLE, 0, most, None, declared=True)


class Added(_Of):
    """The sum; NULL without values. Reals are added in whole steps of ``2**exponent``."""

    def exponent(self, rows: int) -> int:
        """The public grid: the largest sum of ``rows`` steps is an exact double."""
        if self.argument.facts.kind is Kind.WHOLE:
            return 0
        low, high = _ends(self.argument)
        most = rows * max(abs(low), abs(high), Fraction(1, 1 << 60))
        return math.ceil(math.log2(most)) + 2 - _EXACT

    def facts(self, rows: int) -> Facts:
        """At least one value, at most ``rows`` of them."""
        low, high = self.steps(rows)
        least, most = min(low, low * rows), max(high, high * rows)
        real = self.argument.facts.kind is Kind.REAL
        if max(-least, most) > (1 << _EXACT if real else LARGEST_WHOLE):
            raise InvalidParameter(
                code="feature_overflows",
                expectation=f"sums of {rows} rows of one person within 63 bits",
                received=(least, most),
                remedy="Declare narrower bounds, or a smaller max_rows.",
            )
        if not real:
            return Facts(Kind.WHOLE, least, most, None, declared=True)
        unit = Fraction(2) ** self.exponent(rows)
        return Facts(Kind.REAL, float(least * unit), float(most * unit), None, declared=True)

    def steps(self, rows: int) -> tuple[int, int]:
        """The bounds of one value in steps, rounded outward."""
        unit = Fraction(2) ** self.exponent(rows)
        low, high = _ends(self.argument)
        return math.floor(low / unit), math.ceil(high / unit)


class Averaged(Added):
    """The mean of the values: their exact sum over their number."""

    def facts(self, rows: int) -> Facts:
        """Between the bounds of one value, as rounded to the grid."""
        super().facts(rows)
        unit = Fraction(2) ** self.exponent(rows)
        low, high = self.steps(rows)
        return Facts(Kind.REAL, float(low * unit), float(high * unit), None, declared=True)


class Least(_Of):
    """The smallest value."""

    def facts(self, rows: int) -> Facts:
        """Those of the argument."""
        return self.argument.facts


class Greatest(Least):
    """The largest value."""


@dataclass(frozen=True)
class Earliest(Feature):
    """``argument`` in the first row by ``order``, then by ``argument``.

    Rows in which ``order`` is NULL are left out.
    """

    argument: Column
    order: Column

    def facts(self, rows: int) -> Facts:
        """Those of the argument."""
        return self.argument.facts

    @property
    def reads(self) -> tuple[Column, ...]:
        """The argument and the order."""
        return (self.argument, self.order)


class Latest(Earliest):
    """``argument`` in the last row by ``order``, then by ``argument``."""


@dataclass(frozen=True)
class PerPerson(Rows):
    """One row for each person who has any, with features of this person's rows.

    ``rows`` are bounded to ``limit`` for each person. ``identifier`` is the column in which the
    person's identifier is seen, computed from ``named``.
    """

    prefix: str
    rows: Rows
    limit: int
    named: Column
    features: tuple[Feature, ...]
    outputs: tuple[Output, ...]

    @property
    def changed(self) -> int | None:
        """One: the person's own row; nobody else's depends on it."""
        return 1

    @property
    def owner(self) -> str | None:
        return f"{self.prefix}!"

    @property
    def person(self) -> str | None:
        """The column that holds the identifier."""
        return f"{self.prefix}.person"

    @property
    def inputs(self) -> tuple[Rows, ...]:
        return (self.rows,)

    def label(self) -> str:
        return f"one row per person, {len(self.features)} features of at most {self.limit} rows"


def _ends(argument: Column) -> tuple[Fraction, Fraction]:
    low, high = argument.facts.low, argument.facts.high
    assert isinstance(low, int | float)
    assert isinstance(high, int | float)
    return exact(low), exact(high)
