"""Laws of some attributes given others: rows for whoever has the given values.

Source: 004b:A13.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.core.arrays import Floats
from discreet.core.errors import InvalidParameter
from discreet.core.events.event import Event
from discreet.noise.randomness import SYSTEM, Source
from discreet.queries.workload.stored_form import not_plain
from discreet.queries.workload.universe import Universe
from discreet.queries.workload.workload import Workload
from discreet.synthetic.conditional import (
    Conditional,
    conditionals_from_list,
    conditionals_to_list,
)


@dataclass(frozen=True, eq=False)
class ConditionalNetwork:
    """Laws of some attributes, given others whose law is not known here.

    Assumptions: it was made from released values only.

    Guarantee: rows are post-processing, and free.

    Source: 004b:A13.
    """

    universe: Universe
    given: tuple[int, ...]
    conditionals: tuple[Conditional, ...]
    event: Event

    def sample_given(
        self, codes: NDArray[np.int64], *, randomness: Source = SYSTEM
    ) -> NDArray[np.int64]:
        """Rows of codes of the whole universe; ``codes`` has a column for each given attribute."""
        found = np.zeros((len(codes), len(self.universe.shape)), dtype=np.int64)
        found[:, list(self.given)] = codes
        for each in self.conditionals:
            found[:, each.place] = each.draw(found, randomness)
        return found

    def answers(self, workload: Workload) -> Floats:
        """Refused: how often given values occur is not known here."""
        raise InvalidParameter(
            code="given_attributes",
            expectation="rows made for given values, by `sample_given`",
            received=[self.universe.names[place] for place in self.given],
            remedy="Ask a model of all attributes: PrivBayes, AIM or MST.",
        )

    def to_dict(self) -> Mapping[str, object]:
        """The conditionals in order, and what they are given."""
        return {
            "synopsis": "conditional network/1",
            "given": list(self.given),
            "conditionals": conditionals_to_list(self.conditionals),
        }

    @classmethod
    def from_dict(
        cls, plain: Mapping[str, object], universe: Universe, event: Event
    ) -> ConditionalNetwork:
        """The network that ``plain`` described."""
        given = plain.get("given")
        places = range(len(universe.shape))
        if not isinstance(given, list) or not given or not all(p in places for p in given):
            raise not_plain()
        found = conditionals_from_list(plain.get("conditionals"), given, universe.shape)
        return cls(universe, tuple(given), found, event)
