"""Subsample and aggregate: any statistic of small blocks, averaged privately over the blocks."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from discreet.core.events.event import Event
from discreet.core.events.mechanisms import Laplace as LaplaceEvent
from discreet.core.parameters import Number, count, exact, probability
from discreet.mechanisms.additive import mark_unprotected_event
from discreet.mechanisms.grid import floor_log2, ordinary
from discreet.mechanisms.robust.aggregators import Aggregator
from discreet.mechanisms.robust.blocks import Function, apply, split
from discreet.mechanisms.robust.lattice import Lattice, read_bounds
from discreet.noise import SYSTEM, Source, rounded_laplace
from discreet.noise.laplace import checked_scale
from discreet.noise.randomness import require_source

_FINENESS = 30


@dataclass(frozen=True, kw_only=True)
class SubsampleAggregate:
    """A private estimate of any real statistic that small random samples already show well.

    Rows go to ``blocks`` random blocks, ``function`` is computed on each, the results are clamped
    to ``bounds``, averaged by ``aggregator`` and released with Laplace noise.

    Assumptions: a row is a person; neighbours differ by one row added, removed or replaced, the
    others keeping their order. ``function`` looks at nothing but its block and keeps no memory.
    ``blocks``, ``bounds`` and ``aggregator`` are chosen without the data.

    Contract: ``function`` takes a list (or array) of rows, possibly empty. Raising, NaN and
    results that are no numbers count as the lower bound.

    Guarantee: pure epsilon-differential privacy, for every function; the event is that of Laplace
    noise. Nothing general holds about accuracy: only where blocks agree is the answer good.

    >>> from discreet.mechanisms.robust.aggregators import Trimmed
    >>> m = SubsampleAggregate(
    ...     function=max, blocks=20, bounds=(0, 10), aggregator=Trimmed(0.1), epsilon=1)
    >>> m.event
    Laplace(epsilon=1)
    >>> float(m.sensitivity)
    0.625

    Source: 000b:B1, B2, 004d:F6 (Dwork and Roth, section 7.1). Proof:
    ``proofs/robust-subsample.md``.
    """

    function: Function
    blocks: int
    bounds: tuple[Number, Number]
    aggregator: Aggregator
    epsilon: Number
    randomness: Source = SYSTEM

    def __post_init__(self) -> None:
        """Refuse parameters out of range; the data has no say in this."""
        require_source(self.randomness)
        object.__setattr__(self, "blocks", count("blocks", self.blocks))
        object.__setattr__(self, "epsilon", ordinary("epsilon", self.epsilon))
        object.__setattr__(self, "bounds", read_bounds(self.bounds))
        checked_scale(self._scale(self._lattice()))

    @property
    def event(self) -> Event:
        """That of the Laplace noise on the average."""
        return mark_unprotected_event(LaplaceEvent(epsilon=self.epsilon), self.randomness)

    @property
    def sensitivity(self) -> Fraction:
        """How far one row moves the average: one block's result within the bounds."""
        lower, upper = self.bounds
        return self.aggregator.sensitivity(self.blocks, exact(upper) - exact(lower))

    def release(self, rows: Any) -> float:
        """The noisy average of the blocks' results, within the bounds."""
        lattice = self._lattice()
        parts = split(rows, self.blocks, self.randomness)
        results = lattice.steps(apply(self.function, parts))
        total = self.aggregator.total(sorted(results.tolist()))
        noise = rounded_laplace(self._scale(lattice), 1, self.randomness)
        noisy = Fraction(total + int(noise[0]), self.aggregator.divisor(self.blocks))
        return lattice.value(noisy)

    def error(self, *, confidence: float) -> float:
        """How far the release may be from the average of this partition's results.

        Guarantee: within this with probability at least ``confidence``. For a function that is
        constant on all blocks this is the whole error.
        """
        tail = 1 - float(probability("confidence", confidence))
        lattice = self._lattice()
        # Rounding a result, a total's noise and the width to the lattice: three steps at most.
        steps = 3 * lattice.length(1)
        return float(self.sensitivity / exact(self.epsilon)) * -math.log(tail) + steps

    def _scale(self, lattice: Lattice) -> Fraction:
        """Noise of the total, in steps."""
        return self.aggregator.widths(self.blocks) * lattice.width / exact(self.epsilon)

    def _lattice(self) -> Lattice:
        """A grid of at most 2**-30 of the width and of the noise."""
        per_noise = exact(self.epsilon) / self.aggregator.sensitivity(self.blocks, 1)
        return Lattice.between(self.bounds, bits=_FINENESS + max(0, floor_log2(per_noise) + 1))
