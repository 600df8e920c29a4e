"""Tuning by random stopping: the price of releasing the best of a random number of runs.

K is drawn from a public law, the same mechanism (which draws its own configuration) runs K times,
and only the best run is released. From the Rényi curve e of one run, both directions included:

- truncated negative binomial K: at order a, for every order b,
  e(a) + (1+eta) ((1 - 1/b) e(b) + ln(1/gamma) / b) + ln E[K] / (a-1);
- Poisson K: ln(exp(-m) + m exp((a-1) (e(a) + m d))) / (a-1), where one run is (ln(a/(a-1)), d)-
  private. The printed e(a) + m d + ln(m)/(a-1) leaves out that no run at all is an outcome, too:
  below one expected run it would be negative.

A pure run costs (2+eta) epsilon, or epsilon + m tanh(epsilon/2). A *fixed* number of runs, stopping
when good enough, and scores computed outside the runs are not covered.

Numerics: curves are raised by a relative 1e-12 and made monotone in the order.

Source: modern-learn:1 (Papernot, Steinke 2022). Proof: ``proofs/tuning.md``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import TypeAlias

import numpy as np

from discreet.accounting.pure import PURE
from discreet.core.arrays import Floats
from discreet.core.errors import InvalidParameter
from discreet.core.events.tuned import (
    PoissonRuns,
    StoppingLaw,
    TruncatedNegativeBinomial,
    Tuned,
)
from discreet.core.parameters import Number, exact, finite, rounded_up
from discreet.core.search import least

Curve: TypeAlias = Callable[[Floats], Floats]
"""From Rényi orders to divergences: an upper bound of both directions at every order."""

ORDERS: tuple[float, ...] = (
    *(1 + k / 10 for k in range(1, 100)),
    *(float(k) for k in range(11, 64)),
    *(128.0, 256.0, 512.0),
)
"""Orders at which the second factor of the theorem is tried, unless told otherwise."""

_MARGIN = 1e-12
_MOST_RUNS = 1e12


def expected_runs(law: StoppingLaw) -> float:
    """E[K], rounded up.

    >>> round(expected_runs(TruncatedNegativeBinomial(eta=1, gamma=0.1)), 9)
    10.0
    """
    if isinstance(law, PoissonRuns):
        return rounded_up(exact(law.mean))
    eta, gamma = float(law.eta), float(law.gamma)
    share = 1 / -math.log(gamma) if eta == 0 else eta / -math.expm1(eta * math.log(gamma))
    return (1 / gamma - 1) * share * (1 + _MARGIN)


def stopping_gamma(*, eta: Number, runs: Number) -> float:
    """The gamma with which a truncated negative binomial law has ``runs`` expected runs.

    >>> round(stopping_gamma(eta=0, runs=10), 7)
    0.0269183
    """
    wanted = float(finite("runs", runs))
    if not 1 < wanted < _MOST_RUNS:
        raise InvalidParameter(
            code="runs_out_of_range",
            expectation="more than one expected run, and a feasible number",
            received=runs,
            remedy="Choose for instance 10 or 100 expected runs.",
        )

    def few_enough(gamma: float) -> bool:
        return expected_runs(TruncatedNegativeBinomial(eta=eta, gamma=gamma)) <= wanted

    return least(few_enough, 0.0, math.nextafter(1.0, 0.0))


def generating_function(law: StoppingLaw, x: Floats) -> Floats:
    """E[x**K] for x in [0, 1]: if F is one run's distribution function, this is the best run's."""
    if isinstance(law, PoissonRuns):
        value: Floats = np.exp(float(law.mean) * (x - 1))
        return value
    eta, gamma = float(law.eta), float(law.gamma)
    log = np.log1p(-(1 - gamma) * x)
    if eta == 0:
        return np.asarray(log / math.log(gamma), dtype=np.float64)
    return np.asarray(np.expm1(-eta * log) / math.expm1(-eta * math.log(gamma)), dtype=np.float64)


def best_run(masses: Sequence[Number], law: StoppingLaw) -> Floats:
    """The law of the best run, from that of one; outcomes from worst to best.

    With Poisson K the first entry is the probability of no run at all.
    """
    reached = np.concatenate([[0.0], np.cumsum([float(mass) for mass in masses])])
    values = generating_function(law, np.minimum(reached, 1.0))
    best: Floats = np.diff(values)
    return np.concatenate([values[:1], best]) if isinstance(law, PoissonRuns) else best


def tuned_curve(curve: Curve, law: StoppingLaw, *, orders: Sequence[float] = ORDERS) -> Curve:
    """The Rényi curve of the best run, from that of one run.

    Contract: ``curve`` bounds the divergence of one run in both directions at every order asked
    for. ``orders`` are those at which the theorem's other order, and larger orders for
    monotonicity, are tried; any choice gives a valid bound.
    """
    grid = np.array(sorted({float(order) for order in orders}))
    if not len(grid) or not (grid > 1).all() or not np.isfinite(grid).all():
        raise InvalidParameter(
            code="order_out_of_range",
            expectation="finite Rényi orders above one",
            received=len(grid),
            remedy="Pass at least one order above one.",
        )

    def tuned(wanted: Floats) -> Floats:
        asked = np.atleast_1d(np.asarray(wanted, dtype=np.float64))
        on_grid = np.asarray(curve(grid), dtype=np.float64)
        every = np.concatenate([asked, grid])
        base = np.concatenate([np.asarray(curve(asked), dtype=np.float64), on_grid])
        bounds = _raw(every, base, grid, on_grid, law) * (1 + _MARGIN)
        # Divergence grows with the order: a bound at a larger order holds at a smaller one.
        return np.array([float(np.min(bounds[every >= order])) for order in asked])

    return tuned


def _raw(orders: Floats, base: Floats, grid: Floats, on_grid: Floats, law: StoppingLaw) -> Floats:
    """The theorem at each order, with ``base`` the divergence of one run there."""
    if isinstance(law, PoissonRuns):
        mean = expected_runs(law)
        leaks = _delta(np.log1p(1 / (orders - 1)) * (1 - _MARGIN), grid, on_grid)
        grown = math.log(mean) + (orders - 1) * (base + mean * leaks)
        value: Floats = np.logaddexp(-mean * (1 - _MARGIN), grown) / (orders - 1)
        return value
    shape, log = 1 + float(law.eta), -math.log(float(law.gamma)) * (1 + _MARGIN)
    other = float(np.min((1 - 1 / grid) * on_grid + log / grid))
    tuned: Floats = base + shape * other + math.log(expected_runs(law)) / (orders - 1)
    return tuned


def _delta(epsilons: Floats, grid: Floats, on_grid: Floats) -> Floats:
    """The least delta at each epsilon by Rényi conversion (004a:E3(8)), rounded up."""
    logs = np.subtract.outer(-epsilons, -(on_grid + np.log1p(-1 / grid)))
    exponents = (grid - 1) * logs - np.log(grid)
    deltas: Floats = np.minimum(1.0, np.exp(np.min(exponents, axis=1)) * (1 + _MARGIN))
    return deltas


@PURE.prices(Tuned)
def _pure(event: Tuned) -> Fraction:
    loss = PURE.price(event.event)
    if isinstance(event.law, PoissonRuns):
        most = rounded_up(loss)
        drift = Fraction(math.tanh(most / 2) * (1 + _MARGIN))
        return loss + exact(event.law.mean) * min(drift, Fraction(1))
    return (2 + exact(event.law.eta)) * loss
