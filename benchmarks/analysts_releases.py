"""Every option of a plan run on one table, and MWEM, which hides no analyst, beside them."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np
from analysts_data import (
    Counts,
    conjunction_answers,
    conjunctions,
    query_rows,
    reference_universe,
)
from analysts_halves import HalvedConjunctions
from numpy.typing import NDArray

import discreet as dp
from discreet.queries.analysts.baselines import NoisyHistogram, PaddedNoise
from discreet.queries.analysts.expected_game import ExpectedGame
from discreet.queries.analysts.guarantee import OneAnalyst, OneQuery
from discreet.queries.analysts.planning import RoundRanking, plan_round
from discreet.queries.analysts.planning_options import RoundOption
from discreet.queries.analysts.profiled_marginals import ProfiledMarginals
from discreet.queries.analysts.public_marginals import PublicMarginals
from discreet.queries.analysts.public_round import PublicRound
from discreet.queries.analysts.query_class import Conjunctions
from discreet.queries.analysts.query_set import QuerySet, RoundShape
from discreet.queries.analysts.sampled_game import SampledGame
from discreet.queries.mwem.mwem import MWEM
from discreet.queries.record_count import PublicCount
from discreet.queries.synopses.marginal_synopsis import MarginalSynopsis
from discreet.queries.workload.linear_query import Region
from discreet.queries.workload.workload import Workload

SPEND = dp.ApproxDP(epsilon=1, delta=1e-6)
ANALYSTS, EACH = 1000, 100
ONE_QUERY = OneQuery()
MWEM_ROUNDS = 60
LEVELS = np.uint8(255)
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Errors:
    """Absolute errors of all queries of a release, as shares, and its seconds of the processor."""

    errors: Floats
    seconds: float

    @property
    def largest(self) -> float:
        """The largest of them."""
        return float(self.errors.max())

    @property
    def mean(self) -> float:
        """Their mean."""
        return float(self.errors.mean())

    def ranked(self, place: int) -> float:
        """The ``place``-th largest."""
        return float(np.sort(self.errors)[-place])


class Trial:
    """One table, and a hundred thousand random three-way conjunctions of some analysts.

    ``halved`` queries take no memory: with sixteen bits their rows would take 6.1 GiB, twice.
    """

    def __init__(
        self,
        counts: Counts,
        *,
        analysts: int = ANALYSTS,
        protects: OneQuery | OneAnalyst = ONE_QUERY,
        halved: bool = False,
    ) -> None:
        """Ask them all exactly, once."""
        self.analysts, self.protects, self.halved = analysts, protects, halved
        self.counts = counts
        self.records = int(counts.sum())
        self.bits = counts.size.bit_length() - 1
        self.universe = reference_universe(self.bits)
        self.places, self.values = conjunctions(ANALYSTS * EACH, bits=self.bits)
        self.truth = self.shares(counts.astype(np.float64))
        self._rows: NDArray[np.uint8] | None = None

    def shares(self, table: Floats) -> Floats:
        """The answers on a table of counts."""
        return conjunction_answers(table, self.places, self.values)

    @property
    def rows(self) -> NDArray[np.uint8]:
        """The queries as rows over the cells, 400 MB of them."""
        if self._rows is None:
            self._rows = query_rows(self.places, self.values)
            self._rows *= LEVELS
        return self._rows

    def queries(self, shape: RoundShape) -> QuerySet:
        """The queries of a game."""
        if self.halved:
            return HalvedConjunctions(shape, np.hstack([self.places, self.values]).astype(np.uint8))
        return QuerySet(shape, self.rows)

    def facts(self) -> PublicRound:
        """What is public about the round."""
        return PublicRound(
            universe=self.universe,
            size=PublicCount(self.records),
            analysts=self.analysts,
            most=ANALYSTS * EACH // self.analysts,
            spend=SPEND,
            protects=self.protects,
            promise=SPEND,
            asked=Conjunctions(3),
        )

    def plan(self) -> RoundRanking:
        """The planner's view."""
        return plan_round(self.facts())

    def run(self, option: RoundOption) -> Errors:
        """Release once, and compare."""
        start = time.process_time()
        answers = self._answers(option)
        seconds = time.process_time() - start
        return Errors(np.abs(answers - self.truth), seconds)

    def game(self, game: SampledGame | ExpectedGame) -> Errors:
        """Play once."""
        queries = self.queries(game.shape)
        start = time.process_time()
        released = game.release(self.counts, queries)
        seconds = time.process_time() - start
        return Errors(np.abs(self.shares(released.counts) - self.truth), seconds)

    def mwem(self, ways: int = 3, rounds: int = MWEM_ROUNDS) -> Errors:
        """Not private between analysts: it looks for what somebody asked and is most wrong.

        With a round for each marginal it looks for nothing, and measures and fits all of them.
        """
        mechanism = MWEM(
            Workload.marginals(self.universe, ways), SPEND, PublicCount(self.records), rounds
        )
        start = time.process_time()
        released = mechanism.release(self.counts)
        seconds = time.process_time() - start
        return Errors(np.abs(self.shares(released.counts) - self.truth), seconds)

    def _answers(self, option: RoundOption) -> Floats:
        match option.mechanism:
            case NoisyHistogram() as mechanism:
                return self.shares(mechanism.release(self.counts).counts)
            case PublicMarginals() as mechanism:
                return self._from_marginals(mechanism.release(self.counts))
            case ProfiledMarginals() as mechanism:
                topics = [tuple(int(p) for p in places) for places in self.places]
                submitted = [topics[k : k + EACH] for k in range(0, len(topics), EACH)]
                return self._from_marginals(mechanism.release(self.counts, submitted))
            case PaddedNoise() as mechanism:
                return mechanism.release(self.counts, self._regions())
        raise ValueError(option.refusal)

    def _regions(self) -> list[Region]:
        shape = self.universe.shape
        regions = []
        for places, values in zip(self.places, self.values, strict=True):
            box = [slice(0, 2)] * len(shape)
            for place, value in zip(places, values, strict=True):
                box[int(place)] = slice(int(value), int(value) + 1)
            regions.append(Region(shape, tuple(box)))
        return regions

    def _from_marginals(self, synopsis: MarginalSynopsis) -> Floats:
        kinds, where = np.unique(self.places, axis=0, return_inverse=True)
        found = np.empty(len(self.places))
        for kind, kept in enumerate(kinds):
            names = [self.universe.names[int(place)] for place in kept]
            marginal = synopsis.answers(Workload.marginal(self.universe, names)).reshape(2, 2, 2)
            asked = np.flatnonzero(where.ravel() == kind)
            found[asked] = marginal[tuple(self.values[asked].T)] / self.records
        return found
