"""Synthetic graphs with the communities of a real one, from histograms of neighbours.

People are put into groups at random. In each round everybody tells, with noise, how many neighbours
they have in every group; whoever tells alike is grouped together, and the next round goes on from
there. From the last histograms a graph is drawn: whether two people are joined depends on how many
neighbours each has in the group of the other.

The unit is an edge. It stands in the histograms of both its ends, in one cell of each, so that a
round of noise 1 / e costs 2 e.

Source: 004a:C23. Proof: ``proofs/local.md``.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.errors import InvalidParameter
from discreet.core.events.event import Event
from discreet.core.guarantee import PureDP
from discreet.core.parameters import Number, count, exact
from discreet.core.unit import Edge
from discreet.local.chances import local_epsilon
from discreet.local.graphs import checked_graph
from discreet.mechanisms import DiscreteLaplace
from discreet.noise import SYSTEM, Source, permutation, uniform_integers

Floats = NDArray[np.float64]
Numbers = NDArray[np.int64]
_PASSES = 30
_CHANCES = 1 << 30


@dataclass(frozen=True, eq=False)
class CommunityModel:
    """The group of every person, and how many neighbours each was told to have in every group."""

    groups: Numbers
    histograms: Numbers

    @property
    def edges(self) -> Floats:
        """Estimated edges between groups; within one, each edge is seen from both its ends.

        Both sides of a pair tell of the same edges: their mean is taken, and nothing below nought.
        """
        many = self.histograms.shape[1]
        told = np.zeros((many, many))
        np.add.at(told, self.groups, self.histograms)
        return np.asarray(np.maximum((told + told.T) / 2, 0.0))

    def sample(self, randomness: Source = SYSTEM) -> NDArray[np.bool_]:
        """A graph: edges are independent, and as many between two groups as were told, on average.

        A pair is joined in proportion to what each end has in the group of the other; ends that
        were told to have less than nothing there have nothing. Post-processing, free.
        """
        people = len(self.groups)
        ends = np.maximum(self.histograms[:, self.groups], 0).astype(np.float64)
        weights = ends * ends.T
        np.fill_diagonal(weights, 0.0)
        many = self.histograms.shape[1]
        rows = np.zeros((many, people))
        np.add.at(rows, self.groups, weights)
        totals = np.zeros((many, many))
        np.add.at(totals, self.groups, rows.T)
        rate = np.divide(self.edges, totals, out=np.zeros_like(totals), where=totals > 0)
        chances = np.minimum(weights * rate[self.groups][:, self.groups], 1.0)
        low = np.tril_indices(people, -1)
        drawn = uniform_integers(_CHANCES, len(low[0]), randomness) < chances[low] * _CHANCES
        graph = np.zeros((people, people), dtype=np.bool_)
        graph[low] = drawn
        return np.asarray(graph | graph.T)


@dataclass(frozen=True, kw_only=True)
class SyntheticCommunities:
    """``communities`` groups, refined over ``rounds``, from noisy histograms of neighbours.

    Contract: the people and their number are public; edges are not. Guarantee: ``epsilon`` for
    every edge, all rounds and both ends together.

    >>> SyntheticCommunities(epsilon=4, communities=3, rounds=2).event.epsilon(delta=0)
    4.0
    """

    epsilon: Number
    communities: int
    rounds: int
    randomness: Source = SYSTEM

    def __post_init__(self) -> None:
        """Refuse no groups, no rounds, and an epsilon out of range."""
        local_epsilon(self.epsilon)
        count("communities", self.communities)
        count("rounds", self.rounds)

    @cached_property
    def mechanism(self) -> DiscreteLaplace:
        """The noise of one histogram in one round, of which an edge changes one cell by one."""
        share = exact(self.epsilon) / (2 * self.rounds)
        return DiscreteLaplace(epsilon=share, sensitivity=1, randomness=self.randomness)

    @property
    def event(self) -> Event:
        """What an edge costs: it stands in two histograms of every round."""
        return self.mechanism.event * (2 * self.rounds)

    @property
    def guarantee(self) -> PureDP:
        """What each edge is promised: all rounds, both ends."""
        return PureDP(epsilon=self.epsilon, unit=Edge())

    def fit(self, adjacency: Any) -> CommunityModel:
        """Groups and histograms after all rounds; only noisy histograms are looked at."""
        graph = checked_graph(adjacency)
        if self.communities > max(len(graph), 1):
            raise InvalidParameter(
                code="local_communities",
                expectation=f"at most as many communities as people, {len(graph)}",
                received=self.communities,
                remedy="Choose fewer communities.",
            )
        groups = permutation(len(graph), self.randomness) % self.communities
        for turn in range(self.rounds):
            told = self.report(graph, groups)
            if turn + 1 < self.rounds:
                groups = self._regrouped(told, groups)
        return CommunityModel(groups, told)

    def histograms(self, graph: NDArray[np.bool_], groups: Numbers) -> Numbers:
        """How many neighbours everybody has in every group: private."""
        members = np.zeros((len(groups), self.communities), dtype=np.int64)
        members[np.arange(len(groups)), groups] = 1
        return np.asarray(graph.astype(np.int64) @ members)

    def report(self, graph: NDArray[np.bool_], groups: Numbers) -> Numbers:
        """What people tell in one round: their histograms, with noise."""
        counts = self.histograms(graph, groups)
        noisy = self.mechanism.release(counts.ravel())
        return np.asarray(noisy, dtype=np.int64).reshape(counts.shape)

    def _regrouped(self, told: Numbers, groups: Numbers) -> Numbers:
        """Groups of people who tell alike, by Lloyd's algorithm: post-processing.

        Each centre after the first is the person farthest from all before, among a few drawn at
        random; a group that becomes empty keeps its centre.
        """
        points = told.astype(np.float64)
        drawn = permutation(len(points), self.randomness)[: 10 * self.communities]
        chosen = [int(drawn[0])]
        while len(chosen) < self.communities:
            gaps = _distances(points[drawn], points[chosen]).min(axis=1)
            chosen.append(int(drawn[int(np.argmax(gaps))]))
        centres = points[chosen]
        for _ in range(_PASSES):
            found = _distances(points, centres).argmin(axis=1)
            if np.array_equal(found, groups):
                break
            groups = found
            for group in range(self.communities):
                if np.any(groups == group):
                    centres[group] = points[groups == group].mean(axis=0)
        return np.asarray(groups, dtype=np.int64)


def _distances(points: Floats, centres: Floats) -> Floats:
    """Squared distances of points from centres."""
    return np.asarray(((points[:, None, :] - centres[None]) ** 2).sum(axis=2))
