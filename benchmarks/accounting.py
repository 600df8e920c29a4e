"""Accounting: privacy loss distributions against dp-accounting's and prv-accountant's."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from peers import Missing, Peer
from timing import Figure, Timer, alternate, clock, clock_on, ratios, scaled

from discreet import events
from discreet.accounting.pld import PRIVACY_LOSS
from discreet.accounting.pld.accountant import _delta, _epsilon
from discreet.core.events.event import Event

ROUNDS = 9
DEFAULT = 1e-4
INTERVALS = (0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001, 5e-4, 2e-4, 1e-4)
TIGHTNESS = 5e-4
LEAST_SPEEDUP = 5
MOST_WARM = 20.0
MANY = 50
MOST_PARTS_PRV = 200

Part = list[Any]
"""Kind, parameters and times, as the peer reads them."""

KINDS: dict[str, Callable[..., Event]] = {
    "gaussian": events.Gaussian,
    "laplace": lambda epsilon: events.Laplace(epsilon=epsilon),
    "pure": lambda epsilon: events.Pure(epsilon=epsilon),
    "sampled_gaussian": lambda z, rate: events.Gaussian(z).subsample(rate=rate),
}


@dataclass(frozen=True)
class Case:
    """Events to price at a delta."""

    parts: list[Part]
    delta: float

    def event(self) -> Event:
        """As ours."""
        return events.compose(
            tuple(KINDS[kind](*values) * times for kind, *values, times in self.parts)
        )


def mixed(size: int) -> list[Part]:
    """Different Gaussian, Laplace, pure and sampled Gaussian events."""
    draw = random.Random(7)
    makers: list[Callable[[], Part]] = [
        lambda: ["gaussian", draw.uniform(20, 60), 1],
        lambda: ["laplace", draw.uniform(0.005, 0.05), 1],
        lambda: ["pure", draw.uniform(0.005, 0.05), 1],
        lambda: ["sampled_gaussian", draw.uniform(0.8, 4), draw.choice((0.001, 0.005, 0.01)), 1],
    ]
    return [draw.choice(makers)() for _ in range(size)]


CASES = {
    "dp_sgd": Case([["sampled_gaussian", 1.0, 0.01, 10_000]], 1e-5),
    "laplace_1000": Case([["laplace", 0.1, 1000]], 1e-6),
    "laplace_100_distinct": Case([["laplace", 1 / (10 + 0.01 * i), 1] for i in range(100)], 1e-6),
    "mixed_500": Case(mixed(500), 1e-6),
}


def figures() -> list[Figure]:
    """All figures of this suite."""
    found = [figure for name in CASES for figure in own_figures(name)]
    try:
        with Peer("accountants", "peer_accountants_accounting.py") as peer:
            for name in CASES:
                found += against_peers(peer, name)
    except Missing as reason:
        measured = {figure.name for figure in found}
        remark = f"MISSING accountants: {reason}"
        found += [
            Figure(name=each, values=(), unit="x", at_least=LEAST_SPEEDUP, remark=remark)
            for name in CASES
            if (each := f"accounting/{name}/speedup") not in measured
        ]
    return found


def forget() -> None:
    """Empty the caches, so that the next price is work."""
    _epsilon.cache_clear()
    _delta.cache_clear()


def cold(case: Case) -> Timer:
    """Build the event and price it, nothing remembered."""
    return clock_on(forget, lambda _: PRIVACY_LOSS.epsilon(case.event(), case.delta))


def own_figures(name: str) -> list[Figure]:
    """Cold and warm times, and how far apart the certified bounds are."""
    case = CASES[name]
    event = case.event()
    timers = {
        "warm": clock(lambda: PRIVACY_LOSS.epsilon(event, case.delta)),
        "all": clock(lambda: event.epsilon(delta=case.delta)),
    }
    again = alternate(f"{name}, warm", timers, rounds=ROUNDS)
    lower, upper = PRIVACY_LOSS.epsilon_bounds(event, case.delta)
    return [
        Figure(
            name=f"accounting/{name}/warm",
            values=scaled(again["warm"], 1e3),
            unit="ms",
            at_most=MOST_WARM,
        ),
        Figure(
            name=f"accounting/{name}/warm_all",
            values=scaled(again["all"], 1e3),
            unit="ms",
            remark="the least over all accountants",
        ),
        Figure(
            name=f"accounting/{name}/bounds",
            values=[100 * (upper - lower) / upper],
            unit="%",
            remark=f"epsilon {upper:.6g} at delta {case.delta:g}",
        ),
    ]


def against_peers(peer: Peer, name: str) -> list[Figure]:
    """One case: dp-accounting at its default and at the coarsest tight interval; prv-accountant."""
    case = CASES[name]
    upper = PRIVACY_LOSS.epsilon(case.event(), case.delta)
    ask = partial(peer.seconds, parts=case.parts, delta=case.delta)
    coarsest, tight = _coarsest(ask, upper * (1 + TIGHTNESS))
    which = "the coarsest within 0.05 %" if tight else "where it is not yet within 0.05 %"
    timers: dict[str, Timer] = {
        "discreet": cold(case),
        "default": partial(ask, interval=DEFAULT),
        "coarsest": partial(ask, interval=coarsest),
    }
    microsoft = partial(ask, error=max(TIGHTNESS * upper, 1e-3))
    reason = ""
    if len(case.parts) > MOST_PARTS_PRV:
        reason = "MISSING prv-accountant: its process ends without a message"
    else:
        timers["prv"] = microsoft
    seconds = alternate(name, timers, rounds=ROUNDS if len(case.parts) < MANY else 3, warm=1)
    ours = seconds["discreet"]
    google = f"dp-accounting {peer.versions['dp-accounting']}"
    return [
        Figure(name=f"accounting/{name}/cold", values=scaled(ours, 1e3), unit="ms"),
        Figure(
            name=f"accounting/{name}/speedup",
            values=ratios(seconds["default"], ours),
            unit="x",
            at_least=LEAST_SPEEDUP,
            remark=f"{google} at its default interval, 1e-4",
        ),
        Figure(
            name=f"accounting/{name}/speedup_equal_tightness",
            values=ratios(seconds["coarsest"], ours),
            unit="x",
            at_least=1,
            remark=f"{google} at {coarsest:g}, {which}",
        ),
        Figure(
            name=f"accounting/{name}/speedup_prv",
            values=ratios(seconds["prv"], ours) if "prv" in seconds else (),
            unit="x",
            remark=reason or f"prv-accountant {peer.versions['prv-accountant']}, same error",
        ),
    ]


def _coarsest(ask: Callable[..., float], most: float) -> tuple[float, bool]:
    """The coarsest interval at which dp-accounting's epsilon is tight, or the finest tried."""
    for interval in INTERVALS:
        try:
            ask(interval=interval, most=most)
        except Missing as failure:
            if "tight" not in str(failure):
                raise
        else:
            return interval, True
    return INTERVALS[-1], False
