"""Over time and against others: accounts, poisoning, sums by secure aggregation.

Statistical tests fail wrongly with a chance below 1e-6 each.
"""

from __future__ import annotations

import json
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from discreet import local
from discreet.core.errors import DiscreetError, Exhausted
from discreet.core.events.mechanisms import DiscreteLaplace
from discreet.core.unit import Row
from discreet.local.oracle import SupportOracle
from discreet.local.personal_ledger import PersonalLedger, epsilon_over_time
from discreet.local.poisoning import gain_of_one, poison, recovered, support_of_lies, tolerant
from discreet.local.secure_sum import SecureSum
from tests.local.enumeration import course_law, law, worst_ratio
from tests.local.examples import collection
from tests.local.test_channels import at_most_exp


def test_a_ledger_refuses_what_would_pass_the_limit_before_it_is_drawn() -> None:
    asked = collection(local.DirectEncoding(epsilon=Fraction(1, 10), domain=3))
    ledger, client = PersonalLedger(limit=Fraction(3, 10)), asked.client()
    for _ in range(3):
        ledger.report(asked, client, 1)
    assert ledger.spent == Fraction(3, 10)
    with pytest.raises(Exhausted, match="local_limit_reached"):
        ledger.report(asked, client, 1)
    ledger.reset()
    ledger.report(asked, client, 1)
    assert ledger.lifetime() == Fraction(4, 10)
    again = PersonalLedger.from_json(ledger.to_json())
    assert again == ledger
    with pytest.raises(DiscreetError, match="local_ledger_format"):
        PersonalLedger.from_json("{}")


def test_memoised_repeats_are_free_only_while_the_value_stays() -> None:
    asked = collection(local.DirectEncoding(epsilon=1, domain=3), memoised=True)
    ledger, client = PersonalLedger(limit=2), asked.client()
    for value in (0, 0, 0, 2, 2, 2):
        ledger.report(asked, client, value)
    assert ledger.spent == 2
    last = json.loads(ledger.report(asked, client, 2))["report"]
    for value in (1, 0, 2, 1) * 5:  # nothing is drawn, and the device does not fall silent
        assert json.loads(ledger.report(asked, client, value))["report"] == last
    assert client.number_of_kept_value == 2
    assert ledger.spent == 2
    with pytest.raises(Exhausted):
        PersonalLedger(limit=Fraction(1, 2)).report(asked, asked.client(), 1)
    client.memory.clear()  # whoever loses memory pays again, or has nothing left to send
    assert ledger.price(asked, client, 2) == 1
    with pytest.raises(Exhausted):
        ledger.report(asked, client, 2)


def test_a_return_is_a_change_and_is_drawn_and_paid_like_any_other() -> None:
    """Courses that change at the same times: the exact law, and what is paid, and silence."""
    schema = collection(local.DirectEncoding(epsilon=1, domain=3), memoised=True).schema
    courses = [(1, 2, 1), (1, 2, 0), (0, 1, 0), (2, 0, 1)]
    worst = worst_ratio([course_law(schema, course) for course in courses])
    assert at_most_exp(worst, Fraction(3))
    unlike = []  # the chance that the third report is not the first
    for course in [(1, 2, 1), (1, 2, 0)]:
        found = course_law(schema, course)
        unlike.append(sum(p for told, p in found.items() if told[1] != told[-2]))
    assert min(unlike) > Fraction(1, 2)


@pytest.mark.parametrize("limit", [Fraction(5, 2), 3, 4])
def test_what_is_paid_and_silence_depend_on_times_of_changes_alone(limit: Fraction) -> None:
    asked = collection(local.DirectEncoding(epsilon=1, domain=4), memoised=True)
    fresh = local.Collection(
        name="fresh", version=1, oracle=local.DirectEncoding(epsilon=1, domain=4), memoised=False
    )
    found = []
    for before in [(1, 2, 1), (1, 2, 3), (0, 3, 0)]:
        for after in (0, 1, 2, 3):
            ledger, client = PersonalLedger(limit=limit), asked.client()
            seen: list[Any] = []
            for value in (*before, None, "reset", after, None, None, None, (after + 1) % 4):
                try:
                    if value == "reset":
                        ledger.reset()
                    elif value is None:
                        ledger.report(fresh, fresh.client(), 0)
                    else:
                        ledger.report(asked, client, value)
                    seen.append(ledger.spent)
                except Exhausted:
                    seen.append("silent")
            found.append(seen)
    assert all(each == found[0] for each in found)
    # a limit that is raised after a change was missed: a return is paid like any other value
    for value in range(4):
        ledger, client = PersonalLedger(limit=1), asked.client()
        for each in (1, 2):
            ledger.report(asked, client, each)
        ledger = PersonalLedger.from_json(ledger.to_json())
        ledger.limit = 3
        ledger.report(asked, client, value)
        ledger.report(asked, client, value)
        assert ledger.spent == 2
    # with memory kept over a reset, a first report that cannot be paid is silent for every value
    for value in range(4):
        ledger, client = PersonalLedger(limit=1), asked.client()
        ledger.report(asked, client, 1)
        ledger.reset()
        ledger.report(fresh, fresh.client(), 0)
        with pytest.raises(Exhausted):
            ledger.report(asked, client, value)


def test_the_cost_over_time_is_that_of_the_exact_law() -> None:
    """Two values, told twice each, against two others: the memory's law has twice epsilon."""
    schema = collection(local.DirectEncoding(epsilon=1, domain=3), memoised=True).schema
    one = worst_ratio([law(schema, value, reports=3) for value in range(3)])
    assert at_most_exp(one, Fraction(1))
    fresh = collection(local.DirectEncoding(epsilon=1, domain=3)).schema
    three = worst_ratio([law(fresh, value, reports=3) for value in range(3)])
    assert not at_most_exp(three, Fraction(29, 10))
    assert epsilon_over_time(epsilon=1, reports=3, changes=0, memoised=True) == 1
    assert epsilon_over_time(epsilon=1, reports=3, changes=0, memoised=False) == 3
    # daily resets for D days cost D times epsilon
    assert epsilon_over_time(epsilon=4, reports=30, changes=0, memoised=True, resets=29) == 120


ORACLES: dict[str, SupportOracle] = {
    "direct": local.DirectEncoding(epsilon=1, domain=8),
    "unary": local.OptimizedUnary(epsilon=1, domain=8),
    "symmetric": local.SymmetricUnary(epsilon=1, domain=8),
    "hashing": local.OptimalLocalHashing(epsilon=1, domain=8),
    "hadamard": local.HadamardResponse(epsilon=1, domain=8, bits=2),
}


@pytest.mark.parametrize("kind", sorted(ORACLES))
def test_liars_move_a_target_by_the_stated_gain_and_bounds_hold(kind: str) -> None:
    oracle = ORACLES[kind]
    honest = np.repeat(np.arange(8), 2500)
    liars = 2000
    lies = poison(oracle, 7, liars=liars)
    assert np.all(oracle.valid(lies))
    tally = oracle.aggregate(oracle.privatize_many(honest)) + oracle.aggregate(lies)
    found = oracle.estimate(tally)
    expected = 2500 + liars * gain_of_one(oracle)
    assert abs(found.counts[7] - expected) < 6 * found.standard_errors[7] * found.people
    bounds = tolerant(oracle, found, liars=liars, confidence=1 - 1e-9)
    assert np.all(bounds.low <= 1 / 8)
    assert np.all(bounds.high >= 1 / 8)
    better = recovered(oracle, found, liars=liars)
    assert np.all(np.abs(better.shares - 1 / 8) < 6 * better.standard_errors)
    side = float(support_of_lies(oracle))  # what lies about one value say of the others
    told = oracle._supports(oracle.aggregate(lies), np.arange(7))
    assert np.all(np.abs(told - liars * side) <= 6 * math.sqrt(liars * side * (1 - side)))


@pytest.mark.parametrize("liars", [0, 1000, 2000, 4000])
@pytest.mark.parametrize("target", [0, 3])
@pytest.mark.parametrize("kind", [*ORACLES, "subset"])
def test_what_lies_add_and_take_is_set_right_for_every_value(
    kind: str, target: int, liars: int
) -> None:
    """On expected supports, so exactly; nobody has value 0."""
    oracle = {**ORACLES, "subset": local.SubsetSelection(epsilon=1, domain=8)}[kind]
    people, truth = 10_000, np.array([0, *[1 / 7] * 7])
    p, q = (float(chance) for chance in oracle.support_chances)
    lies = np.full(8, float(support_of_lies(oracle)))
    lies[target] = 1
    honest = q + (p - q) * truth
    supports = (people - liars) * honest + liars * lies
    shares = (supports / people - q) / (p - q)
    assert liars == 0 or np.argmax(shares) == target
    found = local.Frequencies(shares, np.full(8, 1e-4), people)
    better = recovered(oracle, found, liars=liars)
    assert better.shares == pytest.approx(truth, abs=1e-12)
    assert better.variances == pytest.approx(1e-4 * (people / (people - liars)) ** 2)


@pytest.mark.parametrize("share", [0.05, 0.1, 0.2])
def test_a_value_that_only_liars_name_reads_as_nothing(share: float) -> None:
    """The mean of 40 estimates of a share of 0, from real reports; six standard errors."""
    oracle = ORACLES["direct"]
    people, readings = 10_000, []
    liars = int(people * share)
    for _ in range(40):
        honest = oracle.privatize_many(1 + np.arange(people - liars) % 7)
        tally = oracle.aggregate(honest) + oracle.aggregate(poison(oracle, 0, liars=liars))
        better = recovered(oracle, oracle.estimate(tally), liars=liars)
        readings.append(better.shares[0])
    assert abs(np.mean(readings)) < 6 * better.standard_errors[0] / math.sqrt(40)


def test_the_gain_of_a_liar_grows_as_epsilon_falls() -> None:
    gains = [gain_of_one(local.DirectEncoding(epsilon=e, domain=2)) for e in (4, 2, 1, 0.1)]
    assert gains == sorted(gains)
    assert gains[2] == pytest.approx(1.582, abs=1e-3)


@pytest.mark.parametrize("vector", [[2**62] * 4, [-(2**63)], [2**64 - 1], [1, 1], [2**63, 2**63]])
def test_a_vector_that_is_too_long_counts_as_none_however_long(vector: list[int]) -> None:
    """The share of noise at epsilon 80 is nothing, but for a chance below 1e-15."""
    quiet = SecureSum(epsilon=80, norm=1, at_least=1, unit=Row())
    kind = np.uint64 if max(vector) >= 2**63 else np.int64
    assert quiet.noisy(np.array(vector, dtype=kind)).tolist() == [0] * len(vector)
    assert quiet.noisy(np.array([0, 1], dtype=kind)).tolist() == [0, 1]


def test_the_secure_sum_is_the_sum_with_discrete_laplace_noise() -> None:
    summed = SecureSum(epsilon=1, norm=1, at_least=8, unit=Row())
    assert summed.event == DiscreteLaplace(epsilon=1, steps=2)
    vectors = [np.eye(1, 3000, person, dtype=np.int64)[0] for person in range(10)]
    total = summed.total(vectors, left=(2, 5))
    truth = np.zeros(3000, dtype=np.int64)
    truth[[0, 1, 3, 4, 6, 7, 8, 9]] = 1
    noise = total - truth
    a = math.exp(-1 / 2)
    variance = 2 * a / (1 - a) ** 2  # eight shares arrived, for which noise was made
    assert np.mean(noise.astype(float) ** 2) == pytest.approx(variance, rel=0.35)
    zero = (1 - a) / (1 + a)
    assert abs(np.mean(noise == 0) - zero) < 6 * math.sqrt(zero / 3000)


def test_what_the_server_sees_of_one_person_is_uniform() -> None:
    summed = SecureSum(epsilon=1, norm=1, at_least=2, unit=Row())
    seen = summed.masked([np.zeros(4000, dtype=np.int64)] * 2).contributions[0]
    high = float(np.mean(seen >> np.uint64(63)))
    assert abs(high - 0.5) < 6 * 0.5 / math.sqrt(4000)


def test_too_few_who_stay_unmask_nothing_and_long_vectors_count_as_none() -> None:
    summed = SecureSum(epsilon=1, norm=1, at_least=3, unit=Row())
    vectors = [np.array([1, 0])] * 3
    with pytest.raises(DiscreetError, match="local_sum_too_few"):
        summed.total(vectors, left=(0,))
    with pytest.raises(DiscreetError, match="local_sum_vector"):
        summed.noisy([0.5])
    quiet = SecureSum(epsilon=60, norm=1, at_least=3, unit=Row())
    total = quiet.total([np.array([1, 1]), np.array([0, 1]), np.array([0, 1])])
    assert total.tolist() == [0, 2]


@pytest.mark.parametrize("other", [[1], [1] + [0] * 8, [], 1, [[1] + [0] * 9]])
@pytest.mark.parametrize("place", [0, 2])
def test_a_vector_of_another_length_is_not_spread_over_all_places(other: Any, place: int) -> None:
    """A single number was added to each of ten places: nine more than a norm of one allows."""
    summed = SecureSum(epsilon=60, norm=1, at_least=2, unit=Row())
    vectors: list[Any] = [np.eye(1, 10, dtype=np.int64)[0]] * 3
    vectors[place] = other
    for told in (summed.masked, summed.total):
        with pytest.raises(DiscreetError, match="local_sum_vector"):
            told(vectors)


@pytest.mark.parametrize("left", [[3], [-1], [True], ["0"]])
def test_only_people_who_masked_can_leave(left: list[Any]) -> None:
    summed = SecureSum(epsilon=60, norm=1, at_least=1, unit=Row())
    with pytest.raises(DiscreetError, match="local_sum_left"):
        summed.total([np.array([1, 0])] * 3, left=left)


def test_a_sum_of_nobody_is_refused() -> None:
    summed = SecureSum(epsilon=60, norm=1, at_least=1, unit=Row())
    with pytest.raises(DiscreetError, match="local_sum_too_few"):
        summed.total([])
    with pytest.raises(DiscreetError, match="local_sum_vector"):
        summed.masked([])


def many_liars() -> object:
    oracle = ORACLES["direct"]
    found = oracle.estimate(oracle.aggregate(oracle.privatize_many([0, 1])))
    return tolerant(oracle, found, liars=2, confidence=0.9)


@pytest.mark.parametrize(
    ("make", "code"),
    [
        (
            lambda: poison(local.SubsetSelection(epsilon=1, domain=4), 0, liars=1),
            "local_poison_kind",
        ),
        (many_liars, "local_too_many_liars"),
    ],
)
def test_refusals(make: Any, code: str) -> None:
    with pytest.raises(DiscreetError) as refusal:
        make()
    assert refusal.value.code == code
