"""A Bayesian network over attributes: conditional tables in order, their marginals, their rows.

Source: 004b:A13.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.core.arrays import Floats
from discreet.core.errors import InvalidParameter
from discreet.core.events.event import Event
from discreet.core.parameters import count
from discreet.noise.randomness import SYSTEM, Source
from discreet.queries.synopses.partial_tables import answered, require_same
from discreet.queries.workload.stored_form import not_plain
from discreet.queries.workload.universe import LARGEST, Universe
from discreet.queries.workload.workload import Workload
from discreet.synthetic.conditional import (
    Conditional,
    conditionals_from_list,
    conditionals_to_list,
)


@dataclass(frozen=True, eq=False)
class BayesianNetwork:
    """Conditionals in an order in which parents come first.

    Assumptions: it was made from released values only.

    Guarantee: marginals and rows are post-processing, and free.

    Source: 004b:A13.
    """

    universe: Universe
    total: float
    conditionals: tuple[Conditional, ...]
    event: Event

    def marginal(self, names: Sequence[str]) -> Floats:
        """Estimated counts by some attributes: the others are summed out, one by one.

        Refused where that would need too large a table on the way.
        """
        wanted = [self.universe.place(name) for name in names]
        tables = [(each.places, each.table) for each in self._above(wanted)]
        others = {place for places, _ in tables for place in places} - set(wanted)
        while others:
            place = min(others, key=lambda each: self._cells(tables, each))
            joined = _product([t for t in tables if place in t[0]], self.universe.shape)
            kept = tuple(each for each in joined[0] if each != place)
            summed = joined[1].sum(axis=joined[0].index(place))
            tables = [t for t in tables if place not in t[0]] + [(kept, summed)]
            others.remove(place)
        places, table = _product(tables, self.universe.shape)
        return np.asarray(
            self.total * np.transpose(table, [places.index(place) for place in wanted])
        )

    def _above(self, wanted: Sequence[int]) -> list[Conditional]:
        """The conditionals of some attributes and of all that they depend on."""
        needed = set(wanted)
        found = []
        for each in reversed(self.conditionals):
            if each.place in needed:
                needed |= set(each.parents)
                found.append(each)
        return found

    def _cells(self, tables: Sequence[tuple[tuple[int, ...], Floats]], place: int) -> int:
        met = {each for places, _ in tables if place in places for each in places}
        return math.prod(self.universe.shape[each] for each in met)

    def sample(self, n: int | None = None, *, randomness: Source = SYSTEM) -> NDArray[np.int64]:
        """Rows of codes, attribute by attribute, each given its parents."""
        rows = round(self.total) if n is None else count("n", n)
        found = np.zeros((rows, len(self.universe.shape)), dtype=np.int64)
        for each in self.conditionals:
            found[:, each.place] = each.draw(found, randomness)
        return found

    def answers(self, workload: Workload) -> Floats:
        """All answers of a workload, each product from the marginal that it keeps."""
        require_same(workload, self.universe)
        found = []
        for product in workload.products:
            names = [self.universe.names[place] for place in product.kept_places]
            table = self.marginal(names) if names else np.asarray(self.total)
            found.append(answered(product, table))
        return np.concatenate(found)

    def to_dict(self) -> Mapping[str, object]:
        """The conditionals in order, and the number of records."""
        return {
            "model": "bayesian network/1",
            "synopsis": "bayesian network/1",
            "total": self.total,
            "conditionals": conditionals_to_list(self.conditionals),
        }

    @classmethod
    def from_dict(
        cls, plain: Mapping[str, object], universe: Universe, event: Event
    ) -> BayesianNetwork:
        """The network that ``plain`` described."""
        total = plain.get("total")
        if not isinstance(total, float):
            raise not_plain()
        found = conditionals_from_list(plain.get("conditionals"), (), universe.shape)
        return cls(universe, total, found, event)


def _product(
    tables: Sequence[tuple[tuple[int, ...], Floats]], shape: Sequence[int]
) -> tuple[tuple[int, ...], Floats]:
    """The product of some tables, an axis for each attribute that any of them has."""
    places = tuple(sorted({place for each, _ in tables for place in each}))
    cells = math.prod(shape[place] for place in places)
    if cells > LARGEST:
        raise InvalidParameter(
            code="universe_too_large",
            expectation=f"at most {LARGEST} cells in a table on the way to a marginal",
            received=cells,
            remedy="Ask for fewer attributes, or count rows of a sample.",
        )
    found: Floats = np.ones(tuple(shape[place] for place in places))
    for each, table in tables:
        order = sorted(range(len(each)), key=lambda axis: each[axis])
        sides = [shape[place] if place in each else 1 for place in places]
        found = found * np.transpose(table, order).reshape(sides)
    return places, found
