"""The Rényi price of tuning: the best of a random number of runs, from the curve of one run.

Source: modern-learn:1. Proof: ``proofs/tuning.md``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from discreet.accounting.pure import PURE
from discreet.accounting.rdp.accountant import RENYI
from discreet.accounting.rdp.curve import RenyiCurve
from discreet.accounting.tuning import tuned_curve
from discreet.core.errors import Unpriced
from discreet.core.events.tuned import StoppingLaw, Tuned
from discreet.core.parameters import rounded_up

if TYPE_CHECKING:
    from discreet.core.arrays import Floats


@dataclass(frozen=True)
class TunedCurve(RenyiCurve):
    """The curve of the best run, evaluated when asked."""

    base: RenyiCurve
    law: StoppingLaw
    pure: float

    @property
    def ceiling(self) -> float:
        """The pure price of tuning, where one run is pure."""
        return self.pure

    def bounds(self, orders: Floats) -> Floats:
        """The theorem at these orders, with the other order chosen best."""
        return tuned_curve(self.base, self.law)(orders)


@RENYI.prices(Tuned)
def _tuned(event: Tuned) -> RenyiCurve:
    try:
        pure = rounded_up(PURE.price(event))
    except Unpriced:
        pure = math.inf
    return TunedCurve(RENYI.price(event.event), event.law, pure)
