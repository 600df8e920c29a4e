"""Calculators of private optimisation: numbers of the catalogue, and what simulations find."""

import math

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import binom, norm

from discreet import theory
from discreet.core.errors import DiscreetError


def test_excess_is_that_of_the_catalogue() -> None:
    given = {"rows": 1000, "dimension": 10, "epsilon": 1, "delta": 1e-5}
    found = theory.descent_excess(**given, steps=10**5)  # type: ignore[arg-type]
    assert found == pytest.approx(16.13253, abs=5e-6)
    closed = math.sqrt(3 * 10 * (math.log(1e5) + 1))  # at the book's own number of steps
    assert found < closed == pytest.approx(19.37493, abs=5e-6)
    more = theory.descent_excess(**given, steps=10**7)  # type: ignore[arg-type]
    assert more < found < theory.descent_excess(**given, steps=10)  # type: ignore[arg-type]
    twice = theory.descent_excess(**given, lipschitz=2, radius=3)  # type: ignore[arg-type]
    assert twice == pytest.approx(6 * found)


def descent(padding: int, rng: np.random.Generator) -> float:
    """The excess of noisy descent on absolute losses with columns of zeros, as the theorem has it.

    |x.theta - y| with rows of length one: slope 1; the best point has length one and no loss.
    """
    n, p, epsilon, delta, steps = 40, 3, 2.0, 1e-3, 60
    x = rng.normal(size=(n, p))
    x = np.pad(x / np.linalg.norm(x, axis=1)[:, None], ((0, 0), (0, padding)))
    best = np.zeros(p + padding)
    best[0] = 1.0
    y = x @ best
    noise = math.sqrt(2 * steps * (math.log(1 / delta) + epsilon)) / epsilon
    rate = 1 / math.sqrt(steps * (n**2 + p * noise**2))
    theta, seen = np.zeros(p + padding), np.zeros(p + padding)
    for _ in range(steps):
        seen += theta / steps
        gradient = x.T @ np.sign(x @ theta - y)
        theta = theta - rate * (gradient + noise * rng.normal(size=len(theta)))
    return float(np.abs(x @ seen - y).sum())


def test_columns_of_zeros_cost_nothing_and_the_bound_holds() -> None:
    """Means of 120 runs: five standard errors, a false alarm in fewer than one run of a million."""
    rng = np.random.default_rng(8)
    plain, padded = ([descent(wide, rng) for _ in range(120)] for wide in (0, 200))
    off = math.sqrt((np.var(plain) + np.var(padded)) / 120)
    assert abs(np.mean(plain) - np.mean(padded)) < 5 * off
    bound = theory.descent_excess(rows=40, dimension=3, epsilon=2, delta=1e-3, steps=60)
    assert np.mean(padded) + 5 * off < bound
    wide = theory.descent_excess(rows=40, dimension=203, epsilon=2, delta=1e-3, steps=60)
    assert wide > 3 * bound  # what the dimension would say


@pytest.mark.parametrize(("rows", "draws"), [(1, 7), (2, 5), (3, 4), (5, 9)])
def test_multiplicities_against_exact_binomials(rows: int, draws: int) -> None:
    for failure in (0.3, 1e-2, 1e-4):
        cap = theory.multiplicity_cap(rows=rows, draws=draws, failure=failure)

        def union(most: int) -> float:
            tail = sum(
                math.comb(draws, k) * (rows - 1) ** (draws - k) for k in range(most + 1, draws + 1)
            )
            return float(rows * tail / rows**draws)

        assert union(cap) <= failure * (1 + 1e-9)
        assert cap == 0 or union(cap - 1) > failure


@pytest.mark.parametrize(("rows", "draws"), [(10, 10**6), (2, 10**7), (100, 10**8), (10**9, 50)])
def test_a_cap_of_very_many_draws_is_found_at_once(rows: int, draws: int) -> None:
    """Each cap from none on was tried, and far below the mean each took a sum over all draws."""
    cap = theory.multiplicity_cap(rows=rows, draws=draws, failure=1e-6)
    assert rows * binom.sf(cap, draws, 1 / rows) <= 1e-6 * (1 + 1e-6)
    assert rows * binom.sf(cap - 1, draws, 1 / rows) > 1e-6


@pytest.mark.parametrize("draws", [10**10, 10**13, 10**15])
@pytest.mark.parametrize("failure", [0.3, 1e-9])
def test_a_cap_holds_however_many_draws(draws: int, failure: float) -> None:
    """Against the normal law, whose error is 1e-8 here: log-gammas were off by a thirtieth."""
    cap = theory.multiplicity_cap(rows=2, draws=draws, failure=failure)
    fails = 2 * norm.sf((2 * cap + 1 - draws) / math.sqrt(draws))
    assert failure * (1 - 1e-3) <= fails <= failure


def test_the_cap_holds_in_runs() -> None:
    """A cap at 5 %: more than 45 of 400 runs above it have a probability below 1e-6."""
    rng = np.random.default_rng(11)
    cap = theory.multiplicity_cap(rows=1000, draws=1000, failure=0.05)
    above = sum(np.bincount(rng.integers(0, 1000, 1000)).max() > cap for _ in range(400))
    assert above <= 45
    assert 5 <= cap <= 8


@pytest.mark.parametrize("regret", [math.nan, math.inf])
def test_a_regret_is_a_number(regret: float) -> None:
    with pytest.raises(DiscreetError, match="regret"):
        theory.risk_of_regret(regret=regret, draws=10, span=1, failure=0.1)


def test_risk_of_regret_holds_for_a_learner() -> None:
    """Hedge over two experts in 500 runs, at 10 %: more than 90 failures have chance below 1e-6."""
    rng, runs, draws, rate = np.random.default_rng(3), 500, 200, 0.3
    losses = rng.random((draws, runs, 2)) < [0.45, 0.55]
    before: NDArray[np.int64] = np.cumsum(losses, axis=0) - losses
    played = np.exp(-rate * before)
    played /= played.sum(axis=2, keepdims=True)
    paid = (played * losses).sum(axis=(0, 2))
    regret = paid - losses[:, :, 0].sum(axis=0)  # against the expert that is best by its law
    excess = 0.1 * played.mean(axis=0)[:, 1]
    bounds = [
        theory.risk_of_regret(regret=float(r), draws=draws, span=1, failure=0.1) for r in regret
    ]
    assert int(np.sum(excess > bounds)) <= 90
    none = theory.risk_of_regret(regret=0, draws=draws, span=1, failure=0.1)
    more = theory.risk_of_regret(regret=50, draws=draws, span=1, failure=0.1)
    assert more - none == pytest.approx(0.25)


def slope(rate: object, name: str, low: float, high: float, **given: object) -> float:
    values = [rate(**{**given, name: each}) for each in (low, high)]  # type: ignore[operator]
    return math.log(values[1] / values[0]) / math.log(high / low)


def test_rates_fall_and_rise_as_printed() -> None:
    sums = {"rows": 1000, "dimension": 10, "epsilon": 1.0, "delta": 1e-6}
    far = {**sums, "epsilon": 1e-6}  # so that privacy's part is all there is
    assert slope(theory.risk_rate, "rows", 10**3, 10**5, **far) == pytest.approx(-1, abs=1e-3)
    assert slope(theory.risk_rate, "dimension", 10, 1000, **far) == pytest.approx(0.5, abs=1e-3)
    near = {**sums, "epsilon": 1e6}
    assert slope(theory.risk_rate, "rows", 10**3, 10**5, **near) == pytest.approx(-0.5, abs=1e-3)
    bent = {**far, "strongly_convex": True}
    assert slope(theory.risk_rate, "rows", 10**3, 10**5, **bent) == pytest.approx(-2, abs=1e-3)
    assert slope(theory.l1_risk_rate, "rows", 10**3, 10**5, **far) == pytest.approx(
        -2 / 3, abs=0.01
    )
    assert theory.l1_risk_rate(**{**sums, "dimension": 100}) == pytest.approx(  # type: ignore[arg-type]
        math.sqrt(2) * theory.l1_risk_rate(**sums)  # type: ignore[arg-type]
    )
    rate = theory.strongly_convex_rate
    assert slope(rate, "lipschitz", 1, 10, curvature=1.0, **sums) == pytest.approx(2)
    assert slope(rate, "curvature", 1, 10, **sums) == pytest.approx(-1)
    pure = {**sums, "delta": 0.0, "curvature": 1.0}
    assert slope(rate, "dimension", 10, 100, **pure) == pytest.approx(2)


def test_floors_are_below_what_is_promised() -> None:
    for rows in (10, 1000, 10**6):
        for p in (1, 10, 1000):
            for epsilon in (0.01, 1.0):
                size = {"rows": rows, "dimension": p, "epsilon": epsilon}
                pure = theory.excess_floor(**size, delta=0)  # type: ignore[arg-type]
                apart = theory.excess_floor(**size, delta=1e-9)  # type: ignore[arg-type]
                assert apart <= pure <= rows
                assert apart <= theory.descent_excess(**size, delta=1e-9)  # type: ignore[arg-type]
    assert theory.marginals_floor(rows=1000, dimension=10, epsilon=1, delta=0) == 0.01
    with pytest.raises(DiscreetError):
        theory.marginals_floor(rows=1000, dimension=10, epsilon=1, delta=2)


def test_excess_of_linear_losses_is_a_distance() -> None:
    """The identity under the floors, and its inequality, on 200 random points of the ball."""
    rng = np.random.default_rng(4)
    for _ in range(200):
        p = int(rng.integers(1, 6))
        total = rng.normal(size=p)
        theta = rng.normal(size=p)
        theta *= min(1.0, rng.random() ** (1 / p) / float(np.linalg.norm(theta)))
        best = total / np.linalg.norm(total)
        excess = float(np.linalg.norm(total) - total @ theta)
        assert excess == pytest.approx(float(np.linalg.norm(total)) * (1 - best @ theta))
        assert excess >= float(np.linalg.norm(total) * np.sum((theta - best) ** 2)) / 2 - 1e-12
