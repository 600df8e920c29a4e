"""A whole run for each analyst whose answers fail: one noisy bit each, and runs paid in advance.

A game answers all but fewer than s analysts within alpha. Who the others are is told by one number
for each analyst, the largest difference between the synopsis and the data on the analyst's own
queries, with noise: it moves by one record, over n, whatever is asked. The noisy numbers are for
the owner; above a public threshold an analyst counts as failing. Failing analysts, the first
``runs`` of them in the public order, get all their queries answered anew: by private multiplicative
weights, or by fresh noise on each where that has the smaller error, at the rho of one run.

Guarantees. Data: all bits and all runs, whether used or not. Analysts: given the synopsis, whether
an analyst fails, and what a run answers, depend on the analyst's own queries alone: perfect, where
there is a run for everybody. With fewer, others matter once they are used up. Where the threshold
is the game's alpha and a margin for the noise, and there are s runs, that hardly ever happens; the
promise to analysts must have room for the chance of it (:func:`delta_with_overflow`).

Source: analysts-verified:H5 (failing analysts), H4 (correction stage, b). Proof:
``proofs/analysts-failing.md``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from discreet.core.arrays import Floats, Ints
from discreet.core.errors import InvalidParameter
from discreet.core.events.event import Event, compose
from discreet.core.guarantee import ZCDP
from discreet.core.parameters import Number, count, exact, positive
from discreet.mechanisms import DiscreteGaussian, Gaussian
from discreet.mechanisms.for_spend import gaussian_for
from discreet.mechanisms.grid import sqrt_above
from discreet.noise import SYSTEM, Source
from discreet.queries.analysts.analyst_runs import AnalystRun, best_run
from discreet.queries.analysts.correction import Corrections
from discreet.queries.analysts.game import GameSynopsis
from discreet.queries.analysts.guarantee import public_records, require_public_count
from discreet.queries.analysts.query_set import Levels, QuerySet, RoundShape
from discreet.queries.record_count import RecordCount, count_records
from discreet.queries.synopses.synopsis import HistogramSynopsis
from discreet.queries.workload.cell_counts import Counted, cell_counts


@dataclass(frozen=True)
class AnalystRuns:
    """Instead of single corrections: whole runs for at most ``analysts`` whose answers fail.

    For as many as the game may be wrong about, unless given.

    Assumptions: those of the game it follows. Guarantee: that of the round, which pays for all runs
    in advance (``proofs/analysts-failing.md``). Source: analysts-verified:H5.
    """

    analysts: int | None = None

    def __post_init__(self) -> None:
        """Refuse what is no number of analysts."""
        if self.analysts is not None:
            object.__setattr__(self, "analysts", count("analysts", self.analysts))


@dataclass(frozen=True, kw_only=True)
class FailingAnalysts:
    """Finds analysts whose largest error is above ``threshold``, a difference of means, and helps.

    ``bits`` is the rho of all noisy numbers together, ``each`` that of one of ``runs`` runs.

    Assumptions: neighbours exchange at most ``records`` records of a public number. Guarantee: the
    data pays ``event``, whoever fails; analysts as this module says. Source: analysts-verified:H5.
    """

    shape: RoundShape
    size: RecordCount
    runs: int
    threshold: Number
    bits: Number
    each: Number
    records: int = 1
    randomness: Source = SYSTEM

    def __post_init__(self) -> None:
        """Refuse parameters out of range, before any data is seen."""
        for name in ("runs", "records"):
            object.__setattr__(self, name, count(name, getattr(self, name)))
        for name in ("threshold", "bits", "each"):
            object.__setattr__(self, name, positive(name, getattr(self, name)))
        if self.runs > self.shape.analysts:
            raise InvalidParameter(
                code="runs_too_many",
                expectation=f"at most a run for each of {self.shape.analysts} analysts",
                received=self.runs,
                remedy="Choose fewer runs: none beyond that can be used.",
            )
        public_records(self.size)
        _ = self.run

    @cached_property
    def noise(self) -> Gaussian | DiscreteGaussian:
        """What is added to each analyst's largest difference, in levels."""
        moved = sqrt_above(Fraction(self.shape.analysts)) * self.records * self.shape.levels
        return gaussian_for(ZCDP(rho=self.bits), l2=moved, randomness=self.randomness)

    @cached_property
    def run(self) -> AnalystRun:
        """What answers a failing analyst: the way with the smaller error, from public numbers."""
        size = require_public_count(self.size)
        return best_run(self.shape, size, self.each, self.records, self.randomness)

    @property
    def event(self) -> Event:
        """What all bits and all runs cost the data."""
        return compose((self.noise.event, self.run.event * self.runs))

    def release(
        self, counts: Counted, queries: QuerySet, synopsis: GameSynopsis | HistogramSynopsis
    ) -> tuple[Corrections, ...]:
        """Every analyst's answers, in the public order: of a run where they fail.

        ``exhausted`` says that somebody failed and no run was left.
        """
        if queries.shape != self.shape or synopsis.universe != self.shape.universe:
            raise InvalidParameter(
                code="query_set_misfit",
                expectation="queries and a synopsis of the shape that the runs were made for",
                received=(queries.shape.analysts, queries.shape.most),
                remedy="Build them with QuerySet.of(failing.shape, analysts, submitted).",
            )
        table = cell_counts(counts, self.shape.universe)
        count_records(self.size, table, None)
        truth = queries.sums(table).reshape(-1, self.shape.most)
        means = queries.means(np.asarray(synopsis.counts)).reshape(-1, self.shape.most)
        failing = self._failing(truth, means)
        helped = failing & (np.cumsum(failing) <= self.runs)
        rows = queries.rows.reshape(self.shape.analysts, self.shape.most, -1)
        return tuple(
            self._corrections(means[place], failing[place], helped[place], rows[place], table)
            for place in range(self.shape.analysts)
        )

    def _failing(self, truth: Ints, means: Floats) -> NDArray[np.bool_]:
        """One noisy bit for each analyst: for the owner alone."""
        # Public rounding of a public estimate; differences of whole numbers are exact.
        gaps = np.abs(truth - np.rint(means * self._levels).astype(np.int64)).max(axis=1)
        noisy = np.asarray(self.noise.release(gaps))
        return np.asarray(noisy > float(exact(self.threshold) * self._levels))

    def _corrections(
        self,
        means: Floats,
        failing: np.bool_,
        helped: np.bool_,
        rows: Levels,
        table: Ints,
    ) -> Corrections:
        if not helped:
            return Corrections(means, np.zeros(len(means), dtype=np.bool_), bool(failing))
        fresh = self.run.answers(table, rows)
        return Corrections(fresh, np.ones(len(means), dtype=np.bool_), exhausted=False)

    @property
    def _levels(self) -> int:
        """Levels in a mean of one."""
        return public_records(self.size) * self.shape.levels

    def margin(self, *, beta: float) -> float:
        """What the noise of any analyst exceeds with probability at most ``beta``, as a mean.

        The discrete law has at most the normal tail one step below; another is for rounding.
        """
        tail = beta / self.shape.analysts
        reach = float(-ndtri(tail)) * self.noise.scale(size=self.shape.analysts, kind=int)
        return (reach + 2) / self._levels


def delta_with_overflow(*, epsilon: float, delta: float, chance: float) -> float:
    """The delta of a promise at ``epsilon`` where runs are used up with probability ``chance``.

    In either world what others see is then another with that probability: delta plus
    (1 + exp(epsilon)) times the chance, rounded up.
    """
    return (delta + (1 + math.exp(epsilon)) * chance) * (1 + 2.0**-40)
