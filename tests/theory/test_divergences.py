"""Divergences of finite laws, and the constructions behind composition."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.accounting.gaussian import gaussian_delta
from discreet.core.errors import InvalidParameter
from discreet.theory.divergences import (
    approximate_max_divergence,
    closest_below,
    closest_pair,
    decomposed,
    hockey_stick,
    kl_bound,
    kl_divergence,
    loss_tail,
    max_divergence,
    printed_kl_bound,
    privacy_losses,
    total_variation,
)

TWO = math.log(2)
P, Q = [0.5, 0.5], [0.9, 0.1]


def normalised(weights: list[int]) -> list[float]:
    return [w / sum(weights) for w in weights]


laws = st.lists(st.integers(0, 20), min_size=4, max_size=4).filter(any).map(normalised)
positive = st.lists(st.integers(1, 20), min_size=4, max_size=4).map(normalised)


def test_randomized_response() -> None:
    p, q = [0.75, 0.25], [0.25, 0.75]
    assert max_divergence(p, q) == pytest.approx(math.log(3))
    assert kl_divergence(p, q) == pytest.approx(0.5 * math.log(3))
    assert kl_bound(math.log(3)) == pytest.approx(0.5493, abs=5e-5)
    assert printed_kl_bound(math.log(3)) == pytest.approx(2.1972, abs=5e-5)
    assert kl_bound(1) == pytest.approx(0.46212, abs=5e-6)


def test_division_by_zero_is_infinite() -> None:
    assert kl_divergence([1, 0], [0, 1]) == math.inf
    assert max_divergence([0.5, 0.5], [1, 0]) == math.inf
    assert kl_divergence([1, 0, 0], [0.5, 0.5, 0]) == pytest.approx(TWO)
    assert hockey_stick([0.5, 0.5], [1, 0], epsilon=50) == 0.5
    assert approximate_max_divergence([0.5, 0.5], [1, 0], delta=0.5) == pytest.approx(-TWO)


def test_the_pair_of_the_catalogue() -> None:
    assert hockey_stick(P, Q, epsilon=TWO) == pytest.approx(0.3)
    assert hockey_stick(Q, P, epsilon=TWO) == 0
    assert approximate_max_divergence(P, Q, delta=0.3) == pytest.approx(TWO)
    first, second = closest_pair(P, Q, epsilon=TWO)
    np.testing.assert_allclose(first, [0.6, 0.4])
    np.testing.assert_allclose(second, [0.8, 0.2])
    assert total_variation(P, first.tolist()) == pytest.approx(0.3 / 3)


@given(p=laws, q=laws, epsilon=st.floats(0, 3))
def test_hockey_stick_is_the_largest_excess_of_any_set(
    p: list[float], q: list[float], epsilon: float
) -> None:
    subsets = itertools.product((0, 1), repeat=len(p))
    gains = [np.dot(s, p) - math.exp(epsilon) * np.dot(s, q) for s in subsets]
    assert hockey_stick(p, q, epsilon=epsilon) == pytest.approx(max(gains), abs=1e-12)
    assert hockey_stick(p, q, epsilon=0) == pytest.approx(total_variation(p, q), abs=1e-12)


@given(p=laws, q=laws, delta=st.floats(0, 0.9))
def test_approximate_max_divergence_by_all_sets(
    p: list[float], q: list[float], delta: float
) -> None:
    best = -math.inf
    for s in itertools.product((0, 1), repeat=len(p)):
        gained, paid = np.dot(s, p) - delta, np.dot(s, q)
        if gained > 1e-12:
            best = max(best, math.log(gained / paid) if paid > 0 else math.inf)
    got = approximate_max_divergence(p, q, delta=delta)
    assert got == pytest.approx(best, abs=1e-9)
    if 0 <= got < 50:
        assert hockey_stick(p, q, epsilon=got) <= delta + 1e-12


@given(p=positive, q=positive)
def test_kl_is_within_the_tight_bound(p: list[float], q: list[float]) -> None:
    epsilon = max(max_divergence(p, q), max_divergence(q, p))
    assert kl_divergence(p, q) <= kl_bound(epsilon) + 1e-12
    assert kl_bound(epsilon) <= printed_kl_bound(epsilon) / 2 + 1e-12


@given(p=positive, q=positive, epsilon=st.floats(0, 3))
def test_facts_of_the_privacy_loss(p: list[float], q: list[float], epsilon: float) -> None:
    losses, masses = privacy_losses(p, q)
    assert np.sum(masses * np.exp(-losses)) == pytest.approx(1)
    assert np.sum(masses * losses) == pytest.approx(kl_divergence(p, q), abs=1e-12)
    positive_part = np.maximum(0, -np.expm1(epsilon - losses))
    delta = hockey_stick(p, q, epsilon=epsilon)
    assert np.sum(masses * positive_part) == pytest.approx(delta, abs=1e-12)
    for beyond in (0.1, 1.0):
        tail = float(np.sum(masses[losses > epsilon + beyond]))
        assert tail <= loss_tail(epsilon=epsilon, delta=min(delta, 0.999), beyond=beyond) + 1e-12


def test_the_printed_statement_about_the_loss_is_false() -> None:
    """Gaussian noise exactly (1, 1e-5)-private exceeds a loss of one with probability 1.6e-4."""
    sigma = 3.73063
    mu = 1 / sigma
    exceeds = 0.5 * math.erfc((1 - mu**2 / 2) / mu / math.sqrt(2))
    assert gaussian_delta(sigma, 1) == pytest.approx(1e-5, rel=1e-4)
    assert exceeds == pytest.approx(1.612e-4, rel=1e-3)
    twice = 0.5 * math.erfc((2 - mu**2 / 2) / mu / math.sqrt(2))
    assert twice <= loss_tail(epsilon=1, delta=1.0001e-5, beyond=1)


@given(p=positive, q=positive, epsilon=st.floats(0, 2))
def test_one_sided_construction(p: list[float], q: list[float], epsilon: float) -> None:
    near = closest_below(p, q, epsilon=epsilon).tolist()
    assert max_divergence(near, q) <= epsilon + 1e-9
    stick = hockey_stick(p, q, epsilon=epsilon)
    assert total_variation(p, near) == pytest.approx(stick, abs=1e-12)


@given(p=positive, q=positive, epsilon=st.floats(0, 2))
def test_two_sided_construction(p: list[float], q: list[float], epsilon: float) -> None:
    first, second = (law.tolist() for law in closest_pair(p, q, epsilon=epsilon))
    delta = max(hockey_stick(p, q, epsilon=epsilon), hockey_stick(q, p, epsilon=epsilon))
    allowed = delta / (math.exp(epsilon) + 1) + 1e-12
    assert max(max_divergence(first, second), max_divergence(second, first)) <= epsilon + 1e-9
    assert total_variation(p, first) <= allowed
    assert total_variation(q, second) <= allowed


@given(p=laws, q=laws, epsilon=st.floats(0, 2), more=st.floats(0, 0.2))
def test_decomposition(p: list[float], q: list[float], epsilon: float, more: float) -> None:
    delta = max(hockey_stick(p, q, epsilon=epsilon), hockey_stick(q, p, epsilon=epsilon)) + more
    if delta >= 0.99:
        return
    parts = decomposed(p, q, epsilon=epsilon, delta=delta)
    assert parts.weight <= delta + 1e-12
    rebuilt_p = (1 - parts.weight) * parts.near_p + parts.weight * parts.far_p
    rebuilt_q = (1 - parts.weight) * parts.near_q + parts.weight * parts.far_q
    np.testing.assert_allclose(rebuilt_p, p, atol=1e-9)
    np.testing.assert_allclose(rebuilt_q, q, atol=1e-9)
    for near, other in ((parts.near_p, parts.near_q), (parts.near_q, parts.near_p)):
        assert np.all(near <= math.exp(epsilon) * other * (1 + 1e-8) + 1e-9)


def test_a_pair_that_is_not_close_has_no_decomposition() -> None:
    with pytest.raises(InvalidParameter, match="pair_not_close"):
        decomposed(P, Q, epsilon=TWO, delta=0.2)


@pytest.mark.parametrize(("p", "q"), [([0.5], [0.5, 0.5]), ([0.6, 0.6], [1, 0]), ([1.5, -0.5], P)])
def test_what_is_no_law_is_refused(p: list[float], q: list[float]) -> None:
    with pytest.raises(InvalidParameter):
        kl_divergence(p, q)
