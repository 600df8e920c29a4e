"""What everybody knows about the queries of a round before any is submitted.

A class is a public rule. A query outside it is refused to its own analyst, before data is opened.

Source: analysts-verified:H1 (all planning is a function of public things), H10.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from itertools import combinations

from discreet.core.errors import InvalidParameter
from discreet.core.parameters import count
from discreet.queries.workload.universe import Universe
from discreet.queries.workload.workload import Places


class QueryClass(ABC):
    """A public rule about queries over a universe."""

    @abstractmethod
    def centred_norms(self, universe: Universe, queries: int) -> list[tuple[float, float]]:
        """How far a query's weights lie from their mean, in the L2 norm, and how many do.

        ``queries`` are spread evenly over the kinds of query in the class; equal ones count once.
        """

    @property
    @abstractmethod
    def text(self) -> str:
        """The rule in words."""


@dataclass(frozen=True)
class AnyQuery(QueryClass):
    """Any weights between 0 and 1.

    Assumptions: the universe is public.

    Guarantee: a query outside is refused to its own analyst, before data is opened.

    Source: analysts-verified:H1.
    """

    def centred_norms(self, universe: Universe, queries: int) -> list[tuple[float, float]]:
        """At worst half of the cells: half the root of their number."""
        return [(math.sqrt(universe.size) / 2, float(queries))]

    @property
    def text(self) -> str:
        """The rule in words."""
        return "any linear query"


@dataclass(frozen=True)
class Conjunctions(QueryClass):
    """Shares of records with given values of at most ``ways`` attributes: cells of marginals.

    >>> kinds = Conjunctions(3).kinds(Universe.of(**{f"b{i}": range(2) for i in range(12)}), 10**5)
    >>> len(kinds), sum(many for _, many in kinds)
    (298, 2048.0)

    Assumptions: the universe and ``ways`` are public.

    Guarantee: a query outside is refused to its own analyst, before data is opened.

    Source: analysts-verified:H10.
    """

    ways: int

    def __post_init__(self) -> None:
        """Refuse no attribute."""
        object.__setattr__(self, "ways", count("ways", self.ways))

    def kinds(self, universe: Universe, queries: int) -> list[tuple[Places, float]]:
        """Sets of attributes, and how many different queries each has."""
        cells = {
            places: math.prod(universe.shape[place] for place in places)
            for places in attribute_sets(universe, self.ways)
        }
        share = min(1.0, queries / sum(cells.values()))
        return [(places, share * many) for places, many in cells.items()]

    def centred_norms(self, universe: Universe, queries: int) -> list[tuple[float, float]]:
        """The root of |X| p (1 - p), for conjunctions that hold for a share p of the cells."""
        found = []
        for places, many in self.kinds(universe, queries):
            share = 1 / math.prod(universe.shape[place] for place in places)
            found.append((math.sqrt(universe.size * share * (1 - share)), many))
        return found

    @property
    def text(self) -> str:
        """The rule in words."""
        return f"conjunctions of at most {self.ways} attributes"


def attribute_sets(universe: Universe, ways: int) -> list[Places]:
    """All sets of one to ``ways`` attributes by their places, smallest first."""
    every = range(len(universe.shape))
    most = min(ways, len(universe.shape))
    return [places for size in range(1, most + 1) for places in combinations(every, size)]


def outside_class(places: Places) -> InvalidParameter:
    """A query over attributes that were not measured together."""
    return InvalidParameter(
        code="query_outside_class",
        expectation="a query over attributes that the public rule of the release covers",
        received=f"{len(places)} attributes",
        remedy="Ask about fewer attributes at once, or plan with a wider query class.",
    )
