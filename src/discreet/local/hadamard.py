"""Hadamard response: random rows of a Hadamard matrix, and the randomised bits found there.

``bits=1`` is the one-bit answer; with t bits, t independent rows are drawn and the t-bit word is
told by randomised response over its 2**t values: local hashing by a linear function. A report then
has 2**t - 1 changes of sign in one table as long as the domain, and one transform gives the
supports of all values: n 2**t + d log d steps.

Source: 004a:C8; modern-learn:9. Proof: ``proofs/local.md``.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.errors import InvalidParameter
from discreet.core.parameters import count, exact
from discreet.local.chances import WHOLE, largest_chance
from discreet.local.direct import answered
from discreet.local.oracle import Columns, Numbers, SupportOracle, whole, width_of
from discreet.local.reports import ReportBatch, ReportField
from discreet.noise import uniform_integers

if TYPE_CHECKING:
    from discreet.core.parameters import Number
    from discreet.local.tally import Tally

_MOST_BITS = 8
_LARGEST_TABLE = 1 << 26


@dataclass(frozen=True, kw_only=True)
class HadamardResponse(SupportOracle):
    """``bits`` bits of the Hadamard code of a value, at rows that the person draws.

    >>> round(HadamardResponse(epsilon=1, domain=1024, bits=1).variance, 5)
    4.68269
    >>> round(HadamardResponse(epsilon=1, domain=1024, bits=2).variance, 5)
    3.69165

    Source: 004a:C8, modern-learn:9. Proof: ``proofs/local.md``.
    """

    bits: int

    def __post_init__(self) -> None:
        """Refuse words of more than eight bits, and domains too large to transform."""
        super().__post_init__()
        bits = count("bits", self.bits)
        if bits > _MOST_BITS or 1 << self.order > _LARGEST_TABLE:
            raise InvalidParameter(
                code="local_hadamard_range",
                expectation="at most 8 bits, over at most 2**26 values",
                received=(bits, self.size),
                remedy="Use best_bits(epsilon); for larger domains hash first.",
            )

    @property
    def order(self) -> int:
        """Bits of a row: the domain is padded to 2**order."""
        return max(1, (self.size - 1).bit_length())

    @cached_property
    def keep(self) -> int:
        """Chance of the true word over 2**64."""
        return largest_chance(exact(self.epsilon), Fraction(1, (1 << self.bits) - 1))

    @property
    def support_chances(self) -> tuple[Fraction, Fraction]:
        # Rows are uniform and independent: words of two values agree with chance 2**-bits, exactly.
        return Fraction(self.keep, WHOLE), Fraction(1, 1 << self.bits)

    def describe_randomiser(self) -> dict[str, Any]:
        shape = {"size": self.size, "bits": self.order, "rows": self.bits}
        return {"kind": "hadamard", **shape, "keep": str(self.keep)}

    @property
    def fields(self) -> tuple[ReportField, ...]:
        kind = width_of(1 << self.order)
        rows = (ReportField(f"row{place}", kind) for place in range(self.bits))
        return (*rows, ReportField("word", width_of(1 << self.bits)))

    def read_report_columns(self, payload: object) -> tuple[Any, ...] | None:
        if not isinstance(payload, list) or len(payload) != self.bits + 1:
            return None
        good = all(whole(row, 1 << self.order) for row in payload[:-1])
        return tuple(payload) if good and whole(payload[-1], 1 << self.bits) else None

    def valid(self, batch: ReportBatch) -> NDArray[np.bool_]:
        good = np.asarray(batch.columns["word"] < 1 << self.bits)
        for place in range(self.bits):
            good &= batch.columns[f"row{place}"] < 1 << self.order
        return good

    def _draw_reports(self, numbers: Numbers) -> Columns:
        columns: Columns = {}
        words = np.zeros(len(numbers), dtype=np.int64)
        for place in range(self.bits):
            rows = uniform_integers(1 << self.order, len(numbers), self.randomness)
            words |= _parity(rows & numbers) << place
            columns[f"row{place}"] = rows
        columns["word"] = answered(words, 1 << self.bits, self.keep, self.randomness)
        return {each.name: columns[each.name].astype(each.dtype) for each in self.fields}

    def _table(self, batch: ReportBatch) -> Numbers:
        """T[j], the sum of signs over non-empty sets of rows that add up to j.

        A word supports v if all its bits agree with v's: 2**-t times the sum over all sets S of
        rows of the product of the signs in S.
        """
        word = batch.columns["word"].astype(np.int64)
        rows = [batch.columns[f"row{place}"].astype(np.int64) for place in range(self.bits)]
        length = 1 << self.order
        table = np.zeros(length, dtype=np.int64)
        for chosen in range(1, 1 << self.bits):
            at = np.zeros(len(word), dtype=np.int64)
            for place in range(self.bits):
                if chosen >> place & 1:
                    at ^= rows[place]
            signs = np.bincount(2 * at + _parity(word & chosen), minlength=2 * length)
            table += signs[0::2] - signs[1::2]
        return table

    def both_supported(self, either: NDArray[np.float64]) -> NDArray[np.float64]:
        return self._independent_pairs(either)

    def _supports(self, tally: Tally, wanted: Numbers) -> NDArray[np.float64]:
        supports = (walsh_hadamard(tally.table) + tally.people) >> self.bits
        return supports[wanted].astype(np.float64)


def best_bits(epsilon: Number) -> int:
    """The number of bits with the least variance at ``epsilon``.

    >>> best_bits(1), best_bits(2), best_bits(4)
    (2, 3, 6)
    """
    x = float(np.exp(min(float(epsilon), 10)))
    return min(
        range(1, _MOST_BITS + 1), key=lambda t: (x + 2**t - 1) ** 2 / ((2**t - 1) * (x - 1) ** 2)
    )


def walsh_hadamard(values: Numbers) -> Numbers:
    """The sums over j of ``values[j]`` with sign (-1)**(bits that j and v share), for all v.

    >>> walsh_hadamard(np.array([1, 2, 3, 4]))
    array([10, -2, -4,  0])
    """
    out = np.array(values, dtype=np.int64)
    step = 1
    while step < len(out):
        pairs = out.reshape(-1, 2, step)
        out = np.stack([pairs[:, 0] + pairs[:, 1], pairs[:, 0] - pairs[:, 1]], axis=1).reshape(-1)
        step *= 2
    return out


def _parity(numbers: Numbers) -> Numbers:
    return (np.bitwise_count(numbers) & 1).astype(np.int64)
