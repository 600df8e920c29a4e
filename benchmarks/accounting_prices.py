"""Prices beside the truth and beside peers: rho of events, epsilon of events and compositions.

The truth is computed here by enumeration or closed form, with nothing of ours; ``None`` where it
is not known. Ours must not be below it, within 1 % of it for single events, and within .1 % of the
best peer for compositions.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from peers import Missing, Peer
from scipy import optimize, stats
from timing import Figure

from discreet import events
from discreet.core.events.event import Event

DELTA, SGD_DELTA = 1e-6, 1e-5
PEERS = ("dp-accounting", "opendp", "autodp")
ORDERS = 1 + np.geomspace(1e-6, 1e5, 20_000)

Curve = Callable[[float], float]


def crossing(curve: Curve, delta: float, most: float) -> float:
    """Where a falling curve of epsilon reaches delta."""
    return float(optimize.brentq(lambda e: curve(e) - delta, 0.0, most, xtol=1e-13))


def rate(losses: Sequence[float], masses: Sequence[float]) -> float:
    """The supremum of D_alpha / alpha of a listed law of losses."""
    t = ORDERS[:, None] - 1
    exponents = t * np.array(losses)
    peak = exponents.max(axis=1)
    logs = peak + np.log((np.exp(exponents - peak[:, None]) * np.array(masses)).sum(axis=1))
    return float((logs / (ORDERS - 1) / ORDERS).max())


def laplace_rate() -> float:
    """Laplace noise of scale one by the moments of its density."""
    a = ORDERS
    moments = np.logaddexp(np.log(a / (2 * a - 1)) + a - 1, np.log((a - 1) / (2 * a - 1)) - a)
    return float((moments / (a - 1) / a).max())


def response_rate(epsilon: float, categories: int) -> float:
    """Randomized response, its three losses listed."""
    whole = math.exp(epsilon) + categories - 1
    masses = [math.exp(epsilon) / whole, 1 / whole, (categories - 2) / whole]
    return rate([epsilon, -epsilon, 0.0], masses)


def range_rate(epsilon: float) -> float:
    """The worst two points whose losses are epsilon apart."""
    places = np.linspace(0, epsilon, 401)[1:-1]
    shares = np.expm1(places - epsilon) / math.expm1(-epsilon)
    pairs = zip(places.tolist(), shares.tolist(), strict=True)
    return max(rate([z, z - epsilon], [p, 1 - p]) for z, p in pairs)


def discrete_gaussian(sigma: float, times: int) -> Curve:
    """All outcomes of so many rounds, by plain convolution."""
    far = math.ceil(13 * sigma)
    x = np.arange(-far, far + 1)
    one = np.exp(-(x**2) / (2 * sigma**2))
    one /= one.sum()
    total, base, left = np.ones(1), one, times
    while left:
        total = np.convolve(total, base) if left & 1 else total
        left >>= 1
        if left:
            base = np.convolve(base, base)
            cut = min(len(base) // 2, math.ceil(13 * sigma * math.sqrt(2 * times)))
            base = base[len(base) // 2 - cut : len(base) // 2 + cut + 1]
    y = np.arange(len(total)) - len(total) // 2
    losses = (2 * y + times) / (2 * sigma**2)
    return lambda e: float((total * np.maximum(-np.expm1(e - losses), 0.0)).sum())


def approximate(epsilon: float, slack: float, times: int) -> Curve:
    """Optimal composition of equal pairs, summed over the binomial."""
    j = np.arange(times + 1)
    masses = stats.binom.pmf(j, times, 1 / (1 + math.exp(-epsilon)))
    kept = (1 - slack) ** times
    losses = (2 * j - times) * epsilon
    return lambda e: 1 - kept * (1 - float((masses * np.maximum(-np.expm1(e - losses), 0)).sum()))


def gaussian(e: float) -> float:
    """The curve of Gaussian noise of one sensitivity."""
    return float(stats.norm.cdf(0.5 - e) - math.exp(e) * stats.norm.cdf(-0.5 - e))


@dataclass(frozen=True)
class Priced:
    """An event, how we price it, and the truth where it is known."""

    event: Event
    truth: Callable[[], float] | None
    delta: float = DELTA
    rho: bool = False
    single: bool = True

    def ours(self) -> float:
        """Our price."""
        return float(self.event.zcdp().rho) if self.rho else self.event.epsilon(delta=self.delta)


CASES = {
    "rho_laplace": Priced(events.Laplace(epsilon=1), laplace_rate, rho=True),
    "rho_pure_5": Priced(events.Pure(epsilon=5), lambda: response_rate(5, 2), rho=True),
    "rho_discrete_laplace": Priced(
        events.DiscreteLaplace(epsilon=1, steps=1), lambda: response_rate(1, 2), rho=True
    ),
    "rho_response_100": Priced(
        events.RandomizedResponse(epsilon=1, categories=100),
        lambda: response_rate(1, 100),
        rho=True,
    ),
    "rho_exponential": Priced(events.Exponential(epsilon=1), lambda: range_rate(1.0), rho=True),
    "gaussian": Priced(events.Gaussian(1), lambda: crossing(gaussian, DELTA, 20)),
    "laplace": Priced(events.Laplace(epsilon=1), lambda: 1 + 2 * math.log1p(-DELTA)),
    "discrete_laplace": Priced(
        events.DiscreteLaplace(epsilon=1, steps=1),
        lambda: math.log(math.e - DELTA * (1 + math.e)),
    ),
    "discrete_gaussian": Priced(
        events.DiscreteGaussian(1, 1), lambda: crossing(discrete_gaussian(1.0, 1), DELTA, 12)
    ),
    "discrete_gaussian_1000": Priced(
        events.DiscreteGaussian(20, 20) * 1000,
        lambda: crossing(discrete_gaussian(20.0, 1000), DELTA, 30),
        single=False,
    ),
    "approximate_100": Priced(
        events.Approximate(epsilon=0.1, delta=1e-9) * 100,
        lambda: crossing(approximate(0.1, 1e-9, 100), DELTA, 10),
        single=False,
    ),
    "laplace_1000": Priced(events.Laplace(epsilon=0.1) * 1000, None, single=False),
    "sgd": Priced(events.Gaussian(1).subsample(rate=0.01) * 10_000, None, SGD_DELTA, single=False),
}


def price_figures() -> list[Figure]:
    """Ratios to the truth, and to each peer and the best of them."""
    found: list[Figure] = []
    try:
        with Peer("prices", "peer_prices_accounting.py") as peer:
            for name, case in CASES.items():
                found += _case(peer, name, case)
    except Missing as reason:
        found.append(
            Figure(name="accounting/price", values=(), unit="x", remark=f"MISSING prices: {reason}")
        )
    return found


def _case(peer: Peer, name: str, case: Priced) -> list[Figure]:
    ours, truth = case.ours(), case.truth() if case.truth else None
    prices: dict[str, float] = {}
    for each in PEERS:
        try:
            prices[each] = peer.seconds(peer=each, case=name)
        except Missing as reason:
            if "KeyError" not in str(reason):
                raise
    # A millionth of slack: the truth is a search on floats, too.
    below = [each for each, price in prices.items() if truth and price < truth * (1 - 1e-6)]
    told = ", ".join(f"{each} {peer.versions[each]} {price:.6g}" for each, price in prices.items())
    remark = f"ours {ours:.6g}; {told or 'no peer has it'}"
    remark += f"; below the truth: {', '.join(below)}" if below else ""
    figures = []
    if truth is not None:
        figures.append(
            Figure(
                name=f"accounting/price/{name}/to_truth",
                values=[ours / truth],
                unit="x",
                at_least=1 - 1e-6,
                at_most=1.01 if case.single else math.inf,
                remark=f"truth {truth:.6g}; {remark}",
            )
        )
    sound = [price for each, price in prices.items() if each not in below]
    if sound:
        figures.append(
            Figure(
                name=f"accounting/price/{name}/to_best_peer",
                values=[ours / min(sound)],
                unit="x",
                at_most=1.001,
                remark=remark,
            )
        )
    return figures
