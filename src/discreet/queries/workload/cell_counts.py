"""Exact counts of a universe's cells, from whoever holds the data.

Mechanisms take an array with one count for each cell, or a source that counts by some attributes:
a relational engine, say, of which only the counts reach Python. What needs marginals alone asks for
those, so a universe of a billion cells is counted without ever being written down.

Source: ``discreet.core.source``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from discreet.core.domain import Categories
from discreet.core.errors import InvalidParameter
from discreet.core.source import BlockCountSource, CountSource
from discreet.queries.workload.universe import Universe

Counted = CountSource | NDArray[np.integer]
"""Counts over a universe: an array, or a source that counts by attributes."""


def cell_counts(data: Counted, universe: Universe) -> NDArray[np.int64]:
    """The count of each cell, flat."""
    universe.require_explicit(method="a count for each cell")
    if isinstance(data, np.ndarray):
        return _checked(data, universe.shape).ravel()
    return marginal_counts(data, universe, universe.names).ravel()


def marginal_counts(data: Counted, universe: Universe, names: Sequence[str]) -> NDArray[np.int64]:
    """Counts by some attributes, one axis for each, in the order of ``names``."""
    places = [universe.place(name) for name in names]
    if isinstance(data, np.ndarray):
        table = _checked(data, universe.shape)
        others = tuple(axis for axis in range(table.ndim) if axis not in places)
        kept = sorted(places)
        return np.transpose(table.sum(axis=others), [kept.index(place) for place in places])
    _require_source(data, universe, places)
    shape = tuple(universe.shape[place] for place in places)
    return _checked(np.asarray(data.counts(list(names))), shape)


def block_counts(
    data: Counted, universe: Universe, names: Sequence[str], within: Mapping[str, Sequence[int]]
) -> NDArray[np.int64]:
    """Counts by some attributes, of the values at some places alone: a block of a large table.

    A source that cannot count blocks counts the whole marginal each time.
    """
    sides = [
        np.asarray(within.get(name, range(universe.shape[universe.place(name)]))) for name in names
    ]
    if isinstance(data, np.ndarray) or not isinstance(data, BlockCountSource):
        return np.asarray(marginal_counts(data, universe, names)[np.ix_(*sides)])
    _require_source(data, universe, [universe.place(name) for name in names])
    found = data.block_counts(list(names), {name: list(map(int, within[name])) for name in within})
    return _checked(np.asarray(found), tuple(len(side) for side in sides))


def _require_source(data: object, universe: Universe, places: Sequence[int]) -> None:
    """Refuse what does not count, or counts by other values than the universe's."""
    if not isinstance(data, CountSource):
        raise InvalidParameter(
            code="counts_misfit",
            expectation="an array of whole counts, or a source that counts",
            received=type(data).__name__,
            remedy="Pass np.asarray(counts), or let the curator count.",
        )
    for place in places:
        attribute = universe.attributes[place]
        if data.domain(attribute.name) != Categories(attribute.values):
            raise InvalidParameter(
                code="universe_differs",
                expectation=f"a source that counts {attribute.name!r} by the universe's values",
                received=attribute.name,
                remedy="Build the universe from the source's own columns.",
            )


def whole_counts(counts: NDArray[np.integer], cells: int) -> NDArray[np.int64]:
    """Exact counts as one flat array, or a refusal that shows none of them."""
    return _checked(np.asarray(counts), (cells,))


def _checked(table: NDArray[np.generic], shape: tuple[int, ...]) -> NDArray[np.int64]:
    """Whole counts of a shape, or a refusal that shows none of them."""
    cells = math.prod(shape)
    if table.size != cells or not np.issubdtype(table.dtype, np.integer):
        raise InvalidParameter(
            code="counts_misfit",
            expectation=f"{cells} whole counts, one for each cell",
            received=(table.shape, str(table.dtype)),
            remedy="Count records by the attributes of the universe, in its order.",
        )
    return np.asarray(table, dtype=np.int64).reshape(shape)
