"""Bloom filters: a value sets a few of m bits, all bits are randomised, and counts are solved for.

People are divided into cohorts with hash functions of their own, so that two values rarely share
all their bits in every cohort. Two values differ in at most 2 k bits, and epsilon is charged for
all of them. :class:`Rappor` draws the bits when a value is new, keeps them while it stays, and
randomises what it kept again for every report: the first draw bounds the loss as long as the value
stays, the second hides that reports of one person are alike.

Source: 004a:C9, C31. Proof: ``proofs/local.md``.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.errors import InvalidParameter
from discreet.core.parameters import Number, count, exact
from discreet.local.bits import canonical, column_sums, from_hex, unused_bits
from discreet.local.chances import WHOLE, largest_chance, local_epsilon
from discreet.local.frequencies import Frequencies
from discreet.local.oracle import Columns, FrequencyOracle, Numbers, whole, width_of
from discreet.local.primes import prime_from
from discreet.local.public_hashes import PublicHashes
from discreet.local.reports import ReportBatch, ReportField
from discreet.noise import packed_coins, uniform_integers

if TYPE_CHECKING:
    from discreet.local.tally import Tally

_MOST_CANDIDATES = 4096


@dataclass(frozen=True, kw_only=True)
class BloomFilter(FrequencyOracle):
    """``hashes`` of ``cells`` bits are set for a value, by the functions of the person's cohort.

    The chance that a set bit is told is one half, as in optimised unary encoding, at epsilon /
    ``hashes``. Estimates are least squares over candidates that must include all frequent values.
    """

    cells: int
    hashes: int
    cohorts: int
    seed: int

    def __post_init__(self) -> None:
        """Refuse filters with fewer than two cells."""
        super().__post_init__()
        count("cells", self.cells, least=2)
        count("hashes", self.hashes)
        count("cohorts", self.cohorts)
        count("seed", self.seed, least=0)

    @property
    def one(self) -> int:
        """Chance over 2**64 that a set bit is told."""
        return WHOLE // 2

    @cached_property
    def zero(self) -> int:
        """Chance over 2**64 that another bit is told."""
        return WHOLE - largest_chance(exact(self.epsilon) / self.hashes)

    @cached_property
    def functions(self) -> PublicHashes:
        """Slope and offset for each cohort and hash."""
        prime = prime_from(max(self.size, 64 * self.cells))
        shape = (self.cohorts, self.hashes, 2)
        return PublicHashes.from_seed(self.seed, prime=prime, shape=shape).with_slopes()

    def bits_of(self, cohorts: Numbers, numbers: Numbers) -> NDArray[np.bool_]:
        """The filters of values in their cohorts, one row each."""
        parts = self.functions.numbers[cohorts]
        places = (parts[..., 0] * numbers[:, None] + parts[..., 1]) % self.functions.prime
        bits = np.zeros((len(numbers), self.cells), dtype=np.bool_)
        bits[np.arange(len(numbers))[:, None], places % self.cells] = True
        return bits

    @property
    def support_chances(self) -> tuple[Fraction, Fraction]:
        """Those of a single bit, for whoever has it and whoever has not."""
        return Fraction(self.one, WHOLE), Fraction(self.zero, WHOLE)

    def describe_randomiser(self) -> dict[str, Any]:
        return {
            "kind": "bloom",
            "size": self.size,
            "prime": self.functions.prime,
            "cells": self.cells,
            "cohorts": self.functions.numbers.tolist(),
            "one": str(self.one),
            "zero": str(self.zero),
        }

    @property
    def fields(self) -> tuple[ReportField, ...]:
        return ReportField("cohort", width_of(self.cohorts)), ReportField(
            "bits", "u1", -(-self.cells // 8)
        )

    def read_report_columns(self, payload: object) -> tuple[Any, ...] | None:
        match payload:
            case [cohort, text] if whole(cohort, self.cohorts):
                bits = from_hex(text, self.cells)
                return None if bits is None else (cohort, bits)
        return None

    def valid(self, batch: ReportBatch) -> NDArray[np.bool_]:
        good = canonical(batch.columns["bits"], self.cells)
        return np.asarray(good & (batch.columns["cohort"] < self.cohorts))

    def _draw_reports(self, numbers: Numbers) -> Columns:
        cohorts = uniform_integers(self.cohorts, len(numbers), self.randomness)
        bits = np.packbits(self.bits_of(cohorts, numbers), axis=1, bitorder="little")
        told = self.randomised(bits, self.one, self.zero)
        return {"cohort": cohorts.astype(width_of(self.cohorts)), "bits": told}

    def randomised(self, bits: NDArray[np.uint8], one: int, zero: int) -> NDArray[np.uint8]:
        """Packed bits, each told with chance ``one`` or ``zero`` over 2**64."""
        set_told = packed_coins(one, bits.size, self.randomness).reshape(bits.shape)
        other_told = packed_coins(zero, bits.size, self.randomness).reshape(bits.shape)
        told: NDArray[np.uint8] = (bits & set_told) | (~bits & other_told)
        told[:, -1] &= np.uint8(0xFF ^ unused_bits(self.cells))
        return told

    def _table(self, batch: ReportBatch) -> Numbers:
        """For each cohort its number of reports, then how often each bit is set."""
        cohorts = batch.columns["cohort"]
        parts = []
        for cohort in range(self.cohorts):
            here = batch.columns["bits"][cohorts == cohort]
            parts.append(np.concatenate([[len(here)], column_sums(here, self.cells)]))
        return np.stack(parts).astype(np.int64)

    def estimate(self, tally: Tally, *, values: Any = None) -> Frequencies:
        """Least squares over the candidates ``values``, none of them negative.

        Each bit of each cohort is an equation: the share that has it set is the sum of the shares
        of the values that set it. Values left out are attributed to others: name all that may be
        frequent. Variances are those of least squares without the constraint, which pulls the
        fitted shares of bits nearer to the truth, not necessarily each single share.
        """
        from scipy.optimize import nnls

        self._check(tally)
        wanted = self._wanted(tally, values)
        if len(wanted) > _MOST_CANDIDATES:
            raise InvalidParameter(
                code="local_too_many_candidates",
                expectation=f"at most {_MOST_CANDIDATES} candidates for least squares",
                received=len(wanted),
                remedy="Pass values= with those that may be frequent.",
            )
        p, q = (float(chance) for chance in self.support_chances)
        people = tally.table[:, 0].astype(np.float64)
        seen = np.flatnonzero(people > 0)
        told = (tally.table[seen, 1:] / people[seen, None] - q) / (p - q)
        rows = [self.bits_of(np.full(len(wanted), cohort), wanted).T for cohort in seen]
        design = np.concatenate(rows).astype(np.float64)
        roots = np.repeat(np.sqrt(people[seen]), self.cells)
        found, _ = nnls(design * roots[:, None], told.ravel() * roots, maxiter=20 * len(wanted))
        spread = self._spread(design, people[seen], found)
        return Frequencies(found, spread, tally.people, self._labels(wanted))

    def _spread(
        self, design: NDArray[np.float64], people: NDArray[np.float64], shares: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Variances of weighted least squares: noise of the bits, and who is in which cohort.

        Given the values, bits are independent. Cohorts are samples of the same people: bits of one
        cohort vary together as its values do, and over all cohorts the people are those there are.
        """
        p, q = (float(chance) for chance in self.support_chances)
        weights = np.repeat(people, self.cells)
        weighted = (design * weights[:, None]).T
        solve = np.linalg.pinv(weighted @ design) @ weighted
        bits = np.clip(design @ shares, 0, 1)
        noise = (bits * p * (1 - p) + (1 - bits) * q * (1 - q)) / (p - q) ** 2 / weights
        spread = solve**2 @ noise - shares * np.maximum(1 - shares, 0) / people.sum()
        present = np.flatnonzero(shares)
        for place, n in enumerate(people):
            here = slice(place * self.cells, (place + 1) * self.cells)
            pulls = solve[:, here] @ design[here][:, present]
            means = pulls @ shares[present]
            spread += (pulls**2 @ shares[present] - means**2) / n
        return np.asarray(np.maximum(spread, 0.0))


@dataclass(frozen=True, kw_only=True)
class Rappor(BloomFilter):
    """RAPPOR: bits drawn at each change of the value, kept, and randomised for every report.

    ``epsilon`` bounds everything learnt while a person's value stays, however many reports are
    sent; every change costs another epsilon. ``once`` is what a single report tells.

    Contract: clients keep their memory. Schemas of this oracle are memoised.

    Source: 004a:C31. Proof: ``proofs/local.md``.
    """

    once: Number

    def __post_init__(self) -> None:
        """Refuse a single report that tells as much as all of them."""
        super().__post_init__()
        object.__setattr__(self, "once", local_epsilon(self.once))
        if not exact(self.once) < exact(self.epsilon):
            raise InvalidParameter(
                code="local_once_range",
                expectation="once= smaller than epsilon",
                received=self.once,
                remedy="Choose for instance half of epsilon.",
            )

    @cached_property
    def one(self) -> int:
        """Chance over 2**64 that a set bit is kept as set: odds e^(epsilon / 2 hashes)."""
        return largest_chance(exact(self.epsilon) / (2 * self.hashes))

    @cached_property
    def zero(self) -> int:
        return WHOLE - self.one

    @cached_property
    def again(self) -> int:
        """Chance over 2**64 that a kept bit is told as it is.

        With keep k and telling t a report's bit is right with chance k t + (1 - k) (1 - t), which
        is set to that of ``once`` and rounded down.
        """
        right = Fraction(largest_chance(exact(self.once) / (2 * self.hashes)), WHOLE)
        kept = Fraction(self.one, WHOLE)
        return int((right - (1 - kept)) / (2 * kept - 1) * WHOLE)

    @property
    def support_chances(self) -> tuple[Fraction, Fraction]:
        kept, told = Fraction(self.one, WHOLE), Fraction(self.again, WHOLE)
        right = kept * told + (1 - kept) * (1 - told)
        return right, 1 - right

    def describe_randomiser(self) -> dict[str, Any]:
        again = {
            "one": str(self.again),
            "zero": str(WHOLE - self.again),
            "once": str(exact(self.once)),
        }
        return {**super().describe_randomiser(), "again": again}

    def _draw_reports(self, numbers: Numbers) -> Columns:
        columns = super()._draw_reports(numbers)
        bits = self.randomised(columns["bits"], self.again, WHOLE - self.again)
        return {**columns, "bits": bits}
