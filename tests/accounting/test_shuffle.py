"""Amplification by shuffling: the catalogue's table, brute force, and rounding."""

import itertools
import math
from collections import Counter, defaultdict
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from discreet import events
from discreet.accounting.approx import APPROX
from discreet.accounting.pld import PRIVACY_LOSS
from discreet.accounting.pure import PURE
from discreet.accounting.shuffle import (
    SHUFFLED,
    shuffled_delta,
    shuffled_epsilon,
)
from discreet.core.arrays import Floats
from discreet.core.errors import InvalidParameter, Mismatch, Unpriced
from discreet.core.events.event import from_json
from discreet.core.events.shuffled import Shuffled
from discreet.theory.sampling import closed_form_epsilon
from tests.processor_time import at_most

TABLE = [
    (0.5, 10**3, 0.070523, 0.062687, 0.272638),
    (0.5, 10**4, 0.020401, 0.018117, 0.093868),
    (0.5, 10**6, 0.001619, 0.001431, 0.009765),
    (1, 10**3, 0.182412, 0.148671, 0.566201),
    (1, 10**4, 0.053005, 0.043206, 0.214026),
    (1, 10**6, 0.004335, 0.003514, 0.023497),
    (2, 10**3, 0.545498, 0.397087, None),
    (2, 10**4, 0.155045, 0.114400, 0.500920),
    (2, 10**6, 0.012958, 0.009517, 0.062617),
]


@pytest.mark.parametrize(("loss", "people", "general", "even", "closed"), TABLE)
def test_the_table(
    loss: float, people: int, general: float, even: float, closed: float | None
) -> None:
    # The catalogue rounds to six places; grouping costs at most 5e-5 of epsilon.
    with at_most(2):
        got = shuffled_epsilon(loss=loss, people=people, even=False, delta=1e-6)
    assert got == pytest.approx(general, abs=1e-6, rel=5e-5)
    assert shuffled_epsilon(loss=loss, people=people, even=True, delta=1e-6) == pytest.approx(
        even, abs=1e-6, rel=5e-5
    )
    if closed is None:
        with pytest.raises(InvalidParameter, match="closed_form_invalid"):
            closed_form_epsilon(loss=loss, people=people, delta=1e-6)
    else:
        explicit = closed_form_epsilon(loss=loss, people=people, delta=1e-6)
        assert explicit == pytest.approx(closed, abs=1e-6)
        assert got < explicit


def test_where_the_closed_form_ends() -> None:
    limit = math.log(1000 / (16 * math.log(4e6)))
    assert limit == pytest.approx(1.4138, abs=5e-5)
    closed_form_epsilon(loss=limit - 1e-9, people=1000, delta=1e-6)
    with pytest.raises(InvalidParameter):
        closed_form_epsilon(loss=limit + 1e-9, people=1000, delta=1e-6)
    with pytest.raises(InvalidParameter):
        closed_form_epsilon(loss=0.1, people=10, delta=1e-6)


def reference_delta(loss: float, people: int, w: float, epsilon: float) -> float:
    """The pair's hockey stick by its definition, outcome by outcome."""
    a = math.exp(loss) / (1 + math.exp(loss))
    total = 0.0
    for c in range(people):
        chance = math.comb(people - 1, c) * w**c * (1 - w) ** (people - 1 - c)
        coins = [math.comb(c, x) / 2**c if 0 <= x <= c else 0.0 for x in range(-1, c + 2)]
        for x in range(c + 2):
            p = a * coins[x] + (1 - a) * coins[x + 1]
            q = (1 - a) * coins[x] + a * coins[x + 1]
            total += chance * max(0.0, p - math.exp(epsilon) * q)
    return total


@pytest.mark.parametrize("people", [1, 2, 3, 8, 40])
@pytest.mark.parametrize("loss", [0.2, 1.0, 3.0])
def test_the_sum_equals_the_pair_it_stands_for(people: int, loss: float) -> None:
    for even in (False, True):
        w = 2 / (math.exp(loss) + 1) if even else math.exp(-loss)
        for epsilon in np.linspace(0, loss, 9)[:-1].tolist():
            truth = reference_delta(loss, people, w, epsilon)
            got = shuffled_delta(loss=loss, people=people, even=even, epsilon=epsilon)
            assert truth * (1 - 1e-12) <= got <= truth * (1 + 1e-9) + 1e-13


def test_oracle() -> None:
    got = shuffled_delta(loss=1, people=8, even=False, epsilon=0.3)
    assert got == pytest.approx(0.1137071, abs=5e-8)


def shuffled_reports(
    inputs: tuple[int, ...], categories: int, odds: Fraction
) -> dict[object, Fraction]:
    """The law of the histogram of k-ary randomized responses."""
    scale = odds + categories - 1
    law: dict[tuple[int, ...], Fraction] = {(0,) * categories: Fraction(1)}
    for value in inputs:
        grown: Counter[tuple[int, ...]] = Counter()
        for counts, mass in law.items():
            for report in range(categories):
                after = tuple(n + (i == report) for i, n in enumerate(counts))
                grown[after] += mass * (odds if report == value else 1) / scale  # type: ignore[assignment]
        law = dict(grown)  # type: ignore[arg-type]
    return law  # type: ignore[return-value]


def worst_delta(people: int, categories: int, odds: Fraction, ratio: Fraction) -> Fraction:
    """Over all inputs of the others (only their multiset matters) and both directions."""
    worst = Fraction(0)
    for others in itertools.combinations_with_replacement(range(categories), people - 1):
        for x, y in itertools.permutations(range(categories), 2):
            p = shuffled_reports((x, *others), categories, odds)
            q = shuffled_reports((y, *others), categories, odds)
            excess = (max(Fraction(0), p[o] - ratio * q[o]) for o in p)
            worst = max(worst, sum(excess, Fraction(0)))
    return worst


@pytest.mark.parametrize(("people", "categories"), [(2, 2), (6, 2), (12, 2), (4, 3), (3, 4)])
def test_all_inputs_of_randomized_response_stay_below(people: int, categories: int) -> None:
    odds = Fraction(3)
    for ratio in (Fraction(1), Fraction(5, 4), Fraction(2)):
        worst = float(worst_delta(people, categories, odds, ratio))
        # The float for the loss is rounded up, that for epsilon down: the bound must still hold.
        loss = math.nextafter(math.log(3), 2)
        spent = math.nextafter(math.log(ratio), -1) if ratio > 1 else 0.0
        even = shuffled_delta(loss=loss, people=people, even=True, epsilon=max(spent, 0.0))
        general = shuffled_delta(loss=loss, people=people, even=False, epsilon=max(spent, 0.0))
        assert worst <= even <= general


def test_a_broken_twin_that_counts_dropped_reports_is_caught() -> None:
    """Three reports arrive where twelve were announced."""
    worst = float(worst_delta(3, 2, Fraction(3), Fraction(5, 4)))
    claimed = shuffled_delta(loss=math.log(3), people=12, even=True, epsilon=math.log(5 / 4))
    assert claimed < worst


def test_subset_selection_is_not_even() -> None:
    """The pointwise condition fails on {x0, x1}, so only the general bound is proved for it."""
    odds = 8.0
    sets = list(itertools.combinations(range(4), 2))
    weights = [np.array([odds if x in s else 1.0 for s in sets]) for x in range(4)]
    reports = [w / w.sum() for w in weights]
    assert np.any(reports[2] < (reports[0] + reports[1]) / (odds + 1) * (1 - 1e-9))
    assert np.all(reports[2] >= (reports[0] + reports[1]) / (2 * odds) * (1 - 1e-9))
    for epsilon in (0.5, 1.0, 1.9):
        first, second = (np.outer(reports[x], reports[2]) for x in (0, 1))
        excess = np.maximum(first + first.T - math.exp(epsilon) * (second + second.T), 0)
        worst = float(np.triu(excess, 1).sum() + np.trace(excess) / 2)
        assert worst <= shuffled_delta(loss=math.log(odds), people=2, even=False, epsilon=epsilon)


def test_more_people_never_cost_more() -> None:
    deltas = [
        shuffled_delta(loss=1, people=n, even=False, epsilon=0.2) for n in (1, 2, 10, 300, 20_000)
    ]
    assert deltas == sorted(deltas, reverse=True)


def test_extremes() -> None:
    assert shuffled_delta(loss=1, people=1000, even=False, epsilon=1) == 0
    assert shuffled_epsilon(loss=1, people=1000, even=False, delta=0) == pytest.approx(1)
    tiny = shuffled_epsilon(loss=1, people=10**5, even=False, delta=1e-30)
    assert 0.02 < tiny < 0.1
    assert shuffled_epsilon(loss=900, people=100, even=True, delta=1e-6) == pytest.approx(900)
    assert shuffled_epsilon(loss=1, people=1, even=True, delta=1e-6) == pytest.approx(1, rel=1e-4)


def test_the_event_and_its_accountants() -> None:
    general = Shuffled(events.Pure(epsilon=1), 1000)
    response = Shuffled(events.RandomizedResponse(epsilon=1, categories=5), 1000)
    assert from_json(response.to_json()) == response
    assert SHUFFLED.epsilon(general, 1e-6) == pytest.approx(0.182412, abs=1e-6)
    assert SHUFFLED.epsilon(response, 1e-6) == pytest.approx(0.148671, abs=1e-6)
    assert SHUFFLED.delta(general, 0.2) == shuffled_delta(
        loss=1, people=1000, even=False, epsilon=0.2
    )
    assert PURE.epsilon(general * 2, 0) == 2
    assert APPROX.epsilon(general, 1e-6) == 1
    for event in (general * 2, events.Pure(epsilon=1)):
        with pytest.raises(Unpriced):
            SHUFFLED.epsilon(event, 1e-6)


def test_only_local_randomisers_are_shuffled() -> None:
    for event in (events.Laplace(epsilon=1), events.Gaussian(noise_multiplier=1), 1):
        with pytest.raises(InvalidParameter, match="not_a_local_randomiser"):
            Shuffled(event, 10)  # type: ignore[arg-type]
    with pytest.raises(InvalidParameter):
        Shuffled(events.Pure(epsilon=1), 0)
    with pytest.raises(Mismatch):
        Shuffled(events.Pure(epsilon=1), 10).subsample(rate=0.1)


BINARY = [
    (0.5, 10**3, 0.056854),
    (0.5, 10**4, 0.016181),
    (1, 10**3, 0.126614),
    (1, 10**4, 0.035659),
    (2, 10**3, 0.323279),
    (2, 10**4, 0.087016),
]


def binary_laws(loss: float, people: int) -> tuple[Floats, Floats]:
    """The number of yeses where all others say no, and one person says yes or no."""
    lie = 1 / (1 + math.exp(loss))
    k = np.arange(people + 1)
    others = stats.binom.pmf(k, people - 1, lie)
    shifted = np.concatenate(([0.0], others[:-1]))
    return lie * others + (1 - lie) * shifted, (1 - lie) * others + lie * shifted


def hockey_stick(p: Floats, q: Floats, epsilon: float) -> float:
    """The worse of both directions."""
    grown = math.exp(epsilon)
    return max(float(np.maximum(a - grown * b, 0.0).sum()) for a, b in ((p, q), (q, p)))


@pytest.mark.parametrize(("loss", "people", "exact"), BINARY)
def test_the_exact_law_of_binary_response_and_that_we_are_never_below_it(
    loss: float, people: int, exact: float
) -> None:
    """modern-learn:7, the column of the exact law; ours is the bound with w = 2/(exp(loss) + 1)."""
    p, q = binary_laws(loss, people)
    assert hockey_stick(p, q, exact - 1e-6) > 1e-6 > hockey_stick(p, q, exact + 1e-6)
    report = events.RandomizedResponse(epsilon=loss, categories=2)
    assert exact < Shuffled(report, people).epsilon(delta=1e-6) < 1.4 * exact


def test_rounds_compose() -> None:
    """Twice cost 1.99999 before, and ten times ten local epsilons."""
    once = Shuffled(events.Pure(epsilon=1), people=10_000)
    assert once.epsilon(delta=1e-6) == pytest.approx(0.0530, abs=5e-5)
    assert (once * 2).epsilon(delta=1e-6) == pytest.approx(0.0769, abs=5e-5)
    ten = (once * 10).epsilon(delta=1e-6)
    assert ten < 1.1 * math.sqrt(10) * once.epsilon(delta=1e-6)
    assert (once * 10).epsilon_bounds(delta=1e-6) == (0.0, ten)


@pytest.mark.parametrize("people", [5, 30])
@pytest.mark.parametrize("loss", [0.5, 2.0])
def test_two_rounds_are_never_below_the_exact_law_of_two(loss: float, people: int) -> None:
    p, q = binary_laws(loss, people)
    two = Shuffled(events.RandomizedResponse(epsilon=loss, categories=2), people) * 2
    for epsilon in (0.0, 0.1, 0.4, 0.9):
        assert two.delta(epsilon=epsilon) >= hockey_stick(np.outer(p, p), np.outer(q, q), epsilon)


def test_two_rounds_equal_the_bound_composed_by_hand() -> None:
    """The pair of a few people, all outcomes of two rounds listed."""
    loss, people = 1.0, 4
    truth, w = math.exp(loss) / (1 + math.exp(loss)), math.exp(-loss)
    p: defaultdict[tuple[int, int], float] = defaultdict(float)
    q: defaultdict[tuple[int, int], float] = defaultdict(float)
    for c in range(people):
        for a in range(c + 1):
            mass = stats.binom.pmf(c, people - 1, w) * stats.binom.pmf(a, c, 0.5)
            for law, one in ((p, truth), (q, 1 - truth)):
                law[c, a + 1] += mass * one
                law[c, a] += mass * (1 - one)
    pairs = [(p[x], q[x]) for x in p]
    two = Shuffled(events.Pure(epsilon=loss), people) * 2
    for epsilon in (0.0, 0.3, 0.8, 1.5):
        grown = math.exp(epsilon)
        both = itertools.product(pairs, pairs)
        listed = math.fsum(max(a * c - grown * b * d, 0.0) for (a, b), (c, d) in both)
        assert listed * (1 - 1e-9) <= PRIVACY_LOSS.delta(two, epsilon) <= listed * 1.001


def test_more_people_never_cost_more_over_rounds() -> None:
    prices = [
        (Shuffled(events.Pure(epsilon=1), people) * 5).epsilon(delta=1e-6)
        for people in (1, 10, 100, 1000, 10_000, 10**12)
    ]
    assert all(a >= b for a, b in itertools.pairwise(prices))
    assert prices[0] <= 5 * (1 + 1e-12)


def test_rounds_are_about_replaced_people_only() -> None:
    rounds = Shuffled(events.Pure(epsilon=1), 100) * 3
    with pytest.raises(Mismatch):
        rounds + events.Gaussian(1).subsample(rate=0.1)


def test_what_is_cut_off_is_charged() -> None:
    ((pair, _),) = PRIVACY_LOSS.price(Shuffled(events.Pure(epsilon=1), 1000)).parts
    assert 0 < pair.unbounded() < 1e-20
    assert float(pair.atoms()[:, 1].sum()) + pair.unbounded() >= 1
