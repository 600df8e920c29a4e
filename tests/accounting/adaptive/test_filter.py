"""Filters: exact limits, prices fixed in advance, refusals that cost nothing."""

from __future__ import annotations

import copy
import os
import pickle
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet import events
from discreet.accounting import zcdp_epsilon, zcdp_rho
from discreet.accounting.adaptive import (
    ApproxFilter,
    PrivacyFilter,
    PureFilter,
    RenyiFilter,
    SplitRenyiFilter,
    ZCDPFilter,
    filter_for,
)
from discreet.accounting.adaptive.orders import renyi_budget
from discreet.core.errors import (
    DiscreetError,
    Exhausted,
    InvalidParameter,
    Mismatch,
    NotPrivate,
    Unpriced,
)
from discreet.core.guarantee import (
    ZCDP,
    ApproxDP,
    ApproxZCDP,
    GaussianDP,
    Guarantee,
    PureDP,
    RenyiDP,
)
from discreet.core.interactive import Filter as FilterProtocol
from discreet.core.parameters import exact
from discreet.core.unit import Replace, Row
from discreet.mechanisms import AboveThreshold, Laplace
from discreet.noise import Seeded

LIMITS: tuple[Callable[[], PrivacyFilter], ...] = (
    lambda: PureFilter(limit=PureDP(epsilon=1)),
    lambda: ApproxFilter(limit=ApproxDP(epsilon=1, delta=1e-6)),
    lambda: ZCDPFilter(limit=ZCDP(rho=0.5)),
    lambda: ZCDPFilter.converted(limit=ApproxDP(epsilon=2, delta=1e-6)),
    lambda: RenyiFilter(limit=RenyiDP(alpha=8, epsilon=1)),
    lambda: RenyiFilter.converted(limit=ApproxDP(epsilon=2, delta=1e-6), alpha=16),
    lambda: SplitRenyiFilter(limit=ApproxDP(epsilon=2, delta=1e-6), orders=[4, 16, 64]),
)
every_filter = pytest.mark.parametrize("make", LIMITS)
charges = st.one_of(st.floats(1e-6, 0.7), st.fractions(Fraction(1, 1000), Fraction(7, 10)))


def code(attempt: Callable[..., Any], *arguments: Any, **options: Any) -> str:
    with pytest.raises(DiscreetError) as caught:
        attempt(*arguments, **options)
    return caught.value.code


def test_a_budget_of_one_admits_two_parts_and_nothing_more() -> None:
    """004d:F12."""
    budget = PureFilter(limit=PureDP(epsilon=1.0))
    budget.record(events.Laplace(epsilon=0.4))
    budget.record(events.Laplace(epsilon=0.6))
    assert budget.spent() == budget.limit == PureDP(epsilon=1.0)
    assert budget.remaining() == PureDP(epsilon=0.0)
    for epsilon in (5e-324, Fraction(1, 10**5000), 1e-9, 1.0, 10**400):
        assert not budget.admits(events.Pure(epsilon=epsilon))
        with pytest.raises(Exhausted):
            budget.record(events.Pure(epsilon=epsilon))
    budget.record(events.Nothing())
    assert budget.spent() == PureDP(epsilon=1.0)


def test_fractions_fit_exactly_and_floats_are_what_they_store() -> None:
    budget = PureFilter(limit=PureDP(epsilon=1))
    for _ in range(10):
        budget.record(events.Pure(epsilon=Fraction(1, 10)))
    assert budget.spent() == PureDP(epsilon=1.0)
    binary = PureFilter(limit=PureDP(epsilon=1))
    for _ in range(9):
        binary.record(events.Pure(epsilon=0.1))
    with pytest.raises(Exhausted, match=r"Fraction\(1, 10\)"):
        binary.record(events.Pure(epsilon=0.1))
    gaussian = ZCDPFilter(limit=ZCDP(rho=0.5))
    gaussian.record(events.Gaussian(noise_multiplier=1000) * 10**6)
    assert gaussian.remaining() == ZCDP(rho=0.0)


@every_filter
@settings(max_examples=40)
@given(st.lists(charges, max_size=12), st.randoms(use_true_random=False))
def test_laws_of_every_filter(
    make: Callable[[], PrivacyFilter], wanted: list[Any], order: Any
) -> None:
    """Admitted if and only if recorded; spent never falls; a refusal changes nothing."""
    budget = make()
    before, admitted = budget.remaining(), []
    for epsilon in wanted:
        event = events.Laplace(epsilon=epsilon)
        spent, left = budget._spent, budget.remaining()
        if budget.admits(event):
            budget.record(event)
            admitted.append(event)
            assert spent < budget._spent
            assert all(map(int.__le__, spent, budget._spent))
        else:
            assert code(budget.record, event) == "budget_exhausted"
            assert (budget._spent, budget.remaining()) == (spent, left)
    assert budget._fits(budget._spent)
    again = make()
    order.shuffle(admitted)
    for event in admitted:
        again.record(event)
    assert again._spent == budget._spent
    assert before == make().remaining()


@every_filter
def test_filters_keep_the_protocol(make: Callable[[], PrivacyFilter]) -> None:
    budget = make()
    assert isinstance(budget, FilterProtocol)
    assert type(budget).__name__ in repr(budget)


@pytest.mark.parametrize(
    ("limit", "kind"),
    [
        (PureDP(epsilon=1), PureFilter),
        (ApproxDP(epsilon=1, delta=1e-6), ApproxFilter),
        (ZCDP(rho=0.5), ZCDPFilter),
        (RenyiDP(alpha=3, epsilon=1), RenyiFilter),
    ],
)
def test_the_notion_of_the_limit_is_the_filter(limit: Guarantee, kind: type[PrivacyFilter]) -> None:
    budget = filter_for(limit.per(Row()))
    assert type(budget) is kind
    assert budget.limit == budget.promise == limit.per(Row())
    assert budget.spent().unit == Row()


def test_gaussian_privacy_is_no_filter_here() -> None:
    assert code(lambda: filter_for(GaussianDP(mu=1))) == "no_filter"


def test_conversion_happens_once_at_opening() -> None:
    promise = ApproxDP(epsilon=1, delta=1e-6)
    budget = ZCDPFilter.converted(limit=promise)
    assert budget.limit == ZCDP(rho=zcdp_rho(1, 1e-6))
    assert budget.promise == promise
    assert code(lambda: ZCDPFilter.converted(limit=ApproxDP(epsilon=1, delta=0))) == (
        "delta_not_positive"
    )


@pytest.mark.parametrize(("epsilon", "delta"), [(1, 1e-6), (0.1, 1e-9), (8, 0.25)])
def test_one_half_of_delta_pays_for_rho_and_the_other_is_set_apart(
    epsilon: float, delta: float
) -> None:
    """Together they never exceed delta, and neither half is left lying."""
    limit = ApproxDP(epsilon=epsilon, delta=delta, by=ApproxZCDP)
    kept = filter_for(limit).limit
    assert isinstance(kept, ApproxZCDP)
    apart, left = exact(kept.delta), exact(delta) - exact(kept.delta)
    assert apart == left == exact(delta) / 2
    assert zcdp_epsilon(kept.rho, left) <= epsilon
    assert zcdp_epsilon(exact(kept.rho) * Fraction(1001, 1000), left) > epsilon
    whole = events.Approximate(epsilon=1, delta=delta)
    assert not filter_for(limit).admits(whole)


def test_the_oracles_of_the_catalogue_for_single_orders() -> None:
    """modern-learn:13."""
    for alpha, expected in ((8, 0.456950), (16, 1.328344), (32, 1.697885)):
        assert renyi_budget(alpha, epsilon=2, delta=1e-6) == pytest.approx(expected, abs=5e-7)
        budget = RenyiFilter.converted(limit=ApproxDP(epsilon=2, delta=1e-6), alpha=alpha)
        assert budget.limit == RenyiDP(
            alpha=alpha, epsilon=renyi_budget(alpha, epsilon=2, delta=1e-6)
        )


def test_several_orders_split_delta_and_one_must_hold() -> None:
    limit = ApproxDP(epsilon=2, delta=1e-6)
    budget = SplitRenyiFilter(limit=limit, orders=[8, 32])
    assert budget.spent() == ApproxDP(epsilon=0, delta=0)
    assert budget.remaining() == RenyiDP(alpha=32, epsilon=renyi_budget(32, epsilon=2, delta=5e-7))
    for _ in range(200):
        if not budget.admits(events.Gaussian(noise_multiplier=10)):
            break
        budget.record(events.Gaussian(noise_multiplier=10))
    # 32 / 200 per answer at order 32, within 1.68; 8 / 200 at order 8, within 0.36.
    assert budget.spent_at(32).epsilon == pytest.approx(1.6)
    assert budget.spent_at(8).epsilon == pytest.approx(0.4)
    assert budget.spent() == budget.limit == limit
    one = SplitRenyiFilter(limit=limit, orders=[16])
    assert one.remaining() == RenyiFilter.converted(limit=limit, alpha=16).limit


def test_orders_are_checked() -> None:
    limit = ApproxDP(epsilon=1, delta=1e-6)
    assert code(lambda: SplitRenyiFilter(limit=limit, orders=[])) == "orders_not_distinct"
    assert code(lambda: SplitRenyiFilter(limit=limit, orders=[8, 8.0])) == "orders_not_distinct"
    assert code(lambda: SplitRenyiFilter(limit=limit, orders=[1])) == "order_out_of_range"
    assert code(lambda: SplitRenyiFilter(limit=limit, orders=[2, 3])) == "orders_too_low"


def test_pairs_enter_at_a_delta_fixed_before() -> None:
    budget = ApproxFilter(limit=ApproxDP(epsilon=3, delta=1e-6))
    gaussian = events.Gaussian(noise_multiplier=5)
    assert code(lambda: budget.record(gaussian)) == "delta_needed"
    discrete = events.DiscreteGaussian(noise_multiplier=5, sigma=5)
    assert code(lambda: budget.record(discrete)) == "delta_needed"
    budget.record(gaussian, delta=5e-7)
    assert budget.spent() == ApproxDP(epsilon=gaussian.epsilon(delta=5e-7), delta=5e-7)
    budget.record(events.Approximate(epsilon=0.25, delta=2e-7))
    budget.record(events.Laplace(epsilon=0.5))
    assert isinstance(budget.spent(), ApproxDP)
    assert budget._spent[1] <= budget._amounts[1]
    assert code(lambda: budget.record(gaussian, delta=4e-7)) == "budget_exhausted"


def test_a_batch_of_fixed_events_enters_as_one_pair() -> None:
    """004d:F13: the second batch sees the first one's spend."""
    budget = ApproxFilter(limit=ApproxDP(epsilon=5, delta=2e-6))
    batch = events.Laplace(epsilon=0.01) * 1000
    assert not budget.admits(batch)  # summed it is 10
    price = batch.epsilon(delta=1e-6)
    assert price < 3
    budget.record(batch, delta=1e-6)
    assert budget.spent() == ApproxDP(epsilon=price, delta=1e-6)
    assert budget.admits(batch, delta=1e-6) == (2 * Fraction(price) <= 5)


def test_delta_is_refused_where_none_is_spent() -> None:
    for make in (LIMITS[0], LIMITS[2], LIMITS[4], LIMITS[6]):
        budget = make()
        attempt = events.Laplace(epsilon=0.1)
        assert code(budget.record, attempt, delta=1e-9) == "delta_not_spent"


def test_infinite_prices_are_refused() -> None:
    budget = ApproxFilter(limit=ApproxDP(epsilon=3, delta=1e-6))
    assert code(lambda: budget.admits(events.Gaussian(noise_multiplier=1), delta=0)) == (
        "price_infinite"
    )


@dataclass(frozen=True, repr=False)
class Unheard(events.Event):
    kind = "tests.Unheard"


@every_filter
def test_events_without_a_price_and_test_mode_are_refused(
    make: Callable[[], PrivacyFilter],
) -> None:
    budget = make()
    with pytest.raises(Unpriced):
        budget.record(Unheard())
    seeded = Laplace(epsilon=0.1, sensitivity=1, randomness=Seeded(1))
    with pytest.raises(NotPrivate):
        budget.record(seeded.event)
    with pytest.raises(InvalidParameter):
        budget.record("Laplace(epsilon=0.1)")  # type: ignore[arg-type]
    assert not any(budget._spent)


def test_pure_budgets_refuse_what_is_not_pure() -> None:
    with pytest.raises(Unpriced):
        PureFilter(limit=PureDP(epsilon=1)).record(events.Gaussian(noise_multiplier=1))


def test_early_stopping_leaves_the_rest_usable() -> None:
    """004d:F15: gradient descent that stops after 7 of 100 planned rounds."""
    budget = ZCDPFilter(limit=ZCDP(rho=0.5))
    step = events.Gaussian(noise_multiplier=10)  # rho 1/200
    for _ in range(7):
        budget.record(step)
    budget.record(step * 93)
    assert not budget.admits(step)


def test_a_conversation_is_charged_when_opened_and_never_again() -> None:
    """004d:F17: interleaved and sequential conversations cost the same."""
    mechanism = AboveThreshold(epsilon=0.25, threshold=1e9, sensitivity=1)
    interleaved, sequential = (PureFilter(limit=PureDP(epsilon=1)) for _ in range(2))
    first, second = interleaved.open(mechanism), interleaved.open(mechanism)
    assert interleaved.spent() == PureDP(epsilon=0.5)
    for _ in range(5):
        assert not first.ask(0)
        assert not second.ask(0)
    for _ in range(2):
        session = sequential.open(mechanism)
        assert not any(session.ask_all([0] * 5))
    assert interleaved.spent() == sequential.spent() == PureDP(epsilon=0.5)
    dear = AboveThreshold(epsilon=0.75, threshold=1e9, sensitivity=1)
    with pytest.raises(Exhausted):
        interleaved.open(dear)
    seeded = AboveThreshold(epsilon=0.1, threshold=0, sensitivity=1, randomness=Seeded(1))
    with pytest.raises(NotPrivate):
        interleaved.open(seeded)
    assert interleaved.spent() == PureDP(epsilon=0.5)


def test_sampled_events_need_the_unit_they_are_about() -> None:
    sampled = events.Laplace(epsilon=0.1).subsample(rate=0.5)
    with pytest.raises(Mismatch) as bare:
        PureFilter(limit=PureDP(epsilon=1)).record(sampled)
    assert bare.value.code == "relation_without_unit"
    with pytest.raises(Mismatch) as other:
        PureFilter(limit=PureDP(epsilon=1, unit=Replace(Row()))).record(sampled)
    assert other.value.code == "relation_mismatch"


def test_refusals_say_what_remains() -> None:
    budget = ApproxFilter(limit=ApproxDP(epsilon=1, delta=1e-6))
    budget.record(events.Laplace(epsilon=0.75))
    with pytest.raises(Exhausted, match=r"epsilon=0\.25, delta=1e-06.* Got \(0\.5, 0\.0\)"):
        budget.record(events.Laplace(epsilon=0.5))


def test_budgets_are_never_copied() -> None:
    budget = PureFilter(limit=PureDP(epsilon=1))
    ways: tuple[Callable[[PrivacyFilter], object], ...] = (copy.copy, copy.deepcopy, pickle.dumps)
    for twice in ways:
        assert code(twice, budget) == "budget_not_copied"
    budget._process = os.getpid() + 1  # as after a fork
    event = events.Laplace(epsilon=0.1)
    assert code(lambda: budget.record(event)) == "budget_not_copied"
    assert code(lambda: budget.admits(event)) == "budget_not_copied"


def test_ten_thousand_odd_charges_stay_quick_and_exact() -> None:
    """Multipliers like these have fractions whose common denominator would have a million bits."""
    budget = ZCDPFilter(limit=ZCDP(rho=1))
    total = Fraction(0)
    for number in range(10_000):
        multiplier = 100 + number / 7
        budget.record(events.Gaussian(noise_multiplier=multiplier))
        total += Fraction(1 / (2 * multiplier**2))
    assert isinstance(spent := budget.spent(), ZCDP)
    assert float(spent.rho) == pytest.approx(float(total), rel=1e-12)
