"""Chosen rows of the Hadamard code: one bit about one public mask, and coefficients from them.

A person draws one of the masks and sends the parity of the value's bits in it, by randomised
response. The mean sign of a mask, set right, is a coefficient of the distribution; marginals and
wavelets are sums of a few of them.

Source: 004a:C15, C19. Proof: ``proofs/local.md``.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.errors import InvalidParameter
from discreet.core.parameters import exact
from discreet.local.chances import WHOLE, largest_chance
from discreet.local.direct import answered
from discreet.local.frequencies import Frequencies
from discreet.local.oracle import Columns, FrequencyOracle, Numbers, whole, width_of
from discreet.local.reports import ReportBatch, ReportField
from discreet.local.tally import Tally
from discreet.noise import uniform_integers

_MOST_MASKS = 1 << 16


@dataclass(frozen=True, kw_only=True)
class MaskedHadamard(FrequencyOracle):
    """One bit about one of ``masks``, drawn by the person; ``domain`` is a power of two."""

    masks: tuple[int, ...]

    def __post_init__(self) -> None:
        """Refuse masks that are none of the domain's, zero, or listed twice."""
        super().__post_init__()
        inside = all(0 < mask < self.size for mask in self.masks)
        once = len(set(self.masks)) == len(self.masks)
        fits = inside and once and 0 < len(self.masks) <= _MOST_MASKS
        if not fits or self.size & (self.size - 1):
            raise InvalidParameter(
                code="local_masks",
                expectation="different masks above zero, of a domain that is a power of two",
                received=len(self.masks),
                remedy="List each mask once; zero says nothing.",
            )

    @cached_property
    def keep(self) -> int:
        """Chance of the true parity over 2**64."""
        return largest_chance(exact(self.epsilon))

    @property
    def support_chances(self) -> tuple[Fraction, Fraction]:
        """Chances of the true and of the wrong parity."""
        keep = Fraction(self.keep, WHOLE)
        return keep, 1 - keep

    @property
    def contrast(self) -> float:
        """By how much the truth is likelier: what signs are divided by."""
        p, q = self.support_chances
        return float(p - q)

    def describe_randomiser(self) -> dict[str, Any]:
        shape = {"size": self.size, "bits": self.size.bit_length() - 1, "rows": 1}
        return {"kind": "hadamard", **shape, "masks": list(self.masks), "keep": str(self.keep)}

    @property
    def fields(self) -> tuple[ReportField, ...]:
        return ReportField("row0", width_of(self.size)), ReportField("word", "u1")

    def read_report_columns(self, payload: object) -> tuple[Any, ...] | None:
        match payload:
            case [row, word] if whole(row, self.size) and whole(word, 2) and row in self._places:
                return row, word
        return None

    @cached_property
    def _places(self) -> dict[int, int]:
        return {mask: place for place, mask in enumerate(self.masks)}

    def valid(self, batch: ReportBatch) -> NDArray[np.bool_]:
        known = np.isin(batch.columns["row0"], np.array(self.masks))
        return np.asarray(known & (batch.columns["word"] < 2))

    def _draw_reports(self, numbers: Numbers) -> Columns:
        chosen = uniform_integers(len(self.masks), len(numbers), self.randomness)
        rows = np.array(self.masks, dtype=np.int64)[chosen]
        parity = (np.bitwise_count(rows & numbers) & 1).astype(np.int64)
        told = answered(parity, 2, self.keep, self.randomness)
        return {"row0": rows.astype(width_of(self.size)), "word": told.astype("u1")}

    def _table(self, batch: ReportBatch) -> Numbers:
        """For each mask how many even and how many odd parities were told."""
        order = np.argsort(self.masks)
        listed = np.array(self.masks, dtype=np.int64)[order]
        found = order[np.searchsorted(listed, batch.columns["row0"].astype(np.int64))]
        at = 2 * found + batch.columns["word"].astype(np.int64)
        return np.bincount(at, minlength=2 * len(self.masks)).reshape(-1, 2).astype(np.int64)

    def coefficients(self, tally: Tally) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """For each mask the mean of (-1)**parity among all people, and its variance."""
        self._check(tally)
        people = np.maximum(tally.table.sum(axis=1), 1)
        means = (tally.table[:, 0] - tally.table[:, 1]) / people
        found = means / self.contrast
        return found, np.maximum(1 / self.contrast**2 - np.clip(found, -1, 1) ** 2, 0) / people

    def estimate(self, tally: Tally, *, values: Any = None) -> Frequencies:
        """Refused: masks give coefficients, not shares."""
        raise InvalidParameter(
            code="local_coefficients_only",
            expectation="a question about coefficients",
            remedy="Call coefficients(tally), or use HadamardMarginals or HaarRanges.",
        )
