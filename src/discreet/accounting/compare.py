"""What each accountant says about the same event, side by side.

A comparison for people: it shows what a finer accountant buys, and why another one has no answer.
The price to use is ``event.epsilon(delta=...)``, the least of them all.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from discreet.accounting.approx import APPROX
from discreet.accounting.gdp import GAUSSIAN
from discreet.accounting.pld import PRIVACY_LOSS
from discreet.accounting.pure import PURE
from discreet.accounting.rdp import RENYI
from discreet.accounting.zcdp import ZERO_CONCENTRATED
from discreet.core.accountant import Accountant
from discreet.core.errors import DiscreetError, InvalidParameter, Unpriced
from discreet.core.events.event import Event
from discreet.core.parameters import delta_parameter


@dataclass(frozen=True)
class Quote:
    """One accountant's answer: an upper bound of epsilon, or why there is none."""

    accountant: str
    epsilon: float
    seconds: float
    refusal: DiscreetError | None = None


def accountants() -> dict[str, Accountant[Any]]:
    """The accountants of the library by their names, from the simplest to the finest."""
    return {
        "pure": PURE,
        "approximate": APPROX,
        "zero-concentrated": ZERO_CONCENTRATED,
        "Gaussian": GAUSSIAN,
        "Rényi": RENYI,
        "privacy loss": PRIVACY_LOSS,
    }


def quotes(
    event: Event, *, delta: float, among: Mapping[str, Accountant[Any]] | None = None
) -> tuple[Quote, ...]:
    """What each accountant certifies for ``event`` at ``delta``, in the order given.

    >>> from discreet import events
    >>> hundred = quotes(events.Laplace(epsilon=0.1) * 100, delta=1e-6)
    >>> min(hundred, key=lambda quote: quote.epsilon).accountant
    'privacy loss'
    """
    delta_parameter("delta", delta)
    chosen = accountants() if among is None else among
    return tuple(_quote(name, accountant, event, delta) for name, accountant in chosen.items())


def _quote(name: str, accountant: Accountant[Any], event: Event, delta: float) -> Quote:
    begin = time.perf_counter()
    refusal: DiscreetError | None = None
    try:
        epsilon = event.with_accountant(accountant).epsilon(delta=delta)
    except (Unpriced, InvalidParameter) as error:  # an accountant that needs delta > 0 says so
        epsilon, refusal = float("inf"), error
    return Quote(name, epsilon, time.perf_counter() - begin, refusal)
