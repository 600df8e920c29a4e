"""The privacy-loss accountant: oracles, certified bounds, extremes and refusals."""

from __future__ import annotations

import math
import warnings
from functools import reduce
from operator import add

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet import events
from discreet.accounting import gaussian_epsilon
from discreet.accounting.pld import PRIVACY_LOSS, Losses
from discreet.accounting.pld.accountant import _delta, _epsilon
from discreet.accounting.pld.pair import NormalPair
from discreet.accounting.pld.sampled_pair import Removed
from discreet.accounting.zcdp import ZERO_CONCENTRATED
from discreet.core.errors import InvalidParameter, Mismatch, Unpriced
from discreet.core.events.event import Event

SGD = events.Gaussian(1.0).subsample(rate=0.01)
DISTINCT = reduce(add, [events.Laplace(epsilon=1 / (10 + 0.01 * i)) for i in range(100)])

ORACLES = [
    pytest.param(SGD * 1000, 1e-5, 1.8282, 2e-4, id="004a:D14"),
    pytest.param(SGD * 10_000, 1e-5, 6.1877, 2e-4, id="training run"),
    pytest.param(events.Laplace(epsilon=0.1) * 1000, 1e-6, 18.950, 5e-5, id="1000 Laplace"),
    pytest.param(
        events.DiscreteLaplace(epsilon=0.1, steps=1) * 1000, 1e-6, 19.3447, 2e-6, id="1000 discrete"
    ),
    pytest.param(DISTINCT, 1e-6, 4.4529, 2e-4, id="100 distinct Laplace"),
    pytest.param(
        events.Approximate(epsilon=0.1, delta=1e-9) * 100, 1e-6, 4.78772, 1e-6, id="004a:D12"
    ),
    # By dp-accounting at interval 1e-5; modern-learn:8 has a coarse grid's .499294 and .623849.
    pytest.param(
        events.Gaussian(1.0).subsample(rate=0.001) * 10_000, 1e-5, 0.47576, 3e-4, id="low rate"
    ),
    pytest.param(events.Gaussian(1.0).subsample(rate=0.01), 1e-5, 0.19945, 1e-3, id="one step"),
    pytest.param(
        events.Gaussian(2.0).subsample(rate=0.01) * 1000, 1e-5, 0.62204, 2e-4, id="twice the noise"
    ),
]


@pytest.mark.parametrize(("event", "delta", "epsilon", "tolerance"), ORACLES)
def test_oracles(event: Event, delta: float, epsilon: float, tolerance: float) -> None:
    lower, upper = PRIVACY_LOSS.epsilon_bounds(event, delta)
    assert upper == pytest.approx(epsilon, rel=tolerance)
    assert lower <= epsilon * (1 + tolerance)
    assert upper - lower <= 3e-3 * upper
    assert PRIVACY_LOSS.delta(event, upper) == pytest.approx(delta, rel=2e-2)


@pytest.mark.parametrize(
    ("size", "of", "multiplier", "times", "epsilon"),
    [
        (1, 100, 1.0, 1, 3.02536),
        (1, 100, 1.0, 1000, 14.8207),
        (1, 100, 2.0, 1000, 2.19932),
        (1, 1000, 1.0, 10_000, 5.67773),
    ],
)
def test_samples_of_fixed_size(
    size: int, of: int, multiplier: float, times: int, epsilon: float
) -> None:
    """modern-learn:8; noise of z clippings is z/2 sensitivities."""
    event = events.Gaussian(multiplier / 2).subsample(size=size, of=of) * times
    lower, upper = PRIVACY_LOSS.epsilon_bounds(event, 1e-5)
    assert upper == pytest.approx(epsilon, rel=3e-4)
    assert lower <= epsilon * (1 + 2e-4)


def test_the_figure_of_composition() -> None:
    """004a:D12, Fig 3.1: optimal composition, and Gaussians of variance 200."""
    table = {10: (0.9994, 0.9405), 100: (4.7746, 3.3076), 1000: (19.3447, 12.5952)}
    for k, (optimal, gaussian) in table.items():
        pure = events.Pure(epsilon=0.1) * k
        assert PRIVACY_LOSS.epsilon(pure, 1e-6) == pytest.approx(optimal, abs=6e-5)
        normal = events.Gaussian(math.sqrt(200)) * k
        assert PRIVACY_LOSS.epsilon(normal, 1e-6) == pytest.approx(gaussian, rel=3e-4)


def test_the_unit_point() -> None:
    assert PRIVACY_LOSS.delta(events.Gaussian(1.0), 1.0) == pytest.approx(0.126937, rel=2e-4)
    assert PRIVACY_LOSS.delta(events.Gaussian(1.0), 1.0) >= 0.1269367


@pytest.mark.parametrize("multiplier", [0.02, 0.1, 0.5, 1.0, 3.0, 20.0])
@pytest.mark.parametrize("delta", [1e-2, 1e-5, 1e-10, 1e-20, 1e-30])
def test_gaussians_against_their_exact_curve(multiplier: float, delta: float) -> None:
    exact = gaussian_epsilon(multiplier, delta)
    lower, upper = PRIVACY_LOSS.epsilon_bounds(events.Gaussian(multiplier), delta)
    assert lower <= exact <= upper * (1 + 1e-11)
    assert upper <= exact * (1 + 4e-4) + 1e-6
    assert lower >= exact * (1 - 1e-3) - 1e-6


@pytest.mark.parametrize("delta", [1e-2, 1e-8, 1e-30])
def test_many_gaussians_are_one(delta: float) -> None:
    """Merged, or convolved in disguise: sampled at a rate of almost one."""
    merged = events.Gaussian(10.0) * 60 + events.Gaussian(7.0) * 20
    exact = gaussian_epsilon(1 / math.sqrt(60 / 100 + 20 / 49), delta)
    assert PRIVACY_LOSS.epsilon(merged, delta) == pytest.approx(exact, rel=4e-4)
    disguised = events.Gaussian(10.0).subsample(rate=1 - 1e-9) * 60
    exact = gaussian_epsilon(10 / math.sqrt(60), delta)
    lower, upper = PRIVACY_LOSS.epsilon_bounds(disguised, delta)
    assert lower <= exact * (1 + 1e-6)
    assert exact * (1 - 1e-6) <= upper <= exact * (1 + 2e-4)


@pytest.mark.parametrize(
    ("event", "delta"),
    [
        (SGD * 1000, 1e-30),
        (events.Gaussian(1.0) * 100_000, 1e-9),
        (events.Gaussian(0.01), 1e-6),
        (events.Pure(epsilon=0.0005) * 10**7, 1e-30),
        (events.Laplace(epsilon=0.001) * 10**7, 1e-10),
        (events.Gaussian(1.0) * 5000 + events.Laplace(epsilon=3.0) * 100, 1e-6),
        (events.Pure(epsilon=90.0) * 100, 1e-30),
    ],
)
def test_extremes(event: Event, delta: float) -> None:
    """No overflow: delta down to 1e-30, epsilon up to 1e4 and beyond, ten million steps."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        lower, upper = PRIVACY_LOSS.epsilon_bounds(event, delta)
        assert 0 < lower <= upper <= lower * 1.01
        assert 0 <= PRIVACY_LOSS.delta(event, upper) <= delta * 1.2


@pytest.mark.slow
@pytest.mark.parametrize(
    ("event", "delta", "least", "most"),
    [
        # Between dp-like lower and upper values of finer runs; the law is close to normal.
        (events.Gaussian(1.0).subsample(rate=1e-4) * 10**7, 1e-5, 1.6185, 1.6200),
        (events.Gaussian(1.0).subsample(rate=1e-4) * 10**7, 1e-30, 4.75, 4.80),
        (events.Gaussian(1.0).subsample(rate=1e-2) * 10**7, 1e-10, 1101.0, 1102.5),
        (events.Gaussian(1.0).subsample(rate=1e-9) * 10**7, 1e-15, 2.3e-5, 2.7e-5),
    ],
)
def test_ten_million_sampled_steps(event: Event, delta: float, least: float, most: float) -> None:
    assert least <= PRIVACY_LOSS.epsilon(event, delta) <= most


def test_hardly_anything_and_everything() -> None:
    for event in (
        events.Gaussian(1e200),
        events.Laplace(epsilon=1e-300) * 10**7,
        events.Gaussian(1.0).subsample(rate=1e-12) * 10**6,
    ):
        assert PRIVACY_LOSS.epsilon(event, 1e-5) == pytest.approx(0, abs=1e-6)
    for event in (
        events.Gaussian(1e-200),
        events.Pure(epsilon=1e4),
        events.Laplace(epsilon=800.0) + SGD,
        events.Gaussian(1e-3).subsample(rate=0.5),
    ):
        assert PRIVACY_LOSS.epsilon(event, 1e-5) == math.inf
        assert PRIVACY_LOSS.delta(event, 1.0) == pytest.approx(getattr(event, "rate", 1))
        lower, upper = PRIVACY_LOSS.epsilon_bounds(event, 1e-5)
        assert lower <= math.log(2)  # what is added to a sample of every second is never sure
        assert upper == math.inf
    assert events.Pure(epsilon=1e4).epsilon(delta=1e-5) == pytest.approx(1e4), "by others"


def test_deltas_that_cover_nothing_or_everything() -> None:
    leaky = events.Approximate(epsilon=0.1, delta=1e-6) * 10
    assert PRIVACY_LOSS.epsilon(leaky, 0.0) == math.inf
    assert PRIVACY_LOSS.epsilon(leaky, 1e-6) == math.inf
    assert PRIVACY_LOSS.epsilon(leaky, 1.1e-5) <= 1
    assert PRIVACY_LOSS.epsilon(leaky, 0.9) == 0
    assert PRIVACY_LOSS.epsilon(SGD * 1000, 0.9) == 0
    assert PRIVACY_LOSS.epsilon(events.Nothing(), 0.0) == 0
    assert PRIVACY_LOSS.epsilon_bounds(events.Nothing(), 1e-6) == (0.0, 0.0)
    assert PRIVACY_LOSS.delta(events.Nothing(), 1.0) == 0
    assert PRIVACY_LOSS.epsilon_bounds(SGD, 0.0) == (0.0, math.inf)


@pytest.mark.parametrize(
    "event",
    [
        events.DiscreteGaussian(noise_multiplier=0.2, sigma=1),
        SGD + events.DiscreteGaussian(noise_multiplier=0.2, sigma=1),
        (events.Gaussian(1.0) + events.Laplace(epsilon=1.0)).subsample(rate=0.1),
        (events.Laplace(epsilon=1.0) * 2).subsample(rate=0.1),
        (events.Laplace(epsilon=1.0) * 2).subsample(size=1, of=10),
    ],
)
def test_refusals(event: Event) -> None:
    """Noise too coarse for its many directions, or a sample on which several mechanisms run."""
    with pytest.raises(Unpriced):
        PRIVACY_LOSS.epsilon(event, 1e-6)
    with pytest.raises(Unpriced):
        event.pld()


def test_relations_do_not_mix() -> None:
    fixed = events.Gaussian(1.0).subsample(size=1, of=10)
    with pytest.raises(Mismatch, match="relation_mismatch"):
        SGD + fixed
    with pytest.raises(Mismatch, match="relation_mismatch"):
        fixed.subsample(rate=0.1)
    with pytest.raises(Mismatch, match="relation_mismatch"):
        SGD.subsample(size=1, of=10)


def test_bad_rates_and_deltas() -> None:
    with pytest.raises(InvalidParameter):
        events.Gaussian(1.0).subsample(rate=1.5)
    with pytest.raises(InvalidParameter):
        SGD.epsilon(delta=1.0)
    with pytest.raises(InvalidParameter):
        SGD.epsilon_bounds(delta=-1e-9)


def test_samples_of_samples() -> None:
    twice = events.Gaussian(1.0).subsample(rate=0.1).subsample(rate=0.1)
    (pair, times) = twice.pld().parts[0]
    assert times == 1
    assert isinstance(pair, Removed)
    assert pair.rate == pytest.approx(0.01)
    assert pair.rate >= 0.01
    assert isinstance(pair.base, NormalPair)
    whole = events.Gaussian(1.0).subsample(rate=1)
    assert whole.pld() == events.Gaussian(1.0).pld()
    assert events.Gaussian(1.0).subsample(size=7, of=7).pld() == events.Gaussian(1.0).pld()
    almost = events.Gaussian(1.0).subsample(size=2**60 - 1, of=2**60)
    assert PRIVACY_LOSS.epsilon(almost, 1e-5) == PRIVACY_LOSS.epsilon(events.Gaussian(1.0), 1e-5)
    nothing = events.Nothing().subsample(rate=0.1)
    assert PRIVACY_LOSS.epsilon(nothing, 1e-5) == 0


def test_equal_parts_are_counted_together() -> None:
    event = SGD * 3 + events.Laplace(epsilon=1.0) + SGD + events.Gaussian(2.0) * 4
    parts = dict(event.pld().parts)
    assert sorted(parts.values()) == [1, 1, 4]
    assert NormalPair(1.0) in {
        NormalPair(float(f"{pair.mu:.12g}")) for pair in parts if isinstance(pair, NormalPair)
    }
    assert Losses(()).directions() == (Losses(()),)


def test_order_and_grouping_do_not_matter() -> None:
    a, b, c = SGD * 10, events.Laplace(epsilon=0.3) * 4, events.Exponential(epsilon=0.2) * 9
    first = PRIVACY_LOSS.epsilon(a + b + c, 1e-7)
    assert PRIVACY_LOSS.epsilon(c + a + b, 1e-7) == pytest.approx(first, rel=1e-6)
    assert PRIVACY_LOSS.epsilon((a + b + c) * 1, 1e-7) == first


def test_sharper_laws_cost_less() -> None:
    """Exponential by bounded range, Laplace by its own law, both below the pure bound."""
    pure = PRIVACY_LOSS.epsilon(events.Pure(epsilon=0.1) * 200, 1e-6)
    laplace = PRIVACY_LOSS.epsilon(events.Laplace(epsilon=0.1) * 200, 1e-6)
    exponential = PRIVACY_LOSS.epsilon(events.Exponential(epsilon=0.1) * 200, 1e-6)
    flip = PRIVACY_LOSS.epsilon(events.PermuteAndFlip(epsilon=0.1) * 200, 1e-6)
    assert exponential < 0.7 * laplace < laplace < pure
    assert flip == pure, "permute-and-flip is not of bounded range (modern-data:N2)"
    # The envelope of all pairs of one range need not be one of them: concentration may be tighter.
    concentrated = ZERO_CONCENTRATED.epsilon(events.Exponential(epsilon=0.1) * 200, 1e-6)
    assert concentrated < exponential < 1.15 * concentrated
    one, many = (
        PRIVACY_LOSS.epsilon(events.DiscreteLaplace(epsilon=0.1, steps=k) * 200, 1e-6)
        for k in (1, 100)
    )
    assert laplace <= many * (1 + 1e-4) < one == pytest.approx(pure)


def losses() -> st.SearchStrategy[float]:
    return st.floats(0.01, 2).map(lambda x: float(f"{x:.3g}"))


def basic() -> st.SearchStrategy[Event]:
    """Events that can be sampled."""
    return st.one_of(
        st.floats(0.5, 20).map(lambda z: events.Gaussian(float(f"{z:.3g}"))),
        losses().map(lambda e: events.Laplace(epsilon=e)),
        losses().map(lambda e: events.Pure(epsilon=e)),
        losses().map(lambda e: events.Exponential(epsilon=e)),
        st.builds(
            lambda e, k: events.DiscreteLaplace(epsilon=e, steps=k), losses(), st.integers(1, 9)
        ),
        st.builds(
            lambda e, k: events.RandomizedResponse(epsilon=e, categories=k),
            losses(),
            st.integers(2, 9),
        ),
    )


def expressions(*, fixed: bool = False) -> st.SearchStrategy[Event]:
    def sampled(event: Event, rate: float) -> Event:
        if fixed:
            return event.subsample(size=max(1, round(rate * 1000)), of=1000)
        return event.subsample(rate=float(f"{rate:.3g}"))

    one = st.one_of(basic(), st.builds(sampled, basic(), st.floats(0.001, 1)))
    repeated = st.builds(lambda event, k: event * k, one, st.sampled_from((1, 1, 2, 10, 100)))
    return st.lists(repeated, min_size=1, max_size=3).map(
        lambda parts: events.compose(tuple(parts))
    )


anything = st.one_of(expressions(), expressions(fixed=True))


@settings(max_examples=20, deadline=None)
@given(anything, st.floats(-12, -1))
def test_bounds_are_ordered_and_fall_with_delta(event: Event, exponent: float) -> None:
    delta = 10.0**exponent
    lower, upper = PRIVACY_LOSS.epsilon_bounds(event, delta)
    assert 0 <= lower <= upper < math.inf
    assert lower >= upper * 0.9 - 0.02
    assert PRIVACY_LOSS.epsilon(event, delta * 2) <= upper * (1 + 1e-3) + 1e-6
    assert PRIVACY_LOSS.epsilon_bounds(event, delta * 2)[0] <= upper
    there = PRIVACY_LOSS.delta(event, upper)
    assert there <= delta * 1.3 + 1e-300
    assert PRIVACY_LOSS.epsilon_bounds(event, max(there, 1e-300) * 1.4)[0] <= upper


@settings(max_examples=15, deadline=None)
@given(expressions(), expressions(), st.floats(-9, -2))
def test_subadditive(first: Event, second: Event, exponent: float) -> None:
    """Basic composition is a bound: what the parts have at half of delta each."""
    delta = 10.0**exponent
    together = PRIVACY_LOSS.epsilon(first + second, delta)
    apart = sum(PRIVACY_LOSS.epsilon(event, delta / 2) for event in (first, second))
    assert together <= apart * (1 + 1e-3) + 1e-6
    assert together >= max(
        PRIVACY_LOSS.epsilon_bounds(event, delta)[0] for event in (first, second)
    ) * (1 - 1e-9)


exact = basic().filter(lambda event: not isinstance(event, events.Exponential))
noisy = st.one_of(exact, st.builds(lambda a, b: a * 7 + b * 30, exact, exact))


@settings(max_examples=25, deadline=None)
@given(noisy, st.floats(-9, -2))
def test_never_above_concentration_or_the_sum(event: Event, exponent: float) -> None:
    delta = 10.0**exponent
    ours = PRIVACY_LOSS.epsilon(event, delta)
    assert ours <= ZERO_CONCENTRATED.epsilon(event, delta) * (1 + 3e-4) + 1e-6
    assert event.epsilon(delta=delta) <= ours
    lower, upper = event.epsilon_bounds(delta=delta)
    assert lower <= upper == event.epsilon(delta=delta)


@settings(max_examples=15, deadline=None)
@given(st.floats(0.6, 4), st.floats(0.001, 0.3), st.integers(1, 2000), st.floats(-9, -3))
def test_never_above_renyi(z: float, rate: float, steps: int, exponent: float) -> None:
    event = events.Gaussian(z).subsample(rate=rate) * steps
    delta = 10.0**exponent
    ours = PRIVACY_LOSS.epsilon(event, delta)
    try:
        from discreet.accounting.rdp.accountant import RENYI
    except ImportError:
        return
    assert ours <= RENYI.epsilon(event, delta) * (1 + 1e-4) + 1e-6


def test_caches_hold_values_only() -> None:
    """A warm repeat looks the answer up; clearing gives the same again."""
    first = PRIVACY_LOSS.epsilon(SGD * 100, 1e-5)
    assert PRIVACY_LOSS.epsilon(SGD * 100, 1e-5) == first
    _epsilon.cache_clear()
    _delta.cache_clear()
    assert PRIVACY_LOSS.epsilon(SGD * 100, 1e-5) == first
