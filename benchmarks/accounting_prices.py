"""Prices beside the truth and beside peers: thirteen events and compositions under each accountant.

A price is the pure epsilon, rho, the Rényi divergence of order 8, mu, or epsilon at a delta. The
truth is computed with nothing of ours (``accounting_truths.py``), where it is finite and known.
Ours must not be below it, within 1 % of it for single events, and within .1 % of the best peer;
peers below the truth are named and not compared with.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import accounting_truths as truths
import numpy as np
from peers import Missing, Peer
from timing import Figure

from discreet import events
from discreet.accounting.pure import PURE
from discreet.accounting.rdp.accountant import rdp
from discreet.core.errors import Unpriced
from discreet.core.events.event import Event

DELTA, SGD_DELTA = 1e-6, 1e-5
ORDER = 8.0
PEERS = ("dp-accounting", "opendp", "autodp")
CLOSE = 1e-9
"""The truth is a search on floats, too."""

Truths = Mapping[str, Callable[[], float]]


def prices(event: Event, delta: float) -> dict[str, Callable[[], float]]:
    """How we price an event, notion by notion."""
    return {
        "pure": lambda: float(PURE.price(event)),
        "rho": lambda: float(event.zcdp().rho),
        "renyi": lambda: float(rdp(event, [ORDER])[0]),
        "mu": lambda: float(event.gdp().mu),
        "epsilon": lambda: event.epsilon(delta=delta),
    }


@dataclass(frozen=True)
class Case:
    """An event, and its truth in the notions where that is finite and known."""

    event: Event
    truth: Truths
    delta: float = DELTA
    single: bool = True

    def ours(self, notion: str) -> float | None:
        """Our price; None where we have none."""
        try:
            return prices(self.event, self.delta)[notion]()
        except Unpriced:
            return None


def single(event: Event, law: truths.Law, *without: str) -> Case:
    """One event whose law is listed or integrated; some notions have no truth, or none to list."""
    known: dict[str, Callable[[], float]] = {
        "pure": law.pure,
        "rho": law.rho,
        "renyi": lambda: order(law),
        "mu": law.mu,
        "epsilon": lambda: law.epsilon(DELTA),
    }
    return Case(event, {name: known[name] for name in known if name not in without})


def order(law: truths.Law) -> float:
    """The divergence of one law."""
    return float(law.renyi(np.array([ORDER]))[0])


def sampled_order(mu: float, rate: float) -> float:
    """The divergence of Gaussian noise on a sample, the worse way round."""
    moments = truths.sampled_moments(mu, rate)
    return max(moment(complex(ORDER - 1)).real for moment in moments) / (ORDER - 1)


def sampled_epsilon(mu: float, rate: float, times: int) -> float:
    """Epsilon of so many rounds, the worse way round."""
    moments = truths.sampled_moments(mu, rate)
    return max(truths.composed_epsilon([(moment, times)], SGD_DELTA, 20.0) for moment in moments)


PLACES = (0.01, 0.5, 1, 2, 4, 8, 16)
"""Where two curves are compared; here the first is the worst."""
LAPLACES = [(truths.laplace_moment(0.1), 1000)]
MIXTURE = [
    (truths.gaussian_moment(0.1), 50),
    (truths.laplace_moment(0.1), 100),
    (truths.response_moment(0.05), 100),
]
COMPOSITIONS = {
    "laplace_1000": Case(
        events.Laplace(epsilon=0.1) * 1000,
        {
            "pure": lambda: 100.0,
            "rho": lambda: 1000 * truths.laplace(0.1).rho(),
            "renyi": lambda: 1000 * order(truths.laplace(0.1)),
            "mu": lambda: truths.curve_mu(truths.composed_delta(LAPLACES), PLACES),
            "epsilon": lambda: truths.composed_epsilon(LAPLACES, DELTA, 60.0),
        },
        single=False,
    ),
    "discrete_gaussian_1000": Case(
        events.DiscreteGaussian(20, 20) * 1000,
        {
            "rho": lambda: 1000 * truths.discrete_gaussian(20.0).rho(),
            "renyi": lambda: 1000 * order(truths.discrete_gaussian(20.0)),
            "epsilon": lambda: truths.convolved_epsilon(20.0, 1000, DELTA),
        },
        single=False,
    ),
    "approximate_100": Case(
        events.Approximate(epsilon=0.1, delta=1e-9) * 100,
        {"epsilon": lambda: truths.optimal_epsilon(0.1, 1e-9, 100, DELTA)},
        single=False,
    ),
    "sgd": Case(
        events.Gaussian(1).subsample(rate=0.01) * 10_000,
        {
            "renyi": lambda: 10_000 * sampled_order(1.0, 0.01),
            "epsilon": lambda: sampled_epsilon(1.0, 0.01, 10_000),
        },
        delta=SGD_DELTA,
        single=False,
    ),
    "mixed": Case(
        events.Gaussian(10) * 50
        + events.Laplace(epsilon=0.1) * 100
        + events.Pure(epsilon=0.05) * 100,
        {
            # All three are steepest at order one, so that suprema add up.
            "rho": lambda: (
                50 / 200 + 100 * truths.laplace(0.1).rho() + 100 * truths.response(0.05, 2).rho()
            ),
            "renyi": lambda: (
                50 * ORDER / 200
                + 100 * order(truths.laplace(0.1))
                + 100 * order(truths.response(0.05, 2))
            ),
            "mu": lambda: truths.curve_mu(truths.composed_delta(MIXTURE), PLACES),
            "epsilon": lambda: truths.composed_epsilon(MIXTURE, DELTA, 60.0),
        },
        single=False,
    ),
}
CASES = {
    "gaussian": single(events.Gaussian(1), truths.gaussian(1.0), "pure"),
    "laplace": single(events.Laplace(epsilon=1), truths.laplace(1.0)),
    "discrete_laplace": single(
        events.DiscreteLaplace(epsilon=1, steps=2), truths.geometric(1.0, 2)
    ),
    "discrete_gaussian": single(
        events.DiscreteGaussian(1, 1), truths.discrete_gaussian(1.0), "pure"
    ),
    "pure_5": single(events.Pure(epsilon=5), truths.response(5.0, 2)),
    "response_100": single(
        events.RandomizedResponse(epsilon=1, categories=100), truths.response(1.0, 100)
    ),
    "exponential": single(events.Exponential(epsilon=1), truths.BoundedRange(1.0)),
    "sampled_discrete_gaussian": single(
        events.DiscreteGaussian(1, 1).subsample(rate=0.1),
        truths.sampled(truths.discrete_gaussian(1.0), 0.1),
        *("pure", "rho", "mu"),
    ),
    **COMPOSITIONS,
}


def figures() -> list[Figure]:
    """Ratios to the truth and to the best peer, and how many are below the truth."""
    found: list[Figure] = []
    try:
        with Peer("prices", "peer_prices_accounting.py") as peer:
            for name, case in CASES.items():
                for notion in prices(case.event, case.delta):
                    found += _figures(peer, name, case, notion)
    except Missing as reason:
        remark = f"MISSING prices: {reason}"
        found.append(Figure(name="accounting_prices", values=(), unit="x", remark=remark))
    return found


def _figures(peer: Peer, name: str, case: Case, notion: str) -> list[Figure]:
    ours = case.ours(notion)
    truth = case.truth[notion]() if notion in case.truth else None
    asked = {each: _asked(peer, each, name, notion) for each in PEERS}
    theirs = {each: price for each, price in asked.items() if price is not None}
    if ours is None and truth is None and not theirs:
        return []
    low = {each for each, price in theirs.items() if truth and price < truth * (1 - CLOSE)}
    remark = "; ".join(
        [
            f"truth {truth:.6g}" if truth else "truth not computed",
            f"ours {ours:.6g}" if ours is not None else "ours has no price",
            *(
                f"{each} {price:.6g}{' BELOW THE TRUTH' if each in low else ''}"
                for each, price in theirs.items()
            ),
        ]
    )
    sound = [price for each, price in theirs.items() if each not in low]
    known = [] if ours is None else [ours]
    found = []
    if truth:
        found.append(
            Figure(
                name=f"accounting_prices/{name}/{notion}/to_truth",
                values=[each / truth for each in known],
                unit="x",
                at_least=1 - CLOSE,
                at_most=1.01 if case.single else math.inf,
                remark=remark,
            )
        )
    if sound:
        found.append(
            Figure(
                name=f"accounting_prices/{name}/{notion}/to_best_peer",
                values=[each / min(sound) for each in known],
                unit="x",
                at_most=1.001,
                remark=remark,
            )
        )
    return found


def _asked(peer: Peer, who: str, case: str, notion: str) -> float | None:
    """A peer's price; None where it has none or it is endless."""
    try:
        price = peer.seconds(peer=who, case=case, notion=notion)
    except Missing as reason:
        if "KeyError" not in str(reason):
            raise
        return None
    return price if math.isfinite(price) else None
