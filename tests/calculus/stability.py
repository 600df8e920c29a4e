"""Brute force over small universes: how far apart a transformation's outputs really are."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any

from discreet.audit.testers import (
    SensitivityReport,
    add_remove_neighbours,
    data_sets,
    measure,
    replace_neighbours,
    steps,
)
from discreet.calculus.transformation import Transformation
from discreet.core.domain import Domain, Nullable, Reals, Rows
from discreet.core.metric import AddRemove, ChangeOne
from discreet.core.space import Space


@dataclass(frozen=True)
class Anything(Domain):
    """Every value: the records of a table about which nothing is promised."""

    def contains(self, value: object) -> bool:
        """Yes."""
        return True


NAN = math.nan
AWKWARD: tuple[Hashable, ...] = (None, NAN, -math.inf, "a", 3)
NUMBERS: tuple[Hashable, ...] = (None, NAN, -math.inf, 0.3, 7)
SIZE = 3


def under_add_remove(record: Domain | None = None) -> Space:
    return Space(Rows(record or Anything()), AddRemove())


def under_change_one(record: Domain | None = None) -> Space:
    return Space(Rows(record or Anything(), SIZE), ChangeOne())


def nullable_reals() -> Nullable:
    return Nullable(Reals())


def worst(
    transformation: Transformation[Any, Any], universe: Sequence[Hashable], distance: int
) -> SensitivityReport:
    """The greatest output distance over all inputs at most ``distance`` apart."""
    exchange = transformation.input.metric == ChangeOne()
    relation = replace_neighbours if exchange else add_remove_neighbours
    return measure(
        remembered(transformation.function),
        universe=universe,
        sizes=[SIZE] if exchange else range(SIZE + 2 - distance),
        neighbours=steps(relation, distance),
        distance=transformation.output.metric.distance,
    )


def worst_reordering(
    transformation: Transformation[Any, Any], universe: Sequence[Hashable]
) -> float:
    """The greatest output distance between two orders of the same rows; it has to be zero."""
    function, metric = remembered(transformation.function), transformation.output.metric
    return max(
        float(metric.distance(function(rows), function(other)))
        for rows in data_sets(universe, [SIZE])
        for other in itertools.permutations(rows)
    )


def remembered(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    known: dict[Any, Any] = {}

    def recall(rows: Any) -> Any:
        if rows not in known:
            known[rows] = function(rows)
        return known[rows]

    return recall
