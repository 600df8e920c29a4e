"""How a released column follows from noisy measures; one formula serves all of its rows.

A :class:`NoisyMeasure` is a column of noisy numbers, each with noise of its own from one law: the
noisy counts, or the noisy sums. A released column is a :class:`LinearFormula` of measures (counts,
sums), a :class:`QuotientFormula` of two such (means, shares), or :class:`GivenValues` (quantiles,
and whatever else has no formula). So a table of a thousand rows states each law once, and the
estimate of a cell is made only when somebody asks for it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np

from discreet.core.errors import InvalidParameter
from discreet.mechanisms.distributions.distribution import Distribution
from discreet.release.draws import ANYWHERE, Atom, Range, Released, shared_noise
from discreet.release.estimate import Estimate, Ratio
from discreet.release.intervals.ratio import ratio_ends

Values: TypeAlias = tuple[Released, ...]
Shown: TypeAlias = tuple[Released | None, ...]


@dataclass(frozen=True)
class NoisyMeasure:
    """A noisy column: for each row one number, with one draw of noise from ``distribution``.

    Contract: draws are independent of each other. ``release`` is the id of the release that drew
    them and ``name`` is the measure's own there; together with a cell they name a draw for ever.
    ``cells`` tells which draw each row has, by default the row's own number; rows with the same
    cell share one draw, as a total does that stands beside every row. Values are whole or real
    throughout; numpy arrays are taken as they are.
    """

    release: str
    name: str
    distribution: Distribution
    values: Values
    cells: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        """Keep plain, finite numbers of one kind."""
        object.__setattr__(self, "values", _numbers(self.name, self.values))
        if self.cells is not None:
            object.__setattr__(self, "cells", tuple(map(int, self.cells)))
            require_lengths({"values": len(self.values), "cells": len(self.cells)})

    def atom(self, row: int) -> Atom:
        """The draw of noise in a row."""
        return Atom(self.release, self.name, row if self.cells is None else self.cells[row])


@dataclass(frozen=True)
class LinearFormula:
    """``constant`` plus a sum of measures, each times a factor.

    Contract: ``within`` is where the truth lies for public reasons: (0, inf) for counts.
    """

    terms: tuple[tuple[Released, NoisyMeasure], ...]
    constant: Released = 0
    within: Range = ANYWHERE

    def __post_init__(self) -> None:
        """Refuse a sum of nothing, a measure met twice, and lengths that differ."""
        names = {(measure.release, measure.name) for _, measure in self.terms}
        if not names or len(names) < len(self.terms):
            raise InvalidParameter(
                code="measures_not_distinct",
                expectation="at least one measure, and each of them once",
                received=[measure.name for _, measure in self.terms],
                remedy="Add up the factors of a measure; without a formula, use GivenValues.",
            )
        require_lengths({measure.name: len(measure.values) for _, measure in self.terms})

    @cached_property
    def values(self) -> Values:
        """The released numbers, row by row."""
        factor, measure = self.terms[0]
        if len(self.terms) == 1 and factor == 1 and self.constant == 0:
            return measure.values
        columns = [[factor * value for value in measure.values] for factor, measure in self.terms]
        return tuple(sum(row, self.constant) for row in zip(*columns, strict=True))

    def measures(self) -> Iterator[NoisyMeasure]:
        """What it is computed from."""
        return (measure for _, measure in self.terms)

    def estimate(self, row: int) -> Estimate:
        """The number in a row, with its noise."""
        total = Estimate(self.constant, (), (0, 0))
        for factor, measure in self.terms:
            noisy = Estimate(measure.values[row], ((measure.atom(row), 1, measure.distribution),))
            total = total + noisy * factor
        return Estimate(total.value, total.terms, self.within)


@dataclass(frozen=True)
class QuotientFormula:
    """``offset`` plus one linear column divided by another.

    Contract: ``within`` is where the truth lies for public reasons, such as the declared bounds of
    a column whose mean it is. The denominator's own range says which sign it can have.
    """

    numerator: LinearFormula
    denominator: LinearFormula
    offset: float = 0.0
    within: Range = ANYWHERE

    def __post_init__(self) -> None:
        """Refuse columns of different lengths."""
        lengths = [len(part.terms[0][1].values) for part in (self.numerator, self.denominator)]
        require_lengths(dict(zip(("numerator", "denominator"), lengths, strict=True)))

    @cached_property
    def values(self) -> Shown:
        """The quotients, within range; None where the denominator is no divisor."""
        low, high = self.denominator.within
        above = np.array(self.numerator.values, dtype=float)
        below = np.array(self.denominator.values, dtype=float)
        divides = (below != 0) & ((below > 0) | (low < 0)) & ((below < 0) | (high > 0))
        plain = above / np.where(divides, below, 1.0)
        shown = np.clip(self.offset + plain, *self.within).tolist()
        if divides.all():
            return tuple(shown)
        return tuple(v if held else None for v, held in zip(shown, divides.tolist(), strict=True))

    def measures(self) -> Iterator[NoisyMeasure]:
        """What it is computed from."""
        yield from self.numerator.measures()
        yield from self.denominator.measures()

    def ends(self, confidence: float) -> tuple[Values, Values]:
        """Fieller's intervals, row by row, cut to the range."""
        if not self.values:
            return (), ()
        one = self.estimate(0)  # the factors and laws are those of every row
        lower, upper = ratio_ends(
            self.numerator.values,
            self.denominator.values,
            shared_noise(one.numerator.terms, one.denominator.terms),
            offset=self.offset,
            confidence=confidence,
            within=self.within,
        )
        return tuple(lower), tuple(upper)

    def estimate(self, row: int) -> Ratio:
        """The quotient in a row, with its noise."""
        above, below = self.numerator.estimate(row), self.denominator.estimate(row)
        return Ratio(above, below, self.offset, self.within)


@dataclass(frozen=True)
class GivenValues:
    """Released numbers that are no function of additive noise; None where there is none."""

    values: Shown

    def __post_init__(self) -> None:
        """Keep plain, finite numbers of one kind."""
        given = convert_to_plain_values(self.values)
        numbers = iter(_numbers("values", [value for value in given if value is not None]))
        kept = tuple(None if value is None else next(numbers) for value in given)
        object.__setattr__(self, "values", kept)

    def measures(self) -> Iterator[NoisyMeasure]:
        """Nothing whose noise could be named."""
        return iter(())


Formula: TypeAlias = LinearFormula | QuotientFormula | GivenValues


def require_lengths(lengths: dict[str, int]) -> None:
    """Refuse columns of one table that have different numbers of rows."""
    if len(set(lengths.values())) > 1:
        raise InvalidParameter(
            code="rows_differ",
            expectation="as many rows in every column",
            received=lengths,
            remedy="Give every key, measure and interval one entry for each row.",
        )


def convert_to_plain_values(values: Any) -> Sequence[Any]:
    """The numbers of an array as Python's own; other sequences as they are."""
    plain: Sequence[Any] = values.tolist() if hasattr(values, "tolist") else values
    return plain


def _numbers(name: str, values: Any) -> Values:
    """Plain whole numbers, or plain finite reals."""
    plain = tuple(convert_to_plain_values(values))
    kinds = set(map(type, plain))
    if kinds == {int, float}:
        plain, kinds = tuple(map(float, plain)), {float}
    if not kinds <= {int, float} or (kinds == {float} and not all(map(math.isfinite, plain))):
        raise InvalidParameter(
            code="not_released_numbers",
            expectation=f"finite whole or real numbers in {name}",
            received=sorted(kind.__name__ for kind in kinds),
            remedy="Pass a list of int or of float, or a numpy array of them.",
        )
    return plain
