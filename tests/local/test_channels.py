"""Channel matrices of the real clients, enumerated: no ratio passes exp(epsilon), exactly."""

from __future__ import annotations

import json
import math
from fractions import Fraction

import pytest

from discreet import local
from discreet.audit import min_delta
from discreet.local.chances import WHOLE, largest_chance, within
from discreet.local.oracle import FrequencyOracle
from discreet.noise.enclosure import exp_minus
from tests.local.enumeration import law, worst_ratio
from tests.local.examples import collection, oracles, rappor

KINDS = sorted(oracles(1))
EPSILONS = (Fraction(1, 10), Fraction(1), math.log(3), Fraction(4))
WHOLE_LAW = {"direct", "symmetric_unary", "optimized_unary", "subset", "hadamard", "hadamard_two"}


def channel(oracle: FrequencyOracle, values: int = 5) -> list[dict[str, Fraction]]:
    """The law of each value; twins are read by clients under the name of direct encoding."""
    honest = collection(local.DirectEncoding(epsilon=oracle.epsilon, domain=oracle.choices))
    schema = json.dumps({**json.loads(honest.schema), "oracle": oracle.describe_randomiser()})
    return [law(schema, value) for value in range(values)]


def at_most_exp(ratio: Fraction, epsilon: Fraction) -> bool:
    """A check of its own: ratio * exp(-epsilon) <= 1 with 512 bits."""
    return ratio * exp_minus(epsilon, 512)[1] <= 1 << 512


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("kind", KINDS)
def test_no_ratio_passes_exp_epsilon(kind: str, epsilon: Fraction | float) -> None:
    worst = worst_ratio(channel(oracles(epsilon)[kind]))
    assert at_most_exp(worst, Fraction(epsilon))
    slack = 0.35 if kind == "bloom" else 1e-9  # values of a filter may share a bit
    assert math.log(worst) >= float(epsilon) * (1 - slack) - 1e-9


@pytest.mark.parametrize("kind", sorted(WHOLE_LAW))
def test_chances_add_up_and_supports_are_p_and_q(kind: str) -> None:
    values = 3 if kind == "hadamard_two" else 5
    oracle = oracles(1, values)[kind]
    p, q = oracle.support_chances
    matrix = channel(oracle, values)
    for value, row in enumerate(matrix):
        assert sum(row.values()) == 1
        for other in range(values):
            supported = Fraction(0)
            for told, chance in row.items():
                batch, bad = oracle.batch(json.loads(told))
                assert bad == 0
                tally = oracle.aggregate(batch)
                assert isinstance(oracle, local.oracle.SupportOracle)
                supported += chance * int(
                    oracle._supports(tally, oracle.choices.numbers([other]))[0]
                )
            assert supported == (p if other == value else q), (value, other)


@pytest.mark.parametrize("kind", ["binary_hashing", "optimal_hashing"])
def test_collisions_of_hashing_are_counted_exactly(kind: str) -> None:
    oracle = oracles(1)[kind]
    assert isinstance(oracle, local.hashing.LocalHashing)
    prime, cells = oracle.prime, oracle.cells
    for one, two in ((0, 1), (1, 4), (2, 3)):
        shared = sum(
            (a * one + b) % prime % cells == (a * two + b) % prime % cells
            for a in range(prime)
            for b in range(prime)
        )
        assert Fraction(shared, prime**2) == oracle.collision


def test_the_rounding_is_the_tightest_that_keeps_the_promise() -> None:
    for epsilon in (Fraction(1, 100), Fraction(1), Fraction(7, 2), Fraction(20)):
        for odds in (Fraction(1), Fraction(1, 99), Fraction(3, 13)):
            chance = largest_chance(epsilon, odds)
            assert at_most_exp(Fraction(chance, WHOLE - chance) / odds, epsilon)
            assert not within(Fraction(chance + 1, WHOLE - chance - 1) / odds, epsilon)


@pytest.mark.parametrize(("epsilon", "once"), [(Fraction(2), Fraction(1)), (Fraction(4), 1)])
def test_rappor_once_and_for_ever(epsilon: Fraction, once: Fraction) -> None:
    schema = collection(rappor(epsilon, once)).schema
    single = [law(schema, value) for value in range(3)]
    assert at_most_exp(worst_ratio(single), Fraction(once))
    memory = {"survey/1": {"cohort": 0}}
    for many in (2, 3):
        oracle = local.Rappor(
            epsilon=epsilon, once=once, domain=3, cells=2, hashes=1, cohorts=1, seed=1
        )
        laws = [
            law(collection(oracle).schema, value, reports=many, memory=memory) for value in range(3)
        ]
        worst = worst_ratio(laws)
        assert at_most_exp(worst, Fraction(epsilon))
        assert not at_most_exp(worst, Fraction(once))


def test_a_memoised_report_is_the_same_for_ever_and_a_second_value_pays_again() -> None:
    schema = collection(local.DirectEncoding(epsilon=1, domain=3), memoised=True).schema
    laws = [law(schema, value, reports=4) for value in range(3)]
    assert at_most_exp(worst_ratio(laws), Fraction(1))
    assert all(len(set(json.loads(told))) == 1 for told in laws[0])


def test_without_memory_four_reports_cost_four_times() -> None:
    schema = collection(local.DirectEncoding(epsilon=1, domain=3)).schema
    worst = worst_ratio([law(schema, value, reports=4) for value in range(3)])
    assert at_most_exp(worst, Fraction(4))
    assert math.log(worst) == pytest.approx(4)


@pytest.mark.parametrize(("epsilon", "reports"), [(1, 2), (1, 4), (Fraction(1, 2), 3)])
def test_the_auditor_holds_memory_to_its_price(epsilon: Fraction | int, reports: int) -> None:
    """Kept reports stay within epsilon, however many; the same ones drawn anew are refuted."""
    deltas = {}
    for memoised in (True, False):
        oracle = local.DirectEncoding(epsilon=epsilon, domain=3)
        schema = collection(oracle, memoised=memoised).schema
        laws = [law(schema, value, reports=reports) for value in range(3)]
        deltas[memoised] = max(
            min_delta(one, two, epsilon=float(epsilon)) for one in laws for two in laws
        )
    assert deltas[True] < 1e-15
    assert deltas[False] > 0.05


PRINTED = {
    "unary": (local.OptimizedUnary(epsilon=1, domain=100), 3.68269),
    "hashing": (local.OptimalLocalHashing(epsilon=1, domain=4096), 3.69165),
    "hadamard": (local.HadamardResponse(epsilon=1, domain=100, bits=1), 4.68269),
    "hadamard_two": (local.HadamardResponse(epsilon=1, domain=128, bits=2), 3.691655),
    "hadamard_three": (local.HadamardResponse(epsilon=2, domain=128, bits=3), 0.724591),
    "hadamard_six": (local.HadamardResponse(epsilon=4, domain=1024, bits=6), 0.076412),
    "direct": (local.DirectEncoding(epsilon=1, domain=100), 34.113),
    "direct_16": (local.DirectEncoding(epsilon=1, domain=16), 5.662430),
    "direct_128": (local.DirectEncoding(epsilon=2, domain=128), 3.267735),
    "subset_16": (local.SubsetSelection(epsilon=1, domain=16), 3.110716),
    "subset_128": (local.SubsetSelection(epsilon=1, domain=128), 3.609788),
    "subset_128_2": (local.SubsetSelection(epsilon=2, domain=128), 0.697097),
    "subset_1024": (local.SubsetSelection(epsilon=4, domain=1024), 0.073908),
    "unary_4": (local.OptimizedUnary(epsilon=4, domain=1024), 0.076022),
    "equal_direct": (local.DirectEncoding(epsilon=math.log(3), domain=11), 3.0),
    "equal_unary": (local.OptimizedUnary(epsilon=math.log(3), domain=11), 3.0),
}


@pytest.mark.parametrize("case", sorted(PRINTED))
def test_variances_are_those_of_the_catalogue(case: str) -> None:
    oracle, printed = PRINTED[case]
    assert oracle.variance == pytest.approx(printed, rel=2e-5)


def test_one_bit_costs_exactly_one_more_than_unary() -> None:
    for epsilon in (0.1, 1, 3):
        one_bit = local.HadamardResponse(epsilon=epsilon, domain=8, bits=1).variance
        unary = local.OptimizedUnary(epsilon=epsilon, domain=8).variance
        assert one_bit - unary == pytest.approx(1, abs=1e-9 * unary + 1e-9)


class PrintedHashing(local.OptimalLocalHashing):
    """The broken twin: chances of the true cell as if there were two cells."""

    @property
    def keep(self) -> int:
        return largest_chance(Fraction(self.epsilon))


def test_the_printed_chances_of_hashing_are_caught() -> None:
    worst = worst_ratio(channel(PrintedHashing(epsilon=1, domain=5)))
    assert not at_most_exp(worst, Fraction(1))


class NearestRounding(local.DirectEncoding):
    """The broken twin: one step above what the promise allows."""

    @property
    def keep(self) -> int:
        return largest_chance(Fraction(self.epsilon), Fraction(1, self.size - 1)) + 1


def test_one_step_of_rounding_in_the_wrong_direction_is_caught() -> None:
    worst = worst_ratio(channel(NearestRounding(epsilon=1, domain=5)))
    assert not at_most_exp(worst, Fraction(1))
