"""Corrections of a shared synopsis that one analyst gets and no other influences.

Each analyst has a stream of their own: own noisy threshold, own cut-off fixed in advance. The
stream compares the synopsis with the data on the analyst's own queries, in order; where they differ
by more than the threshold, a fresh noisy answer replaces the synopsis's, until the cut-off. An
analyst whose stream has ended is told so.

Guarantees. Analysts: perfect; an answer is a function of the data, the synopsis, the analyst's own
queries and noise of the stream's own. Data: all streams to their cut-offs, whether used or not. A
cut-off or threshold shared by all would tell each what others asked.

Source: analysts-verified:H4 (correction stage, a). Proof: ``proofs/analysts-correction.md``.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from discreet.core.arrays import Floats, Ints
from discreet.core.errors import InvalidParameter
from discreet.core.events.event import Event
from discreet.core.parameters import Number, count, exact, positive
from discreet.mechanisms import Laplace
from discreet.mechanisms.sparse_vector import Sparse
from discreet.noise import SYSTEM, Source
from discreet.queries.analysts.game import GameSynopsis
from discreet.queries.analysts.guarantee import public_records
from discreet.queries.analysts.query_set import QuerySet, RoundShape
from discreet.queries.record_count import RecordCount, count_records
from discreet.queries.synopses.synopsis import HistogramSynopsis
from discreet.queries.workload.cell_counts import Counted, cell_counts

_COMPARING = Fraction(8, 9)
"""What comparisons take of a stream's epsilon, as in NumericSparse."""


@dataclass(frozen=True, eq=False)
class Corrections:
    """One analyst's answers, as means: the synopsis's, or fresh ones where it was far off.

    ``exhausted`` says that the stream ended, so that later answers are the synopsis's unchecked.
    """

    answers: Floats
    corrected: NDArray[np.bool_]
    exhausted: bool


@dataclass(frozen=True, kw_only=True)
class Correction:
    """A stream of ``cutoff`` corrections at pure ``epsilon`` for each analyst of a round.

    ``threshold`` is a difference of means. One person has at most ``records`` records.

    Assumptions: data are exact counts over the universe; neighbours as ``size`` says, with at most
    ``records`` records of a person. The synopsis was released before. Thresholds and cut-offs are
    public.

    Guarantee: people: the event of all streams to their cut-offs, used or not. Analysts: perfect.

    Source: analysts-verified:H4. Proof: ``proofs/analysts-correction.md``.
    """

    shape: RoundShape
    size: RecordCount
    epsilon: Number
    cutoff: int
    threshold: Number
    records: int = 1
    randomness: Source = SYSTEM

    def __post_init__(self) -> None:
        """Refuse parameters out of range."""
        for name in ("cutoff", "records"):
            object.__setattr__(self, name, count(name, getattr(self, name)))
        for name in ("epsilon", "threshold"):
            object.__setattr__(self, name, positive(name, getattr(self, name)))
        public_records(self.size)

    @property
    def event(self) -> Event:
        """What all streams cost the data, to their cut-offs."""
        one = self._comparisons().event + self._values().event * self.cutoff
        return one * self.shape.analysts

    def release(
        self, counts: Counted, queries: QuerySet, synopsis: GameSynopsis | HistogramSynopsis
    ) -> tuple[Corrections, ...]:
        """Every analyst's own corrections, in the public order of analysts."""
        if queries.shape != self.shape or synopsis.universe != self.shape.universe:
            raise InvalidParameter(
                code="query_set_misfit",
                expectation="queries and a synopsis of the shape that the correction was made for",
                received=(queries.shape.analysts, queries.shape.most),
                remedy="Build them with QuerySet.of(correction.shape, analysts, submitted).",
            )
        table = cell_counts(counts, self.shape.universe)
        count_records(self.size, table, None)
        truth = queries.sums(table).reshape(-1, self.shape.most)
        means = queries.means(np.asarray(synopsis.counts)).reshape(-1, self.shape.most)
        return tuple(self._stream(*pair) for pair in zip(truth, means, strict=True))

    def _stream(self, truth: Ints, means: Floats) -> Corrections:
        """One analyst's: whole numbers of levels in, means out."""
        # Public rounding of a public estimate; differences of whole numbers are exact.
        gaps = np.abs(truth - np.rint(means * self._levels).astype(np.int64))
        session = self._comparisons().open()
        far = np.flatnonzero(session.ask_all(gaps))
        answers = means.copy()
        for place in far:
            answers[place] = float(self._values().release(int(truth[place]))) / self._levels
        corrected = np.zeros(len(means), dtype=np.bool_)
        corrected[far] = True
        return Corrections(answers, corrected, session.positive_answers_left == 0)

    @property
    def _levels(self) -> int:
        """Levels in a mean of one."""
        return public_records(self.size) * self.shape.levels

    def _comparisons(self) -> Sparse:
        return Sparse.pure(
            epsilon=exact(self.epsilon) * _COMPARING,
            cutoff=self.cutoff,
            threshold=exact(self.threshold) * self._levels,
            sensitivity=self.records * self.shape.levels,
            randomness=self.randomness,
        )

    def _values(self) -> Laplace:
        return Laplace(
            epsilon=exact(self.epsilon) * (1 - _COMPARING) / self.cutoff,
            sensitivity=self.records * self.shape.levels,
            randomness=self.randomness,
        )
