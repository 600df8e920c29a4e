"""How an aggregate is written in SQL: its names, and what each of its arguments must be.

The parser reads these and knows no aggregate by itself.

Source: contract, "Columns"; modern-data:Q2.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum, auto

from discreet.relational.aggregates.aggregate import Aggregate


class Argument(Enum):
    """What stands in one place between the brackets, and as what ``make`` gets it.

    FILTER is in each of them already: what the condition leaves out is NULL.
    """

    COUNTED = auto()
    """``*``, a column, DISTINCT or a person's identifier: the measure that counts them."""

    CONDITION = auto()
    """A condition, as an expression."""

    NUMBER = auto()
    """A number with public bounds, as an expression; a truth value is 1 or 0."""

    CANDIDATES = auto()
    """The same as a histogram of ranks over its public candidates."""

    LEVEL = auto()
    """A constant between 0 and 1, as a float."""


@dataclass(frozen=True)
class AggregateFunction:
    """A function of SQL that makes an aggregate of its arguments.

    ``ordered`` says that it may be written ``NAME(level) WITHIN GROUP (ORDER BY x)``; ``usual``
    that refusals name it among what to write instead. ``several`` is the construct and the remedy
    that are named where there are too many arguments.
    """

    names: tuple[str, ...]
    arguments: tuple[Argument, ...]
    make: Callable[..., Aggregate]
    ordered: bool = False
    usual: bool = True
    several: tuple[str, str] | None = None
