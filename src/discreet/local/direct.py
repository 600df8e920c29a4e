"""Direct encoding: the value itself, or another one drawn at random."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.events.mechanisms import RandomizedResponse
from discreet.core.parameters import exact
from discreet.local.chances import WHOLE, largest_chance
from discreet.local.oracle import Columns, Numbers, SupportOracle, whole, width_of
from discreet.local.reports import ReportBatch, ReportField
from discreet.mechanisms.additive import mark_unprotected_event
from discreet.noise import Source, bernoulli, uniform_integers

if TYPE_CHECKING:
    from discreet.core.events.event import Event
    from discreet.local.tally import Tally


def answered(cells: Numbers, size: int, keep: int, source: Source) -> Numbers:
    """Each cell with chance ``keep`` over 2**64, else one of the ``size - 1`` others at random."""
    kept = bernoulli(Fraction(keep, WHOLE), len(cells), source)
    lies = np.flatnonzero(~kept)
    others = uniform_integers(size - 1, len(lies), source)
    told = cells.copy()
    told[lies] = others + (others >= cells[lies])
    return told


@dataclass(frozen=True, kw_only=True)
class DirectEncoding(SupportOracle):
    """k-ary randomised response: the best oracle where there are few values (d < 3 e^epsilon + 2).

    >>> round(DirectEncoding(epsilon=1, domain=100).variance, 3)
    34.113

    Source: 004a:C5. Proof: ``proofs/local.md``.
    """

    @cached_property
    def keep(self) -> int:
        """Chance of the truth over 2**64."""
        return largest_chance(exact(self.epsilon), Fraction(1, self.size - 1))

    @property
    def event(self) -> Event:
        """Randomized response, which the prices of shuffling know best."""
        event = RandomizedResponse(epsilon=self.epsilon, categories=self.size)
        return mark_unprotected_event(event, self.randomness)

    @property
    def support_chances(self) -> tuple[Fraction, Fraction]:
        keep = Fraction(self.keep, WHOLE)
        return keep, (1 - keep) / (self.size - 1)

    def describe_randomiser(self) -> dict[str, Any]:
        return {"kind": "direct", "size": self.size, "keep": str(self.keep)}

    @property
    def fields(self) -> tuple[ReportField, ...]:
        return (ReportField("value", width_of(self.size)),)

    def read_report_columns(self, payload: object) -> tuple[Any, ...] | None:
        return (payload,) if whole(payload, self.size) else None

    def valid(self, batch: ReportBatch) -> NDArray[np.bool_]:
        return np.asarray(batch.columns["value"] < self.size)

    def _draw_reports(self, numbers: Numbers) -> Columns:
        told = answered(numbers, self.size, self.keep, self.randomness)
        return {"value": told.astype(width_of(self.size))}

    def _table(self, batch: ReportBatch) -> Numbers:
        return np.bincount(batch.columns["value"], minlength=self.size).astype(np.int64)

    def _supports(self, tally: Tally, wanted: Numbers) -> NDArray[np.float64]:
        return tally.table[wanted].astype(np.float64)
