"""What every transformation of tables asks of its input: which adjacency, and by what factor.

Under add/remove one step adds or removes a row. Under change-one one step does both, so a
transformation that loses the public number of rows ends in add/remove at twice the factor.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from discreet.calculus.transformation import stable
from discreet.core.domain import Domain, Nullable, Rows
from discreet.core.errors import Mismatch
from discreet.core.metric import AddRemove, ChangeOne
from discreet.core.space import Space

if TYPE_CHECKING:
    from collections.abc import Callable


def table(space: Space) -> Rows:
    """The table that ``space`` describes; refused unless its metric counts rows."""
    if isinstance(space.domain, Rows) and space.metric in (AddRemove(), ChangeOne()):
        return space.domain
    raise Mismatch(
        code="rows_not_counted",
        expectation="a table under AddRemove or ChangeOne",
        received=space.metric,
        remedy="Bound what one person contributes with bound_contributions, or unite the tables.",
    )


def size_is_public(space: Space) -> bool:
    """Whether neighbours differ by an exchange, so that the number of rows is public."""
    return space.metric == ChangeOne()


def per_step(space: Space, *, add_remove: float, change_one: float) -> Callable[[Any], Any]:
    """The linear stability map of whichever adjacency ``space`` has."""
    return stable(change_one if size_is_public(space) else add_remove)


def same_size(space: Space, record: Domain) -> Space:
    """Tables of other records with as many rows as before, under the same adjacency."""
    return Space(Rows(record, table(space).size), space.metric)


def private_size(record: Domain) -> Space:
    """Tables whose number of rows is private."""
    return Space(Rows(record), AddRemove())


def nullable(record: Domain) -> Nullable:
    """The records of a domain, or None."""
    return record if isinstance(record, Nullable) else Nullable(record)
