"""Output perturbation: the minimiser of a strongly convex objective, with noise for its movement.

Source: 004b:C18 (the minimiser moves by at most L/Δ for one row of a sum). Proof:
``proofs/optimisers.md``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from discreet.core.arrays import Floats
from discreet.core.events.event import Event
from discreet.core.events.mechanisms import Gaussian as GaussianEvent
from discreet.core.events.mechanisms import Pure
from discreet.core.guarantee import ZCDP, ApproxDP, PureDP
from discreet.core.parameters import Number, exact, positive
from discreet.learn.bounded_noise import multiplier_for
from discreet.learn.losses import Loss, admitted, require_smooth
from discreet.learn.optimisers.newton import certified_gradient, minimise, require_scales
from discreet.learn.optimisers.row_sets import RowSet
from discreet.learn.privacy import Privacy, bounded_rows
from discreet.mechanisms.additive import mark_unprotected_event
from discreet.mechanisms.for_spend import LaplaceInRho, readings
from discreet.mechanisms.grid import LIMIT, floor_log2, sqrt_above
from discreet.noise import rounded_euclidean, rounded_gaussian

_FINE = 34


@dataclass(frozen=True, kw_only=True)
class OutputPerturbation:
    """Minimises a smooth convex loss with a ridge, and hides how far one unit moves the minimiser.

    Assumptions: loss, row set, ridge, spend and unit are chosen without the data.

    Guarantee: ``minimise`` costs ``event``, which the spend covers.

    Source: 004b:C18. Proof: ``proofs/optimisers.md``.

    Numerics: the minimiser is certified to a public length of gradient; twice that over
    the ridge, and the rounding to the grid, are added to the sensitivity.
    """

    loss: Loss
    rows: RowSet
    ridge: Number
    privacy: Privacy

    def __post_init__(self) -> None:
        """Refuse losses with kinks, ridges that are not positive, spends that buy none of this."""
        require_smooth(self.loss)
        positive("ridge", self.ridge)
        require_scales(self.loss, float(self.ridge))
        _ = self.event

    @property
    def sensitivity(self) -> float:
        """How far apart computed minimisers of neighbours may be."""
        steep = self.loss.lipschitz * self.rows.longest * self.privacy.rows_that_differ
        certified = certified_gradient(self.loss, self.rows.dimension)
        return (steep + 2 * certified) / float(self.ridge) * (1 + 1e-12)

    @property
    def event(self) -> Event:
        """What one minimiser costs."""
        law, pure = self._law
        event = Pure(epsilon=law) if pure else GaussianEvent(law)
        return mark_unprotected_event(event, self.privacy.randomness)

    def minimise(self, x: Floats, y: Floats, people: Any = None) -> Floats:
        """The minimiser over rows that are moved into the row set, with noise."""
        law, pure = self._law
        size, source = self.rows.dimension, self.privacy.randomness
        zeros = np.zeros(size)
        x, y = bounded_rows(self.privacy, x, y, people, self.rows.dimension)
        inside, y = admitted(self.loss, self.rows.clamped(x), y)
        found = minimise(self.loss, inside, y, ridge=float(self.ridge), tilt=zeros)
        bits = _FINE - floor_log2(Fraction(self.sensitivity))
        moved = Fraction(self.sensitivity) * Fraction(2) ** bits + sqrt_above(Fraction(size))
        if pure:
            noise = rounded_euclidean(moved / exact(law), size, 1, source)[0]
        else:
            noise = rounded_gaussian(moved * exact(law), size, source)
        steps = np.clip(np.rint(found * 2.0**bits), -LIMIT, LIMIT).astype(np.int64)
        hidden: Floats = np.clip(steps + noise, -LIMIT, LIMIT) * 2.0**-bits
        return hidden

    @property
    def _law(self) -> tuple[Number, bool]:
        size = self.rows.dimension
        options: list[tuple[float, Number, bool]] = []
        for reading in readings(self.privacy.spend):
            match reading:
                case PureDP(epsilon=epsilon):
                    options.append((math.sqrt(size + 1) / float(epsilon), epsilon, True))
                case ApproxDP() | ZCDP():
                    multiplier = multiplier_for(reading)
                    options.append((multiplier, multiplier, False))
                case LaplaceInRho():
                    continue
        _, law, pure = min(options, key=lambda option: option[0])
        return law, pure
