"""Conditions on attributes as one linear query: ``{"sex": "f", "age": [3, 4]}``.

The query counts the records that meet all of them. A condition is one of the attribute's values, a
collection of them, or a slice of their places.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from itertools import pairwise

import numpy as np

from discreet.core.errors import InvalidParameter
from discreet.queries.workload.linear_query import LinearQuery, Region, Weights
from discreet.queries.workload.universe import Attribute, Universe


def query_where(universe: Universe, conditions: Mapping[str, object]) -> LinearQuery:
    """All records that meet every condition; attributes without one may be anything.

    >>> universe = Universe.of(sex=["f", "m"], age=range(10))
    >>> query_where(universe, {"sex": "f", "age": [3, 4]}).box
    (slice(0, 1, 1), slice(3, 5, 1))
    """
    universe.require_explicit(method="a query over all cells")
    for name in conditions:
        universe.place(name)
    chosen = [
        _places(attribute, conditions.get(attribute.name, slice(None)))
        for attribute in universe.attributes
    ]
    steps = [_step(places) for places in chosen]
    if None not in steps:
        box = tuple(
            slice(places[0], places[-1] + 1, step)
            for places, step in zip(chosen, steps, strict=True)
        )
        return Region(universe.shape, box)
    weights = np.ones(1)
    for places, size in zip(chosen, universe.shape, strict=True):
        factor = np.zeros(size)
        factor[places] = 1
        weights = np.multiply.outer(weights, factor).ravel()
    return Weights(weights)


def _places(attribute: Attribute, condition: object) -> list[int]:
    """Where the values lie that meet a condition, in order, each once."""
    if isinstance(condition, slice):
        found = sorted(range(attribute.size)[condition])
    else:
        places = {value: place for place, value in enumerate(attribute.values)}
        wanted = _values(condition, places)
        if not all(value in places for value in wanted):
            raise _unmet(attribute)
        found = sorted({places[value] for value in wanted})
    if not found:
        raise _unmet(attribute)
    return found


def _values(condition: object, places: Mapping[object, int]) -> Collection[object]:
    try:
        if condition in places:
            return (condition,)
    except TypeError:  # a list, say: no value, but perhaps a collection of them
        pass
    several = isinstance(condition, list | tuple | set | frozenset | range)
    return condition if several and isinstance(condition, Collection) else (condition,)


def _step(places: list[int]) -> int | None:
    """The distance between neighbours, where it is the same for all."""
    distances = {after - before for before, after in pairwise(places)}
    return distances.pop() if len(distances) == 1 else (None if distances else 1)


def _unmet(attribute: Attribute) -> InvalidParameter:
    shown = ", ".join(map(repr, attribute.values[:8]))
    return InvalidParameter(
        code="condition_unmet",
        expectation=f"values of {attribute.name!r}, at least one: {shown}"
        + (", ..." if attribute.size > 8 else ""),
        remedy='Write {"age": [3, 4]}, {"age": 3} or {"age": slice(3, 5)} for places 3 and 4.',
    )
