"""Edges, triangles and stars under node privacy, by Lipschitz extensions."""

import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import combinations, permutations

import numpy as np
import pytest

from discreet.audit import BrokenTwin, ContinuousLaw, check_pair, three_sided
from discreet.core.domain import Graph
from discreet.core.errors import InvalidParameter
from discreet.core.events.mechanisms import Laplace as LaplaceEvent
from discreet.mechanisms.robust import EdgeCount, Stars, SubgraphCount, Triangles, packing
from discreet.mechanisms.robust.lipschitz import edge_flow
from discreet.mechanisms.robust.packing import STEPS, exact_packing, packing_number
from discreet.mechanisms.robust.subgraphs import SubgraphPattern, extension
from discreet.noise import Noiseless, Seeded
from tests.mechanisms.robust import laws

STAR = Graph.of(range(10), [(0, i) for i in range(1, 10)])
K6 = Graph.of(range(6), list(combinations(range(6), 2)))


def graphs(most: int) -> Iterator[Graph]:
    """Every graph on at most ``most`` nodes, once up to the names of nodes."""
    for size in range(most + 1):
        pairs = list(combinations(range(size), 2))
        seen: set[int] = set()
        orders = [
            [pairs.index((min(o[a], o[b]), max(o[a], o[b]))) for a, b in pairs]
            for o in permutations(range(size))
        ]
        for code in range(1 << len(pairs)):
            if code in seen:
                continue
            on = [i for i in range(len(pairs)) if code >> i & 1]
            seen |= {sum(1 << order[i] for i in on) for order in orders}
            yield Graph.of(range(size), [pairs[i] for i in on])


def worst_node(function: Callable[[Graph], float]) -> laws.Excess:
    """The largest change when a node leaves, over all graphs on at most five nodes."""
    moves = [
        (abs(function(graph) - function(graph.without(node))), (graph, node))
        for graph in graphs(5)
        for node in graph.nodes
    ]
    change, at = max(moves, key=lambda move: move[0])
    return laws.Excess(change, 0.0, at)


def degree(graph: Graph) -> int:
    return max((sum(v in e for e in graph.edges) for v in graph.nodes), default=0)


def count_copies(graph: Graph, pattern: SubgraphPattern) -> int:
    return extension(graph, pattern, 10**6) // STEPS


def test_there_are_fifty_three_graphs_on_at_most_five_nodes() -> None:
    assert len(list(graphs(5))) == 1 + 1 + 2 + 4 + 11 + 34


class TestEdges:
    @pytest.mark.parametrize(("cap", "edges"), [(3, 3), (9, 9), (20, 9)])
    def test_a_star_on_ten_nodes_counts_up_to_the_cap(self, cap: int, edges: int) -> None:
        assert edge_flow(STAR, cap) / 2 == edges

    @pytest.mark.parametrize(("cap", "edges"), [(2, 6), (3, 9), (5, 15)])
    def test_the_complete_graph_on_six_nodes(self, cap: int, edges: int) -> None:
        assert edge_flow(K6, cap) / 2 == edges

    @pytest.mark.parametrize("cap", [1, 2, 3, 4])
    def test_one_node_moves_the_extension_by_at_most_the_cap_and_the_plain_count_by_more(
        self, cap: int
    ) -> None:
        def auditor(function: Callable[[Graph], float]) -> laws.Excess:
            found = worst_node(function)
            return laws.Excess(found.delta, cap, found.pair)

        assert auditor(lambda graph: edge_flow(graph, cap) / 2).delta == cap
        if cap < 4:
            twin = BrokenTwin(
                "edges",
                sound=lambda graph: edge_flow(graph, cap) / 2,
                broken=lambda graph: float(len(graph.edges)),
                why="a node may have more edges than the cap",
            )
            check_pair(twin, auditor)

    def test_dropping_nodes_of_high_degree_is_no_way_out(self) -> None:
        """Another twin: one node can push many others over the cap at once."""

        def truncated(graph: Graph) -> float:
            high = {v for v in graph.nodes if sum(v in e for e in graph.edges) > 1}
            return float(len([e for e in graph.edges if not e & high]))

        assert worst_node(truncated).delta > 1

    @pytest.mark.parametrize("cap", [1, 2, 3, 4])
    def test_graphs_of_small_degree_are_counted_exactly(self, cap: int) -> None:
        for graph in graphs(5):
            if degree(graph) <= cap:
                assert edge_flow(graph, cap) == 2 * len(graph.edges)
            else:
                assert edge_flow(graph, cap) <= 2 * len(graph.edges)

    def test_the_noise_is_that_of_the_cap(self) -> None:
        mechanism = EdgeCount(max_degree=50, epsilon=2, randomness=Seeded(61))

        def law(scale: float) -> ContinuousLaw:
            return ContinuousLaw(
                lambda x: np.array([laws.laplace_below((v - 15) / scale) for v in x])
            )

        jitter = np.random.default_rng(8)
        result = three_sided(
            # Answers are multiples of one half: a quarter of it either way makes them continuous.
            lambda size: (
                np.array([mechanism.release(K6) for _ in range(size)])
                + jitter.uniform(-0.25, 0.25, size)
            ),
            law(25),
            [law(20), law(31.25)],
            alpha=1e-9,
        )
        assert result.passes
        assert mechanism.error(confidence=0.95) == pytest.approx(25 * math.log(20), abs=0.5)

    def test_the_price_and_the_answer(self) -> None:
        assert EdgeCount(max_degree=3, epsilon=0.5).event == LaplaceEvent(epsilon=0.5)
        quiet = EdgeCount(max_degree=3, epsilon=1, randomness=Noiseless())
        assert quiet.release(STAR) == 3
        assert quiet.release(Graph.of([], [])) == quiet.release(Graph.of("ab", [])) == 0

    def test_improper_edges_do_not_count(self) -> None:
        edges = frozenset([frozenset("ab"), frozenset("a"), frozenset("az"), frozenset("abc")])
        assert edge_flow(Graph(frozenset("abc"), edges), 5) == 2

    def test_a_huge_cap_does_not_overflow(self) -> None:
        assert edge_flow(STAR, 1 << 60) == 18


class TestTriangles:
    @pytest.mark.parametrize(("cap", "triangles"), [(2, 2), (3, 6), (4, 12), (5, 20)])
    def test_the_complete_graph_on_six_nodes(self, cap: int, triangles: int) -> None:
        """min(C(n, 3), n C(D, 2)/3)."""
        load = math.comb(cap, 2)
        assert triangles == min(math.comb(6, 3), 6 * load // 3)
        assert exact_packing(list(combinations(range(6), 3)), 6, load) == triangles
        found = extension(K6, Triangles(), load)
        assert triangles * STEPS <= found <= triangles * STEPS + load * STEPS // 1024

    @pytest.mark.parametrize("pattern", [Triangles(), Stars(2), Stars(3)])
    @pytest.mark.parametrize("cap", [2, 3])
    def test_one_node_moves_the_extension_by_at_most_its_load(
        self, pattern: SubgraphPattern, cap: int
    ) -> None:
        if cap < pattern.degree:
            return
        load = pattern.most_at_a_node(cap)
        declared = float(SubgraphCount(pattern=pattern, max_degree=cap, epsilon=1).sensitivity)
        assert load < declared < load * 1.001

        def auditor(function: Callable[[Graph], float]) -> laws.Excess:
            found = worst_node(function)
            return laws.Excess(found.delta, declared, found.pair)

        twin = BrokenTwin(
            "subgraphs",
            sound=lambda graph: extension(graph, pattern, load) / STEPS,
            broken=lambda graph: float(count_copies(graph, pattern)),
            why="a node may be in more copies than the cap allows",
        )
        check_pair(twin, auditor)

    @pytest.mark.parametrize("pattern", [Triangles(), Stars(2), Stars(3)])
    @pytest.mark.parametrize("cap", [3, 4])
    def test_graphs_of_small_degree_are_counted_exactly(
        self, pattern: SubgraphPattern, cap: int
    ) -> None:
        load = pattern.most_at_a_node(cap)
        for graph in graphs(5):
            if degree(graph) <= cap:
                assert extension(graph, pattern, load) == count_copies(graph, pattern) * STEPS

    def test_copies_are_counted_once(self) -> None:
        assert count_copies(K6, Triangles()) == 20
        assert count_copies(STAR, Triangles()) == 0
        assert count_copies(STAR, Stars(2)) == 36
        assert count_copies(K6, Stars(3)) == 6 * 10

    def test_loads_are_those_of_the_complete_graph_of_that_degree(self) -> None:
        """In the complete graph on D + 1 nodes every node is in as many copies as can be."""
        for cap in (2, 3, 4):
            clique = Graph.of(range(cap + 1), list(combinations(range(cap + 1), 2)))
            assert Triangles().most_at_a_node(cap) * (cap + 1) == 3 * count_copies(
                clique, Triangles()
            )
            assert Stars(2).most_at_a_node(cap) * (cap + 1) == 3 * count_copies(clique, Stars(2))

    def test_the_price_and_the_answer(self) -> None:
        mechanism = SubgraphCount(
            pattern=Triangles(), max_degree=5, epsilon=1, randomness=Noiseless()
        )
        assert mechanism.release(K6) == 20
        private = SubgraphCount(pattern=Triangles(), max_degree=5, epsilon=1)
        assert private.event == LaplaceEvent(epsilon=1)
        bound = mechanism.error(confidence=0.9)
        assert bound == pytest.approx(10 * (1 + 2**-10) * math.log(10), rel=1e-6)

    def test_caps_without_any_copy_are_refused(self) -> None:
        with pytest.raises(InvalidParameter) as refusal:
            SubgraphCount(pattern=Stars(4), max_degree=3, epsilon=1)
        assert refusal.value.code == "degree_too_small"


class TestCertificates:
    def random_sets(self, seed: int) -> list[tuple[int, ...]]:
        rng = np.random.default_rng(seed)
        chosen = {tuple(sorted(rng.choice(7, 3, replace=False).tolist())) for _ in range(14)}
        return sorted(chosen)

    @pytest.mark.parametrize("seed", range(12))
    @pytest.mark.parametrize("load", [1, 2, 3])
    def test_the_certified_value_encloses_the_rational_optimum(self, seed: int, load: int) -> None:
        sets = self.random_sets(seed)
        exact = exact_packing(sets, 7, load)
        found = Fraction(packing_number(sets, 7, load, tolerance=STEPS >> 10), STEPS)
        assert exact <= found <= exact + Fraction(1, 1024)

    @pytest.mark.parametrize(
        "proposal",
        [
            (np.zeros(20), np.zeros(6)),
            (np.full(20, np.nan), np.full(6, np.inf)),
            (np.ones(20), np.full(6, -3.0)),
        ],
    )
    def test_a_solver_gone_wrong_only_costs_time(
        self, proposal: tuple[object, object], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(packing, "_proposal", lambda *arguments: proposal)
        sets: list[tuple[int, ...]] = list(combinations(range(6), 3))
        assert packing_number(sets, 6, 3, tolerance=STEPS >> 10) == 6 * STEPS

    def test_a_solver_that_fails_proposes_nothing(self, monkeypatch: pytest.MonkeyPatch) -> None:
        import scipy.optimize

        monkeypatch.setattr(scipy.optimize, "linprog", lambda *a, **k: 1 // 0)
        sets: list[tuple[int, ...]] = list(combinations(range(6), 3))
        assert packing_number(sets, 6, 1, tolerance=STEPS >> 10) == 2 * STEPS

    def test_an_unclear_optimum_is_solved_exactly_and_rounded_up(self) -> None:
        """The cycle of three pairs at load one: the optimum is 3/2."""
        cycle: list[tuple[int, ...]] = [(0, 1), (1, 2), (0, 2)]
        assert exact_packing(cycle, 3, 1) == Fraction(3, 2)
        assert packing_number(cycle, 3, 1, tolerance=0) == STEPS * 3 // 2

    def test_no_sets_pack_to_nothing(self) -> None:
        assert packing_number([], 3, 1, tolerance=0) == 0
