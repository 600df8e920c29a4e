"""Whose privacy: every claim of local privacy names its unit, and holds for exactly that one.

Laws are exact: reports of real clients are enumerated, noisy bits too; where noise is added, its
law a**|z| makes the loss the L1 distance of what it is added to over its scale.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import combinations, product
from typing import Any

import numpy as np
import pytest

import discreet as dp
from discreet import local
from discreet.core.errors import DiscreetError
from discreet.core.guarantee import ApproxDP, PureDP
from discreet.core.unit import Edge, Node, Replace, TickWindow
from discreet.local import graphs, secure_sum
from discreet.local.chances import WHOLE
from discreet.local.randomiser import LocalRandomiser
from discreet.noise import Noiseless
from tests.local.enumeration import law, worst_ratio
from tests.local.examples import collection, oracles, rappor
from tests.local.test_channels import at_most_exp, channel
from tests.local.test_laplace import CoarseLaplace
from tests.local.test_laplace import schema_of as noise_schema
from tests.local.test_vectors import CoarseMean, CoarseUnit, laws

DEVICE = dp.Person("device")


@dataclass(frozen=True)
class Claim:
    """What is promised, and the worst that neighbours of its unit can tell from the exact law:
    a ratio of chances, or its logarithm where that is the number known exactly.
    """

    guarantee: PureDP
    ratio: Fraction = Fraction(1)
    log: Fraction = Fraction(0)
    slack: float = 1e-9

    @property
    def holds(self) -> bool:
        epsilon = Fraction(self.guarantee.epsilon)
        if self.ratio == 1:
            return self.log <= epsilon
        return at_most_exp(self.ratio, epsilon)

    @property
    def tight(self) -> bool:
        loss = math.log(self.ratio) + float(self.log)
        return loss >= float(self.guarantee.epsilon) * (1 - self.slack) - 1e-9


def told(randomiser: LocalRandomiser, slack: float = 1e-9, values: int = 4) -> Claim:
    """A report of one person, who may have any value."""
    worst = worst_ratio(channel(randomiser, values))  # type: ignore[arg-type]
    return Claim(randomiser.guarantee(unit=DEVICE), ratio=worst, slack=slack)


def told_one(kind: str, epsilon: Fraction) -> Claim:
    return told(oracles(epsilon)[kind])


def told_vector(question: Any, claim: Any) -> Claim:
    return Claim(claim.guarantee(unit=DEVICE), ratio=worst_ratio(list(laws(question).values())))


def told_for_ever(epsilon: Fraction) -> Claim:
    oracle = rappor(epsilon, epsilon * Fraction(9, 10), 2)
    memory = {"survey/1": {"cohort": 0}}
    small = local.Rappor(
        epsilon=epsilon, once=oracle.once, domain=3, cells=2, hashes=1, cohorts=1, seed=1
    )
    schema = collection(small).schema
    found = [law(schema, value, reports=3, memory=memory) for value in range(3)]
    return Claim(small.guarantee(unit=DEVICE), ratio=worst_ratio(found), slack=0.6)


def split(epsilon: Fraction) -> local.SplitPeople:
    parts = tuple(
        local.QuestionPart(((divisor, 2),), local.DirectEncoding(epsilon=epsilon, domain=2))
        for divisor in (1, 2)
    )
    return local.SplitPeople(epsilon=epsilon, domain=4, parts=parts)


def scale_of(mechanism: Any) -> Fraction:
    return Fraction(mechanism._scale_in_steps(0, 1, int))


def laplace_mean(epsilon: Fraction) -> Claim:
    question = CoarseLaplace(epsilon=epsilon, domain=2 if epsilon < 1 else 4)
    found = [law(noise_schema(question), value) for value in range(question.size)]
    return Claim(question.guarantee(unit=DEVICE), ratio=worst_ratio(found))


def graphs_of(nodes: int) -> list[Any]:
    pairs = list(combinations(range(nodes), 2))
    found = []
    for bits in product((False, True), repeat=len(pairs)):
        graph = np.zeros((nodes, nodes), dtype=np.bool_)
        for (one, two), bit in zip(pairs, bits, strict=True):
            graph[one, two] = graph[two, one] = bit
        found.append(graph)
    return found


def neighbours(nodes: int, unit: Edge | Node) -> Iterator[tuple[Any, Any]]:
    """Graphs on the same nodes that differ in one edge, or in the edges of one node."""
    for one, two in combinations(graphs_of(nodes), 2):
        changed = np.argwhere(np.triu(one != two))
        shared = set.intersection(*({*pair.tolist()} for pair in changed))
        if len(changed) == 1 or (isinstance(unit, Node) and shared):
            yield one, two


def list_laws(real: local.NeighbourLists) -> dict[bytes, dict[str, Fraction]]:
    """The law of noisy lists for every graph of three nodes, by all outcomes of all coins."""
    keep = Fraction(real.keep, WHOLE)
    found: dict[bytes, dict[str, Fraction]] = {}
    with pytest.MonkeyPatch.context() as patched:
        for graph, kept in product(graphs_of(3), product((True, False), repeat=3)):
            patched.setattr(graphs, "bernoulli", lambda *_, kept=kept: np.array(kept))
            chance = math.prod((keep if each else 1 - keep for each in kept), start=Fraction(1))
            row = found.setdefault(graph.tobytes(), {})
            key = real.release(graph).tobytes().hex()
            row[key] = row.get(key, Fraction(0)) + chance
    return found


def neighbour_lists(epsilon: Fraction, unit: Edge | Node = Edge()) -> Claim:  # noqa: B008
    real = local.NeighbourLists(epsilon=epsilon)
    found = list_laws(real)
    worst = max(
        worst_ratio([found[one.tobytes()], found[two.tobytes()]])
        for one, two in neighbours(3, unit)
    )
    return Claim(real.guarantee, ratio=worst)


def noisy_degrees(epsilon: Fraction, unit: Edge | Node = Edge()) -> Claim:  # noqa: B008
    real = local.NoisyDegrees(epsilon=epsilon)
    still = local.NoisyDegrees(epsilon=epsilon, randomness=Noiseless())
    most = max(
        int(np.abs(still.release(one) - still.release(two)).sum())
        for one, two in neighbours(3, unit)
    )
    return Claim(real.guarantee, log=most / scale_of(real.mechanism))


def communities(epsilon: Fraction, unit: Edge | Node = Edge()) -> Claim:  # noqa: B008
    real = local.SyntheticCommunities(epsilon=epsilon, communities=2, rounds=3)
    groups = np.array([0, 1, 0, 1])
    most = max(
        int(np.abs(real.histograms(one, groups) - real.histograms(two, groups)).sum())
        for one, two in neighbours(4, unit)
    )
    return Claim(real.guarantee, log=real.rounds * most / scale_of(real.mechanism))


def secure(epsilon: Fraction, kind: type[local.SecureSum] = local.SecureSum) -> Claim:
    """Sums of two people, one of whom tells another vector; the scale is the sampler's own."""
    real = kind(epsilon=epsilon, norm=2, at_least=2, unit=DEVICE)
    scales: list[Fraction] = []

    def share(scale: Fraction, parties: int, size: int, _: object) -> Any:
        assert parties == real.at_least
        scales.append(Fraction(scale))
        return np.zeros(size, dtype=np.int64)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(secure_sum, "laplace_share", share)
        sums = [real.total([own, (1, 0)]) for own in product(range(-3, 4), repeat=2)]
    most = max(int(np.abs(one - two).sum()) for one, two in combinations(sums, 2))
    assert len(set(scales)) == 1
    return Claim(real.guarantee, log=most / scales[0])


KINDS = {
    "DirectEncoding": "direct",
    "SymmetricUnary": "symmetric_unary",
    "OptimizedUnary": "optimized_unary",
    "BinaryLocalHashing": "binary_hashing",
    "OptimalLocalHashing": "optimal_hashing",
    "HadamardResponse": "hadamard",
    "SubsetSelection": "subset",
    "CountMeanSketch": "count_mean_sketch",
    "CountSketch": "count_sketch",
}
CLAIMS: dict[str, Callable[[Fraction], Claim]] = {
    **{name: partial(told_one, kind) for name, kind in KINDS.items()},
    "BloomFilter": lambda e: told(oracles(e)["bloom"], slack=0.35),
    "Rappor": told_for_ever,
    "MaskedHadamard": lambda e: told(local.MaskedHadamard(epsilon=e, domain=4, masks=(1, 3))),
    "MeanResponse": lambda e: told(local.MeanResponse(epsilon=e, domain=4)),
    "SquareWave": lambda e: told(local.SquareWave(epsilon=e, domain=4)),
    "SplitPeople": lambda e: told(split(e)),
    "VectorMean": lambda e: told_vector(*[CoarseMean(epsilon=e, dimensions=2)] * 2),
    "PrivUnit": lambda e: told_vector(*[CoarseUnit(epsilon=e, dimensions=2)] * 2),
    "LocalGradientDescent": lambda e: told_vector(descent(e).question(2), descent(e)),
    "LocalRecommender": lambda e: told_vector(recommender(e).question, recommender(e)),
    "LaplaceMean": laplace_mean,
    "NeighbourLists": neighbour_lists,
    "NoisyDegrees": noisy_degrees,
    "SyntheticCommunities": communities,
    "SecureSum": secure,
}


def descent(epsilon: Fraction) -> local.LocalGradientDescent:
    return local.LocalGradientDescent(
        epsilon=epsilon, loss=local.SquaredLoss(), rounds=3, clamp=1, step=1, vectors=CoarseMean
    )


def recommender(epsilon: Fraction) -> local.LocalRecommender:
    return local.LocalRecommender(
        epsilon=epsilon,
        items=2,
        factors=1,
        rounds=3,
        clamp=1,
        step=1,
        ridge=1,
        vectors=CoarseUnit,
    )


def public_classes() -> dict[str, type]:
    found = {name: getattr(local, name) for name in local.__all__}
    return {name: kind for name, kind in found.items() if inspect.isclass(kind)}


def test_every_claim_is_enumerated_here() -> None:
    """Whoever has an event states a unit; whoever has an epsilon alone hands its question out."""
    stated = {name for name, kind in public_classes().items() if hasattr(kind, "event")}
    assert stated - {"FrequencyOracle"} == set(CLAIMS)
    for name in stated:
        assert hasattr(public_classes()[name], "guarantee"), name
    for name, kind in public_classes().items():
        if "epsilon" in getattr(kind, "__dataclass_fields__", {}) and name not in stated:
            asked = {"oracle", "question", "questions", "fragments"}
            assert asked & set(dir(kind)), name


@pytest.mark.parametrize("epsilon", [Fraction(1, 10), Fraction(1), Fraction(3)])
@pytest.mark.parametrize("name", sorted(CLAIMS))
def test_the_claim_holds_for_its_unit_and_is_no_looser(name: str, epsilon: Fraction) -> None:
    claim = CLAIMS[name](epsilon)
    assert claim.holds
    assert claim.tight
    of_graphs = name in ("NeighbourLists", "NoisyDegrees", "SyntheticCommunities")
    assert claim.guarantee.unit == (Edge() if of_graphs else Replace(DEVICE))


@pytest.mark.parametrize("claim", [neighbour_lists, noisy_degrees, communities])
def test_what_an_edge_is_promised_a_node_is_not(claim: Callable[..., Claim]) -> None:
    assert not claim(Fraction(1), Node()).holds


class AddedOrRemoved(local.SecureSum):
    """The broken twin: as if a vote could only come or go."""

    @property
    def sensitivity(self) -> int:
        return self.norm


def test_a_sum_scaled_for_votes_that_come_or_go_is_caught() -> None:
    claim = secure(Fraction(1), AddedOrRemoved)
    assert claim.log == 2
    assert not claim.holds


def test_one_end_of_an_edge_taken_for_both_is_caught() -> None:
    claim = noisy_degrees(Fraction(1))
    assert not Claim(PureDP(epsilon=1, unit=Edge()), log=claim.log).holds


def test_a_shuffled_round_names_its_unit() -> None:
    asked = collection(local.DirectEncoding(epsilon=1, domain=2))
    sent = [asked.client().privatize(i % 2) for i in range(100)]
    found = local.shuffle(asked, sent, people=100)
    promise = found.guarantee(delta=1e-6, unit=DEVICE)
    assert promise == ApproxDP(
        epsilon=found.event.epsilon(delta=1e-6), delta=1e-6, unit=Replace(DEVICE)
    )


UNITS: list[Any] = [Edge(), Node(), Replace(Edge()), "device", None, TickWindow(dp.Row(), 3)]


@pytest.mark.parametrize("unit", UNITS)
def test_units_that_are_no_people_are_refused(unit: Any) -> None:
    makers: list[Callable[[], object]] = [
        lambda: local.SecureSum(epsilon=1, norm=1, at_least=1, unit=unit),
        lambda: local.LaplaceMean(epsilon=1, domain=2).guarantee(unit=unit),
        lambda: local.DirectEncoding(epsilon=1, domain=2).guarantee(unit=unit),
        lambda: descent(Fraction(1)).guarantee(unit=unit),
    ]
    for make in makers:
        with pytest.raises(DiscreetError) as refusal:
            make()
        assert refusal.value.code == "not_a_unit"
    with pytest.raises(TypeError, match="unit"):
        local.SecureSum(epsilon=1, norm=1, at_least=1)  # type: ignore[call-arg]
