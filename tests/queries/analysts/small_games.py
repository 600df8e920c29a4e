"""Small instances of the games, and the exact law of what they do."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np

from discreet.core.parameters import exact
from discreet.noise import Seeded
from discreet.queries.analysts.expected_game import ExpectedGame
from discreet.queries.analysts.game import Game, Tilts
from discreet.queries.analysts.guarantee import OneQuery
from discreet.queries.analysts.query_set import QuerySet, RoundShape
from discreet.queries.analysts.sampled_game import SampledGame
from discreet.queries.record_count import PublicCount
from discreet.queries.workload.universe import Universe
from discreet.queries.workload.workload import Workload

View = tuple[tuple[int, ...], tuple[int, ...], float]


def shape_of(cells: int, analysts: int, most: int) -> RoundShape:
    return RoundShape(Universe.of(x=range(cells)), analysts, most)


def random_queries(shape: RoundShape, rng: np.random.Generator) -> QuerySet:
    rows = 255 * rng.integers(0, 2, (shape.queries, shape.universe.size))
    return QuerySet(shape, rows.astype(np.uint8))


def sampled(shape: RoundShape, records: int, s: int, **others: object) -> SampledGame:
    given: dict[str, object] = {
        "rounds": 3,
        "batch_x": 1,
        "batch_q": 1,
        "step_x": 1,
        "step_q": 1,
        "protects": OneQuery(),
        "promise": None,
        "randomness": Seeded(0),
    }
    return SampledGame(shape=shape, size=PublicCount(records), s=s, **{**given, **others})  # type: ignore[arg-type]


def expected(shape: RoundShape, records: int, s: int, **others: object) -> ExpectedGame:
    given: dict[str, object] = {
        "rounds": 3,
        "batch_x": 1,
        "step_x": 1,
        "step_q": 1,
        "protects": OneQuery(),
        "randomness": Seeded(0),
    }
    return ExpectedGame(shape=shape, size=PublicCount(records), s=s, **{**given, **others})  # type: ignore[arg-type]


def tilts_of(game: Game, queries: QuerySet, counts: np.ndarray, drawn: list[int]) -> Tilts:
    """The query player's state after some cells."""
    rate = exact(game.step_q) / (2 * game.batch_x * game.population * game.shape.levels)
    tilts = Tilts(queries, queries.sums(counts), game.population, rate, game.width, game.s)
    for cell in drawn:
        tilts.learn(np.array([cell]))
    return tilts


def signed_law(tilts: Tilts) -> np.ndarray:
    """Probabilities of all queries, then of all negations."""
    law = tilts.distribution
    logs = np.concatenate([law.tilts, -law.tilts]).reshape(2, -1, law.width)
    top = logs.max(axis=(0, 2), keepdims=True)
    inside = np.exp(logs - top)
    inside /= inside.sum(axis=(0, 2), keepdims=True)
    return np.asarray((inside * (law.groups.masses / law.groups.s)[None, :, None]).ravel())


def cell_law(game: Game, gains: np.ndarray) -> np.ndarray:
    weights = np.exp(float(game.gain_rate()) * (gains - gains.max()))
    return np.asarray(weights / weights.sum())


def sampled_views(game: SampledGame, queries: QuerySet, counts: np.ndarray) -> Iterator[View]:
    """All (hidden queries, cells) with probabilities; one draw of each in a round."""
    levels = queries.rows.astype(np.int64)
    signed = np.concatenate([levels, -levels])
    cells = range(game.shape.universe.size)

    def continue_(hidden: tuple[int, ...], drawn: tuple[int, ...], chance: float) -> Iterator[View]:
        if len(drawn) == game.rounds:
            yield hidden, drawn, chance
            return
        laws = signed_law(tilts_of(game, queries, counts, list(drawn)))
        gains = signed[list(hidden)].sum(axis=0) if hidden else np.zeros(len(cells))
        by_cell = cell_law(game, gains)
        for action, cell in itertools.product(range(len(signed)), cells):
            both = chance * laws[action] * by_cell[cell]
            yield from continue_((*hidden, action), (*drawn, cell), both)

    yield from continue_((), (), 1.0)


def expected_views(game: ExpectedGame, queries: QuerySet, counts: np.ndarray) -> np.ndarray:
    """Probabilities of all sequences of cells, one in a round."""
    cells = range(game.shape.universe.size)
    chances = []
    for drawn in itertools.product(cells, repeat=game.rounds):
        tilts = tilts_of(game, queries, counts, [])
        player, gains, chance = game.query_player(tilts), np.zeros(len(cells)), 1.0
        for cell in drawn:
            chance *= cell_law(game, gains)[cell]
            gains = gains + player.move()
            player.learn(np.array([cell]))
        chances.append(chance)
    return np.array(chances)


def correlated(records: int, bits: int, rng: np.random.Generator) -> np.ndarray:
    """Counts of bits with chances of their own, each often a copy of the one before it."""
    table = rng.random((records, bits)) < rng.uniform(0.2, 0.8, bits)
    for place in range(1, bits):
        copied = rng.random(records) < 0.4
        table[copied, place] = table[copied, place - 1]
    cells = table @ (1 << np.arange(bits)[::-1])
    return np.bincount(cells, minlength=1 << bits).reshape((2,) * bits)


def conjunctions(bits: int) -> QuerySet:
    """All conjunctions of three bits or their negations, one query for each analyst."""
    universe = Universe.of(**{f"b{i}": range(2) for i in range(bits)})
    asked = Workload.marginals(universe, 3)
    rows = np.round(255 * asked.dense()).astype(np.uint8)
    return QuerySet(RoundShape(universe, len(rows), 1), rows)
