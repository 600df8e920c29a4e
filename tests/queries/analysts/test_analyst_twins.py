"""Audits of what others see: claims are not refuted, and those of broken twins are.

Neighbours differ in one analyst's queries; the data stay the same. A true claim is refuted with
probability at most 1e-6 in each audit.
"""

import numpy as np

from discreet.audit import Finding, LearnedEvents, audit, outcome, repeated
from discreet.core.events.event import Nothing
from discreet.noise import SYSTEM
from discreet.queries.analysts.correction import Correction, Corrections
from discreet.queries.analysts.equilibrium import SignedLaw
from discreet.queries.analysts.game import GameSynopsis, Tilts
from discreet.queries.analysts.query_set import QuerySet, RoundShape
from discreet.queries.analysts.sampled_game import Drawing, SampledGame
from discreet.queries.record_count import PublicCount
from discreet.queries.synopses.synopsis import HistogramSynopsis
from discreet.queries.workload.cell_counts import Counted
from discreet.queries.workload.universe import Universe
from tests.queries.analysts.small_games import sampled

UNIVERSE = Universe.of(x=range(2))
MANY = RoundShape(UNIVERSE, 20, 1)
COUNTS = np.array([50, 0])


def audited(release: object, x: QuerySet, y: QuerySet, epsilon: float, delta: float) -> Finding:
    return audit(
        repeated(release),  # type: ignore[arg-type]
        x,
        y,
        epsilon=epsilon,
        delta=delta,
        events=LearnedEvents(outcome),
        trials=400,
        confidence=1 - 1e-6,
    )


def asking(shape: RoundShape, *rows: list[int]) -> QuerySet:
    """The first queries as given, the others constant."""
    held = np.zeros((shape.queries, 2), dtype=np.uint8)
    for place, row in enumerate(rows):
        held[place] = row
    return QuerySet(shape, held)


class Uncapped(Tilts):
    """Plain multiplicative weights: a query may get all the weight."""

    @property
    def distribution(self) -> SignedLaw:
        return SignedLaw.project(super().distribution.tilts, self.width, 1)


class PlainGame(SampledGame):
    def query_player(self, tilts: Tilts) -> Drawing:
        return super().query_player(
            Uncapped(tilts.queries, tilts.sums, tilts.records, tilts.rate, tilts.width, tilts.s)
        )


def test_the_game_keeps_its_promise_and_plain_multiplicative_weights_do_not() -> None:
    given = {
        "rounds": 4,
        "batch_x": 4,
        "step_x": 20,
        "step_q": 40,
        "randomness": SYSTEM,
    }
    honest = sampled(MANY, 50, 15, **given)
    twin = PlainGame(**{name: getattr(honest, name) for name in honest.__dataclass_fields__})
    silent, loud = asking(MANY), asking(MANY, [255, 0])
    claimed = honest.delta(1)
    assert claimed < 0.3

    def seen(game: SampledGame, queries: QuerySet) -> int:
        """How often the last two rounds drew the cell that the loud query is about."""
        return int((game.release(COUNTS, queries).points[8:] == 0).sum())

    assert audited(lambda queries: seen(honest, queries), loud, silent, 1, claimed).passes
    assert not audited(lambda queries: seen(twin, queries), loud, silent, 1, claimed).passes


class SharedCutOff(Correction):
    """One stream for all: whoever comes first takes corrections from the others."""

    def release(
        self, counts: Counted, queries: QuerySet, synopsis: GameSynopsis | HistogramSynopsis
    ) -> tuple[Corrections, ...]:
        assert isinstance(counts, np.ndarray)
        truth = queries.sums(counts)
        means = queries.means(synopsis.counts)
        together = self._stream(truth, means)
        most = self.shape.most
        return tuple(
            Corrections(
                together.answers[start : start + most],
                together.corrected[start : start + most],
                together.exhausted,
            )
            for start in range(0, len(truth), most)
        )


def test_own_streams_tell_nothing_and_a_shared_cut_off_tells_what_others_asked() -> None:
    shape = RoundShape(UNIVERSE, 2, 1)
    synopsis = HistogramSynopsis(UNIVERSE, np.array([25.0, 25.0]), Nothing())
    given = {"shape": shape, "size": PublicCount(50), "epsilon": 20, "cutoff": 1, "threshold": 0.2}
    loud = asking(shape, [255, 0], [255, 0])
    silent = asking(shape, [0, 0], [255, 0])

    def second(kind: type[Correction], queries: QuerySet) -> bool:
        """Whether the second analyst's one query, the same in both worlds, was corrected."""
        return bool(kind(**given).release(COUNTS, queries, synopsis)[1].corrected[0])  # type: ignore[arg-type]

    assert audited(lambda queries: second(Correction, queries), loud, silent, 0.05, 0.02).passes
    assert not audited(lambda queries: second(SharedCutOff, queries), loud, silent, 1, 0.1).passes
