"""Sketches: a large domain is hashed to few cells, and an oracle runs on the cells.

Each person draws one of some public hash rows and reports the cell there, at full epsilon. Noise
then depends on the number of cells and not on the domain; other values that share a cell add an
error of their own, which more rows and cells lower and more people do not. Cells are quadratic
polynomials modulo a prime, of which any three values are independent: with lines, values that
stand in a progression would share cells together, and the error would be larger than is said.

Variances: with S for support of the value's cell, in the row that a person drew, estimates are
means of independent terms, so that the noise of these people is at most that of the mean support,
less f (1 - f), where others share cells as often as expected. Over the choice of functions, other
values w add f_w**2 C (1 - C) each in every row, C being the exact chance to share a cell. Both are
set right like the estimate.

Source: 004a:C9. Proof: ``proofs/local.md``.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.parameters import Number, count
from discreet.local.frequencies import Frequencies
from discreet.local.hadamard import HadamardResponse, best_bits
from discreet.local.oracle import (
    Columns,
    FrequencyOracle,
    Numbers,
    SupportOracle,
    whole,
    width_of,
)
from discreet.local.primes import prime_from
from discreet.local.public_hashes import PublicHashes
from discreet.local.reports import ReportBatch, ReportField
from discreet.noise import uniform_integers

if TYPE_CHECKING:
    from discreet.local.tally import Tally


def multi_bit(epsilon: Number, cells: int) -> SupportOracle:
    """Hadamard response of the best number of bits: small messages, short tables."""
    return HadamardResponse(epsilon=epsilon, domain=cells, bits=best_bits(epsilon))


@dataclass(frozen=True, kw_only=True)
class Sketch(FrequencyOracle):
    """``rows`` public hash functions to ``cells`` cells, and an oracle for the cells of a row.

    ``seed`` fixes the public functions; it is no secret, and part of the schema. ``inner`` makes
    the oracle of the cells. Variances are those of the noise, from above, and of other values in
    the same cell over the choice of the seed, from an estimate of the sum of squared shares.
    """

    rows: int
    cells: int
    seed: int
    inner: Callable[[Number, int], SupportOracle] = multi_bit

    def __post_init__(self) -> None:
        """Refuse sketches without rows or with fewer than two cells."""
        super().__post_init__()
        count("rows", self.rows)
        count("cells", self.cells, least=2)
        count("seed", self.seed, least=0)

    @property
    @abstractmethod
    def signed(self) -> bool:
        """Whether values have a sign in their cell."""

    @cached_property
    def cell_oracle(self) -> SupportOracle:
        """The oracle that people answer to, about cells."""
        return self.inner(self.epsilon, self.cells * (2 if self.signed else 1))

    @cached_property
    def hashes(self) -> PublicHashes:
        """The public functions: for each row a polynomial for the cell and a line for the sign."""
        prime = prime_from(max(self.size, 64 * self.cells))
        return PublicHashes.from_seed(self.seed, prime=prime, shape=(self.rows, 5))

    @property
    def collision(self) -> float:
        """The exact chance, over the functions, that two given values share a cell of a row."""
        return float(self.hashes.collision(self.cells))

    def hashed(self, rows: Numbers, numbers: Numbers) -> Numbers:
        """Which cell of its row a value has, as the cell oracle numbers them."""
        a, b, c, d, e = (self.hashes.numbers[rows, part] for part in range(5))
        prime = self.hashes.prime
        cells: Numbers = ((a * numbers + b) % prime * numbers + c) % prime % self.cells
        return 2 * cells + (d * numbers + e) % prime % 2 if self.signed else cells

    @property
    def support_chances(self) -> tuple[Fraction, Fraction]:
        """Those of the oracle of the cells."""
        return self.cell_oracle.support_chances

    @property
    def variance(self) -> float:
        """Of the noise in the share of a cell, for one person."""
        return self.cell_oracle.variance

    def describe_randomiser(self) -> dict[str, Any]:
        return {
            "kind": "sketch",
            "size": self.size,
            "prime": self.hashes.prime,
            "cells": self.cells,
            "signed": self.signed,
            "hashes": self.hashes.numbers.tolist(),
            "inner": self.cell_oracle.describe_randomiser(),
        }

    @property
    def fields(self) -> tuple[ReportField, ...]:
        return (ReportField("sketch_row", width_of(self.rows)), *self.cell_oracle.fields)

    def read_report_columns(self, payload: object) -> tuple[Any, ...] | None:
        match payload:
            case [row, inner] if whole(row, self.rows):
                found = self.cell_oracle.read_report_columns(inner)
                return None if found is None else (row, *found)
        return None

    def valid(self, batch: ReportBatch) -> NDArray[np.bool_]:
        good = self.cell_oracle.valid(batch)
        return np.asarray(good & (batch.columns["sketch_row"] < self.rows))

    def _draw_reports(self, numbers: Numbers) -> Columns:
        rows = uniform_integers(self.rows, len(numbers), self.randomness)
        columns = self.cell_oracle._draw_reports(self.hashed(rows, numbers))
        return {"sketch_row": rows.astype(width_of(self.rows)), **columns}

    def _table(self, batch: ReportBatch) -> Numbers:
        """For each row its number of reports, then the table of its cells."""
        rows = batch.columns["sketch_row"]
        parts = []
        for row in range(self.rows):
            here = batch.where(rows == row)
            parts.append(np.concatenate([[here.people], self.cell_oracle._table(here).ravel()]))
        return np.stack(parts).astype(np.int64)

    def _cell_supports(self, tally: Tally) -> NDArray[np.float64]:
        """How many reports support each cell of each row."""
        from discreet.local.tally import Tally

        oracle = self.cell_oracle
        everything = np.arange(oracle.size, dtype=np.int64)
        return np.stack(
            [
                oracle._supports(Tally(oracle.digest, int(line[0]), line[1:]), everything)
                for line in tally.table
            ]
        )

    def estimate(self, tally: Tally, *, values: Any = None) -> Frequencies:
        """Shares of the values given, or of the whole domain; free, like every estimate."""
        self._check(tally)
        wanted = self._wanted(tally, values)
        supports, people = self._cell_supports(tally), tally.people
        every = range(self.rows)
        cells = np.stack([self.hashed(np.full(len(wanted), row), wanted) for row in every])
        shares, noise = self._combined(supports, cells, people)
        squares = np.clip(self._second_moment(supports, tally.table[:, 0]), 0, 1)
        others = np.maximum(squares - np.clip(shares, 0, 1) ** 2, 0.0)
        variances = noise / people + others * self._shared / self.rows
        return Frequencies(shares, variances, people, self._labels(wanted))

    def _second_moment(self, supports: NDArray[np.float64], people: Numbers) -> float:
        """The sum of squared shares, estimated from the cells without bias.

        Other values in a cell are an error that stays the same for all people, since the functions
        are public; over the choice of functions its variance follows from this sum.
        """
        seen = people > 1
        if not seen.any():
            return 1.0
        rows = people[seen, None]
        found = self._squares(supports[seen] / rows, rows - 1)
        return float(np.average(found, weights=people[seen]))

    @property
    @abstractmethod
    def _shared(self) -> float:
        """What a squared share of another value adds to the variance, in one row."""

    @abstractmethod
    def _combined(
        self, supports: NDArray[np.float64], cells: Numbers, people: int
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Shares, and the variance of their noise for one person."""

    @abstractmethod
    def _squares(self, supported: NDArray[np.float64], free: Numbers) -> NDArray[np.float64]:
        """The sum of squared shares by each row, from the shares of its reports."""


@dataclass(frozen=True, kw_only=True)
class CountMeanSketch(Sketch):
    """Count-Mean sketch: what others are expected to add to a cell is taken off.

    f = (T / n - C) / (1 - C), where T adds up the cells of a value over the rows.
    """

    @property
    def signed(self) -> bool:
        return False

    @property
    def _shared(self) -> float:
        return self.collision / (1 - self.collision)

    def _combined(
        self, supports: NDArray[np.float64], cells: Numbers, people: int
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        p, q = (float(chance) for chance in self.support_chances)
        told = np.take_along_axis(supports, cells, axis=1).sum(axis=0) / people
        shares = ((told - q) / (p - q) - self.collision) / (1 - self.collision)
        own = np.clip(shares, 0, 1)
        noise = told * (1 - told) / ((p - q) * (1 - self.collision)) ** 2 - own * (1 - own)
        return shares, np.maximum(noise, 0.0)

    def _squares(self, supported: NDArray[np.float64], free: Numbers) -> NDArray[np.float64]:
        p, q = (float(chance) for chance in self.support_chances)
        noise = supported * (1 - supported) / (p - q) ** 2 / free
        total = (((supported - q) / (p - q)) ** 2 - noise).sum(axis=1)
        return np.asarray((total - self.collision) / (1 - self.collision))


@dataclass(frozen=True, kw_only=True)
class CountSketch(Sketch):
    """Count sketch: values have random signs, so that what others add cancels in expectation."""

    @property
    def signed(self) -> bool:
        return True

    @property
    def _shared(self) -> float:
        return self.collision

    def _combined(
        self, supports: NDArray[np.float64], cells: Numbers, people: int
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        p, q = (float(chance) for chance in self.support_chances)
        own = np.take_along_axis(supports, cells, axis=1).sum(axis=0) / people
        opposite = np.take_along_axis(supports, cells ^ 1, axis=1).sum(axis=0) / people
        shares = (own - opposite) / (p - q)
        noise = self._apart(own + opposite) / (p - q) ** 2 - np.clip(shares, 0, 1)
        return shares, np.maximum(noise, 0.0)

    def _apart(self, either: NDArray[np.float64]) -> NDArray[np.float64]:
        """The share of reports that support one of two cells and not the other."""
        return either - 2 * self.cell_oracle.both_supported(either)

    def _squares(self, supported: NDArray[np.float64], free: Numbers) -> NDArray[np.float64]:
        p, q = (float(chance) for chance in self.support_chances)
        gap = (supported[:, 0::2] - supported[:, 1::2]) / (p - q)
        apart = self._apart(supported[:, 0::2] + supported[:, 1::2]) / (p - q) ** 2
        return np.asarray((gap**2 - (apart - gap**2) / free).sum(axis=1))
