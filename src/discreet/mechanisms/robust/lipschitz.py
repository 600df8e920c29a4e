"""Edges of a graph under node privacy, by a Lipschitz extension: a maximum flow."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.core.domain import Graph
from discreet.core.events.event import Event
from discreet.core.parameters import Number, count, exact
from discreet.mechanisms.grid import ordinary
from discreet.mechanisms.laplace import Laplace
from discreet.noise import SYSTEM, Source
from discreet.noise.laplace import checked_scale
from discreet.noise.randomness import require_source


@dataclass(frozen=True, kw_only=True)
class EdgeCount:
    """The number of edges, private for each node with all its edges.

    One node may have any number of edges, so the plain count cannot be released. Its extension
    can: exact on graphs of degree at most ``max_degree``, and nowhere moved by more than that when
    one node joins or leaves.

    Assumptions: a node is a person; neighbours differ by one node *added or removed* with all its
    edges (:class:`discreet.Node`). ``max_degree`` is chosen without the data; a wrong choice costs
    accuracy, never privacy.

    Contract: a :class:`discreet.core.domain.Graph`; edges that do not join two distinct nodes of
    it do not count.

    Guarantee: pure epsilon-differential privacy, with the event of Laplace noise. The flow is
    computed in integers, so the sensitivity is exact.

    >>> EdgeCount(max_degree=3, epsilon=1).event
    Laplace(epsilon=1)

    Source: 004b:A19. Proof: ``proofs/robust-lipschitz.md``.
    """

    max_degree: int
    epsilon: Number
    randomness: Source = SYSTEM

    def __post_init__(self) -> None:
        """Refuse parameters out of range."""
        require_source(self.randomness)
        object.__setattr__(self, "max_degree", count("max_degree", self.max_degree))
        object.__setattr__(self, "epsilon", ordinary("epsilon", self.epsilon))
        checked_scale(exact(self._noise().scale(kind=int)))

    @property
    def event(self) -> Event:
        """That of the Laplace noise."""
        return self._noise().event

    def release(self, graph: Graph) -> float:
        """The noisy number of edges, a multiple of one half."""
        return float(self._noise().release(edge_flow(graph, self.max_degree)) / 2)

    def error(self, *, confidence: float) -> float:
        """Bound on the error at ``confidence``, for graphs of degree at most ``max_degree``."""
        return self._noise().error(confidence=confidence, kind=int) / 2

    def _noise(self) -> Laplace:
        """For the flow, which is twice the extension."""
        return Laplace(
            epsilon=self.epsilon, sensitivity=2 * self.max_degree, randomness=self.randomness
        )


def edge_flow(graph: Graph, max_degree: int) -> int:
    """Twice the extension: the largest flow with ``max_degree`` out of and into each node.

    Guarantee: twice the number of edges where no degree exceeds ``max_degree``; one node more
    moves it by at most 2 ``max_degree``. Exact, in integers.
    """
    from scipy.sparse import csr_array  # loaded on first use: SciPy is slow to import
    from scipy.sparse.csgraph import maximum_flow

    pairs = proper_edges(graph)
    size = len(graph.nodes)
    if not pairs:
        return 0
    ends = np.array(pairs, dtype=np.int32)
    left, right = np.concatenate((ends, ends[:, ::-1])).T
    nodes = np.arange(size, dtype=np.int32)
    source, sink = 2 * size, 2 * size + 1
    tails = np.concatenate((np.full(size, source), left, nodes + size))
    heads = np.concatenate((nodes, right + size, np.full(size, sink)))
    # No node can use more than all others, so a larger cap changes nothing.
    cap = np.full(size, min(max_degree, size), dtype=np.int32)
    capacities = np.concatenate((cap, np.ones(len(left), dtype=np.int32), cap))
    arcs: Any = (capacities, (tails, heads))
    network: Any = csr_array(arcs, shape=(sink + 1, sink + 1))
    return int(maximum_flow(network, source, sink).flow_value)


def proper_edges(graph: Graph) -> list[tuple[int, int]]:
    """Edges as pairs of node numbers, those that join two distinct nodes of the graph only."""
    number = {node: i for i, node in enumerate(graph.nodes)}
    proper = (edge for edge in graph.edges if len(edge) == 2 and edge <= graph.nodes)
    return [(number[a], number[b]) for a, b in (tuple(edge) for edge in proper)]
