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
from numpy.typing import NDArray

from discreet.curator.columns import Columns
from discreet.relational.aggregates.aggregate import Average, Count, Sum
from discreet.relational.aggregates.measures import Linear
from discreet.release import ReleasedColumn
from discreet.release.column import Ends
from discreet.release.formula import NoisyMeasure
from discreet.release.intervals import Law, half_width

Floats = NDArray[np.float64]

_MOST_TERMS = 64
_MERGED = 16
_LEAST_CONFIDENCE = 0.9


@dataclass(frozen=True)
class Agreed:
    """The estimates of one measure, cell by cell as it was asked, and the noise in each of them.

    ``terms`` are (how many noises, weight, law), the same for every cell.
    """

    values: Floats
    terms: tuple[tuple[int, float, Law], ...]

    def half_width(self, confidence: float) -> float:
        """A half-width that holds with at least ``confidence``."""
        return _half_width(self.terms, confidence)


@lru_cache(maxsize=4096)
def _half_width(terms: tuple[tuple[int, float, Law], ...], confidence: float) -> float:
    """Of the sum of all terms.

    Many equal small terms are merged into few of the same variance. Fewer Laplace terms of one
    variance have longer tails, so this errs on the wide side from 90 % on; below that the width
    for 90 % is given.
    """
    groups = [term for term in terms if term[1] != 0]
    single = sum(count for count, _, _ in groups) <= _MOST_TERMS
    listed: list[tuple[float, Law]] = []
    for count, weight, law in groups:
        few = count if single else min(count, _MERGED)
        listed += [(weight * math.sqrt(count / few), law)] * few
    return half_width(listed, confidence=max(confidence, _LEAST_CONFIDENCE))


@dataclass(frozen=True)
class AgreedColumns(Columns):
    """The columns of one question of a batch; ``agreed`` has the estimates by part."""

    agreed: Mapping[int, Agreed]

    def _aggregate(self, name: str, number: int, cells: Sequence[int]) -> ReleasedColumn:
        aggregate = self.inquiry.question.aggregates[number]
        match aggregate:
            case Count(measure) if self._of(measure) is not None:
                return self._estimated(name, measure, cells, low=0)
            case Sum(total) if self._of(total) is not None:
                return self._estimated(name, total, cells, low=-math.inf)
            case Average(present, total) if self._of(present) or self._of(total):
                return self._mean(name, aggregate, cells)
        return super()._aggregate(name, number, cells)

    def _linear_measures(self) -> dict[str, NoisyMeasure]:
        """Only what was left as it was: estimates share their noise across cells."""
        known = super()._linear_measures()
        aggregates = self.inquiry.question.aggregates
        return {
            name: measure
            for name, measure in known.items()
            if self._of(aggregates[int(name.removeprefix("agg"))].measures[0]) is None
        }

    def _of(self, measure: object) -> Agreed | None:
        for place, part in enumerate(self.inquiry.parts):
            if part.measure == measure:
                return self.agreed.get(place)
        return None

    def _estimated(
        self, name: str, measure: Linear, cells: Sequence[int], *, low: float
    ) -> ReleasedColumn:
        values, width = self._parts(measure, cells, self.confidence)
        ends = Ends(
            tuple(np.maximum(values - width, low).tolist()),
            tuple(np.maximum(values + width, low).tolist()),
        )
        return ReleasedColumn.given(
            name, values.tolist(), interval=ends, note=_note(self.confidence)
        )

    def _mean(self, name: str, average: Average, cells: Sequence[int]) -> ReleasedColumn:
        """Each of sum and number held to its interval at half the risk: never too narrow."""
        level = (1 + self.confidence) / 2
        total, spread = self._parts(average.total, cells, level)
        present, slack = self._parts(average.present, cells, level)
        low, high = float(average.total.low), float(average.total.high)
        centre = float(average.total.centre)
        with np.errstate(divide="ignore", invalid="ignore"):
            value = np.clip(centre + total / present, low, high)
            corners = [
                (total + s * spread) / (present + n * slack) for s in (-1, 1) for n in (-1, 1)
            ]
        known = present - slack > 0
        lower = np.where(known, np.clip(centre + np.min(corners, axis=0), low, high), low)
        upper = np.where(known, np.clip(centre + np.max(corners, axis=0), low, high), high)
        shown = [
            v if n > 0 else None for v, n in zip(value.tolist(), present.tolist(), strict=True)
        ]
        ends = Ends(tuple(lower.tolist()), tuple(upper.tolist()))
        return ReleasedColumn.given(name, shown, interval=ends, note=_note(self.confidence))

    def _parts(
        self, measure: Linear, cells: Sequence[int], confidence: float
    ) -> tuple[Floats, float]:
        """Values and half-width of a measure, estimated or as it was released."""
        agreed = self._of(measure)
        if agreed is not None:
            return agreed.values[list(cells)], agreed.half_width(confidence)
        raw = self._measure(measure, cells)
        return np.asarray(raw.values, dtype=np.float64), raw.law.half_width(confidence)


def _note(confidence: float) -> str:
    return (
        "least-squares estimate from all related questions of the batch, without bias from that; "
        f"{confidence:.0%} intervals cover noise only, not sampling or clamping"
    )
