import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from discreet.audit.testers import concentration as bounds
from discreet.core.errors import InvalidParameter

deviations, failures = st.floats(0.02, 1), st.floats(1e-9, 0.9)


def test_a_hundred_samples_and_a_tenth_give_the_textbook_value() -> None:
    assert bounds.hoeffding_tail(100, deviation=0.1) == pytest.approx(0.13534, abs=5e-6)


def test_two_sided_five_percent_at_a_twentieth_needs_738_samples() -> None:
    assert bounds.hoeffding_samples(deviation=0.05, failure=0.05 / 2) == 738


def test_stirling_brackets_ten_factorial() -> None:
    low, high = bounds.stirling_bounds(10)
    assert low == pytest.approx(3628560.1, abs=0.05)
    assert high == pytest.approx(3628810.1, abs=0.05)
    for n in (1, 2, 10, 170):
        low, high = bounds.stirling_bounds(n)
        assert low < math.factorial(n) < high
    with pytest.raises(InvalidParameter, match="out_of_range"):
        bounds.stirling_bounds(171)


@given(st.integers(1, 100), st.floats(0.05, 0.95), st.floats(0, 1))
def test_tails_of_coins_lie_below_the_bounds(n: int, p: float, t: float) -> None:
    def above(limit: float) -> float:
        return float(binom.sf(math.floor(limit + 1e-9), n, p))

    def below(limit: float) -> float:
        return float(binom.cdf(math.ceil(limit - 1e-9) - 1, n, p))

    assert above(n * (p + t)) <= bounds.hoeffding_tail(n, deviation=t)
    assert above(n * (p + t)) <= bounds.azuma_tail([1] * n, deviation=n * t)
    assert above(n * p * (1 + t)) <= bounds.chernoff_upper_tail(n, mean=p, deviation=t)
    assert below(n * p * (1 - t)) <= bounds.chernoff_lower_tail(n, mean=p, deviation=t)


def test_the_upper_multiplicative_bound_needs_its_three() -> None:
    """Twice the expected count of 100 is likelier than the lower tail's form would allow."""
    truth = binom.sf(200, 100_000, 1e-3)
    assert truth <= bounds.chernoff_upper_tail(100_000, mean=1e-3, deviation=1)
    assert truth > 100 * bounds.chernoff_lower_tail(100_000, mean=1e-3, deviation=1)


@given(st.integers(1, 200), st.floats(0, 5))
def test_random_walks_obey_the_martingale_bound(k: int, z: float) -> None:
    """Steps of ±1: the sum exceeds z·√k when heads exceed (k + z·√k)/2."""
    exceeds = float(binom.sf(math.floor((k + z * math.sqrt(k)) / 2 + 1e-9), k, 0.5))
    assert exceeds <= bounds.martingale_tail(z)
    if z > 0.01:
        failure = bounds.martingale_tail(z)
        limit = bounds.martingale_sum(k, drift=0, bound=1, failure=failure)
        assert limit == pytest.approx(z * math.sqrt(k))


@given(deviations, failures)
def test_sample_sizes_are_the_least_that_suffice(t: float, failure: float) -> None:
    m = bounds.hoeffding_samples(deviation=t, failure=failure)
    assert bounds.hoeffding_tail(m, deviation=t) <= failure
    assert m == 1 or bounds.hoeffding_tail(m - 1, deviation=t) > failure
    up = bounds.chernoff_upper_samples(mean=0.5, deviation=t, failure=failure)
    assert bounds.chernoff_upper_tail(up, mean=0.5, deviation=t) <= failure
    down = bounds.chernoff_lower_samples(mean=0.5, deviation=t, failure=failure)
    assert bounds.chernoff_lower_tail(down, mean=0.5, deviation=t) <= failure
    assert down <= up
    k = bounds.martingale_steps(bound=1, deviation=t, failure=failure)
    assert bounds.martingale_sum(k, drift=0, bound=1, failure=failure) <= k * t * (1 + 1e-12)


def test_azuma_with_equal_widths_agrees_with_hoeffding() -> None:
    m = bounds.azuma_samples(width=1, deviation=0.05, failure=0.025)
    assert m == bounds.hoeffding_samples(deviation=0.05, failure=0.025)
    assert bounds.azuma_tail([0, 0], deviation=1) == 0
    assert bounds.azuma_tail([], deviation=0) == 1


def test_the_multiplicative_bound_is_refused_where_it_is_false() -> None:
    """At t = 3 and an expected count of 20 the printed form lies below the truth."""
    n, mean, t = 200_000, 1e-4, 3
    assert binom.sf(80, n, mean) > 100 * math.exp(-n * mean * t * t / 3)
    with pytest.raises(InvalidParameter, match="out_of_range"):
        bounds.chernoff_upper_tail(n, mean=mean, deviation=t)


@pytest.mark.parametrize("failure", [0, 1, 1.5])
def test_a_failure_probability_outside_the_unit_interval_is_refused(failure: float) -> None:
    with pytest.raises(InvalidParameter):
        bounds.hoeffding_samples(deviation=0.1, failure=failure)
