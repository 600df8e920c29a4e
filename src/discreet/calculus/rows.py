"""Row by row: map, filter and flat-map, each total by construction.

Source: 004d:F4 (eq. 12.1 and Airavat's k-fold map), 004d:F20. Proof: ``proofs/calculus.md``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeAlias

from discreet.calculus.adjacency import (
    nullable,
    per_step,
    private_size,
    same_size,
    table,
)
from discreet.calculus.containment import FAILED, attempt, contained
from discreet.calculus.transformation import Transformation
from discreet.core.parameters import count

if TYPE_CHECKING:
    from discreet.core.domain import Domain
    from discreet.core.space import Space

Table: TypeAlias = Sequence[Any]
TableMap: TypeAlias = Transformation[Table, tuple[Any, ...]]


def map_rows(space: Space, function: Callable[[Any], Any], record: Domain) -> TableMap:
    """Every row replaced by a function of it.

    Contract: ``function`` is pure. A row on which it raises, or gives something outside
    ``record``, becomes None, so the output's records are ``Nullable(record)``.
    Guarantee: 1-stable under AddRemove and under ChangeOne, which is kept.
    Source: 004d:F4, F20.

    >>> from discreet.core.domain import Integers, Rows
    >>> from discreet.core.metric import AddRemove
    >>> from discreet.core.space import Space
    >>> halves = map_rows(Space(Rows(Integers()), AddRemove()), lambda row: 6 // row, Integers())
    >>> halves((1, 0, 3)), halves.map(1)
    ((6, None, 2), 1)
    """
    into = nullable(record)
    output = same_size(space, into)

    def apply(rows: Table) -> tuple[Any, ...]:
        with contained():
            return tuple(member(into, attempt(function, row)) for row in rows)

    return Transformation(space, output, apply, per_step(space, add_remove=1, change_one=1))


def filter_rows(space: Space, predicate: Callable[[Any], Any]) -> TableMap:
    """The rows for which a predicate holds.

    Contract: ``predicate`` is pure; a row on which it raises is left out.
    Guarantee: 1-stable under AddRemove. Under ChangeOne the number of rows that remain is
    private although the number that entered was public, so the output is under AddRemove and
    the stability is 2: an exchanged row may take one out and bring one in.
    Source: 004d:F4; 000a:A1.
    """
    output = private_size(table(space).record)

    def holds(row: Any) -> bool:
        return bool(predicate(row))

    def apply(rows: Table) -> tuple[Any, ...]:
        with contained():
            return tuple(row for row in rows if attempt(holds, row) is True)

    return Transformation(space, output, apply, per_step(space, add_remove=1, change_one=2))


def flat_map_rows(
    space: Space, function: Callable[[Any], Iterable[Any]], record: Domain, *, at_most: int
) -> TableMap:
    """Every row replaced by at most ``at_most`` rows, functions of it alone.

    Contract: ``function`` is pure and gives an iterable, possibly endless; its first
    ``at_most`` values count. Values outside ``record`` become None; a row on which it raises
    gives nothing.
    Guarantee: ``at_most``-stable under AddRemove; under ChangeOne twice that, in AddRemove,
    since rows may give different numbers of rows.
    Source: 004d:F4.
    """
    table(space)
    most = count("at_most", at_most)
    into = nullable(record)

    def images(row: Any) -> list[Any]:
        values = attempt(lambda: list(islice(function(row), most)))
        return [] if values is FAILED else [member(into, value) for value in values]

    def apply(rows: Table) -> tuple[Any, ...]:
        with contained():
            return tuple(image for row in rows for image in images(row))

    stability = per_step(space, add_remove=most, change_one=2 * most)
    return Transformation(space, private_size(into), apply, stability)


def member(domain: Domain, value: Any) -> Any:
    """``value`` if it belongs to ``domain``, else None."""
    return value if value is not FAILED and attempt(domain.contains, value) is True else None
