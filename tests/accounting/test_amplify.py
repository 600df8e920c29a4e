"""Amplification by sampling, and why correlated sampling has no price."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet import events
from discreet.accounting.amplify import amplified_delta, amplified_epsilon
from discreet.accounting.approx import APPROX
from discreet.accounting.pure import PURE
from discreet.core.errors import InvalidParameter, Mismatch, Unpriced
from discreet.theory.divergences import hockey_stick, max_divergence
from discreet.theory.sampling import sampled_mean_error


def test_oracles() -> None:
    assert amplified_epsilon(rate=0.01, epsilon=1) == pytest.approx(0.0170369, abs=5e-8)
    assert amplified_epsilon(rate=0.1, epsilon=1) == pytest.approx(0.158565, abs=5e-7)
    assert amplified_epsilon(rate=0.5, epsilon=math.log(3)) == pytest.approx(math.log(2), rel=1e-12)
    assert amplified_delta(rate=0.1, delta=1e-6) == pytest.approx(1e-7)
    assert amplified_epsilon(rate=0.5, epsilon=10_000) == pytest.approx(10_000 - math.log(2))
    assert amplified_epsilon(rate=1, epsilon=0.3) == 0.3
    assert amplified_epsilon(rate=1e-300, epsilon=1) > 0


def exactly(rate: Fraction, ratio: Fraction) -> Fraction:
    """exp of the amplified epsilon, where exp(epsilon) is rational."""
    return 1 + rate * (ratio - 1)


@given(rate=st.fractions(Fraction(1, 1000), 1), epsilon=st.floats(1e-6, 600))
def test_rounding_is_upward(rate: Fraction, epsilon: float) -> None:
    got = amplified_epsilon(rate=rate, epsilon=epsilon)
    truth = math.log1p(float(rate) * math.expm1(epsilon))
    assert truth * (1 - 1e-15) <= got <= min(truth * (1 + 1e-12), epsilon)


@pytest.mark.parametrize(("rate", "epsilon"), [(0.5, math.log(3)), (0.1, 1.0), (0.9, 0.2)])
def test_randomized_response_on_the_or_attains_it(rate: float, epsilon: float) -> None:
    """With and without the only record, sampled or not, the report is a mixture."""
    truth = math.exp(epsilon) / (1 + math.exp(epsilon))
    present = rate * truth + (1 - rate) * (1 - truth)
    p, q = [present, 1 - present], [1 - truth, truth]
    assert max_divergence(p, q) == pytest.approx(amplified_epsilon(rate=rate, epsilon=epsilon))


def noisy_count(records: int, epsilon: float, top: int) -> np.ndarray:
    """A truncated geometric law around a count; each count is epsilon-close to the next."""
    weights = np.exp(-epsilon * np.abs(np.arange(top + 1) - records))
    ends = weights.copy()
    ends[[0, top]] /= -math.expm1(-epsilon)
    return np.asarray(ends / ends.sum())


@pytest.mark.parametrize("rate", [0.2, 0.5])
def test_poisson_samples_of_a_count_by_enumeration(rate: float) -> None:
    epsilon, people = 1.0, 5
    laws = []
    for n in (people, people - 1):
        law = np.zeros(people + 1)
        for chosen in itertools.product((0, 1), repeat=n):
            k = sum(chosen)
            law += rate**k * (1 - rate) ** (n - k) * noisy_count(k, epsilon, people)
        laws.append(law.tolist())
    bound = amplified_epsilon(rate=rate, epsilon=epsilon)
    assert max(max_divergence(*laws), max_divergence(*laws[::-1])) <= bound


@pytest.mark.parametrize("size", [1, 2, 3])
def test_fixed_size_samples_of_a_count_by_enumeration(size: int) -> None:
    """Replaced neighbours: the count changes by one either way."""
    epsilon, people = 1.0, 5
    bound = amplified_epsilon(rate=Fraction(size, people), epsilon=epsilon)
    worst = 0.0
    for ones in range(people):
        laws = []
        for total in (ones, ones + 1):
            data = [1] * total + [0] * (people - total)
            samples = list(itertools.combinations(data, size))
            law = sum(noisy_count(sum(s), epsilon, people) for s in samples) / len(samples)
            laws.append(np.asarray(law).tolist())
        worst = max(worst, max_divergence(*laws), max_divergence(*laws[::-1]))
    assert 0.3 * bound < worst <= bound


def test_a_broken_twin_all_or_nothing_sampling_earns_nothing() -> None:
    """Taking all units or none: the output shows that all were taken, and the loss is full."""
    epsilon, rate = 1.0, 0.01
    claimed = amplified_epsilon(rate=rate, epsilon=epsilon)
    losses = []
    for people in (2, 10, 30):
        with_all, without_one, empty = (
            noisy_count(n, epsilon, people) for n in (people, people - 1, 0)
        )
        p = (1 - rate) * empty + rate * with_all
        q = (1 - rate) * empty + rate * without_one
        losses.append(max_divergence(p.tolist(), q.tolist()))
    assert losses == sorted(losses)
    assert losses[-1] == pytest.approx(epsilon, abs=1e-6)
    assert losses[-1] > 50 * claimed


def test_no_event_stands_for_correlated_sampling() -> None:
    kinds = {name for name in events.__all__ if name.endswith("Sampled")}
    assert kinds == {"PoissonSampled", "FixedSizeSampled"}
    with pytest.raises(TypeError):
        events.Laplace(epsilon=1).subsample(all_or_nothing=0.1)  # type: ignore[call-arg]


def test_prices_of_sampled_events() -> None:
    laplace = events.Laplace(epsilon=1)
    expected = amplified_epsilon(rate=0.01, epsilon=1)
    assert laplace.subsample(rate=0.01).epsilon(delta=0) == expected
    assert laplace.subsample(size=1, of=100).epsilon(delta=0) == pytest.approx(expected)
    assert PURE.epsilon(laplace.subsample(rate=0.01) * 100, 0) == pytest.approx(100 * expected)
    rough = events.Approximate(epsilon=1, delta=1e-6).subsample(rate=0.1)
    assert APPROX.epsilon(rough, 1e-7 * (1 + 1e-9)) == pytest.approx(0.158565, abs=5e-7)
    assert APPROX.epsilon(rough, 0.9e-7) == math.inf
    # One sample for both questions: the sum is amplified, not each part.
    both = (laplace + laplace).subsample(rate=0.1)
    assert both.epsilon(delta=0) == amplified_epsilon(rate=0.1, epsilon=2)


def test_a_sampled_curve_is_no_single_pair() -> None:
    sampled = events.Gaussian(noise_multiplier=1).subsample(rate=0.1)
    for accountant in (PURE, APPROX):
        with pytest.raises(Unpriced):
            accountant.price(sampled)


def test_samplers_do_not_mix() -> None:
    poisson = events.Laplace(epsilon=1).subsample(rate=0.1)
    with pytest.raises(Mismatch):
        poisson.subsample(size=1, of=10)


def test_approximate_pairs_are_covered_too() -> None:
    """The mixture of an (epsilon, delta)-close pair is (epsilon', q delta)-close."""
    p, q, rate = np.array([0.5, 0.3, 0.2]), np.array([0.3, 0.3, 0.4]), 0.3
    for epsilon in (0.1, 0.3, 0.6):
        delta = max(
            hockey_stick(p.tolist(), q.tolist(), epsilon=epsilon),
            hockey_stick(q.tolist(), p.tolist(), epsilon=epsilon),
        )
        mixed = (rate * p + (1 - rate) * q).tolist()
        amplified = amplified_epsilon(rate=rate, epsilon=epsilon)
        allowed = amplified_delta(rate=rate, delta=delta) + 1e-15
        assert hockey_stick(mixed, q.tolist(), epsilon=amplified) <= allowed
        assert hockey_stick(q.tolist(), mixed, epsilon=amplified) <= allowed


def test_the_sampled_mean() -> None:
    assert sampled_mean_error(rate=1, units=10, sigma=0.5) == 0.25
    # Exactly, over all samples of six values of one: the variance of a binomial over (rate n)**2.
    rate, n = 0.4, 6
    spread = rate * (1 - rate) * n / (rate * n) ** 2
    assert sampled_mean_error(rate=rate, units=n, sigma=0.5) == pytest.approx(0.25 + spread)


@pytest.mark.parametrize("rate", [0, -0.1, 1.1, float("nan")])
def test_bad_rates_are_refused(rate: float) -> None:
    with pytest.raises(InvalidParameter):
        amplified_epsilon(rate=rate, epsilon=1)


def test_rational_odds_are_exact_up_to_the_margin() -> None:
    for ratio, rate in [(Fraction(3), Fraction(1, 2)), (Fraction(10), Fraction(1, 7))]:
        got = amplified_epsilon(rate=rate, epsilon=math.log(ratio))
        assert got == pytest.approx(math.log(exactly(rate, ratio)), rel=1e-13)
