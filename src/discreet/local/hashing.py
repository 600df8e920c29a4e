"""Local hashing: a random hash function and a randomised cell of it.

The functions are v -> ((a v + b) mod P) mod g with a and b uniform below a prime P that is at least
the number of values. Two values collide with a chance C that is known exactly, whatever they are,
and C enters q; no approximation by 1/g is made.

For a server this family has a shape that a general hash lacks. With z = a v mod P, the values that
a report supports are a comb of step g in z, in two pieces. So a report is four changes in a table
of differences for its a; adding up along the comb and looking up a v mod P gives the supports of
all values. That takes n + P**2 steps instead of n d, and the table is linear, so that partial
tallies merge. For larger domains the candidates must be named.

The chances printed for this oracle in the source add up to more than one; these are corrected.
Source: 004a:C7. Proof: ``proofs/local.md``.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.errors import InvalidParameter
from discreet.core.parameters import exact
from discreet.local.chances import WHOLE, largest_chance
from discreet.local.direct import answered
from discreet.local.oracle import Columns, Numbers, SupportOracle, whole, width_of
from discreet.local.primes import prime_from
from discreet.local.reports import ReportBatch, ReportField
from discreet.local.tally import Tally
from discreet.noise import uniform_integers

if TYPE_CHECKING:
    from discreet.core.parameters import Number

_LARGEST_TABLE = 1 << 25
_BLOCK = 1 << 21


@dataclass(frozen=True, kw_only=True)
class LocalHashing(SupportOracle):
    """Hash to ``cells`` cells by a function that each person draws, then randomise the cell.

    Source: 004a:C7. Proof: ``proofs/local.md``.
    """

    @property
    @abstractmethod
    def cells(self) -> int:
        """How many cells the functions have."""

    @cached_property
    def prime(self) -> int:
        """The modulus: no less than the number of values, nor than 64 times the cells."""
        return prime_from(max(self.size, 64 * self.cells))

    @cached_property
    def keep(self) -> int:
        """Chance of the true cell over 2**64."""
        return largest_chance(exact(self.epsilon), Fraction(1, self.cells - 1))

    @cached_property
    def collision(self) -> Fraction:
        """The exact chance that two given values share a cell.

        (a v + b, a w + b) modulo P is uniform on pairs, so this is the sum of squared shares that
        the cells have of the residues.
        """
        short, more = divmod(self.prime, self.cells)
        squares = more * (short + 1) ** 2 + (self.cells - more) * short**2
        return Fraction(squares, self.prime**2)

    @property
    def support_chances(self) -> tuple[Fraction, Fraction]:
        keep = Fraction(self.keep, WHOLE)
        shared = self.collision
        return keep, keep * shared + (1 - keep) / (self.cells - 1) * (1 - shared)

    def describe_randomiser(self) -> dict[str, Any]:
        shape = {"size": self.size, "prime": self.prime, "cells": self.cells}
        return {"kind": "hashing", **shape, "keep": str(self.keep)}

    @property
    def fields(self) -> tuple[ReportField, ...]:
        seed = width_of(self.prime)
        return (
            ReportField("a", seed),
            ReportField("b", seed),
            ReportField("cell", width_of(self.cells)),
        )

    def read_report_columns(self, payload: object) -> tuple[Any, ...] | None:
        match payload:
            case [a, b, cell] if (
                whole(a, self.prime) and whole(b, self.prime) and whole(cell, self.cells)
            ):
                return a, b, cell
        return None

    def valid(self, batch: ReportBatch) -> NDArray[np.bool_]:
        a, b, cell = (batch.columns[name] for name in ("a", "b", "cell"))
        return np.asarray((a < self.prime) & (b < self.prime) & (cell < self.cells))

    def _draw_reports(self, numbers: Numbers) -> Columns:
        a = uniform_integers(self.prime, len(numbers), self.randomness)
        b = uniform_integers(self.prime, len(numbers), self.randomness)
        cells = (a * numbers + b) % self.prime % self.cells
        told = answered(cells, self.cells, self.keep, self.randomness)
        columns = {"a": a, "b": b, "cell": told}
        return {each.name: columns[each.name].astype(each.dtype) for each in self.fields}

    @property
    def _width(self) -> int:
        """Columns of the table of differences, a multiple of the cells."""
        return -(-(self.prime + self.cells) // self.cells) * self.cells

    def _table(self, batch: ReportBatch) -> Numbers:
        if self.prime * self._width > _LARGEST_TABLE:
            raise InvalidParameter(
                code="local_candidates_needed",
                expectation="candidates, where the domain is too large to estimate all of it",
                received=self.size,
                remedy="Call aggregate_for(batch, candidates); find them with heavy hitters.",
            )
        prime, cells = np.int64(self.prime), np.int64(self.cells)
        a, b, cell = (batch.columns[name].astype(np.int64) for name in ("a", "b", "cell"))
        turn = prime - b  # from here on a v + b wraps round
        first = (cell - b) % cells
        first_end = first + np.maximum(0, -(-(turn - first) // cells)) * cells
        second = turn + cell
        second_end = second + np.maximum(0, -(-(prime - second) // cells)) * cells
        row = a * self._width
        many = self.prime * self._width
        # Where a piece is empty its two ends coincide, possibly beyond the table.
        whole_second = second < prime
        table = np.bincount(row + first, minlength=many)
        table -= np.bincount(row + first_end, minlength=many)
        table += np.bincount((row + second)[whole_second], minlength=many)
        table -= np.bincount((row + second_end)[whole_second], minlength=many)
        return table.astype(np.int64, copy=False)

    def aggregate_for(self, batch: ReportBatch, candidates: Any) -> Tally:
        """A tally about some values alone, for domains of any size: n times candidates steps."""
        wanted = self.choices.numbers(candidates)
        good = batch.where(self.valid(batch))
        a, b, cell = (good.columns[name].astype(np.int64) for name in ("a", "b", "cell"))
        total = np.zeros(len(wanted), dtype=np.int64)
        rows = max(1, _BLOCK // max(1, len(wanted)))
        for start in range(0, len(a), rows):
            here = slice(start, start + rows)
            hashed = (a[here, None] * wanted + b[here, None]) % self.prime % self.cells
            total += np.count_nonzero(hashed == cell[here, None], axis=0)
        return Tally(self.digest, good.people, total, wanted)

    def _supports(self, tally: Tally, wanted: Numbers) -> NDArray[np.float64]:
        if tally.candidates is not None:
            places = {int(value): i for i, value in enumerate(tally.candidates)}
            if not all(int(value) in places for value in wanted):
                raise InvalidParameter(
                    code="local_value_not_tallied",
                    expectation="values that were candidates when reports were aggregated",
                    remedy="Aggregate the reports again with these candidates.",
                )
            return tally.table[[places[int(value)] for value in wanted]].astype(np.float64)
        steps = self._width // self.cells
        table = tally.table.reshape(self.prime, steps, self.cells)
        supports = np.zeros(len(wanted), dtype=np.int64)
        rows = max(1, _BLOCK // max(self._width, len(wanted)))
        for start in range(0, self.prime, rows):
            combs = np.cumsum(table[start : start + rows], axis=1).reshape(-1, self._width)
            a = np.arange(start, start + len(combs), dtype=np.int64)[:, None]
            supports += np.take_along_axis(combs, a * wanted % self.prime, axis=1).sum(axis=0)
        return supports.astype(np.float64)

    @property
    def _chunks(self) -> int:
        return 64


@dataclass(frozen=True, kw_only=True)
class BinaryLocalHashing(LocalHashing):
    """BLH: two cells, the smallest message."""

    @property
    def cells(self) -> int:
        return 2


@dataclass(frozen=True, kw_only=True)
class OptimalLocalHashing(LocalHashing):
    """OLH: about e^epsilon + 1 cells, where the variance is least.

    >>> round(OptimalLocalHashing(epsilon=1, domain=1024).variance, 4)
    3.6917

    Source: 004a:C7. Proof: ``proofs/local.md``.
    """

    @cached_property
    def cells(self) -> int:
        return best_cells(self.epsilon)


def best_cells(epsilon: Number) -> int:
    """The whole number of cells with the least variance (x + g - 1)**2 / ((g - 1) (x - 1)**2).

    >>> best_cells(1)
    4
    """
    x = float(np.exp(min(float(epsilon), 10)))
    near = round(x) + 1
    return min(range(max(2, near - 1), near + 2), key=lambda g: (x + g - 1) ** 2 / (g - 1))
