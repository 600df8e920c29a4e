"""Brute-force check of declared sensitivities and stabilities on small universes.

Source: Dwork and Roth, Definitions 3.1 and 3.8 (000a:A1, A10; 004a:A1, A2).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement
from typing import Any, TypeAlias

from discreet.audit.testers.distances import Distance
from discreet.core.errors import InvalidParameter
from discreet.core.parameters import Number, count, nonnegative

Rows: TypeAlias = tuple[Any, ...]
Neighbours: TypeAlias = Callable[[Rows, Sequence[Any]], Iterable[Rows]]


@dataclass(frozen=True)
class SensitivityReport:
    """The greatest change seen between neighbours, a pair that attains it, and pairs tried."""

    worst: float
    witness: tuple[Rows, Rows] | None
    pairs: int

    def within(self, declared: Number) -> bool:
        """Whether the declared value covers the worst change, up to floating-point rounding."""
        bound = float(nonnegative("declared", declared))
        return self.worst <= bound or math.isclose(self.worst, bound, rel_tol=1e-12)


def add_remove_neighbours(rows: Rows, universe: Sequence[Any]) -> Iterator[Rows]:
    """Every data set with one row more or one row less; new rows come at every place.

    Inserting at every place exposes functions that depend on the order of rows.

    >>> sorted(add_remove_neighbours(("a",), ["a", "b"]))
    [(), ('a', 'a'), ('a', 'b'), ('b', 'a')]
    """
    shorter = (rows[:i] + rows[i + 1 :] for i in range(len(rows)))
    places = range(len(rows) + 1)
    longer = ((*rows[:i], row, *rows[i:]) for i in places for row in universe)
    yield from dict.fromkeys([*shorter, *longer])


def replace_neighbours(rows: Rows, universe: Sequence[Any]) -> Iterator[Rows]:
    """Every data set of the same size in which one row has another value.

    >>> list(replace_neighbours(("a", "b"), ["a", "b"]))
    [('b', 'b'), ('a', 'a')]
    """
    for i, old in enumerate(rows):
        for row in universe:
            if row != old:
                yield (*rows[:i], row, *rows[i + 1 :])


def steps(neighbours: Neighbours, distance: int) -> Neighbours:
    """The relation of being at most ``distance`` neighbour steps away, to check ``d_in`` > 1."""
    count("distance", distance)

    def reach(rows: Rows, universe: Sequence[Any]) -> Iterator[Rows]:
        near = {rows: None}
        for _ in range(distance):
            near |= dict.fromkeys(new for old in list(near) for new in neighbours(old, universe))
        yield from (other for other in near if other != rows)

    return reach


def data_sets(universe: Sequence[Any], sizes: Iterable[int]) -> Iterator[Rows]:
    """Every multiset of rows of each size, once."""
    for size in sizes:
        yield from combinations_with_replacement(universe, count("size", size, least=0))


def measure(
    function: Callable[[Rows], Any],
    *,
    universe: Sequence[Any],
    sizes: Iterable[int],
    neighbours: Neighbours,
    distance: Distance,
) -> SensitivityReport:
    """The greatest distance between the function's values on neighbouring data sets.

    Contract: ``function`` is deterministic and takes a tuple of rows. Use ``distance`` l1, l2
    or linf for a sensitivity, symmetric_difference or changed_rows for a stability.
    Guarantee: exact for these sizes (and the neighbours just beyond them); a lower bound on
    the sensitivity over all data sets.

    >>> from discreet.audit.testers.distances import l1
    >>> measure(len, universe="ab", sizes=range(4), neighbours=add_remove_neighbours,
    ...         distance=l1).worst
    1.0
    """
    worst, witness, pairs = 0.0, None, 0
    for rows in data_sets(universe, sizes):
        value = function(rows)
        for other in neighbours(rows, universe):
            pairs += 1
            gap = distance(value, function(other))
            if gap > worst or math.isnan(gap):
                worst, witness = (math.inf if math.isnan(gap) else gap), (rows, other)
    return SensitivityReport(worst, witness, pairs)


def verify(
    function: Callable[[Rows], Any],
    *,
    declared: Number,
    universe: Sequence[Any],
    sizes: Iterable[int],
    neighbours: Neighbours,
    distance: Distance,
) -> SensitivityReport:
    """Measure, and refuse a declared value that is too small, naming the pair that shows it."""
    report = measure(
        function, universe=universe, sizes=sizes, neighbours=neighbours, distance=distance
    )
    if report.pairs == 0:
        raise InvalidParameter(
            code="no_neighbours",
            expectation="sizes and a universe with at least one pair of neighbours",
            remedy="Enlarge the universe or the sizes; nothing was checked.",
        )
    if not report.within(declared):
        raise InvalidParameter(
            code="sensitivity_too_small",
            expectation=f"a declared value of at least {report.worst}, as {report.witness} shows",
            received=declared,
            remedy="Declare the larger value, or bound each unit's contribution.",
        )
    return report
