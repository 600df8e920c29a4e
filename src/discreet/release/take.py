"""Some rows of a release, in another order; each number keeps the noise it has.

Sorting and cutting act on released values only, so they cost nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeVar

from discreet.core.errors import InvalidParameter
from discreet.release.column import Ends, ReleasedColumn
from discreet.release.formula import (
    Formula,
    GivenValues,
    LinearFormula,
    NoisyMeasure,
    QuotientFormula,
)
from discreet.release.released_table import ReleasedTable

Item = TypeVar("Item")
Table = TypeVar("Table", bound=ReleasedTable)


def take(release: Table, rows: Sequence[int]) -> Table:
    """The release with these rows only, by number from zero, in this order."""
    order = [int(row) for row in rows]
    if len(set(order)) < len(order) or not all(0 <= row < len(release) for row in order):
        raise InvalidParameter(
            code="rows_unknown",
            expectation=f"row numbers from 0 to {len(release) - 1}, each at most once",
            received=order[:20],
            remedy="Sort or filter `range(len(release))`.",
        )
    own = {(each.release, each.name): _measure(each, order) for each in release.measures()}
    return replace(
        release,
        keys={name: _picked(column, order) for name, column in release.keys.items()},
        answers=tuple(_answer(answer, own, order) for answer in release.answers),
    )


def _picked(items: tuple[Item, ...], order: Sequence[int]) -> tuple[Item, ...]:
    return tuple(items[row] for row in order)


def _measure(measure: NoisyMeasure, order: Sequence[int]) -> NoisyMeasure:
    cells = tuple(order) if measure.cells is None else _picked(measure.cells, order)
    return replace(measure, values=_picked(measure.values, order), cells=cells)


def _answer(
    answer: ReleasedColumn, own: dict[tuple[str, str], NoisyMeasure], order: Sequence[int]
) -> ReleasedColumn:
    interval = answer.interval
    if isinstance(interval, Ends):
        interval = Ends(_picked(interval.lower, order), _picked(interval.upper, order))
    return replace(answer, formula=_formula(answer.formula, own, order), interval=interval)


def _formula(
    formula: Formula, own: dict[tuple[str, str], NoisyMeasure], order: Sequence[int]
) -> Formula:
    match formula:
        case GivenValues(values=values):
            return GivenValues(_picked(values, order))
        case LinearFormula():
            return _linear(formula, own)
        case QuotientFormula():
            return replace(
                formula,
                numerator=_linear(formula.numerator, own),
                denominator=_linear(formula.denominator, own),
            )


def _linear(formula: LinearFormula, own: dict[tuple[str, str], NoisyMeasure]) -> LinearFormula:
    terms = tuple((factor, own[each.release, each.name]) for factor, each in formula.terms)
    return replace(formula, terms=terms)
