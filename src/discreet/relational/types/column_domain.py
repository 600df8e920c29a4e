"""What is publicly known of a value before any row is read: its kind, bounds, length and values.

Facts of a column are declared by the owner; facts of an expression follow from those of its
arguments. They hold for every row, so sensitivities may be computed from them.

Numerics: bounds of INTEGER are exact integers. Bounds of DOUBLE hold for the *rounded* result: the
four operations and the square root round monotonically, so they are computed at the ends of the
arguments' intervals with the same rounding; functions of a mathematical library are widened.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta
from typing import Any, TypeAlias

from discreet.core.errors import InvalidParameter
from discreet.relational.types.data_type import (
    FIRST_DATE,
    FIRST_MOMENT,
    LARGEST_REAL,
    LARGEST_WHOLE,
    LAST_DATE,
    LAST_MOMENT,
    TEXT_LIMIT,
    DataType,
)

Bound: TypeAlias = int | float | date | datetime

MAX_VALUES = 100_000
"""The longest list of possible values that is ever enumerated."""


@dataclass(frozen=True)
class ColumnDomain:
    """Public knowledge of a value that may also be NULL.

    Contract: every non-null value lies in [``low``, ``high``] (None: no bound on that side) and
    in ``values`` if that is not None; a text has at most ``length`` letters. ``declared`` says
    that every column below was declared, so the value may be a key or be aggregated. An
    ``untyped`` text is a field of a text file of which nobody said what it is: where a number, a
    day or a truth value is wanted it is read as one, and is NULL where it is none.

    Guarantee: bounds are brought to the type of the kind, and bounds that follow from ``values``
    are filled in. Every text has a finite ``length``, ``TEXT_LIMIT`` at most, and nothing else has
    one.

    >>> ColumnDomain(DataType.INTEGER, values=(3, 1), declared=True).high
    3
    >>> ColumnDomain(DataType.TEXT, values=("A", "it")).length, ColumnDomain(DataType.TEXT).length
    (2, 4096)
    """

    kind: DataType
    low: Any = None
    high: Any = None
    values: tuple[object, ...] | None = None
    declared: bool = False
    length: int | None = None
    untyped: bool = field(default=False, compare=False)

    def __post_init__(self) -> None:
        values = self.values
        if values is None and self.kind is DataType.BOOLEAN:
            values = (False, True)
        if values is not None:
            values = tuple(dict.fromkeys(_in_kind(self.kind, value) for value in values))
        low: Any = None if self.low is None else _bound(self.kind, self.low, up=True)
        high: Any = None if self.high is None else _bound(self.kind, self.high, up=False)
        if values and self.kind.has_bounds:
            ordered: list[Any] = list(values)
            low, high = min(ordered), max(ordered)
        if low is not None and high is not None and low > high:
            raise InvalidParameter(
                code="bounds_crossed",
                expectation="a lower bound that is not above the upper bound",
                received=(self.low, self.high),
                remedy="Swap the bounds.",
            )
        object.__setattr__(self, "low", low)
        object.__setattr__(self, "high", high)
        object.__setattr__(self, "values", values)
        object.__setattr__(self, "length", _length(self.kind, values, self.length))

    @property
    def letters(self) -> int:
        """The most letters of a text; none of anything else."""
        return self.length or 0

    @property
    def bounded(self) -> bool:
        """Whether both bounds are known."""
        return self.low is not None and self.high is not None

    @property
    def empty(self) -> bool:
        """Whether the value is NULL in every row."""
        return self.values == ()

    def as_kind(self, kind: DataType) -> ColumnDomain:
        """Facts after a lossless or rounding promotion: INTEGER to DOUBLE, DATE to TIMESTAMP.

        An always-null value has any kind.
        """
        if kind is self.kind:
            return self
        if self.empty:
            return ColumnDomain(kind, values=(), declared=self.declared)
        return ColumnDomain(
            kind,
            low=self.low,
            high=self.high,
            values=self.values,
            declared=self.declared,
        )

    @property
    def listable(self) -> int | None:
        """How many values are possible; None where they have no finite list.

        >>> ColumnDomain(DataType.INTEGER, 0, 200_000).listable
        200001
        """
        if self.values is not None:
            return len(self.values)
        if self.bounded and self.kind is DataType.INTEGER:
            return int(self.high - self.low) + 1
        if self.bounded and self.kind is DataType.DATE:
            return int((self.high - self.low).days) + 1
        return None

    def enumerated(self, limit: int = MAX_VALUES) -> tuple[object, ...] | None:
        """Every possible value in a fixed order, or None if there are more than ``limit``.

        >>> ColumnDomain(DataType.INTEGER, 0, 3).enumerated()
        (0, 1, 2, 3)
        """
        if self.values is not None:
            return self.values if len(self.values) <= limit else None
        if not self.bounded:
            return None
        if self.kind is DataType.INTEGER and self.high - self.low < limit:
            return tuple(range(self.low, self.high + 1))
        if self.kind is DataType.DATE and (self.high - self.low).days < limit:
            days = (self.high - self.low).days
            return tuple(self.low + timedelta(days=day) for day in range(days + 1))
        return (self.low,) if self.low == self.high else None


def hull(kind: DataType, parts: Iterable[ColumnDomain]) -> ColumnDomain:
    """What is known of a value that is one of ``parts``, all brought to ``kind``."""
    every = [part.as_kind(kind) for part in parts]
    declared = all(part.declared for part in every)
    some = [part for part in every if not part.empty]
    if not some:
        return ColumnDomain(kind, values=(), declared=declared)
    lows, highs = [part.low for part in some], [part.high for part in some]
    values: tuple[object, ...] | None = None
    if all(part.values is not None for part in some):
        values = tuple(value for part in some for value in part.values or ())
    return ColumnDomain(
        kind,
        low=None if None in lows else min(lows),
        high=None if None in highs else max(highs),
        values=values if values is None or len(values) <= MAX_VALUES else None,
        declared=declared,
        length=max(part.letters for part in some),
    )


def require_bounds(domain: ColumnDomain, name: str) -> None:
    """Refuse a value without public bounds; ``name`` is the column or expression as written."""
    if domain.bounded and domain.declared:
        return
    if domain.declared:
        expectation = f"both bounds of {name} to follow from the declared columns"
        remedy = "Divide by what cannot be zero, or bound the result: least(greatest(x, 0), 100)."
    else:
        expectation = f"public bounds for {name}, without which one row could change any sum"
        column = name if name.isidentifier() else "cost"
        what = "it" if name.isidentifier() else "the columns it is computed from"
        remedy = f'Declare {what}: columns={{"{column}": dp.Number(0, 50_000)}}.'
    raise InvalidParameter(code="missing_bound", expectation=expectation, remedy=remedy)


def cleaned(value: object, domain: ColumnDomain) -> object:
    """The value a scan gives for what a table holds: the reference for every engine's cleaning.

    NaN is NULL; numbers are clamped, infinities included; days and moments outside their bounds
    and unlisted categories are NULL; text is cut to its first letters.
    """
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return None
    kept: Any = value
    if domain.kind.has_bounds and domain.values is None:
        low, high = limits(domain)
        kept = low if kept < low else high if kept > high else kept
        if domain.kind.is_calendar and kept != value:
            return None
    kept = _in_kind(domain.kind, kept)
    if domain.kind is DataType.TEXT and domain.values is None:
        kept = kept[: domain.letters]
    return None if domain.values is not None and kept not in domain.values else kept


def limits(domain: ColumnDomain) -> tuple[Any, Any]:
    """The bounds, with the ends of the universe of the kind where there is none."""
    least, most = _UNIVERSE[domain.kind]
    return (
        least if domain.low is None else domain.low,
        most if domain.high is None else domain.high,
    )


_UNIVERSE: dict[DataType, tuple[Bound, Bound]] = {
    DataType.INTEGER: (-LARGEST_WHOLE, LARGEST_WHOLE),
    DataType.DOUBLE: (-LARGEST_REAL, LARGEST_REAL),
    DataType.DATE: (FIRST_DATE, LAST_DATE),
    DataType.TIMESTAMP: (FIRST_MOMENT, LAST_MOMENT),
}


def _bound(kind: DataType, value: Any, *, up: bool) -> Bound:
    match kind:
        case DataType.INTEGER:
            whole: int = math.ceil(value) if up else math.floor(value)
            return max(-LARGEST_WHOLE, min(LARGEST_WHOLE, whole))
        case DataType.DOUBLE:
            return max(-LARGEST_REAL, min(LARGEST_REAL, float(value)))
        case DataType.DATE | DataType.TIMESTAMP:
            return _calendar(kind, value)
        case _:
            raise InvalidParameter(
                code="bounds_not_ordered",
                expectation=f"no bounds for a {kind.value}",
                received=value,
                remedy="List its possible values instead, with dp.Category.",
            )


def _length(kind: DataType, values: tuple[object, ...] | None, claimed: int | None) -> int | None:
    if kind is not DataType.TEXT:
        return None
    if values is not None:
        return max(map(len, map(str, values)), default=0)
    return TEXT_LIMIT if claimed is None else min(claimed, TEXT_LIMIT)


def _in_kind(kind: DataType, value: Any) -> Any:
    if kind is DataType.DOUBLE:
        return float(value)
    return _calendar(kind, value) if kind.is_calendar else value


def _calendar(kind: DataType, value: date | datetime) -> date | datetime:
    if kind is DataType.DATE:
        return value.date() if isinstance(value, datetime) else value
    return value if isinstance(value, datetime) else datetime.combine(value, time.min)
