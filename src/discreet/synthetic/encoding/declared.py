"""Declarations of columns, such as ``dp.Number(0, 120)``, as columns of synthesis.

A declaration is known by what it states: a list of values, two bounds, two days. So whatever
declares one of these will do, and this package needs none that reads tables.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import Protocol, runtime_checkable

from discreet.core.errors import InvalidParameter
from discreet.core.spelling import did_you_mean
from discreet.synthetic.encoding.category_column import CategoryColumn
from discreet.synthetic.encoding.day_column import DayColumn
from discreet.synthetic.encoding.encoded_column import EncodedColumn
from discreet.synthetic.encoding.number_column import BINS, NumberColumn, PrivateBins


@runtime_checkable
class ListsValues(Protocol):
    """States a list of values, as ``dp.Category`` does."""

    values: tuple[object, ...]


@runtime_checkable
class HasBounds(Protocol):
    """States two bounds, as ``dp.Number`` and ``dp.Integer`` do."""

    low: float
    high: float


@runtime_checkable
class HasSteps(HasBounds, Protocol):
    """States bounds of reals and a step, as ``dp.Number`` does."""

    step: float | None


@runtime_checkable
class HasDays(Protocol):
    """States two days, as ``dp.Dates`` does."""

    first: object
    last: object


class _Enumerates(Protocol):
    def enumerated(self) -> Iterable[object] | None: ...


@runtime_checkable
class HasDomain(Protocol):
    """Has a domain of few values, as ``dp.Boolean`` does."""

    def domain(self) -> _Enumerates:
        """What values there can be."""


def column_of(
    name: str, declared: object, *, bins: int | PrivateBins = BINS, whole: bool | None = None
) -> EncodedColumn:
    """The column of a declaration; ``whole`` says whether a number is stored as a whole one."""
    if isinstance(declared, EncodedColumn):
        return declared
    if isinstance(declared, ListsValues):
        return CategoryColumn(declared.values)
    if isinstance(declared, HasBounds):
        is_whole = not isinstance(declared, HasSteps) if whole is None else whole
        return NumberColumn.between(declared.low, declared.high, bins=bins, whole=is_whole)
    if isinstance(declared, HasDays):
        return DayColumn.between(declared.first, declared.last, bins=bins)  # type: ignore[arg-type]
    try:
        listed = declared.domain().enumerated() if isinstance(declared, HasDomain) else None
    except TypeError:  # one whose domain depends on how it is stored
        listed = None
    if listed is not None:
        return CategoryColumn(listed)
    raise InvalidParameter(
        code="not_a_column",
        expectation=f"a column with public bounds or values for {name!r}",
        received=type(declared).__name__,
        remedy="Declare dp.Category, dp.Number, dp.Integer, dp.Boolean or dp.Dates, pass a column "
        "of dp.synthetic, or leave it out.",
    )


def without_missing(
    columns: Mapping[str, EncodedColumn], names: Iterable[str], *, known: Collection[str] = ()
) -> dict[str, EncodedColumn]:
    """The same columns, those that are named without a cell for missing values.

    A row without a value there lies in no cell, and is left out: a fixed rule, for each row by
    itself. ``known`` are names of columns that may be named though they are not synthesised.
    """
    if isinstance(names, str):
        raise InvalidParameter(
            code="attribute_names",
            expectation="a list of columns",
            received=names,
            remedy=f'Write never_missing=["{names}"].',
        )
    found = dict(columns)
    for name in names:
        if name in found:
            found[name] = _complete(found[name])
        elif name not in known:
            raise InvalidParameter(
                code="column_unknown",
                expectation=f"columns that are synthesised: {list(columns)}",
                received=name,
                remedy=did_you_mean(name, columns, "Check the spelling."),
            )
    return found


def _complete(column: EncodedColumn) -> EncodedColumn:
    match column:
        case CategoryColumn():
            return CategoryColumn(column.values, missing=False)
        case NumberColumn():
            return replace(column, missing=False)
        case DayColumn():
            return replace(column, numbers=replace(column.numbers, missing=False))
    return column  # generated, or one's own, which says itself what it does
