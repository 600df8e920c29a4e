"""What a function is: a signature, facts of its result, and a total reference evaluation.

Engine-neutral: how a function is written for an engine is the dialect's business, and tests hold
every dialect to ``apply``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from discreet.relational.types.column_domain import ColumnDomain
from discreet.relational.types.data_type import TEXT_LIMIT, DataType


def always(*_: ColumnDomain) -> bool:
    """The answer of a function that is exact, finite or fits whatever it is given."""
    return True


def never(*_: ColumnDomain) -> bool:
    """The answer of a function that is exact, or finite, for no arguments."""
    return False


@dataclass(frozen=True)
class Function:
    """A total function of the language.

    Contract: ``accept`` takes the facts of the arguments and gives the kinds they are converted
    to, or refuses them (``type_clash``). ``result`` takes the converted facts and gives sound
    facts of the result. ``compute`` is the exact semantics on Python values: NULL is None, and a
    result outside the universe of its kind is None.

    A ``strict`` function is NULL where an argument is; the others see None. ``exact`` says
    whether every engine gives the very value ``compute`` gives for such arguments. ``finite``
    says whether the engine's plain operation is proved to give a finite number for them.
    ``fits`` says whether the engine's plain operation is proved to give, for them, no text longer
    than ``result`` says; wherever it is not, what the engine gives is cut to that length.
    ``carries`` names the arguments of which a non-finite value cannot but give a non-finite
    result, so that one guard around a chain of such functions is as good as one around each.
    ``ordered`` says that the result depends on the order of its arguments' values.
    """

    name: str
    accept: Callable[[tuple[ColumnDomain, ...]], tuple[DataType, ...]] = field(
        compare=False, repr=False
    )
    result: Callable[..., ColumnDomain] = field(compare=False, repr=False)
    compute: Callable[..., Any] = field(compare=False, repr=False)
    parameters: tuple[object, ...] = ()
    strict: bool = field(default=True, compare=False, repr=False)
    exact: Callable[..., bool] = field(default=always, compare=False, repr=False)
    commutative: bool = field(default=False, compare=False, repr=False)
    finite: Callable[..., bool] = field(default=always, compare=False, repr=False)
    fits: Callable[..., bool] = field(default=never, compare=False, repr=False)
    carries: frozenset[int] = field(default=frozenset(), compare=False, repr=False)
    ordered: bool = field(default=False, compare=False, repr=False)

    def apply(self, values: Iterable[object], kind: DataType) -> object:
        """The value of the function where its result has the given kind; None for NULL.

        Guarantee: no exception, and a result in the universe of its kind.
        """
        return self.apply_each([tuple(values)], kind)[0]

    def apply_each(self, rows: Iterable[tuple[object, ...]], kind: DataType) -> list[object]:
        """The same for each row of arguments."""
        compute, strict = self.compute, self.strict
        values = [None if strict and None in row else compute(*row) for row in rows]
        if kind.is_number:
            number = int if kind is DataType.INTEGER else float
            return [_finite(value, number) for value in values]
        return [value[:TEXT_LIMIT] if isinstance(value, str) else value for value in values]


def _finite(value: Any, number: type[int] | type[float]) -> int | float | None:
    if value is None or (isinstance(value, float) and not math.isfinite(value)):
        return None
    return number(value)
