"""Measures: the exact whole numbers, one per group, that noise is added to.

Every aggregate is computed from a few of them afterwards. A measure knows how far one row can
move it, so its sensitivity follows from how many rows one unit can change.

Source: contract, "Numbers"; modern-data:C2, Q2. Proof: ``proofs/relational.md``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Self, TypeAlias

from discreet.core.errors import InvalidParameter
from discreet.core.parameters import exact
from discreet.relational.types.column_domain import ColumnDomain
from discreet.relational.types.data_type import DataType
from discreet.relational.types.expression import Expression

LARGEST_SUM = 1 << 62
"""Sums of different values are whole numbers of one column."""


class Counting:
    """What measures that count have in common: whole numbers, to which a row adds one at most."""

    whole = True
    exponent = 0

    def bound(self) -> Fraction:
        """The largest contribution of one row."""
        return Fraction(1)

    def steps(self) -> int:
        """The same in steps, which are whole numbers."""
        return 1

    def on_grid(self, scale: Fraction, finest: int = 40) -> Self:
        """The measure itself, whatever the scale of its noise."""
        return self


@dataclass(frozen=True)
class CountRows(Counting):
    """The number of rows, or of those in which ``argument`` is not NULL."""

    argument: Expression | None = None

    @property
    def words(self) -> str:
        """What it is."""
        return "number of rows" if self.argument is None else "number of values"


@dataclass(frozen=True)
class CountPeople(Counting):
    """The number of different people."""

    words = "number of people"


@dataclass(frozen=True)
class CountValues(Counting):
    """The number of different values of ``argument``, cut at ``most`` where they have a list."""

    argument: Expression

    words = "number of different values"

    @property
    def most(self) -> int | None:
        """How many values are possible; the bound of every count, and of what a person changes."""
        values = self.argument.domain.values
        return None if values is None else max(1, len(values))


@dataclass(frozen=True)
class Total:
    """The sum of ``argument`` less ``centre``, over rows in which it is not NULL.

    ``argument`` is clamped to [low, high] once more; contributions are whole numbers of steps
    of ``2**exponent``, which is 1 for whole columns. Clamp and sensitivity read these two numbers
    and nothing else, so what was derived about the argument decides accuracy, never privacy.
    """

    argument: Expression
    low: int | float
    high: int | float
    centre: int | float = 0
    exponent: int = 0

    def __post_init__(self) -> None:
        """Refuse ends that are not finite or that cross."""
        if not (math.isfinite(self.low) and math.isfinite(self.high) and self.low <= self.high):
            raise InvalidParameter(
                code="bounds_crossed",
                expectation="two finite bounds, the lower one not above the upper one",
                received=(self.low, self.high),
                remedy="Bound the argument: SUM(least(greatest(x, 0), 100)).",
            )

    @property
    def words(self) -> str:
        """What it is."""
        return "centred sum" if self.centre else "sum"

    @property
    def whole(self) -> bool:
        """Whether contributions are whole numbers by themselves."""
        return self.argument.domain.kind is DataType.INTEGER

    @property
    def domain(self) -> ColumnDomain:
        """Kind and bounds of the argument, for clamping."""
        return ColumnDomain(self.argument.domain.kind, self.low, self.high, None, declared=True)

    def bound(self) -> Fraction:
        """The largest contribution of one row, either way, in the caller's units."""
        centre = exact(self.centre)
        return max(exact(self.high) - centre, centre - exact(self.low))

    def steps(self) -> int:
        """The same in steps: contributions round to the grid before the centre is taken off."""
        # The ends of the clamp itself: as doubles they may lie beyond whole numbers given for them.
        centre, clamp = self.centre_steps(), self.domain
        return max(self._rounded(clamp.high, 1) - centre, centre - self._rounded(clamp.low, -1))

    def centre_steps(self) -> int:
        """The centre on the grid."""
        return round(exact(self.centre) / Fraction(2) ** self.exponent)

    def on_grid(self, scale: Fraction, finest: int = 40) -> Total:
        """The measure on a grid of 2**-finest of the noise scale, or of at most 2**-30."""
        if self.whole:
            return self
        wanted = _floor_log2(scale) - finest
        # Contributions fit 61 bits.
        least = _floor_log2(max(abs(exact(self.low)), abs(exact(self.high)), scale)) - 60
        if least > wanted + finest - 30:
            raise InvalidParameter(
                code="bounds_too_far",
                expectation="bounds that are not much farther from zero than from each other",
                received=(self.low, self.high),
                remedy="Subtract a constant first: SUM(x - 1000000).",
            )
        return replace(self, exponent=max(wanted, least))

    def _rounded(self, value: int | float, direction: int) -> int:
        """A bound in steps, rounded away from the interval, so that rounding never exceeds it."""
        steps = exact(value) / Fraction(2) ** self.exponent
        return math.ceil(steps) if direction > 0 else math.floor(steps)


@dataclass(frozen=True)
class ValuesTotal:
    """The sum of the different values of ``argument``, each once, less ``centre``.

    ``argument`` is whole and clamped to [low, high] once more. How many rows have a value does not
    matter: a person changes at most as many values as the person has rows, each by its size.
    """

    argument: Expression
    low: int
    high: int
    centre: int = 0

    words = "sum of different values"
    whole = True
    exponent = 0

    def __post_init__(self) -> None:
        """Refuse ends that cross, and sums that might not fit."""
        if self.low > self.high or self.values * self.steps() >= LARGEST_SUM:
            raise InvalidParameter(
                code="bounds_too_far",
                expectation="two bounds of whole numbers between which all add up to 62 bits",
                received=(self.low, self.high),
                remedy="Bound the argument: SUM(DISTINCT least(greatest(x, 0), 1000)).",
            )

    @property
    def values(self) -> int:
        """How many different values there are."""
        return self.high - self.low + 1

    @property
    def domain(self) -> ColumnDomain:
        """Kind and bounds of the argument, for clamping."""
        return ColumnDomain(DataType.INTEGER, self.low, self.high, None, declared=True)

    def bound(self) -> Fraction:
        """The largest contribution of one value, either way."""
        return Fraction(self.steps())

    def steps(self) -> int:
        """The same in steps, which are whole numbers."""
        return max(self.high - self.centre, self.centre - self.low, 1)

    def on_grid(self, scale: Fraction, finest: int = 40) -> Self:
        """The measure itself, whatever the scale of its noise."""
        return self


@dataclass(frozen=True)
class Ranks:
    """How many values of ``argument`` are nearest to each of ``candidates``, evenly spaced.

    Values beyond the last candidate count there, whatever was derived about the argument.
    """

    argument: Expression
    low: int | float
    step: int | float
    size: int

    @property
    def candidates(self) -> tuple[int | float, ...]:
        """The public values from which a quantile is chosen."""
        return tuple(self.low + self.step * place for place in range(self.size))


Linear: TypeAlias = CountRows | CountPeople | CountValues | Total | ValuesTotal
"""Measures to which noise is added."""

Measure: TypeAlias = Linear | Ranks
"""All measures; quantiles are chosen by rank instead."""


def _floor_log2(value: Fraction) -> int:
    exponent = value.numerator.bit_length() - value.denominator.bit_length()
    return exponent if value >= Fraction(2) ** exponent else exponent - 1


def least_size(total: Total | ValuesTotal) -> float:
    """How far from zero every value that is added up lies, by its bounds."""
    return float(max(total.low, -total.high, 0))
