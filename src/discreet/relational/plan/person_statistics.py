"""Statistics of one person's rows: spread, middle, most frequent value, any or all true.

Each is a function of the multiset of a person's bounded rows. Spreads are computed from exact sums
of whole steps, centred on the middle of the bounds, of which numbers and squares fit 63 bits; what
follows are single correctly rounded operations. Ties are broken by the value itself.

Source: contract, "Bounding inside the engine", "Numbers". Proof: ``proofs/joins.md``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from discreet.core.errors import InvalidParameter
from discreet.relational.compile.dialect import Dialect
from discreet.relational.plan.features import Feature, OfColumn, ends, single
from discreet.relational.types.column_domain import ColumnDomain
from discreet.relational.types.data_type import DataType
from discreet.relational.types.expression import Column

_BITS = 30
"""Steps of all rows of a person together are to fit so many bits; their square is exact."""
_LARGEST = 1 << 31


@dataclass(frozen=True)
class SpreadOf(Feature):
    """The variance of the values; ``ddof`` is 1 for a sample, where one value alone has none.

    Values are rounded to steps of ``2**exponent`` first, at most 2**-30 of half the width of the
    bounds for each row of a person.
    """

    argument: Column
    ddof: int

    @property
    def reads(self) -> tuple[Column, ...]:
        """The argument."""
        return (self.argument,)

    def exponent(self, rows: int) -> int:
        """The public grid: so fine that ``rows`` distances from the middle fit their bits."""
        low, high = ends(self.argument)
        width = max(high - low, Fraction(1, 1 << 60))
        least = math.ceil(math.log2(rows * width)) + 1 - _BITS
        return max(least, 0) if self.argument.domain.kind is DataType.INTEGER else least

    def steps(self, rows: int) -> tuple[int, int]:
        """The middle in steps, and the most that a value is away from it."""
        unit = Fraction(2) ** self.exponent(rows)
        low, high = ends(self.argument)
        first, last = math.floor(low / unit), math.ceil(high / unit)
        middle = (first + last) // 2
        farthest = max(last - middle, middle - first)
        if rows * farthest > _LARGEST:
            raise InvalidParameter(
                code="feature_overflows",
                expectation=f"squares of {rows} rows of one person within 63 bits",
                received=rows,
                remedy="Ask for a smaller max_rows.",
            )
        return middle, farthest

    def domain(self, rows: int) -> ColumnDomain:
        """From nothing to the square of half the width; twice that for a sample of two."""
        return ColumnDomain(DataType.DOUBLE, 0.0, self._most(rows), None, declared=True)

    def _most(self, rows: int) -> float:
        _, farthest = self.steps(rows)
        unit = Fraction(2) ** self.exponent(rows)
        return float((farthest * unit) ** 2 * (1 + self.ddof))

    def text(self, dialect: Dialect, rows: int, rank: str) -> str:
        """From the number, the sum and the squares, in exact whole numbers."""
        return dialect.clean_number(f"({self._variance(dialect, rows)})", self.domain(rows))

    def _variance(self, dialect: Dialect, rows: int) -> str:
        whole, real = dialect.types[DataType.INTEGER], dialect.types[DataType.DOUBLE]
        exponent, (middle, _) = self.exponent(rows), self.steps(rows)
        value = dialect.identifier(self.argument.name)
        bounds = self.argument.domain.as_kind(DataType.DOUBLE) if exponent else self.argument.domain
        read = f"CAST({value} AS {real})" if exponent else value
        away = f"({dialect.steps(read, bounds, exponent)} - CAST({middle} AS {whole}))"
        number, total = f"COUNT({value})", f"CAST(SUM({away}) AS {whole})"
        squares = f"CAST(SUM({away} * {away}) AS {whole})"
        above = f"CAST({number} * {squares} - {total} * {total} AS {real})"
        below = f"CAST({number} * ({number} - {self.ddof}) AS {real})"
        below = f"CASE WHEN {number} > {self.ddof} THEN {below} END"
        return f"{above} / {below} * {dialect.real(math.ldexp(1.0, 2 * exponent))}"


class DeviationOf(SpreadOf):
    """The standard deviation: the root of the variance."""

    def domain(self, rows: int) -> ColumnDomain:
        """The root of the largest variance, rounded upward."""
        most = math.nextafter(math.sqrt(self._most(rows)), math.inf)
        return ColumnDomain(DataType.DOUBLE, 0.0, most, None, declared=True)

    def text(self, dialect: Dialect, rows: int, rank: str) -> str:
        """The root of what is not negative."""
        variance = dialect.clean_number(f"({self._variance(dialect, rows)})", super().domain(rows))
        return dialect.clean_number(f"SQRT({variance})", self.domain(rows))


class MiddleOf(OfColumn):
    """The median: the middle value, or the mean of the two in the middle."""

    def domain(self, rows: int) -> ColumnDomain:
        """Between the bounds of a value."""
        low, high = self.argument.domain.low, self.argument.domain.high
        return ColumnDomain(DataType.DOUBLE, low, high, None, declared=True)

    def ranked(self, dialect: Dialect, owner: str, rank: str) -> str | None:
        """Twice the place of a row less the number of values: 1, or 0 and 2, in the middle."""
        value = dialect.identifier(self.argument.name)
        return (
            f"2 * row_number() OVER (PARTITION BY {owner} ORDER BY {value} NULLS LAST) "
            f"- COUNT({value}) OVER (PARTITION BY {owner}) AS {rank}"
        )

    def text(self, dialect: Dialect, rows: int, rank: str) -> str:
        """Half of the lower one and half of the upper one."""
        value = dialect.identifier(self.argument.name)
        half, real = dialect.real(0.5), dialect.types[DataType.DOUBLE]
        inside = f"CASE WHEN {rank} BETWEEN 0 AND 2 THEN {value} END"
        lower, upper = (f"CAST({end}({inside}) AS {real}) * {half}" for end in ("MIN", "MAX"))
        return dialect.clean_number(f"({lower} + {upper})", self.domain(rows))


class MostFrequent(OfColumn):
    """The value that most rows have; of several the first in their order."""

    def domain(self, rows: int) -> ColumnDomain:
        """Those of the argument."""
        return self.argument.domain

    def write_count_window(self, dialect: Dialect, owner: str, rank: str) -> str | None:
        """How many rows have the value of a row; none have NULL."""
        value = dialect.identifier(self.argument.name)
        return f"COUNT({value}) OVER (PARTITION BY {owner}, {value})"

    def ranked(self, dialect: Dialect, owner: str, rank: str) -> str | None:
        """By how many there are, then by value."""
        value = dialect.identifier(self.argument.name)
        order = f"{rank}n DESC, {value} NULLS LAST"
        return f"row_number() OVER (PARTITION BY {owner} ORDER BY {order}) AS {rank}"

    def text(self, dialect: Dialect, rows: int, rank: str) -> str:
        """The value in the row of rank one."""
        return single(dialect, self.argument, f"{rank} = 1")


class AnyTrue(OfColumn):
    """Whether it is true in some row; NULL where it never has a value."""

    word: ClassVar[str] = "MAX"

    def domain(self, rows: int) -> ColumnDomain:
        """True or false."""
        return ColumnDomain(DataType.BOOLEAN, declared=True)

    def text(self, dialect: Dialect, rows: int, rank: str) -> str:
        """The largest or smallest of ones and zeros."""
        value = dialect.identifier(self.argument.name)
        return f"({self.word}(CASE WHEN {value} THEN 1 WHEN NOT {value} THEN 0 END) = 1)"


class AllTrue(AnyTrue):
    """Whether it is false in no row; NULL where it never has a value."""

    word = "MIN"
