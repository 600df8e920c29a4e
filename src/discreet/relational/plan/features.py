"""Features: what is computed from each person's own rows before anybody is aggregated.

Contract: a person's rows are bounded to R first, by sampling, so every feature is a
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
from discreet.relational.bounding.person_rows import Bounded
from discreet.relational.compile.compiler import Compiler, step_text
from discreet.relational.compile.dialect import Dialect
from discreet.relational.plan.keys import DiscoveredKeys, KeySet
from discreet.relational.plan.nodes import Filtered, Output, PlanNode
from discreet.relational.types.column_domain import ColumnDomain
from discreet.relational.types.data_type import LARGEST_WHOLE, DataType
from discreet.relational.types.expression import Column, Expression

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

    def write_count_window(self, dialect: Dialect, owner: str, rank: str) -> str | None:
        """A window that :meth:`ranked` reads as ``{rank}n``, where it needs one."""
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
class OfColumn(Feature):
    """A feature of one column."""

    argument: Column

    @property
    def reads(self) -> tuple[Column, ...]:
        return (self.argument,)


class CountedValues(OfColumn):
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


class Added(OfColumn):
    """The sum; NULL without values. Reals are added in whole steps of ``2**exponent``."""

    def exponent(self, rows: int) -> int:
        """The public grid: the largest sum of ``rows`` steps is an exact double."""
        if self.argument.domain.kind is DataType.INTEGER:
            return 0
        low, high = ends(self.argument)
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
        low, high = ends(self.argument)
        return math.floor(low / unit), math.ceil(high / unit)

    def text(self, dialect: Dialect, rows: int, rank: str) -> str:
        """An exact sum of whole steps as a number of its kind, held within its bounds."""
        return self.text_over(dialect, rows, "")

    def text_over(self, dialect: Dialect, rows: int, over: str) -> str:
        """The same over the rows of a window, where ``over`` is one."""
        value = dialect.identifier(self.argument.name)
        total = self._total(dialect, rows, value, over)
        return dialect.clean_number(f"({total})", self.domain(rows))

    def _total(self, dialect: Dialect, rows: int, value: str, over: str) -> str:
        """The sum of the values; NULL without any."""
        exponent, real = self.exponent(rows), self.argument.domain.kind is DataType.DOUBLE
        steps = dialect.steps(value, self.argument.domain, exponent) if real else value
        total = f"CAST(SUM({steps}){over} AS {dialect.types[DataType.INTEGER]})"
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

    def _total(self, dialect: Dialect, rows: int, value: str, over: str) -> str:
        """The sum, divided by the number of values."""
        number = f"CAST(COUNT({value}){over} AS {dialect.types[DataType.DOUBLE]})"
        total = super()._total(dialect, rows, value, over)
        return f"{total} / CASE WHEN {number} > 0 THEN {number} END"


class Least(OfColumn):
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
        return single(dialect, self.argument, chosen)

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

    ``rows`` are bounded to ``limit`` for each person. ``person`` is the column in which the
    person's identifier is seen, computed from ``named``, if any.
    """

    prefix: str
    rows: Bounded
    limit: int
    named: Column | None
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
        return None if self.named is None else f"{self.prefix}.person"

    @property
    def computed(self) -> tuple[Output, ...]:
        """The features, and the identifier."""
        if self.named is None:
            return self.outputs
        return (*self.outputs, Output(f"{self.prefix}.person", self.named.domain))

    @property
    def inputs(self) -> tuple[PlanNode, ...]:
        return (self.rows,)

    def label(self) -> str:
        return f"one row per person, {len(self.features)} features of at most {self.limit} rows"


@dataclass(frozen=True)
class PerPersonAndKey(PerPerson):
    """One row for each person and combination of ``keys`` among the person's rows.

    ``outputs`` are those of the features, then those of the keys; NULL is a key like any other.
    """

    keys: tuple[Column, ...]

    @property
    def stability(self) -> int | None:
        """One for each bounded row at most: combinations of a person are among its own rows."""
        return self.limit

    @property
    def repeated(self) -> tuple[tuple[str, Expression], ...]:
        """The keys."""
        read = dict(zip((o.name for o in self.rows.outputs), self.rows.expressions, strict=True))
        outputs = self.outputs[len(self.features) :]
        return tuple((o.name, read[key.name]) for o, key in zip(outputs, self.keys, strict=True))

    def label(self) -> str:
        return (
            f"one row per person and {len(self.keys)} keys, {len(self.features)} features of at "
            f"most {self.limit} rows"
        )


def one_row_in_each(rows: PlanNode, keys: KeySet | DiscoveredKeys) -> bool:
    """Whether rows differ, for one person, in the keys of every group they may fall into."""
    while isinstance(rows, Filtered):
        rows = rows.rows
    if not isinstance(rows, PerPersonAndKey):
        return False
    blocks = keys.blocks if isinstance(keys, KeySet) else (keys,)
    grouped = {key.name for b in blocks for key in b.expressions if isinstance(key, Column)}
    return {output.name for output in rows.outputs[len(rows.features) :]} <= grouped


@step_text.register
def per_person(rows: PerPerson, compiler: Compiler, needed: frozenset[str]) -> str:
    """The needed features, grouped by the owner, and by the keys where there are any."""
    dialect, name = compiler.dialect, compiler.dialect.identifier
    owner = name(rows.rows.privacy_id or "")
    used = {rows.rows.privacy_id or ""}
    listed = [f"{owner} AS {name(rows.privacy_id or '')}"]
    counts, windows, ranks = list[str](), list[str](), list[str]()
    if rows.named is not None and rows.person in needed:
        used.add(rows.named.name)
        listed.append(f"{single(dialect, rows.named)} AS {name(rows.person or '')}")
    keys = rows.keys if isinstance(rows, PerPersonAndKey) else ()
    # All keys, needed or not: they say what one row is.
    used |= {key.name for key in keys}
    for key, output in zip(keys, rows.outputs[len(rows.features) :], strict=True):
        listed += [f"{name(key.name)} AS {name(output.name)}"] if output.name in needed else []
    by = ", ".join([owner, *(name(key.name) for key in keys)])
    for place, (feature, output) in enumerate(zip(rows.features, rows.outputs, strict=False)):
        if output.name not in needed:
            continue
        used |= {column.name for column in feature.reads}
        counted = feature.write_count_window(dialect, by, f"f{place}")
        counts += [] if counted is None else [f"f{place}n"]
        windows += [] if counted is None else [f"{counted} AS f{place}n"]
        rank = feature.ranked(dialect, by, f"f{place}")
        ranks += [] if rank is None else [rank]
        listed.append(f"{feature.text(dialect, rows.limit, f'f{place}')} AS {name(output.name)}")
    source = f"({compiler.text(rows.rows, frozenset(used))}) AS q"
    every = [name(column) for column in sorted(used)]
    if windows:
        source = f"(SELECT {', '.join([*every, *windows])} FROM {source}) AS q"
    if ranks:
        source = f"(SELECT {', '.join([*every, *counts, *ranks])} FROM {source}) AS q"
    return f"SELECT {', '.join(listed)} FROM {source} GROUP BY {by}"


def single(dialect: Dialect, column: Column, chosen: str = "TRUE") -> str:
    """The one value of the chosen rows; engines differ in whether truth values have a maximum."""
    value = dialect.identifier(column.name)
    if column.domain.kind is not DataType.BOOLEAN:
        return f"MAX(CASE WHEN {chosen} THEN {value} END)"
    number = f"MAX(CASE WHEN {chosen} AND {value} THEN 1 WHEN {chosen} AND NOT {value} THEN 0 END)"
    return f"({number} = 1)"


def ends(argument: Column) -> tuple[Fraction, Fraction]:
    """The public bounds of a column of numbers."""
    low, high = argument.domain.low, argument.domain.high
    assert isinstance(low, int | float)
    assert isinstance(high, int | float)
    return exact(low), exact(high)
