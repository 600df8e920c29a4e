"""What every event can be asked beyond epsilon and delta: bounds, curves and guarantees."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.accounting.pld import PRIVACY_LOSS, DominatingPair, Losses
from discreet.accounting.pld.lattice_pair import LatticePair, directions
from discreet.accounting.pld.leaked_pair import LeakedPair
from discreet.accounting.pld.pair import BoundedRangePair
from discreet.accounting.pld.sampled_pair import Removed, Replaced, Reversed
from discreet.accounting.rdp import rdp
from discreet.accounting.shuffled_losses import ShuffledPair
from discreet.accounting.zcdp import ZERO_CONCENTRATED
from discreet.core import pricing
from discreet.core.accountant import finite_price
from discreet.core.errors import Unpriced
from discreet.core.events.event import Event
from discreet.core.guarantee import ZCDP
from discreet.core.parameters import delta_parameter, rounded_up


@pricing.reports("epsilon_bounds")
def epsilon_bounds(event: Event, delta: Any) -> tuple[float, float]:
    """Lower from the privacy loss distribution where its pairs are attained; upper from all.

    Envelopes over many pairs (bounded range, samples of fixed size) bound from above only: no
    single mechanism need attain them, so the lower value is then zero.
    """
    slack = float(delta_parameter("delta", delta))
    upper = event.epsilon(delta=delta)
    try:
        lower = pricing.within_floats(lambda: _lower(event, slack), 0.0)
    except Unpriced:
        lower = 0.0
    return min(lower, upper), upper


def _lower(event: Event, delta: float) -> float:
    losses = PRIVACY_LOSS.price(event)
    attained = all(_attained(pair) for pair, _ in losses.parts)
    return PRIVACY_LOSS.epsilon_bounds(event, delta)[0] if attained else 0.0


def _attained(pair: DominatingPair) -> bool:
    if isinstance(pair, (Removed, Reversed)):
        return _attained(pair.base)
    if isinstance(pair, LatticePair):  # several directions are an envelope, too
        return len(directions(pair.square)) == 1
    return not isinstance(pair, (BoundedRangePair, LeakedPair, Replaced, ShuffledPair))


@pricing.reports("rdp")
def renyi(event: Event, orders: Sequence[float]) -> NDArray[np.float64]:
    """Upper bounds of the Rényi divergence at each order."""
    return rdp(event, orders)


@pricing.reports("zcdp")
def zcdp(event: Event) -> ZCDP:
    """Rho, rounded up."""
    return ZCDP(rho=finite_price(rounded_up(ZERO_CONCENTRATED.price(event)), event))


@pricing.reports("pld")
def pld(event: Event) -> Losses:
    """The dominating pairs of the event."""
    return PRIVACY_LOSS.price(event)
