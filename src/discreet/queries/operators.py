"""Operators over protected counts, from which known mechanisms are put together.

A plan is a program that anybody may write: it never sees a count, only what operators return. Each
of them is priced before it runs, and a filter refuses what would exceed the budget, whatever the
plan decided in view of earlier answers. So a plan can be wrong, but not private data's undoing.
That holds against mistakes, not against code that reaches into Python objects: a stranger's program
belongs in another process.

Everything between the operators is post-processing and free: estimates, updates, stopping rules.
``MultiplicativeWeights``, ``replay`` and ``settle`` of this package are such parts; with them MWEM
and private multiplicative weights are a dozen lines each.

Guarantee: the budget, for the whole life of the object, by the filter's theorem; each operator by
the sensitivity of what it reads: a query with weights in [0, 1] moves by at most one record, and so
does how far it is from a public guess.

Source: 004d:F23. Proof: ``proofs/mwem.md``, ``proofs/pmw.md``, ``proofs/filters.md``.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike

from discreet.accounting.adaptive import filter_for
from discreet.core.errors import InvalidParameter
from discreet.core.events.event import Event, compose
from discreet.core.guarantee import Guarantee
from discreet.core.parameters import Number, count
from discreet.core.unit import Replace, Row
from discreet.mechanisms import (
    AboveThreshold,
    DiscreteLaplace,
    Exponential,
    Laplace,
    NoisyMax,
    PermuteAndFlip,
)
from discreet.mechanisms.additive import mark_unprotected_event
from discreet.mechanisms.distributions.distribution import distribution_of
from discreet.mechanisms.selection import Selection
from discreet.mechanisms.sparse_vector.above_threshold import ThresholdSession
from discreet.noise.randomness import SYSTEM, Source
from discreet.queries.mwem.fitting import MeasuredQuery
from discreet.queries.mwem.rounds import exact_answers
from discreet.queries.record_count import (
    MOST,
    PublicCount,
    RecordCount,
    count_records,
    require_size,
)
from discreet.queries.workload.cell_counts import Counted, cell_counts
from discreet.queries.workload.linear_query import (
    PLACES,
    LinearQuery,
    Region,
    Weights,
    on_grid,
    rounded,
)
from discreet.queries.workload.universe import Universe
from discreet.queries.workload.workload import Workload


class ProtectedCounts:
    """Counts over a universe that a plan may measure, and never see.

    ``size`` says whether the number of records is public (neighbours exchange records) or not.
    One person has at most ``records`` records.

    Assumptions: fewer than 2**32 records, in one process; :meth:`discreet.Curator.converse` keeps
    what must outlive it. Guarantee: all that a plan is told costs at most ``budget``, in whatever
    order it measures, and nothing is told that is not paid for (``proofs/pmw.md``).
    Source: 004d:F23.
    """

    def __init__(
        self,
        counts: Counted,
        universe: Universe,
        *,
        budget: Guarantee,
        size: RecordCount,
        records: int = 1,
        randomness: Source = SYSTEM,
    ) -> None:
        """Hold the counts; nothing is read out of them yet."""
        require_size(size)
        self.universe = universe
        self.size = size
        self.records = count("records", records)
        self._randomness = randomness
        table = cell_counts(counts, universe)
        if isinstance(size, PublicCount):
            count_records(size, table, None)
        self._counts = table
        self._held = table.astype(np.float64)
        unit = Replace(Row()) if isinstance(size, PublicCount) else Row()
        self._filter = filter_for(budget.per(unit))
        self._events: tuple[Event, ...] = ()

    @property
    def event(self) -> Event:
        """What all operators so far cost together."""
        return compose(self._events)

    def total(self, *, epsilon: Number | None = None) -> float:
        """The number of records: public, or bought for ``epsilon``."""
        if isinstance(self.size, PublicCount):
            return float(self.size.records)
        if epsilon is None:
            raise InvalidParameter(
                code="records_unknown",
                expectation="epsilon=, since the number of records is not public",
                remedy="Pass epsilon=0.05, or another part of the budget.",
            )
        noise = DiscreteLaplace(
            epsilon=epsilon, sensitivity=self.records, randomness=self._randomness
        )
        self._charge(noise.event)
        return count_records(self.size, self._counts, noise)

    def measure(
        self,
        query: LinearQuery,
        *,
        epsilon: Number,
        noise: type[DiscreteLaplace | Laplace] = DiscreteLaplace,
    ) -> MeasuredQuery:
        """A query's weighted sum with Laplace noise: its value and the noise's deviation."""
        self._require(query)
        _require_own(noise, (DiscreteLaplace, Laplace))
        whole = isinstance(query, Region)
        step = Fraction(1) if whole else Fraction(1, 1 << PLACES)
        made = noise(epsilon=epsilon, sensitivity=self.records / step, randomness=self._randomness)
        self._charge(made.event)
        truth = min(query.answer(self._held), float(MOST))
        noisy = int(made.release(np.array([round(truth / float(step))]))[0])
        spread = distribution_of(made, step=float(step)).std
        return MeasuredQuery(query, noisy * float(step), spread)

    def select_worst(
        self,
        workload: Workload,
        guesses: ArrayLike,
        *,
        epsilon: Number,
        selection: type[Selection] = PermuteAndFlip,
    ) -> int:
        """The place of a query of which a public guess is most wrong, or nearly."""
        asked = on_grid(workload)
        near = np.asarray(guesses, dtype=np.float64)
        if asked.universe != self.universe or near.shape != (asked.queries,):
            raise InvalidParameter(
                code="answers_misfit",
                expectation=f"a guess for each of {asked.queries} queries over the same universe",
                received=near.shape,
                remedy="Guess counts, in the order of the workload.",
            )
        _require_own(selection, (PermuteAndFlip, Exponential, NoisyMax))
        made = selection(epsilon=epsilon, sensitivity=self.records, randomness=self._randomness)
        self._charge(made.event)
        truth = np.concatenate(exact_answers(asked, self._counts))
        held = np.clip(np.nan_to_num(near), -MOST, MOST)
        return made.release(np.abs(rounded(held) - truth))

    def watch(self, *, threshold: Number, epsilon: Number) -> Watch:
        """Compare queries with guesses until one is far off; paid for now, however long it takes.

        ``threshold`` is how far, in records.
        """
        made = AboveThreshold(
            epsilon=epsilon,
            threshold=threshold,
            sensitivity=self.records,
            randomness=self._randomness,
        )
        self._charge(made.event)
        return Watch(self, made.open())

    def _charge(self, event: Event) -> None:
        """Price and record it, or refuse; before any count is looked at."""
        private = getattr(event, "instead_of", event)
        self._filter.record(private)
        self._events = (*self._events, mark_unprotected_event(private, self._randomness))

    def _require(self, query: LinearQuery) -> None:
        # Only these two keep their promise that weights lie in [0, 1] on the grid.
        if type(query) not in (Weights, Region) or query.cells != self.universe.size:
            raise InvalidParameter(
                code="query_misfit",
                expectation=f"a query, Weights or Region, over {self.universe.size} cells",
                received=type(query).__name__,
                remedy="Write Weights(values), or query_of(workload, place).",
            )

    def _apart(self, query: LinearQuery, guess: float) -> float:
        """How far a guess is off; for what adds noise to it."""
        self._require(query)
        held = min(max(guess if math.isfinite(guess) else 0.0, -MOST), MOST)
        # Both on one grid and below 2**33, so that their difference is exact.
        return abs(query.answer(self._held) - round(held * 2.0**PLACES) * 2.0**-PLACES)

    def __repr__(self) -> str:
        """Nothing about the counts."""
        return f"ProtectedCounts({self.universe.size} cells, {len(self._events)} operators run)"


def _require_own(given: type, known: tuple[type, ...]) -> None:
    """Refuse all but these: what a plan brings along could say one price and hide less."""
    if given not in known:
        raise InvalidParameter(
            code="operator_unknown",
            expectation=f"one of {', '.join(each.__name__ for each in known)}",
            received=getattr(given, "__name__", type(given).__name__),
            remedy="Leave it out, or name one of these classes.",
        )


class Watch:
    """Says of each guess whether it is far off; ends with the first that is."""

    def __init__(self, counts: ProtectedCounts, session: ThresholdSession) -> None:
        """Hold a session that was paid for."""
        self._counts = counts
        self._session = session

    def far_off(self, query: LinearQuery, guess: float) -> bool:
        """Whether the query's sum is farther from the guess than the threshold, noisily."""
        return bool(self._session.ask(self._counts._apart(query, guess)))
