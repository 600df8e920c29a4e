"""The split of a spend: optimal for its weights, and all of it, in every privacy definition."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.core.errors import DiscreetError
from discreet.core.events import mechanisms as events
from discreet.core.guarantee import (
    ZCDP,
    ApproxDP,
    ApproxZCDP,
    GaussianDP,
    Guarantee,
    PureDP,
    RenyiDP,
)
from discreet.core.parameters import exact
from discreet.mechanisms import DiscreteGaussian, DiscreteLaplace, Gaussian, Laplace
from discreet.relational.aggregates.measures import CountRows, Linear, Total
from discreet.relational.bounding.contributions import ContributionBounds
from discreet.relational.planning.allocation import (
    SEPARATE,
    Allocation,
    QuantileChoice,
    WeightedMeasure,
    allocate,
    shares,
)
from discreet.relational.types.column_domain import ColumnDomain
from discreet.relational.types.data_type import DataType
from discreet.relational.types.expression import Column

WHOLE = Column("n", ColumnDomain(DataType.INTEGER, 0, 100, declared=True))
REAL = Column("x", ColumnDomain(DataType.DOUBLE, -3.0, 5.0, declared=True))
ONE = ContributionBounds(1, 1, 1, 1, 1)
MANY = ContributionBounds(rows=6, squares=18, most=3, groups=2, swaps=1)
SPENDS: Sequence[Guarantee] = (
    PureDP(epsilon=Fraction(7, 10)),
    ApproxDP(epsilon=Fraction(7, 10), delta=0),
    ApproxDP(epsilon=Fraction(7, 10), delta=1e-6),
    ZCDP(rho=Fraction(3, 10)),
    ApproxZCDP(rho=Fraction(3, 10), delta=1e-6),
    RenyiDP(alpha=4, epsilon=Fraction(12, 10)),
)

weights = st.lists(st.floats(0.01, 100), min_size=1, max_size=6)
spends = st.sampled_from(SPENDS)


def measures(number: int) -> list[Linear]:
    """Counts, whole sums and real sums in turn, all different."""
    made: list[Linear] = []
    for place in range(number):
        column = Column(f"c{place}", (WHOLE if place % 3 == 1 else REAL).domain)
        made.append(CountRows(column) if place % 3 == 0 else Total(column, -3, 5 + place, 1))
    return made


def parts(
    weighed: Sequence[float], contributions: ContributionBounds = ONE
) -> list[WeightedMeasure]:
    found = measures(len(weighed))
    return [WeightedMeasure(m, contributions, w) for m, w in zip(found, weighed, strict=True)]


def error(weighed: Sequence[float], divided: Sequence[float], power: int) -> float:
    """The sum of weighted variances, where noise has a variance of share**-power."""
    return math.fsum(w / s**power for w, s in zip(weighed, divided, strict=True))


@given(weights, st.integers(0, 2**32))
def test_no_other_split_has_a_smaller_error(weighed: list[float], seed: int) -> None:
    """Of epsilon, where variances go with 1/share**2, and of rho, where they go with 1/share."""
    for found, power in ((SEPARATE.epsilons(weighed), 2), (SEPARATE.rhos(weighed), 1)):
        mine = [float(share) for share in found]
        least = error(weighed, mine, power)
        draw = np.random.default_rng(seed)
        for _ in range(20):
            other = np.asarray(mine) * np.exp(
                draw.normal(0, draw.choice([0.01, 0.1, 1]), len(mine))
            )
            assert least <= error(weighed, other / other.sum(), power) * (1 + 1e-6)


@given(weights)
def test_the_error_is_the_least_there_is(weighed: list[float]) -> None:
    """By the inequality of Hölder: (Σ w**(1/3))**3 for epsilon, (Σ w**(1/2))**2 for rho."""
    by_epsilon = error(weighed, [float(s) for s in SEPARATE.epsilons(weighed)], 2)
    assert by_epsilon == pytest.approx(sum(w ** (1 / 3) for w in weighed) ** 3, rel=1e-6)
    by_rho = error(weighed, [float(s) for s in SEPARATE.rhos(weighed)], 1)
    assert by_rho == pytest.approx(sum(w**0.5 for w in weighed) ** 2, rel=1e-6)


def test_equal_shares_would_be_noticed() -> None:
    """The negative control of the two tests above."""
    weighed = [1.0, 50.0]
    assert error(weighed, [0.5, 0.5], 2) > 1.2 * sum(w ** (1 / 3) for w in weighed) ** 3
    assert error(weighed, [0.5, 0.5], 1) > 1.2 * sum(w**0.5 for w in weighed) ** 2


@given(weights, st.floats(0.1, 3))
def test_shares_add_up_to_one_exactly(weighed: list[float], power: float) -> None:
    found = shares(weighed, power)
    assert sum(found, Fraction(0)) == 1
    assert min(found) > 0


def chosen(
    weight: float, rounds: int = 1, contributions: ContributionBounds = MANY
) -> QuantileChoice:
    return QuantileChoice(contributions, weight, rounds)


@given(weights, st.lists(st.floats(0.1, 10), max_size=3))
def test_a_pure_spend_is_used_up_exactly(weighed: list[float], choosing: list[float]) -> None:
    """Epsilons of noise, and of choices for all rows of a unit, add up to the last digit."""
    epsilon = Fraction(7, 10)
    made = allocate(parts(weighed, MANY), [chosen(w) for w in choosing], PureDP(epsilon=epsilon))
    noise = [exact(item.mechanism.epsilon) for item in made.noised]  # type: ignore[union-attr]
    choice = [each * Fraction(MANY.rows * MANY.swaps, MANY.most) for each in made.choices]
    assert sum((*noise, *choice), Fraction(0)) == epsilon


@given(weights, st.lists(st.tuples(st.floats(0.1, 10), st.integers(1, 4)), max_size=3))
@pytest.mark.parametrize("spend", SPENDS[3:], ids=str)
def test_a_concentrated_spend_is_used_up(
    spend: Any, weighed: list[float], choosing: list[tuple[float, int]]
) -> None:
    """Rhos of noise add up exactly; epsilons of choices are roots, rounded down alone."""
    rho = spend.epsilon / spend.alpha if isinstance(spend, RenyiDP) else exact(spend.rho)
    choices = [chosen(weight, rounds) for weight, rounds in choosing]
    made = allocate(parts(weighed, MANY), choices, spend)
    everything = [*weighed, *(weight for weight, _ in choosing)]
    divided = SEPARATE.rhos(everything)
    for item, share in zip(made.noised, divided, strict=False):
        assert isinstance(item.mechanism, DiscreteGaussian)
        assert exact(item.mechanism.rho) == rho * share
    price = min(Fraction(MANY.rows, MANY.most) ** 2, Fraction(MANY.groups))
    for choice, epsilon, share in zip(choices, made.choices, divided[len(weighed) :], strict=True):
        cost = epsilon**2 / 8 / choice.rounds * MANY.swaps**2 * price
        assert rho * share * (1 - Fraction(1, 10**6)) < cost <= rho * share


@given(weights)
def test_an_approximate_spend_buys_one_joint_gaussian_or_laplace_noise(
    weighed: list[float],
) -> None:
    """Whichever has the smaller weighted error; the Gaussian is one event at (epsilon, delta)."""
    spend, every = SPENDS[2], parts(weighed, MANY)
    made = allocate(every, [], spend)
    pure = allocate(every, [], SPENDS[0])
    gaussian = isinstance(made.noised[0].mechanism, Gaussian)
    assert {isinstance(item.mechanism, Gaussian) for item in made.noised} == {gaussian}
    if gaussian:
        assert SEPARATE.error(every, made.noised) < SEPARATE.error(every, pure.noised)
        assert isinstance(made.linear_event, events.Gaussian)
        moved = [
            exact(part.contributions.l2(item.measure.steps())) / exact(item.mechanism.sensitivity)
            for part, item in zip(every, made.noised, strict=True)
        ]
        assert sum(ratio**2 for ratio in moved) <= 1  # the joint vector moves by at most one
    else:
        assert made.linear_event == pure.linear_event


def kinds(made: Allocation) -> list[type]:
    return [type(item.mechanism) for item in made.noised]


def test_each_definition_has_its_noise() -> None:
    count, whole, real = parts([1, 1, 1])
    assert [part.measure.whole for part in (count, whole, real)] == [True, True, False]
    for spend in SPENDS[:2]:
        assert kinds(allocate([count, whole, real], [], spend)) == [
            DiscreteLaplace,
            DiscreteLaplace,
            Laplace,
        ]
    for spend in SPENDS[3:]:
        assert kinds(allocate([count, whole, real], [], spend)) == [DiscreteGaussian] * 3
    several = [
        *parts([1.0] * 9, ContributionBounds(rows=50, squares=50, most=1, groups=50, swaps=1))
    ]
    assert set(kinds(allocate(several, [], SPENDS[2]))) == {Gaussian}


@given(spends, st.floats(1e-3, 1e3))
def test_the_scale_of_weights_does_not_matter(spend: Guarantee, factor: float) -> None:
    """Only what weights are relative to each other decides."""
    weighed = [0.375, 1.0, 0.5, 2.0]
    first = allocate(parts(weighed), [], spend)
    second = allocate(parts([w * factor for w in weighed]), [], spend)
    for one, two in zip(first.noised, second.noised, strict=True):
        assert one.distribution.std == pytest.approx(two.distribution.std, rel=1e-3)


@pytest.mark.parametrize("spend", SPENDS, ids=str)
def test_more_spend_is_less_noise_on_a_grid_that_is_fine_enough(spend: Any) -> None:
    name = "rho" if hasattr(spend, "rho") else "epsilon"
    more = type(spend)(**{**vars(spend), name: 2 * getattr(spend, name)})
    one, two = (allocate(parts([1, 1, 1]), [], each) for each in (spend, more))
    for before, after in zip(one.noised, two.noised, strict=True):
        assert after.distribution.std < before.distribution.std
        assert after.measure.whole or after.step <= after.distribution.std * 2**-30


@pytest.mark.parametrize("real", [False, True])
@pytest.mark.parametrize(
    "spend",
    [
        PureDP(epsilon=0),
        ApproxDP(epsilon=0, delta=1e-6),
        ZCDP(rho=0),
        ApproxZCDP(rho=0, delta=1e-6),
    ],
    ids=str,
)
def test_nothing_buys_nothing(spend: Guarantee, *, real: bool) -> None:
    part = parts([1, 1, 1])[2 if real else 0]
    with pytest.raises(DiscreetError, match="not_positive"):
        allocate([part], [], spend)


def test_a_definition_that_no_noise_is_made_for_is_refused() -> None:
    with pytest.raises(DiscreetError, match="spend_notion"):
        allocate(parts([1]), [], GaussianDP(mu=1))
