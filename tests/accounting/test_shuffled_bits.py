"""Shuffled bits: the sum over everything that is seen, in exact numbers, and never below it."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from discreet import events
from discreet.accounting.shuffle import SHUFFLED, shuffled_delta, shuffled_epsilon
from discreet.accounting.shuffled_bits import MOST_PEOPLE, bits_delta, ones_among_others
from discreet.accounting.shuffled_losses import bits_pair
from discreet.core.arrays import Floats
from discreet.core.events.shuffled import Shuffled

_DIGITS = 10**40


def _law(ones: int, zeros: int, p: Fraction) -> list[Fraction]:
    """The number of ones reported, a person at a time, in exact numbers."""
    law = [Fraction(1)]
    for chance in [p] * ones + [1 - p] * zeros:
        told = [chance * mass for mass in law]
        kept = [(1 - chance) * mass for mass in law]
        law = [a + b for a, b in zip([Fraction(0), *told], [*kept, Fraction(0)], strict=True)]
    return law


def _exact(p: Fraction, people: int, grown: Fraction) -> Fraction:
    """The largest delta over what the others hold, and over both directions."""
    worst = Fraction(0)
    for k in range(people):
        one, none = _law(k + 1, people - 1 - k, p), _law(k, people - k, p)
        for left, right in ((one, none), (none, one)):
            pairs = zip(left, right, strict=True)
            worst = max(
                worst, sum((max(a - grown * b, Fraction(0)) for a, b in pairs), Fraction(0))
            )
    return worst


@pytest.mark.parametrize("people", [1, 2, 3, 7, 11])
@pytest.mark.parametrize("loss", [0.25, 1.0, 3.0])
def test_it_is_the_exact_delta_rounded_up(people: int, loss: float) -> None:
    """Randomized response at the loss itself, and thresholds, to forty digits and outwards."""
    odds = Fraction(math.exp(loss))
    inner = odds * Fraction(_DIGITS - 1, _DIGITS) * (1 - Fraction(1, 10**15))
    for part in (0.0, 0.3, 0.7, 0.95):
        epsilon = part * loss
        grown = Fraction(math.exp(epsilon)) * (1 + Fraction(1, 10**15))
        exact = float(_exact(inner / (1 + inner), people, grown))
        found = bits_delta(loss, people, epsilon)
        assert exact <= found <= exact * (1 + 1e-9) + 1e-13


@pytest.mark.parametrize("people", [300, 1000])
def test_steps_are_never_below_any_count_of_the_others(people: int) -> None:
    """Against every k, in doubles that err by 1e-12 and less: 1300 laws."""
    p, m = 1 / (1 + math.exp(-1)), people - 1
    worst = {0.05: 0.0, 0.12: 0.0, 0.2: 0.0}
    for k in range(people):
        ones = stats.binom.pmf(np.arange(k + 1), k, p)
        zeros = stats.binom.pmf(np.arange(m - k + 1), m - k, 1 - p)
        law = np.convolve(ones, zeros)
        one = np.pad(p * law, (1, 0)) + np.pad((1 - p) * law, (0, 1))
        none = np.pad((1 - p) * law, (1, 0)) + np.pad(p * law, (0, 1))
        for epsilon, before in worst.items():
            here = float(np.maximum(one - math.exp(epsilon) * none, 0).sum())
            worst[epsilon] = max(before, here)
    for epsilon, exact in worst.items():
        found = bits_delta(1.0, people, epsilon)
        assert exact * (1 - 1e-9) <= found <= exact * 1.1
    assert ones_among_others(1.0, people).raised.shape[0] <= 257


@pytest.mark.parametrize(
    ("people", "before", "exact"), [(1000, 0.14868, 0.1265), (10_000, 0.043206, 0.035659)]
)
def test_bits_cost_what_they_cost_and_not_a_fifth_more(
    people: int, before: float, exact: float
) -> None:
    event = Shuffled(events.RandomizedResponse(epsilon=1, categories=2), people)
    found = event.epsilon(delta=1e-6)
    assert found < 1.005 * exact < before
    assert SHUFFLED.delta(event, found) <= 1e-6
    assert shuffled_epsilon(loss=1, people=people, even=True, delta=1e-6) > 1.15 * found


def _both(loss: float, ones: int, people: int) -> tuple[Floats, Floats]:
    """The number of ones where so many of the others hold one, and one person does or does not."""
    p, m = 1 / (1 + math.exp(-loss)), people - 1
    law = np.convolve(
        stats.binom.pmf(np.arange(ones + 1), ones, p),
        stats.binom.pmf(np.arange(m - ones + 1), m - ones, 1 - p),
    )
    up, down = np.pad(law, (1, 0)), np.pad(law, (0, 1))
    return p * up + (1 - p) * down, (1 - p) * up + p * down


@pytest.mark.parametrize(("loss", "people"), [(1.0, 2), (0.5, 6), (3.0, 12), (1.0, 20)])
def test_two_rounds_of_bits_are_never_below_any_two_counts_of_the_others(
    loss: float, people: int
) -> None:
    """Every count of the first round with every count of the second, both directions."""
    laws = [_both(loss, ones, people) for ones in range(people)]
    two = Shuffled(events.RandomizedResponse(epsilon=loss, categories=2), people) * 2
    for epsilon in (0.0, 0.05, 0.2, 0.5):
        grown, worst = math.exp(epsilon), 0.0
        for (a, b), (c, d) in itertools.product(laws, repeat=2):
            one, none = np.outer(a, c), np.outer(b, d)
            for left, right in ((one, none), (none, one)):
                worst = max(worst, float(np.maximum(left - grown * right, 0).sum()))
        assert worst * (1 - 1e-9) <= two.delta(epsilon=epsilon) <= 1.25 * worst


@pytest.mark.parametrize(
    ("loss", "people"), [(1e-6, 10), (1.0, 1), (1.0, 10_000), (8.0, 1000), (19.9, 3)]
)
def test_the_pair_of_a_round_of_bits_is_nowhere_below_its_curve(loss: float, people: int) -> None:
    """Between thresholds too; and it is symmetric, so that this holds for negative ones."""
    pair = bits_pair(loss, people)
    z, p = pair.atoms().T
    assert p.sum() + pair.infinite >= 1
    for epsilon in np.linspace(0, loss, 201)[:-1]:
        curve = float((p * np.maximum(-np.expm1(epsilon - z), 0)).sum()) + pair.infinite
        assert curve >= bits_delta(loss, people, float(epsilon)) * (1 - 1e-13)
    positive = z > 0
    assert z[::-1][positive] == pytest.approx(-z[positive])
    assert p[::-1][positive] == pytest.approx(p[positive] * np.exp(-z[positive]), rel=1e-9)


def test_ten_rounds_of_bits_cost_a_sixth_less_than_those_of_others() -> None:
    """Where there are more people than bits are summed for, the less of both is taken."""
    for people, found in ((10_000, 0.1221), (65_537, 0.0447), (120_000, 0.0392)):
        report = events.RandomizedResponse(epsilon=1, categories=2)
        ten = (Shuffled(report, people) * 10).epsilon(delta=1e-6)
        other = events.RandomizedResponse(epsilon=1, categories=3)
        before = (Shuffled(other, people) * 10).epsilon(delta=1e-6)
        assert ten == pytest.approx(found, abs=5e-5)
        assert ten <= before if people == 120_000 else ten < before * 5 / 6


def test_only_bits_are_bits() -> None:
    """Other randomisers, very many people and large losses are priced as before."""
    for report, even in [
        (events.RandomizedResponse(epsilon=1, categories=3), True),
        (events.Pure(epsilon=1), False),
    ]:
        event = Shuffled(report, 500)
        wanted = shuffled_delta(loss=1, people=500, even=even, epsilon=0.1)
        assert SHUFFLED.delta(event, 0.1) == wanted
    bit = events.RandomizedResponse(epsilon=1, categories=2)
    many = 2 * MOST_PEOPLE
    wanted = shuffled_delta(loss=1, people=many, even=True, epsilon=0.005)
    assert SHUFFLED.delta(Shuffled(bit, many), 0.005) == wanted
    open_ = events.RandomizedResponse(epsilon=40, categories=2)
    wanted = shuffled_delta(loss=40, people=9, even=True, epsilon=1)
    assert SHUFFLED.delta(Shuffled(open_, 9), 1.0) == wanted
