"""Noise on every cell of a small universe, negative counts cut off: the baseline without a model.

Source: 004b:A12, A17 (cutting off is biased upwards: by half the noise's scale in empty cells);
004d:D21 (the counts before that are kept).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from discreet.core.arrays import Floats
from discreet.core.events.event import Event
from discreet.core.parameters import count
from discreet.mechanisms.distributions.cut_bias import cut_bias
from discreet.mechanisms.distributions.distribution import distribution_of
from discreet.noise.randomness import SYSTEM, Source
from discreet.queries.record_count import PublicCount
from discreet.queries.workload.cell_counts import Counted, cell_counts
from discreet.queries.workload.stored_form import not_plain, packed, unpacked
from discreet.queries.workload.universe import Universe
from discreet.synthetic.adaptive_spend import AdaptiveSpend
from discreet.synthetic.graphical.rows import shares
from discreet.synthetic.hierarchy.noisy_levels import (
    MOST_CELLS,
    NoisyLevel,
    levels_from_list,
    levels_to_list,
)
from discreet.synthetic.table_mechanism import TableMechanism


@dataclass(frozen=True, kw_only=True)
class FullHistogram(TableMechanism):
    """Noisy counts of all cells, cut off at zero and scaled to the noisy total.

    Contract: a universe of at most 2**24 cells; the workload says only which it is.

    Assumptions: as for :class:`~discreet.synthetic.aim.AIM`.

    Guarantee: the event, at the spend.

    Source: 004b:A12. Proof: ``proofs/synthetic.md``.
    """

    def __post_init__(self) -> None:
        """Refuse universes whose cells cannot be written down."""
        super().__post_init__()
        self.workload.universe.require_explicit(method="a full histogram")

    @property
    def _steps(self) -> int:
        return 1

    @property
    def budget_split(self) -> dict[str, Fraction]:
        """What the spend pays for."""
        return {"cells": Fraction(1)}

    def release(self, counts: Counted) -> HistogramModel:
        """Measure every cell."""
        universe = self.workload.universe
        spend = AdaptiveSpend(self.terms)
        noisy, _ = spend.measured(cell_counts(counts, universe), 1, "cells")
        measured = None
        if universe.size <= MOST_CELLS:
            drawn = noisy.astype(np.int64).reshape(1, -1)
            measured = NoisyLevel(drawn, distribution_of(spend.terms.noise(1), step=1.0))
        public = float(self.size.records) if isinstance(self.size, PublicCount) else None
        total = max(1.0, float(noisy.sum())) if public is None else public
        possible = np.ones(universe.shape, dtype=bool)
        for places, logs in self._zeros.items():
            sides = [size if i in places else 1 for i, size in enumerate(universe.shape)]
            possible &= np.isfinite(logs).reshape(sides)
        cut = np.where(possible.ravel(), np.maximum(noisy, 0), 0.0)
        mass = cut.sum()
        law = cut / mass if mass > 0 else possible.ravel() / possible.sum()
        return HistogramModel(universe, total, self.event, law, measured)


@dataclass(frozen=True, eq=False)
class HistogramModel:
    """Probabilities of all cells; a :class:`~discreet.synthetic.model.SyntheticModel`."""

    universe: Universe
    total: float
    event: Event
    law: Floats
    measured: NoisyLevel | None = None

    @property
    def biased(self) -> str:
        """In which way its counts are wrong on average, in words."""
        far = "" if self.measured is None else f" by {cut_bias(self.measured.law):.3g}"
        return (
            f"negative counts are cut off, which makes an empty cell too high{far} on average, "
            "before all are scaled to the noisy total; the counts before that are in `measured`"
        )

    def marginal(self, names: Sequence[str]) -> Floats:
        places = [self.universe.place(name) for name in names]
        table = self.law.reshape(self.universe.shape)
        others = tuple(axis for axis in range(table.ndim) if axis not in places)
        kept = sorted(places)
        order = [kept.index(place) for place in places]
        return self.total * np.transpose(table.sum(axis=others), order)

    def sample(self, n: int | None = None, *, randomness: Source = SYSTEM) -> NDArray[np.int64]:
        rows = round(self.total) if n is None else count("n", n, least=0)
        number = shares(self.law[None, :], np.array([rows]), randomness)[0]
        cells = np.repeat(np.arange(len(number)), number)
        return np.stack(np.unravel_index(cells, self.universe.shape), axis=1).astype(np.int64)

    def to_dict(self) -> Mapping[str, object]:
        plain = {"model": "histogram/1", "total": self.total, "law": packed(self.law)}
        return plain | ({"measured": levels_to_list((self.measured,))} if self.measured else {})

    @classmethod
    def from_dict(
        cls, plain: Mapping[str, object], universe: Universe, event: Event
    ) -> HistogramModel:
        """The model that ``plain`` described."""
        total, law = plain.get("total"), unpacked(plain.get("law"))
        if not isinstance(total, float) or not total >= 1 or law.shape != (universe.size,):
            raise not_plain()
        (measured,) = levels_from_list(plain.get("measured")) or (None,)
        if measured is not None and measured.counts.shape != (1, universe.size):
            raise not_plain()
        return cls(universe, total, event, law, measured)
