"""Subset selection: a random set of values in which one's own is more likely than another."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import exp
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.parameters import exact
from discreet.local.bits import canonical, column_sums, packed
from discreet.local.chances import WHOLE, largest_chance
from discreet.local.oracle import Columns, Numbers, SupportOracle, whole
from discreet.local.reports import ReportBatch, ReportField
from discreet.noise import bernoulli, uniform_integers

if TYPE_CHECKING:
    from discreet.local.tally import Tally

_PLACES_AT_ONCE = 1 << 23


@dataclass(frozen=True, kw_only=True)
class SubsetSelection(SupportOracle):
    """About d / (e^epsilon + 1) values, the own one among them with odds e^epsilon too good.

    The least variance known at every epsilon; messages as long as unary ones.

    >>> round(SubsetSelection(epsilon=1, domain=16).variance, 6)
    3.110716

    Source: modern-learn:9. Proof: ``proofs/local.md``.
    """

    @cached_property
    def chosen(self) -> int:
        """How many values a report names."""
        wanted = round(self.size / (exp(min(float(self.epsilon), 32)) + 1))
        return min(max(1, wanted), self.size - 1)

    @cached_property
    def keep(self) -> int:
        """Chance over 2**64 that the own value is named."""
        odds = Fraction(self.chosen, self.size - self.chosen)
        return largest_chance(exact(self.epsilon), odds)

    @property
    def support_chances(self) -> tuple[Fraction, Fraction]:
        keep, others = Fraction(self.keep, WHOLE), self.size - 1
        return keep, (keep * (self.chosen - 1) + (1 - keep) * self.chosen) / others

    def describe_randomiser(self) -> dict[str, Any]:
        shape = {"size": self.size, "chosen": self.chosen}
        return {"kind": "subset", **shape, "keep": str(self.keep)}

    @property
    def fields(self) -> tuple[ReportField, ...]:
        return (ReportField("bits", "u1", -(-self.size // 8)),)

    def read_report_columns(self, payload: object) -> tuple[Any, ...] | None:
        if not isinstance(payload, list) or len(payload) != self.chosen:
            return None
        if not all(whole(each, self.size) for each in payload) or payload != sorted(set(payload)):
            return None
        places = np.zeros((1, self.size), dtype=np.bool_)
        places[0, payload] = True
        return (packed(places)[0],)

    def valid(self, batch: ReportBatch) -> NDArray[np.bool_]:
        bits = batch.columns["bits"]
        right = np.bitwise_count(bits).sum(axis=1, dtype=np.int64) == self.chosen
        return np.asarray(canonical(bits, self.size) & right)

    def _draw_reports(self, numbers: Numbers) -> Columns:
        rows = max(1, _PLACES_AT_ONCE // self.size)
        parts = [
            packed(self._draw_subsets(numbers[start : start + rows]))
            for start in range(0, max(1, len(numbers)), rows)
        ]
        return {"bits": np.concatenate(parts)}

    def _draw_subsets(self, numbers: Numbers) -> NDArray[np.bool_]:
        """Floyd's algorithm for all people at once, over the values that are not their own."""
        people, others = len(numbers), self.size - 1
        kept = bernoulli(Fraction(self.keep, WHOLE), people, self.randomness)
        named = np.zeros((people, others), dtype=np.bool_)
        everyone = np.arange(people)
        for top in range(others - self.chosen, others):
            # Who named the own value needs one other less: the first step is left out.
            active = everyone if top > others - self.chosen else everyone[~kept]
            place = uniform_integers(top + 1, len(active), self.randomness)
            taken = named[active, place]
            named[active, np.where(taken, top, place)] = True
        out = np.zeros((people, self.size), dtype=np.bool_)
        spread = np.arange(others)[None, :] + (np.arange(others)[None, :] >= numbers[:, None])
        np.put_along_axis(out, spread, named, axis=1)
        out[everyone, numbers] = kept
        return out

    def _table(self, batch: ReportBatch) -> Numbers:
        return column_sums(batch.columns["bits"], self.size)

    def _supports(self, tally: Tally, wanted: Numbers) -> NDArray[np.float64]:
        return tally.table[wanted].astype(np.float64)
