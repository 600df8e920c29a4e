"""Columns whose cells agree with those of related questions, beside the unprocessed ones.

Counts and sums are replaced by least-squares estimates from all related questions of a batch;
means are computed from those. The estimates are linear in the noisy values, so they have no bias
beyond that of the measures themselves; no count is forced to be positive.

Source: 004d:D21. Proof: ``proofs/marginals.md``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from discreet.core.arrays import Floats
from discreet.relational.aggregates.measures import Linear, Ranks
from discreet.relational.answers.columns import Columns, NoisyCells
from discreet.release import ReleasedColumn
from discreet.release.estimate import Estimate
from discreet.release.formula import NoisyMeasure
from discreet.release.intervals import Distribution, half_width

_MOST_TERMS = 64
_MERGED = 16
_LEAST_CONFIDENCE = 0.9


@dataclass(frozen=True)
class Agreed:
    """The estimates of one measure, cell by cell as it was asked, and the noise in each of them.

    ``terms`` are (how many noises, weight, law), the same for every cell.
    """

    values: Floats
    terms: tuple[tuple[int, float, Distribution], ...]

    def half_width(self, confidence: float) -> float:
        """A half-width that holds with at least ``confidence``."""
        return _half_width(self.terms, confidence)


@lru_cache(maxsize=4096)
def _half_width(terms: tuple[tuple[int, float, Distribution], ...], confidence: float) -> float:
    """Of the sum of all terms.

    Many equal small terms are merged into few of the same variance. Fewer Laplace terms of one
    variance have longer tails, so this errs on the wide side from 90 % on; below that the width
    for 90 % is given.
    """
    groups = [term for term in terms if term[1] != 0]
    single = sum(count for count, _, _ in groups) <= _MOST_TERMS
    listed: list[tuple[float, Distribution]] = []
    for count, weight, distribution in groups:
        few = count if single else min(count, _MERGED)
        listed += [(weight * math.sqrt(count / few), distribution)] * few
    return half_width(listed, confidence=max(confidence, _LEAST_CONFIDENCE))


@dataclass(frozen=True)
class AgreedValues:
    """The values of one query of a batch in some cells; ``agreed`` has the estimates by part."""

    shown: NoisyCells
    agreed: Mapping[int, Agreed]

    def has(self, measure: Linear) -> bool:
        """Whether there is an estimate of this measure."""
        return self._of(measure) is not None

    def values(self, measure: Linear, confidence: float) -> tuple[Floats, float]:
        """Values and half-width of a measure, estimated or as it was released."""
        agreed = self._of(measure)
        if agreed is not None:
            return agreed.values[list(self.shown.cells)], agreed.half_width(confidence)
        raw = self.shown.measure(measure)
        return np.asarray(raw.values, dtype=np.float64), raw.distribution.half_width(confidence)

    def _of(self, measure: Linear) -> Agreed | None:
        for place, part in enumerate(self.shown.planned.parts):
            if part.measure == measure:
                return self.agreed.get(place)
        return None


@dataclass(frozen=True)
class AgreedColumns(Columns):
    """The columns of one question of a batch; ``agreed`` has the estimates by part."""

    agreed: Mapping[int, Agreed]

    def _aggregate(self, name: str, number: int, cells: Sequence[int]) -> ReleasedColumn:
        found = self._look_up_aggregate(number).estimated(
            name, self._estimates(cells), self.confidence
        )
        return super()._aggregate(name, number, cells) if found is None else found

    def _noise(self, number: int, cell: int) -> Estimate | None:
        """Not known where a part was estimated: estimates share their noise across cells."""
        linear = (m for m in self._look_up_aggregate(number).measures if not isinstance(m, Ranks))
        if any(map(self._estimates(self.cells).has, linear)):
            return None
        return super()._noise(number, cell)

    def _linear_measures(self) -> dict[str, NoisyMeasure]:
        """Only what was left as it was: estimates share their noise across cells."""
        estimates = self._estimates(self.cells)
        return {
            f"agg{n}": estimates.shown.measure(aggregate.additive)
            for n, aggregate in enumerate(self.planned.query.aggregates)
            if aggregate.additive is not None and not estimates.has(aggregate.additive)
        }

    def _estimates(self, cells: Sequence[int]) -> AgreedValues:
        return AgreedValues(self._make_noisy_cells(cells), self.agreed)
