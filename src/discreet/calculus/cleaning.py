"""Cleaning, row by row: clamp to public bounds, and settle what happens to nulls.

NaN becomes None, infinities clamp, and what is not a number becomes None: one rule, so that no
value of the data decides whether a pipeline runs.

Source: contract, "Columns"; 004d:F4, F7. Proof: ``proofs/calculus.md``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from discreet.calculus.adjacency import (
    nullable,
    per_step,
    private_size,
    same_size,
    table,
)
from discreet.calculus.containment import attempt
from discreet.calculus.rows import member
from discreet.calculus.steps import plain
from discreet.calculus.transformation import Transformation
from discreet.core.domain import Domain, Integers, Nullable, Reals
from discreet.core.errors import InvalidParameter
from discreet.core.parameters import Number, finite

if TYPE_CHECKING:
    from discreet.calculus.rows import Table, TableMap
    from discreet.core.space import Space


def clamp_rows(space: Space, *, lower: Number, upper: Number) -> TableMap:
    """Numbers moved into public bounds; everything else becomes None.

    Contract: the records are numbers, or numbers and None. On integers whole bounds are
    required, and the output is integers.
    Guarantee: 1-stable under AddRemove and under ChangeOne, which is kept; the output's records
    lie between the bounds or are None.
    Source: contract, "Columns".

    >>> from discreet.core.domain import Reals, Rows
    >>> from discreet.core.metric import AddRemove
    >>> from discreet.core.space import Space
    >>> ages = clamp_rows(Space(Rows(Reals()), AddRemove()), lower=0, upper=120)
    >>> ages((-3.5, 40.0, float("inf"), float("nan")))
    (0, 40.0, 120, None)
    """
    into = Nullable(_bounded(table(space).record, lower, upper))
    low, high = finite("lower", lower), finite("upper", upper)

    def clamped(row: Any) -> Any:
        number = plain(row)
        if number is None:
            return None
        return low if number < low else high if number > high else member(into, row)

    def apply(rows: Table) -> tuple[Any, ...]:
        return tuple(clamped(row) for row in rows)

    output = same_size(space, into)
    return Transformation(space, output, apply, per_step(space, add_remove=1, change_one=1))


def drop_nulls(space: Space) -> TableMap:
    """The rows that are not None, as a table without nulls.

    Guarantee: 1-stable under AddRemove; under ChangeOne 2, in AddRemove, as for a filter.
    Source: 004d:F4.
    """
    into = nullable(table(space).record).inner

    def apply(rows: Table) -> tuple[Any, ...]:
        return tuple(row for row in rows if attempt(into.contains, row) is True)

    stability = per_step(space, add_remove=1, change_one=2)
    return Transformation(space, private_size(into), apply, stability)


def impute(space: Space, value: Any) -> TableMap:
    """None replaced by one public value, as a table without nulls.

    Contract: ``value`` belongs to the records of the table and is not read off its rows.
    Guarantee: 1-stable under AddRemove and under ChangeOne, which is kept.
    Source: 004d:F4.
    """
    into = nullable(table(space).record).inner
    if attempt(into.contains, value) is not True:
        raise InvalidParameter(
            code="not_in_domain",
            expectation=f"a value of {into!r} in place of nulls",
            received=value,
            remedy="Pass a public value that the declared records allow.",
        )

    def apply(rows: Table) -> tuple[Any, ...]:
        return tuple(row if attempt(into.contains, row) is True else value for row in rows)

    stability = per_step(space, add_remove=1, change_one=1)
    return Transformation(space, same_size(space, into), apply, stability)


def _bounded(record: Domain, lower: Number, upper: Number) -> Domain:
    numbers = nullable(record).inner
    if isinstance(numbers, Integers):
        return Integers(lower, upper)  # type: ignore[arg-type]  # Integers refuses other bounds
    if isinstance(numbers, Reals):
        return Reals(lower, upper)  # type: ignore[arg-type]  # fractions are numbers too
    raise not_numbers(record)


def not_numbers(record: Domain) -> InvalidParameter:
    """The refusal of records that cannot be clamped or summed."""
    return InvalidParameter(
        code="records_not_numbers",
        expectation="a table of Integers or Reals, with or without nulls",
        received=type(record).__name__,
        remedy="Select a number from each row first, with map_rows.",
    )
