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
from typing import ClassVar

from discreet.core.errors import InvalidParameter
from discreet.core.parameters import exact
from discreet.relational.compile.compiler import Compiler, step_text
from discreet.relational.compile.dialect import Dialect
from discreet.relational.plan.nodes import Output, PlanNode
from discreet.relational.types.column_domain import ColumnDomain
from discreet.relational.types.data_type import LARGEST_WHOLE, DataType
from discreet.relational.types.expression import Column

_EXACT = 53
"""Whole doubles are exact up to two to this power."""


class Feature(ABC):
    """One number, day or word for each person."""

    @abstractmethod
    def domain(self, rows: int) -> ColumnDomain:
        """What is public of it, for at most ``rows`` rows of a person; it may also be NULL."""

    @property
    @abstractmethod
    def reads(self) -> tuple[Column, ...]:
        """The columns it is computed from."""

    @abstractmethod
    def text(self, dialect: Dialect, rows: int, rank: str) -> str:
        """An aggregate of a person's rows; ``rank`` names what :meth:`ranked` made."""

    def ranked(self, dialect: Dialect, owner: str, rank: str) -> str | None:
        """A column that numbers the rows of each owner, where the feature needs one."""
        return None


@dataclass(frozen=True)
class CountedRows(Feature):
    """How many rows, or how many in which ``argument`` is not NULL."""

    argument: Column | None = None

    def domain(self, rows: int) -> ColumnDomain:
        """From none to all."""
        return ColumnDomain(DataType.INTEGER, 0, rows, None, declared=True)

    @property
    def reads(self) -> tuple[Column, ...]:
        """The argument, if any."""
        return () if self.argument is None else (self.argument,)

    def text(self, dialect: Dialect, rows: int, rank: str) -> str:
        """COUNT."""
        counted = "*" if self.argument is None else dialect.identifier(self.argument.name)
        return f"CAST(COUNT({counted}) AS {dialect.types[DataType.INTEGER]})"


@dataclass(frozen=True)
class _Of(Feature):
    argument: Column

    @property
    def reads(self) -> tuple[Column, ...]:
        return (self.argument,)


class CountedValues(_Of):
    """How many different values."""

    def domain(self, rows: int) -> ColumnDomain:
        """Not more than rows, nor than values there are."""
        values = self.argument.domain.values
        most = rows if values is None else min(rows, len(values))
        return ColumnDomain(DataType.INTEGER, 0, most, None, declared=True)

    def text(self, dialect: Dialect, rows: int, rank: str) -> str:
        """COUNT(DISTINCT)."""
        counted = f"DISTINCT {dialect.identifier(self.argument.name)}"
        return f"CAST(COUNT({counted}) AS {dialect.types[DataType.INTEGER]})"


class Added(_Of):
    """The sum; NULL without values. Reals are added in whole steps of ``2**exponent``."""

    def exponent(self, rows: int) -> int:
        """The public grid: the largest sum of ``rows`` steps is an exact double."""
        if self.argument.domain.kind is DataType.INTEGER:
            return 0
        low, high = _ends(self.argument)
        most = rows * max(abs(low), abs(high), Fraction(1, 1 << 60))
        return math.ceil(math.log2(most)) + 2 - _EXACT

    def domain(self, rows: int) -> ColumnDomain:
        """At least one value, at most ``rows`` of them."""
        low, high = self.steps(rows)
        least, most = min(low, low * rows), max(high, high * rows)
        real = self.argument.domain.kind is DataType.DOUBLE
        if max(-least, most) > (1 << _EXACT if real else LARGEST_WHOLE):
            raise InvalidParameter(
                code="feature_overflows",
                expectation=f"sums of {rows} rows of one person within 63 bits",
                received=(least, most),
                remedy="Declare narrower bounds, or a smaller max_rows.",
            )
        if not real:
            return ColumnDomain(DataType.INTEGER, least, most, None, declared=True)
        unit = Fraction(2) ** self.exponent(rows)
        return ColumnDomain(
            DataType.DOUBLE, float(least * unit), float(most * unit), None, declared=True
        )

    def steps(self, rows: int) -> tuple[int, int]:
        """The bounds of one value in steps, rounded outward."""
        unit = Fraction(2) ** self.exponent(rows)
        low, high = _ends(self.argument)
        return math.floor(low / unit), math.ceil(high / unit)

    def text(self, dialect: Dialect, rows: int, rank: str) -> str:
        """An exact sum of whole steps as a number of its kind, held within its bounds."""
        value = dialect.identifier(self.argument.name)
        return dialect.clean_number(f"({self._total(dialect, rows, value)})", self.domain(rows))

    def _total(self, dialect: Dialect, rows: int, value: str) -> str:
        """The sum of the values; NULL without any."""
        exponent, real = self.exponent(rows), self.argument.domain.kind is DataType.DOUBLE
        steps = dialect.steps(value, self.argument.domain, exponent) if real else value
        total = f"CAST(SUM({steps}) AS {dialect.types[DataType.INTEGER]})"
        if self.domain(rows).kind is DataType.DOUBLE:
            # Whole doubles below 2**53 times a power of two: exact.
            factor = dialect.real(math.ldexp(1.0, exponent))
            total = f"CAST({total} AS {dialect.types[DataType.DOUBLE]}) * {factor}"
        return total


class Averaged(Added):
    """The mean of the values: their exact sum over their number."""

    def domain(self, rows: int) -> ColumnDomain:
        """Between the bounds of one value, as rounded to the grid."""
        super().domain(rows)
        unit = Fraction(2) ** self.exponent(rows)
        low, high = self.steps(rows)
        return ColumnDomain(
            DataType.DOUBLE, float(low * unit), float(high * unit), None, declared=True
        )

    def _total(self, dialect: Dialect, rows: int, value: str) -> str:
        """The sum, divided by the number of values."""
        number = f"CAST(COUNT({value}) AS {dialect.types[DataType.DOUBLE]})"
        total = super()._total(dialect, rows, value)
        return f"{total} / CASE WHEN {number} > 0 THEN {number} END"


class Least(_Of):
    """The smallest value."""

    word: ClassVar[str] = "MIN"

    def domain(self, rows: int) -> ColumnDomain:
        """Those of the argument."""
        return self.argument.domain

    def text(self, dialect: Dialect, rows: int, rank: str) -> str:
        """MIN or MAX."""
        return f"{self.word}({dialect.identifier(self.argument.name)})"


class Greatest(Least):
    """The largest value."""

    word = "MAX"


@dataclass(frozen=True)
class Earliest(Feature):
    """``argument`` in the first row by ``order``, then by ``argument``.

    Rows in which ``order`` is NULL are left out.
    """

    argument: Column
    order: Column
    way: ClassVar[str] = ""

    def domain(self, rows: int) -> ColumnDomain:
        """Those of the argument."""
        return self.argument.domain

    @property
    def reads(self) -> tuple[Column, ...]:
        """The argument and the order."""
        return (self.argument, self.order)

    def text(self, dialect: Dialect, rows: int, rank: str) -> str:
        """The value in the row of rank one, if its order is known."""
        chosen = f"{rank} = 1 AND {dialect.identifier(self.order.name)} IS NOT NULL"
        return _single(dialect, self.argument, chosen)

    def ranked(self, dialect: Dialect, owner: str, rank: str) -> str | None:
        """The place of a row among its owner's, by the order and then by the argument itself."""
        terms = (dialect.identifier(column.name) for column in (self.order, self.argument))
        order = ", ".join(f"{term}{self.way} NULLS LAST" for term in terms)
        return f"row_number() OVER (PARTITION BY {owner} ORDER BY {order}) AS {rank}"


class Latest(Earliest):
    """``argument`` in the last row by ``order``, then by ``argument``."""

    way = " DESC"


@dataclass(frozen=True)
class PerPerson(PlanNode):
    """One row for each person who has any, with features of this person's rows.

    ``rows`` are bounded to ``limit`` for each person. ``identifier`` is the column in which the
    person's identifier is seen, computed from ``named``.
    """

    prefix: str
    rows: PlanNode
    limit: int
    named: Column
    features: tuple[Feature, ...]
    outputs: tuple[Output, ...]

    @property
    def stability(self) -> int | None:
        """One: the person's own row; nobody else's depends on it."""
        return 1

    @property
    def privacy_id(self) -> str | None:
        return f"{self.prefix}!"

    @property
    def person(self) -> str | None:
        """The column that holds the identifier."""
        return f"{self.prefix}.person"

    @property
    def computed(self) -> tuple[Output, ...]:
        """The features, and the identifier."""
        return (*self.outputs, Output(f"{self.prefix}.person", self.named.domain))

    @property
    def inputs(self) -> tuple[PlanNode, ...]:
        return (self.rows,)

    def label(self) -> str:
        return f"one row per person, {len(self.features)} features of at most {self.limit} rows"


@step_text.register
def per_person(rows: PerPerson, compiler: Compiler, needed: frozenset[str]) -> str:
    """The needed features, grouped by the owner."""
    dialect, name = compiler.dialect, compiler.dialect.identifier
    owner = name(rows.rows.privacy_id or "")
    used = {rows.rows.privacy_id or ""}
    listed, ranks = [f"{owner} AS {name(rows.privacy_id or '')}"], list[str]()
    if rows.person in needed:
        used.add(rows.named.name)
        listed.append(f"{_single(dialect, rows.named)} AS {name(rows.person or '')}")
    for place, (feature, output) in enumerate(zip(rows.features, rows.outputs, strict=True)):
        if output.name not in needed:
            continue
        used |= {column.name for column in feature.reads}
        rank = feature.ranked(dialect, owner, f"f{place}")
        ranks += [] if rank is None else [rank]
        listed.append(f"{feature.text(dialect, rows.limit, f'f{place}')} AS {name(output.name)}")
    source = f"({compiler.text(rows.rows, frozenset(used))}) AS q"
    if ranks:
        every = [name(column) for column in sorted(used)]
        source = f"(SELECT {', '.join([*every, *ranks])} FROM {source}) AS q"
    return f"SELECT {', '.join(listed)} FROM {source} GROUP BY {owner}"


def _single(dialect: Dialect, column: Column, chosen: str = "TRUE") -> str:
    """The one value of the chosen rows; engines differ in whether truth values have a maximum."""
    value = dialect.identifier(column.name)
    if column.domain.kind is not DataType.BOOLEAN:
        return f"MAX(CASE WHEN {chosen} THEN {value} END)"
    number = f"MAX(CASE WHEN {chosen} AND {value} THEN 1 WHEN {chosen} AND NOT {value} THEN 0 END)"
    return f"({number} = 1)"


def _ends(argument: Column) -> tuple[Fraction, Fraction]:
    low, high = argument.domain.low, argument.domain.high
    assert isinstance(low, int | float)
    assert isinstance(high, int | float)
    return exact(low), exact(high)
