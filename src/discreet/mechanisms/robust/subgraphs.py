"""Triangles and stars of a graph under node privacy, by a Lipschitz extension: a linear program."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

from discreet.core.domain import Graph
from discreet.core.errors import InvalidParameter
from discreet.core.events.event import Event
from discreet.core.parameters import Number, count, exact
from discreet.mechanisms.grid import ordinary
from discreet.mechanisms.laplace import Laplace
from discreet.mechanisms.robust.lipschitz import proper_edges
from discreet.mechanisms.robust.packing import STEPS, packing_number
from discreet.noise import SYSTEM, Source
from discreet.noise.laplace import checked_scale
from discreet.noise.randomness import require_source

_TOLERANCE = STEPS >> 10
"""How far the certified value may lie above the program's, in its steps, per unit of load."""


class SubgraphPattern(ABC):
    """A small graph whose copies are counted."""

    @property
    @abstractmethod
    def degree(self) -> int:
        """The least maximum degree of a graph that contains a copy."""

    @abstractmethod
    def copies(self, neighbours: list[set[int]]) -> list[tuple[int, ...]]:
        """The nodes of each copy, from the neighbours of each node."""

    @abstractmethod
    def most_at_a_node(self, max_degree: int) -> int:
        """How many copies can contain one node where no degree exceeds ``max_degree``."""


@dataclass(frozen=True)
class Triangles(SubgraphPattern):
    """Three nodes, all joined."""

    @property
    def degree(self) -> int:
        return 2

    def copies(self, neighbours: list[set[int]]) -> list[tuple[int, ...]]:
        """Each triangle once, by its smallest node and then its next."""
        return [
            (a, b, c)
            for a, near in enumerate(neighbours)
            for b in near
            if b > a
            for c in near & neighbours[b]
            if c > b
        ]

    def most_at_a_node(self, max_degree: int) -> int:
        """One for each pair of neighbours."""
        return math.comb(max_degree, 2)


@dataclass(frozen=True)
class Stars(SubgraphPattern):
    """A centre and ``leaves`` of its neighbours."""

    leaves: int

    def __post_init__(self) -> None:
        """Refuse stars of fewer than two leaves: those are edges."""
        object.__setattr__(self, "leaves", count("leaves", self.leaves, least=2))

    @property
    def degree(self) -> int:
        """As many as there are leaves."""
        return self.leaves

    def copies(self, neighbours: list[set[int]]) -> list[tuple[int, ...]]:
        """Each set of leaves at each centre."""
        return [
            (centre, *leaves)
            for centre, near in enumerate(neighbours)
            for leaves in combinations(sorted(near), self.leaves)
        ]

    def most_at_a_node(self, max_degree: int) -> int:
        """As the centre of some, and as a leaf of each neighbour."""
        as_leaf = max_degree * math.comb(max_degree - 1, self.leaves - 1)
        return math.comb(max_degree, self.leaves) + as_leaf


@dataclass(frozen=True, kw_only=True)
class SubgraphCount:
    """The number of copies of a small pattern, private for each node with all its edges.

    The extension gives each copy present a weight of at most one, so that no node bears more than
    it could in a graph of degree ``max_degree``, and takes the largest total weight. Copies that
    are absent weigh nothing.

    Assumptions: a node is a person; neighbours differ by one node *added or removed* with all its
    edges (:class:`discreet.Node`). ``max_degree`` is chosen without the data; a wrong choice costs
    accuracy, never privacy.

    Contract: a :class:`discreet.core.domain.Graph`. The work grows with the number of copies.

    Guarantee: pure epsilon-differential privacy, with the event of Laplace noise. The program is
    solved in floating point and certified in integers; what the certificate leaves open, at most
    2**-10 of the sensitivity, is added to it.

    >>> count = SubgraphCount(pattern=Triangles(), max_degree=4, epsilon=1)
    >>> count.event, count.sensitivity
    (Laplace(epsilon=1), Fraction(3075, 512))

    Source: 004b:A20, corrected: absent copies have no variable. Proof:
    ``proofs/robust-lipschitz.md``.
    """

    pattern: SubgraphPattern
    max_degree: int
    epsilon: Number
    randomness: Source = SYSTEM

    def __post_init__(self) -> None:
        """Refuse parameters out of range."""
        require_source(self.randomness)
        object.__setattr__(self, "epsilon", ordinary("epsilon", self.epsilon))
        object.__setattr__(self, "max_degree", count("max_degree", self.max_degree))
        if self.max_degree < self.pattern.degree:
            raise InvalidParameter(
                code="degree_too_small",
                expectation=f"max_degree of at least {self.pattern.degree} for this pattern",
                received=self.max_degree,
                remedy="Choose the largest degree that typical nodes have.",
            )
        checked_scale(exact(self._noise().scale(kind=int)))

    @property
    def event(self) -> Event:
        """That of the Laplace noise."""
        return self._noise().event

    @property
    def sensitivity(self) -> Fraction:
        """How far one node moves the released value, the certificate's tolerance included."""
        return Fraction(self._sensitivity_in_steps(), STEPS)

    def release(self, graph: Graph) -> float:
        """The noisy number of copies."""
        load = self.pattern.most_at_a_node(self.max_degree)
        steps = extension(graph, self.pattern, load)
        return int(self._noise().release(steps)) / STEPS

    def error(self, *, confidence: float) -> float:
        """Bound on the error at ``confidence``, for graphs of degree at most ``max_degree``."""
        return self._noise().error(confidence=confidence, kind=int) / STEPS

    def _sensitivity_in_steps(self) -> int:
        return self.pattern.most_at_a_node(self.max_degree) * (STEPS + _TOLERANCE)

    def _noise(self) -> Laplace:
        return Laplace(
            epsilon=self.epsilon,
            sensitivity=self._sensitivity_in_steps(),
            randomness=self.randomness,
        )


def extension(graph: Graph, pattern: SubgraphPattern, load: int) -> int:
    """The largest total weight of copies with at most ``load`` at each node, in steps.

    Guarantee: not below the true value, and above it by at most 2**-10 ``load``; exactly the
    number of copies where no node is in more than ``load`` of them.
    """
    neighbours: list[set[int]] = [set() for _ in graph.nodes]
    for a, b in proper_edges(graph):
        neighbours[a].add(b)
        neighbours[b].add(a)
    copies = pattern.copies(neighbours)
    return packing_number(copies, len(neighbours), load, tolerance=_TOLERANCE * load)
