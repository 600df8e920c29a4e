"""Sketches: a large domain is hashed to few cells, and an oracle runs on the cells.

Each person draws one of some public hash rows and reports the cell there, at full epsilon. Noise
then depends on the number of cells and not on the domain; other values that share a cell add an
error of their own, which more rows and cells lower and more people do not.

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
    the oracle of the cells. Variances are those of the noise and of other values in the same cell.
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
        """The public functions: for each row a cell and a sign."""
        prime = prime_from(max(self.size, 64 * self.cells))
        return PublicHashes.from_seed(self.seed, prime=prime, shape=(self.rows, 4))

    def hashed(self, rows: Numbers, numbers: Numbers) -> Numbers:
        """Which cell of its row a value has, as the cell oracle numbers them."""
        a, b, c, d = (self.hashes.numbers[rows, part] for part in range(4))
        prime = self.hashes.prime
        cells: Numbers = (a * numbers + b) % prime % self.cells
        return 2 * cells + (c * numbers + d) % prime % 2 if self.signed else cells

    @property
    def support_chances(self) -> tuple[Fraction, Fraction]:
        """Those of the oracle of the cells."""
        return self.cell_oracle.support_chances

    @property
    def variance(self) -> float:
        """Of the noise in the share of a cell, for one person."""
        return self.cell_oracle.variance

    def written(self) -> dict[str, Any]:
        return {
            "kind": "sketch",
            "size": self.size,
            "prime": self.hashes.prime,
            "cells": self.cells,
            "signed": self.signed,
            "hashes": self.hashes.numbers.tolist(),
            "inner": self.cell_oracle.written(),
        }

    @property
    def fields(self) -> tuple[ReportField, ...]:
        return (ReportField("sketch_row", width_of(self.rows)), *self.cell_oracle.fields)

    def read(self, payload: object) -> tuple[Any, ...] | None:
        match payload:
            case [row, inner] if whole(row, self.rows):
                found = self.cell_oracle.read(inner)
                return None if found is None else (row, *found)
        return None

    def valid(self, batch: ReportBatch) -> NDArray[np.bool_]:
        good = self.cell_oracle.valid(batch)
        return np.asarray(good & (batch.columns["sketch_row"] < self.rows))

    def _drawn(self, numbers: Numbers) -> Columns:
        rows = uniform_integers(self.rows, len(numbers), self.randomness)
        columns = self.cell_oracle._drawn(self.hashed(rows, numbers))
        return {"sketch_row": rows.astype(width_of(self.rows)), **columns}

    def _table(self, batch: ReportBatch) -> Numbers:
        """For each row its number of reports, then the table of its cells."""
        rows = batch.columns["sketch_row"]
        parts = []
        for row in range(self.rows):
            here = batch.where(rows == row)
            parts.append(np.concatenate([[here.people], self.cell_oracle._table(here).ravel()]))
        return np.stack(parts).astype(np.int64)

    def _cell_counts(self, tally: Tally) -> NDArray[np.float64]:
        """Estimated people in each cell of each row."""
        from discreet.local.tally import Tally

        oracle = self.cell_oracle
        p, q = (float(chance) for chance in oracle.support_chances)
        everything = np.arange(oracle.size, dtype=np.int64)
        found = []
        for line in tally.table:
            people = int(line[0])
            row = Tally(oracle.digest, people, line[1:])
            found.append((oracle._supports(row, everything) - people * q) / (p - q))
        return np.stack(found)

    def estimate(self, tally: Tally, *, values: Any = None) -> Frequencies:
        """Shares of the values given, or of the whole domain; free, like every estimate."""
        self._check(tally)
        wanted = self._wanted(tally, values)
        counts, people = self._cell_counts(tally), tally.people
        every = range(self.rows)
        cells = np.stack([self.hashed(np.full(len(wanted), row), wanted) for row in every])
        shares, spread = self._combined(counts, cells, people)
        clipped = np.clip(shares, 0, 1)
        noise = (self.variance * spread + (1 - clipped) / self.cells) / people
        others = np.maximum(self._second_moment(counts, tally.table[:, 0]) - clipped**2, 0.0)
        variances = noise + others / (self.rows * (self.cells - 1))
        return Frequencies(shares, variances, people, self._labels(wanted))

    def _second_moment(self, counts: NDArray[np.float64], people: Numbers) -> float:
        """The sum of squared shares, estimated from the cells, between zero and one.

        Other values in a cell are an error that stays the same for all people, since the functions
        are public; over the choice of functions its variance is this sum over rows times cells.
        """
        seen = people > 0
        shares = counts[seen] / people[seen, None]
        noise = self.variance / people[seen]
        m = self.cells
        if self.signed:
            gap = shares[:, 0::2] - shares[:, 1::2]
            found = (gap**2).sum(axis=1) - 2 * m * noise
        else:
            found = (m * ((shares**2).sum(axis=1) - m * noise) - 1) / (m - 1)
        return float(np.clip(np.average(found, weights=people[seen]), 0, 1))

    @abstractmethod
    def _combined(
        self, counts: NDArray[np.float64], cells: Numbers, people: int
    ) -> tuple[NDArray[np.float64], float]:
        """Shares from cell counts, and by how much the noise's variance grows."""


@dataclass(frozen=True, kw_only=True)
class CountMeanSketch(Sketch):
    """Count-Mean sketch: what others are expected to add to a cell is taken off.

    f = (m T / n - 1) / (m - 1), where T adds up the cells of a value over the rows.
    """

    @property
    def signed(self) -> bool:
        return False

    def _combined(
        self, counts: NDArray[np.float64], cells: Numbers, people: int
    ) -> tuple[NDArray[np.float64], float]:
        total = np.take_along_axis(counts, cells, axis=1).sum(axis=0)
        m = self.cells
        return (m * total / people - 1) / (m - 1), (m / (m - 1)) ** 2


@dataclass(frozen=True, kw_only=True)
class CountSketch(Sketch):
    """Count sketch: values have random signs, so that what others add cancels in expectation."""

    @property
    def signed(self) -> bool:
        return True

    def _combined(
        self, counts: NDArray[np.float64], cells: Numbers, people: int
    ) -> tuple[NDArray[np.float64], float]:
        own = np.take_along_axis(counts, cells, axis=1)
        opposite = np.take_along_axis(counts, cells ^ 1, axis=1)
        return (own - opposite).sum(axis=0) / people, 2.0
