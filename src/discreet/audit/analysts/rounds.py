"""The releases of ``queries.analysts`` as rounds that an audit can play.

Each takes everybody's queries and returns what is shown to whom.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from discreet.audit.analysts.neighbours import Submitted
from discreet.audit.analysts.views import RoundView
from discreet.queries.analysts.baselines import PaddedNoise
from discreet.queries.analysts.correction import Correction
from discreet.queries.analysts.failing_analysts import FailingAnalysts
from discreet.queries.analysts.game import Game
from discreet.queries.analysts.profile import ProfileRelease
from discreet.queries.analysts.query_set import QuerySet, RoundShape
from discreet.queries.synopses.synopsis import HistogramSynopsis
from discreet.queries.workload.cell_counts import Counted
from discreet.queries.workload.linear_query import LinearQuery
from discreet.queries.workload.workload import Places

Round: TypeAlias = Callable[[Submitted[LinearQuery]], RoundView]


def game_round(game: Game, counts: Counted) -> Round:
    """A game: everybody sees its synopsis."""
    return lambda submitted: RoundView(game.release(counts, queries_of(game.shape, submitted)))


def corrected_game_round(
    game: Game, correction: Correction | FailingAnalysts, counts: Counted
) -> Round:
    """A game, and each analyst's own corrections of its synopsis, or runs for those who fail."""

    def play(submitted: Submitted[LinearQuery]) -> RoundView:
        queries = queries_of(game.shape, submitted)
        synopsis = game.release(counts, queries)
        return RoundView(synopsis, correction.release(counts, queries, synopsis))

    return play


def correction_round(
    correction: Correction | FailingAnalysts, counts: Counted, synopsis: HistogramSynopsis
) -> Round:
    """Each analyst's own corrections of a synopsis that everybody has, or runs for who fails."""

    def play(submitted: Submitted[LinearQuery]) -> RoundView:
        queries = queries_of(correction.shape, submitted)
        return RoundView(synopsis, correction.release(counts, queries, synopsis))

    return play


def independent_round(mechanism: PaddedNoise, counts: Counted) -> Round:
    """Independent noise: each analyst sees the answers to their own queries."""

    def play(submitted: Submitted[LinearQuery]) -> RoundView:
        asked = [query for queries in submitted for query in queries]
        ends = np.cumsum([len(queries) for queries in submitted])
        answers = mechanism.release(counts, asked)
        return RoundView(own=tuple(np.split(answers, ends[:-1])))

    return play


def profile_round(release: ProfileRelease) -> Callable[[Submitted[Places]], RoundView]:
    """A workload profile: everybody is taken to see it, though most need not."""
    return lambda submitted: RoundView(release.release(submitted))


def queries_of(shape: RoundShape, submitted: Submitted[LinearQuery]) -> QuerySet:
    """Everybody's queries in the public shape, as each analyst would submit them."""
    names = [str(place) for place in range(shape.analysts)]
    held = {name: shape.submit(queries) for name, queries in zip(names, submitted, strict=True)}
    return QuerySet.of(shape, names, held)
