"""Unary encoding: one bit for each value, every bit randomised by itself."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.parameters import exact
from discreet.local.bits import canonical, column_sums, from_hex, unused_bits
from discreet.local.chances import WHOLE, largest_chance
from discreet.local.oracle import Columns, Numbers, SupportOracle
from discreet.local.reports import ReportBatch, ReportField
from discreet.noise import bernoulli, packed_coins

if TYPE_CHECKING:
    from discreet.local.tally import Tally

_BYTES_AT_ONCE = 1 << 22


@dataclass(frozen=True, kw_only=True)
class UnaryEncoding(SupportOracle):
    """A bit for each value: set with chance ``one`` for the own value, ``zero`` for others.

    Two people's bits differ in two places, so that a report is at most
    ``one (1 - zero) / (zero (1 - one))`` times as likely under one as under the other.

    Source: 004a:C6. Proof: ``proofs/local.md``.
    """

    @property
    @abstractmethod
    def one(self) -> int:
        """Chance over 2**64 that the bit of the own value is set."""

    @property
    @abstractmethod
    def zero(self) -> int:
        """Chance over 2**64 that the bit of another value is set."""

    @property
    def support_chances(self) -> tuple[Fraction, Fraction]:
        return Fraction(self.one, WHOLE), Fraction(self.zero, WHOLE)

    def describe_randomiser(self) -> dict[str, Any]:
        chances = {"one": str(self.one), "zero": str(self.zero)}
        return {"kind": "unary", "size": self.size, **chances}

    @property
    def fields(self) -> tuple[ReportField, ...]:
        return (ReportField("bits", "u1", -(-self.size // 8)),)

    def read_report_columns(self, payload: object) -> tuple[Any, ...] | None:
        bits = from_hex(payload, self.size)
        return None if bits is None else (bits,)

    def valid(self, batch: ReportBatch) -> NDArray[np.bool_]:
        return canonical(batch.columns["bits"], self.size)

    def _draw_reports(self, numbers: Numbers) -> Columns:
        width = -(-self.size // 8)
        out = np.empty((len(numbers), width), dtype=np.uint8)
        rows = max(1, _BYTES_AT_ONCE // width)
        for start in range(0, len(numbers), rows):
            part = numbers[start : start + rows]
            out[start : start + rows] = self._noisy(part, width)
        return {"bits": out}

    def _noisy(self, numbers: Numbers, width: int) -> NDArray[np.uint8]:
        people = len(numbers)
        bits = packed_coins(self.zero, people * width, self.randomness).reshape(people, width)
        bits[:, -1] &= np.uint8(0xFF ^ unused_bits(self.size))
        own = bernoulli(Fraction(self.one, WHOLE), people, self.randomness)
        rows, places = np.arange(people), numbers >> 3
        masks = np.left_shift(np.uint8(1), (numbers & 7).astype(np.uint8))
        bits[rows, places] = np.where(own, bits[rows, places] | masks, bits[rows, places] & ~masks)
        return bits

    def _table(self, batch: ReportBatch) -> Numbers:
        return column_sums(batch.columns["bits"], self.size)

    def both_supported(self, either: NDArray[np.float64]) -> NDArray[np.float64]:
        return self._independent_pairs(either)

    def _supports(self, tally: Tally, wanted: Numbers) -> NDArray[np.float64]:
        return tally.table[wanted].astype(np.float64)


@dataclass(frozen=True, kw_only=True)
class OptimizedUnary(UnaryEncoding):
    """OUE: the own bit is a fair coin, other bits are set with chance 1 / (1 + e^epsilon).

    >>> round(OptimizedUnary(epsilon=1, domain=100).variance, 5)
    3.68269

    Source: 004a:C6. Proof: ``proofs/local.md``.
    """

    @property
    def one(self) -> int:
        return WHOLE // 2

    @cached_property
    def zero(self) -> int:
        return WHOLE - largest_chance(exact(self.epsilon))


@dataclass(frozen=True, kw_only=True)
class SymmetricUnary(UnaryEncoding):
    """SUE: every bit is kept with odds e^(epsilon / 2).

    Source: 004a:C6. Proof: ``proofs/local.md``.
    """

    @cached_property
    def one(self) -> int:
        return largest_chance(exact(self.epsilon) / 2)

    @property
    def zero(self) -> int:
        return WHOLE - self.one
