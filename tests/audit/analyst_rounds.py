"""Small rounds in which an attack has the best chance, and broken twins of the mechanisms."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

import discreet as dp
from discreet.core.events.event import Nothing
from discreet.queries.analysts.correction import Correction, Corrections
from discreet.queries.analysts.equilibrium import SignedLaw
from discreet.queries.analysts.expected_game import ExpectedGame
from discreet.queries.analysts.game import GameSynopsis, Tilts
from discreet.queries.analysts.guarantee import AnalystUnit
from discreet.queries.analysts.query_set import QuerySet, RoundShape
from discreet.queries.analysts.sampled_game import Drawing, SampledGame
from discreet.queries.record_count import PublicCount
from discreet.queries.synopses.synopsis import HistogramSynopsis
from discreet.queries.workload.cell_counts import Counted, cell_counts
from discreet.queries.workload.linear_query import Weights
from discreet.queries.workload.universe import Universe

UNIVERSE = Universe.of(x=range(3))
COUNTS = np.array([50, 0, 0])
SIZE = PublicCount(50)
"""All records are in one cell: a query about it pulls to it, and always the same way."""
EVEN = HistogramSynopsis(UNIVERSE, np.full(3, 50 / 3), Nothing())

FIRST, SECOND, NOTHING = Weights([1, 0, 0]), Weights([0, 1, 0]), Weights([0, 0, 0])

Kind = TypeVar("Kind")


def sampled_game(shape: RoundShape, *, s: int, protects: AnalystUnit) -> SampledGame:
    """Few rounds and long steps: one drawn query decides all later cells."""
    game = SampledGame(
        shape=shape,
        size=SIZE,
        s=s,
        rounds=4,
        batch_x=4,
        batch_q=1,
        step_x=20,
        step_q=100,
        protects=protects,
        promise=None,
    )
    return replace(game, promise=dp.ApproxDP(epsilon=1, delta=game.delta(1)))


def expected_game(shape: RoundShape, *, s: int, protects: AnalystUnit) -> ExpectedGame:
    """A step of s takes a group at the cap to a whole unit of log-weight in a round."""
    return ExpectedGame(
        shape=shape,
        size=SIZE,
        s=s,
        rounds=4,
        batch_x=2,
        step_x=s / 2,
        step_q=40,
        protects=protects,
    )


def twin_of(kind: type[Kind], honest: object) -> Kind:
    """The same settings in a broken class."""
    fields = honest.__dataclass_fields__  # type: ignore[attr-defined]
    return kind(**{name: getattr(honest, name) for name in fields})


class Uncapped(Tilts):
    """Plain multiplicative weights: a query may get all the weight."""

    @property
    def distribution(self) -> SignedLaw:
        return SignedLaw.project(super().distribution.tilts, self.width, 1)


class PlainGame(SampledGame):
    """The sampled game with that law."""

    def query_player(self, tilts: Tilts) -> Drawing:
        return super().query_player(
            Uncapped(tilts.queries, tilts.sums, tilts.records, tilts.rate, tilts.width, tilts.s)
        )


class Reversed(Tilts):
    """The printed update: it looks for queries that are answered well. Private, and of no use."""

    @property
    def distribution(self) -> SignedLaw:
        return SignedLaw.project(-super().distribution.tilts, self.width, self.s)


class ReversedGame(SampledGame):
    """The sampled game with that law."""

    def query_player(self, tilts: Tilts) -> Drawing:
        return super().query_player(
            Reversed(tilts.queries, tilts.sums, tilts.records, tilts.rate, tilts.width, tilts.s)
        )


class PairCapped(Tilts):
    """Caps on pairs where whole analysts are to be hidden: each of their queries has its own."""

    @property
    def distribution(self) -> SignedLaw:
        return SignedLaw.project(super().distribution.tilts, 1, self.s)


class PairCappedGame(SampledGame):
    """The sampled game for analysts with that law."""

    def query_player(self, tilts: Tilts) -> Drawing:
        return super().query_player(
            PairCapped(tilts.queries, tilts.sums, tilts.records, tilts.rate, tilts.width, tilts.s)
        )


@dataclass(frozen=True, kw_only=True)
class SharedCutOff(Correction):
    """One stream for all: whoever comes first takes corrections from the others."""

    def release(
        self, counts: Counted, queries: QuerySet, synopsis: GameSynopsis | HistogramSynopsis
    ) -> tuple[Corrections, ...]:
        truth = queries.sums(cell_counts(counts, self.shape.universe))
        together = self._stream(truth, queries.means(np.asarray(synopsis.counts)))
        return tuple(
            Corrections(answers, corrected, together.exhausted)
            for answers, corrected in zip(
                np.split(together.answers, self.shape.analysts),
                np.split(together.corrected, self.shape.analysts),
                strict=True,
            )
        )
