"""Synthetic communities: what an edge changes and costs, and what the graphs look like."""

from __future__ import annotations

import math
from functools import cached_property
from itertools import permutations
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import beta

from discreet.core.errors import DiscreetError
from discreet.local.communities import CommunityModel, SyntheticCommunities
from discreet.local.graphs import NoisyDegrees
from discreet.mechanisms import DiscreteLaplace
from discreet.noise import Seeded

Graph = NDArray[np.bool_]


def planted(
    people: int, groups: int, inside: float, outside: float, seed: int
) -> tuple[Graph, Any]:
    own = np.arange(people) % groups
    chances = np.where(own[:, None] == own, inside, outside)
    low = np.tril(np.random.default_rng(seed).random((people, people)) < chances, -1)
    return low | low.T, own


def test_an_edge_changes_one_cell_of_two_histograms_by_one() -> None:
    question = SyntheticCommunities(epsilon=2, communities=3, rounds=2)
    generator = np.random.default_rng(0)
    graph, _ = planted(12, 3, 0.5, 0.2, 0)
    for _ in range(50):
        groups = generator.integers(0, 3, 12)
        one, two = generator.choice(12, 2, replace=False)
        other = graph.copy()
        other[one, two] = other[two, one] = not graph[one, two]
        gap = np.abs(question.histograms(graph, groups) - question.histograms(other, groups))
        assert gap.sum() == 2
        assert gap.max() == 1
        assert gap[one].sum() == gap[two].sum() == 1


def test_an_edge_pays_for_both_ends_and_all_rounds() -> None:
    question = SyntheticCommunities(epsilon=3, communities=2, rounds=3)
    assert question.mechanism.event.epsilon(delta=0) == 0.5
    assert question.event.epsilon(delta=0) == pytest.approx(3)
    degrees = NoisyDegrees(epsilon=0.5)
    single = SyntheticCommunities(epsilon=1, communities=1, rounds=1)
    assert single.event == degrees.event


class OneEnd(SyntheticCommunities):
    """The broken twin: an edge is charged as if it stood in one histogram."""

    @cached_property
    def mechanism(self) -> DiscreteLaplace:
        return DiscreteLaplace(epsilon=self.epsilon, sensitivity=1)


def refuted(question: SyntheticCommunities, runs: int = 3000) -> bool:
    """Whether an edge shows by more than exp(epsilon), with a false alarm in 1e6: two people."""
    joined = np.array([[False, True], [True, False]])
    counts = []
    for graph in (joined, np.zeros((2, 2), dtype=np.bool_)):
        told = [question.report(graph, np.zeros(2, dtype=np.int64)) for _ in range(runs)]
        counts.append(sum(int((each >= 1).all()) for each in told))
    low = float(beta.ppf(5e-7, counts[0], runs - counts[0] + 1))
    high = float(beta.ppf(1 - 5e-7, counts[1] + 1, runs - counts[1]))
    return low > math.exp(float(question.epsilon)) * high


def test_the_auditor_tells_both_ends_from_one() -> None:
    assert not refuted(SyntheticCommunities(epsilon=1, communities=1, rounds=1))
    assert refuted(OneEnd(epsilon=1, communities=1, rounds=1))


class Deaf(SyntheticCommunities):
    """Hears the same whatever the graph is."""

    def report(self, graph: Any, groups: Any) -> Any:
        return np.arange(len(groups) * self.communities).reshape(len(groups), -1) % 7


def test_nothing_but_reports_reaches_the_model() -> None:
    graphs = [planted(20, 2, 0.9, 0.1, seed)[0] for seed in (1, 2)]
    models = [
        Deaf(epsilon=1, communities=3, rounds=3, randomness=Seeded(4)).fit(each) for each in graphs
    ]
    assert np.array_equal(models[0].groups, models[1].groups)


def test_planted_communities_are_found_and_drawn_again() -> None:
    """At least six of eight graphs of 300 people; groups start at random, and may stay mixed."""
    good = 0
    for seed in range(8):
        graph, own = planted(300, 3, 0.35, 0.03, seed)
        question = SyntheticCommunities(epsilon=8, communities=3, rounds=5, randomness=Seeded(seed))
        model = question.fit(graph)
        alike = max(np.mean(np.array(each)[model.groups] == own) for each in permutations(range(3)))
        drawn = model.sample(Seeded(seed))
        assert np.array_equal(drawn, drawn.T)
        assert not drawn.diagonal().any()
        assert drawn.sum() == pytest.approx(graph.sum(), rel=0.1)
        same = own[:, None] == own
        inside = [(each & same).sum() / each.sum() for each in (drawn, graph)]
        good += alike > 0.9 and abs(inside[0] - inside[1]) < 0.1
    assert good >= 6


def test_degrees_stay_where_noise_is_small() -> None:
    graph, own = planted(200, 2, 0.3, 0.1, 3)
    question = SyntheticCommunities(epsilon=30, communities=2, rounds=1)
    model = CommunityModel(own, question.histograms(graph, own))
    drawn = np.mean([model.sample(Seeded(seed)).sum(axis=1) for seed in range(30)], axis=0)
    assert np.abs(drawn - graph.sum(axis=1)).max() < 6 * math.sqrt(60 / 30) + 2
    assert model.edges[0, 1] == (graph[own == 0][:, own == 1]).sum()


def test_more_groups_than_people_and_other_tables_are_refused() -> None:
    question = SyntheticCommunities(epsilon=1, communities=5, rounds=1)
    with pytest.raises(DiscreetError, match="local_communities"):
        question.fit(np.zeros((3, 3), dtype=np.bool_))
    with pytest.raises(DiscreetError, match="local_not_a_graph"):
        question.fit(np.eye(6, dtype=np.bool_))
