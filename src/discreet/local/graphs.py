"""Graphs whose nodes are people: noisy lists of neighbours, and noisy degrees.

The unit is an edge, not a person: whoever knows all of a person's edges but one learns little about
that one. In a list every edge stands once, with the later of its two ends; in degrees it stands
twice.

Source: 004a:C23.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.errors import InvalidData
from discreet.core.events.event import Event
from discreet.core.events.mechanisms import RandomizedResponse
from discreet.core.guarantee import PureDP
from discreet.core.parameters import Number, exact
from discreet.core.unit import Edge
from discreet.local.chances import WHOLE, largest_chance, local_epsilon
from discreet.mechanisms import DiscreteLaplace
from discreet.mechanisms.additive import mark_unprotected_event
from discreet.noise import SYSTEM, Source, bernoulli

Floats = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class NeighbourLists:
    """Each person randomises the bits of their row below the diagonal: one response for each pair.

    False edges are many where the graph is sparse: about (pairs - edges) / (1 + e^epsilon).
    """

    epsilon: Number
    randomness: Source = SYSTEM

    @cached_property
    def keep(self) -> int:
        """Chance over 2**64 that a bit is told as it is."""
        return largest_chance(exact(local_epsilon(self.epsilon)))

    @property
    def event(self) -> Event:
        """What an edge costs: it stands in one list."""
        event = RandomizedResponse(epsilon=self.epsilon, categories=2)
        return mark_unprotected_event(event, self.randomness)

    @property
    def guarantee(self) -> PureDP:
        """What each edge is promised; a person's edges together are promised less."""
        return PureDP(epsilon=self.epsilon, unit=Edge())

    def release(self, adjacency: Any) -> NDArray[np.bool_]:
        """A noisy symmetric graph without loops."""
        graph = checked_graph(adjacency)
        low = np.tril_indices(len(graph), -1)
        kept = bernoulli(Fraction(self.keep, WHOLE), len(low[0]), self.randomness)
        noisy = np.zeros_like(graph)
        noisy[low] = graph[low] == kept
        return noisy | noisy.T

    def degrees(self, noisy: NDArray[np.bool_]) -> Floats:
        """Unbiased degrees from a noisy graph."""
        p = self.keep / WHOLE
        found: Floats = (noisy.sum(axis=1) - (len(noisy) - 1) * (1 - p)) / (2 * p - 1)
        return found

    def edges(self, noisy: NDArray[np.bool_]) -> float:
        """The unbiased number of edges."""
        return float(self.degrees(noisy).sum() / 2)


@dataclass(frozen=True, kw_only=True)
class NoisyDegrees:
    """Each person tells the number of neighbours, with noise of scale 1 / epsilon."""

    epsilon: Number
    randomness: Source = SYSTEM

    @cached_property
    def mechanism(self) -> DiscreteLaplace:
        """The noise of one degree, which an edge changes by one."""
        return DiscreteLaplace(epsilon=self.epsilon, sensitivity=1, randomness=self.randomness)

    @property
    def event(self) -> Event:
        """What an edge costs: it stands in the degrees of both its ends."""
        return self.mechanism.event * 2

    @property
    def guarantee(self) -> PureDP:
        """What each edge is promised, which both its ends tell of: twice ``epsilon``."""
        return PureDP(epsilon=2 * exact(self.epsilon), unit=Edge())

    def release(self, adjacency: Any) -> NDArray[np.int64]:
        """Noisy degrees; they may be negative."""
        degrees = checked_graph(adjacency).sum(axis=1).astype(np.int64)
        return np.asarray(self.mechanism.release(degrees), dtype=np.int64)


def checked_graph(adjacency: Any) -> NDArray[np.bool_]:
    """An adjacency that is symmetric and without loops."""
    graph = np.asarray(adjacency)
    square = graph.ndim == 2 and graph.shape[0] == graph.shape[1] and graph.dtype == np.bool_
    if not square or graph.diagonal().any() or not np.array_equal(graph, graph.T):
        raise InvalidData(
            code="local_not_a_graph",
            expectation="a symmetric square table of truth values, without loops",
            remedy="Pass the adjacency of an undirected graph.",
        )
    return graph
