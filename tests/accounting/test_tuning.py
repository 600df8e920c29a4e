"""Tuning by random stopping: the catalogue's table, exact finite laws, and broken twins."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from discreet import events
from discreet.accounting import tuning
from discreet.accounting.pure import PURE
from discreet.accounting.tuning import (
    ORDERS,
    best_run,
    expected_runs,
    generating_function,
    stopping_gamma,
    tuned_curve,
)
from discreet.core.errors import InvalidParameter, Unpriced
from discreet.core.events.event import from_json
from discreet.core.events.tuned import (
    PoissonRuns,
    StoppingLaw,
    TruncatedNegativeBinomial,
    Tuned,
)

Floats = NDArray[np.float64]
GRID = np.array(ORDERS)
THREE = np.array([2.0, 8.0, 32.0])
LAWS: list[StoppingLaw] = [
    TruncatedNegativeBinomial(eta=-0.5, gamma=0.05),
    TruncatedNegativeBinomial(eta=0, gamma=0.05),
    TruncatedNegativeBinomial(eta=0.5, gamma=0.2),
    TruncatedNegativeBinomial(eta=1, gamma=0.1),
    TruncatedNegativeBinomial(eta=3, gamma=0.3),
    PoissonRuns(mean=0.3),
    PoissonRuns(mean=4),
]


def gaussian(orders: Floats) -> Floats:
    """Noise of four sensitivities."""
    return orders / 32


def converted(divergences: Floats, delta: float = 1e-6) -> float:
    terms = np.log1p(-1 / GRID) - (math.log(delta) + np.log(GRID)) / (GRID - 1)
    return float(np.min(divergences + terms))


def stopping(eta: float, runs: int) -> TruncatedNegativeBinomial:
    return TruncatedNegativeBinomial(eta=eta, gamma=stopping_gamma(eta=eta, runs=runs))


@pytest.mark.parametrize(
    ("eta", "gamma", "divergences", "ten", "hundred"),
    [
        (0, 0.0269183, [1.20871, 1.20871, 1.71524], 1.902106, 2.237801),
        (0.5, 0.0625, [1.40393, 1.40393, 1.91046], 2.097323, 2.534767),
        (1, 0.1, [1.57823, 1.57823, 2.08476], 2.271623, 2.824108),
    ],
)
def test_the_table_of_negative_binomial_laws(
    eta: float, gamma: float, divergences: list[float], ten: float, hundred: float
) -> None:
    law = stopping(eta, 10)
    assert law.gamma == pytest.approx(gamma, rel=1e-5)
    curve = tuned_curve(gaussian, law)
    np.testing.assert_allclose(curve(THREE), divergences, atol=6e-6)
    assert converted(curve(GRID)) == pytest.approx(ten, abs=1e-6)
    assert converted(tuned_curve(gaussian, stopping(eta, 100))(GRID)) == pytest.approx(
        hundred, abs=1e-6
    )


def test_the_table_of_poisson_laws() -> None:
    assert converted(gaussian(GRID)) == pytest.approx(1.143169, abs=1e-6)
    curve = tuned_curve(gaussian, PoissonRuns(mean=10))
    np.testing.assert_allclose(curve(THREE)[1:], [1.45271, 2.41819], atol=1e-5)
    # At order two the theorem alone gives 2.37450; larger orders do better.
    assert curve(THREE)[0] < 1.45271
    assert converted(curve(GRID)) == pytest.approx(2.501113, abs=1e-5)
    hundred = tuned_curve(gaussian, PoissonRuns(mean=100))
    assert converted(hundred(GRID)) == pytest.approx(9.226015, abs=1e-5)


def test_poisson_at_one_order() -> None:
    """Before monotonicity, the table; no run at all adds exp(-10), below its digits."""
    raw = tuning._raw(THREE, gaussian(THREE), GRID, gaussian(GRID), PoissonRuns(mean=10))
    np.testing.assert_allclose(raw, [2.37450, 1.45271, 2.41819], atol=1e-5)


@pytest.mark.parametrize("law", LAWS, ids=repr)
def test_laws(law: StoppingLaw) -> None:
    if isinstance(law, PoissonRuns):
        mean = float(law.mean)
        masses = [math.exp(-mean + k * math.log(mean) - math.lgamma(k + 1)) for k in range(400)]
    else:
        eta, gamma = float(law.eta), float(law.gamma)
        masses = [0.0, 1.0]
        for k in range(1, 4000):
            masses.append(masses[-1] * (1 - gamma) * (k + eta) / (k + 1))
        total = math.fsum(masses)
        masses = [mass / total for mass in masses]
    numbers = np.arange(len(masses))
    assert expected_runs(law) == pytest.approx(float(np.dot(numbers, masses)), rel=1e-9)
    for x in (0.0, 0.3, 0.9, 1.0):
        got = float(generating_function(law, np.array([x]))[0])
        assert got == pytest.approx(float(np.sum(np.array(masses) * x**numbers)), abs=1e-9)


def renyi(p: Floats, q: Floats, orders: Floats) -> Floats:
    with np.errstate(divide="ignore"):
        logs = np.multiply.outer(orders, np.log(p)) + np.multiply.outer(1 - orders, np.log(q))
    return np.asarray(np.logaddexp.reduce(logs, axis=1) / (orders - 1))


laws = st.lists(st.integers(1, 30), min_size=4, max_size=4).map(lambda w: np.array(w) / sum(w))


@settings(max_examples=60, deadline=None)
@given(p=laws, q=laws)
def test_exact_laws_of_the_best_run_stay_within_the_bounds(p: Floats, q: Floats) -> None:
    orders = np.array([1.1, 1.5, 2.0, 4.0, 9.0, 30.0])

    def base(wanted: Floats) -> Floats:
        return np.maximum(renyi(p, q, wanted), renyi(q, p, wanted))

    pure = float(np.max(np.abs(np.log(p / q))))
    for law in LAWS:
        best_p, best_q = best_run(p.tolist(), law), best_run(q.tolist(), law)
        bound = tuned_curve(base, law)(orders)
        assert np.all(renyi(best_p, best_q, orders) <= bound + 1e-12)
        priced = PURE.price(Tuned(events.Pure(epsilon=pure + 1e-12), law))
        assert float(np.max(np.abs(np.log(best_p / best_q)))) <= priced + 1e-9


@pytest.mark.parametrize(("eta", "exact_loss"), [(1, 1.99976), (0, 1.43314)])
def test_the_pure_bound_is_approached(eta: float, exact_loss: float) -> None:
    truth = math.e / (1 + math.e)
    law = TruncatedNegativeBinomial(eta=eta, gamma=1e-4)
    best = [best_run(masses, law) for masses in ([1 - truth, truth], [truth, 1 - truth])]
    loss = float(np.max(np.abs(np.log(best[0] / best[1]))))
    assert loss == pytest.approx(exact_loss, abs=1e-5)
    assert PURE.price(Tuned(events.Pure(epsilon=1), law)) == 2 + Fraction(eta)


def test_a_broken_twin_the_price_of_one_run_for_the_best_of_many() -> None:
    """Ten fixed runs, charged as one: caught exactly, and refused as an event."""
    worst = 0.0
    for masses in ([0.01, 0.99], [0.5, 0.5]):
        p = np.array(masses)
        tilted = np.array([p[0] * math.exp(0.5), 1 - p[0] * math.exp(0.5)])
        if tilted[1] < p[1] * math.exp(-0.5):
            continue
        best = [np.diff(np.cumsum(law) ** 10, prepend=0.0) for law in (p, tilted)]
        worst = max(worst, float(np.max(np.abs(np.log(best[0] / best[1])))))
    assert worst > 4.9  # k times epsilon, nearly
    with pytest.raises(InvalidParameter, match="not_a_stopping_law"):
        Tuned(events.Pure(epsilon=0.5), 10)  # type: ignore[arg-type]


def test_a_broken_twin_the_printed_poisson_bound_is_negative_for_few_runs() -> None:
    mean, order = 0.3, 2.0
    printed = 0.0 + math.log(mean) / (order - 1)
    assert printed < 0
    curve = tuned_curve(lambda orders: np.full_like(orders, 1e-9), PoissonRuns(mean=mean))
    assert curve(np.array([order]))[0] >= 0


def test_curves_are_monotone_and_valid_for_any_orders() -> None:
    law = stopping(1, 10)
    full = tuned_curve(gaussian, law)(GRID)
    assert np.all(np.diff(full) >= 0)
    few = tuned_curve(gaussian, law, orders=[4.0, 40.0])(GRID)
    assert np.all(few >= full - 1e-12)


def test_events() -> None:
    for law in LAWS:
        event = Tuned(events.Laplace(epsilon=0.5), law)
        assert from_json(event.to_json()) == event
        assert repr(law) in repr(event)
    exact = Tuned(
        events.Laplace(epsilon=0.5), TruncatedNegativeBinomial(eta=0, gamma=Fraction(1, 3))
    )
    assert from_json(exact.to_json()) == exact
    assert exact.epsilon(delta=0) == 1
    poisson = Tuned(events.Laplace(epsilon=0.5), PoissonRuns(mean=4))
    assert poisson.epsilon(delta=0) == pytest.approx(0.5 + 4 * math.tanh(0.25))
    sampled = Tuned(events.Laplace(epsilon=0.5).subsample(rate=0.1), LAWS[0])
    assert sampled.relation() is sampled.event.relation()
    with pytest.raises(Unpriced):
        PURE.price(Tuned(events.Gaussian(noise_multiplier=1), LAWS[0]))
    with pytest.raises(InvalidParameter):
        from_json(exact.to_json().replace("TruncatedNegativeBinomial", "Fixed"))


@pytest.mark.parametrize(
    "make",
    [
        lambda: TruncatedNegativeBinomial(eta=-1, gamma=0.5),
        lambda: TruncatedNegativeBinomial(eta=0, gamma=0),
        lambda: TruncatedNegativeBinomial(eta=0, gamma=1),
        lambda: PoissonRuns(mean=0),
        lambda: stopping_gamma(eta=0, runs=1),
        lambda: tuned_curve(gaussian, LAWS[0], orders=[]),
        lambda: tuned_curve(gaussian, LAWS[0], orders=[1.0]),
    ],
)
def test_bad_parameters_are_refused(make: object) -> None:
    assert callable(make)
    with pytest.raises(InvalidParameter):
        make()
