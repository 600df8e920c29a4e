"""The one core of multiplicative weights; games play as they did when they had their own."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from discreet.core.parameters import exact
from discreet.noise import Seeded, bernoulli, bernoulli_exp, uniform_integers, winner
from discreet.queries.analysts.expected_game import PLACES, ExpectedGame
from discreet.queries.analysts.game import Game
from discreet.queries.analysts.guarantee import OneAnalyst, OneQuery
from discreet.queries.analysts.query_set import QuerySet
from discreet.queries.analysts.sampled_game import SampledGame
from discreet.queries.log_weights import LogWeights, centred, log_sums, relative
from discreet.queries.mwem.multiplicative_weights import MultiplicativeWeights
from tests.queries.analysts.small_games import expected, random_queries, sampled, shape_of


def test_weights_are_those_of_their_logarithms_up_to_one_factor() -> None:
    weights = LogWeights.even(3, Fraction(1, 4))
    weights.learn(np.array([4, 0, -8]))
    assert weights.logs.tolist() == [1.0, 0.0, -2.0]
    assert relative(weights.logs) == pytest.approx(np.exp([0, -1, -3]))
    weights.learn(np.full(3, 10**15))  # far beyond what exp can hold
    assert relative(weights.logs) == pytest.approx(np.exp([0, -1, -3]))
    assert log_sums(np.array([1e5, 1e5, -1e5, -1e5]), 2) == pytest.approx(
        [1e5 + np.log(2), -1e5 + np.log(2)]
    )


def test_doubles_at_rate_one_are_learnt_in_place_and_can_be_made_relative_there() -> None:
    scores = np.array([0.5, -0.5])
    weights = LogWeights(scores)
    weights.learn(np.array([1.0, 0.0]))
    assert weights.logs is scores
    out = np.empty(2)
    assert relative(scores, out=out) is out
    assert scores.tolist() == [1.5, -0.5]
    assert centred(scores).tolist() == [0.0, -2.0]


def test_draws_are_the_exact_race() -> None:
    scores, rate = np.array([3, 1, 0, 7]), Fraction(2, 3)
    assert (
        LogWeights(scores, rate).draw(50, Seeded(1)).tolist()
        == winner(scores, rate, 50, Seeded(1)).tolist()
    )


def test_multiplicative_weights_keep_their_logarithms_in_the_core() -> None:
    weights = MultiplicativeWeights(4)
    weights.tilt(np.array([0.0, 1.0, 2.0, 3.0]))
    assert weights.distribution == pytest.approx(
        relative(np.arange(4.0)) / relative(np.arange(4.0)).sum()
    )


# Games as they were before they shared it --------------------------------------------------------


def former_law(tilts: np.ndarray, width: int, s: int) -> tuple[np.ndarray, np.ndarray]:
    """Scores of groups, and who is at the cap: in the words of the first version."""
    size = np.abs(tilts)
    logs = size + np.log1p(np.exp(-2 * size))
    if width > 1:
        table = logs.reshape(-1, width)
        top = table.max(axis=1)
        logs = top + np.log(np.exp(table - top[:, None]).sum(axis=1))
    scores = np.maximum(logs - logs.max(), -700.0)
    full = np.zeros(len(scores), dtype=bool)
    if s == len(scores):
        return scores, ~full
    weights = np.exp(scores)
    while True:
        held = int(full.sum())
        scale = (s - held) / weights[~full].sum()
        found = np.flatnonzero(~full & (scale * weights >= 1 - 2.0**-46))
        if not found.size:
            return scores, full
        room = s - 1 - held
        if found.size > room:
            full[found[np.argsort(-weights[found], kind="stable")[:room]]] = True
            return scores, full
        full[found] = True


def former_queries(game: SampledGame, tilts: np.ndarray) -> np.ndarray:
    """How often each query was drawn, less how often its negation."""
    scores, full = former_law(tilts, game.width, game.s)
    source, size = game.randomness, game.batch_q
    at_cap = bernoulli(Fraction(int(full.sum()), game.s), size, source)
    groups = np.empty(size, dtype=np.int64)
    if at_cap.any():
        picks = uniform_integers(int(full.sum()), int(at_cap.sum()), source)
        groups[at_cap] = np.flatnonzero(full)[picks]
    if not at_cap.all():
        free = np.flatnonzero(~full)
        groups[~at_cap] = free[winner(scores[free], Fraction(1), int((~at_cap).sum()), source)]
    tops = np.abs(tilts).reshape(-1, game.width).max(axis=1)
    net, left = np.zeros(len(tilts), dtype=np.int64), np.arange(size)
    while left.size:
        member = uniform_integers(2 * game.width, left.size, source)
        asked, signs = groups[left] * game.width + member // 2, 1 - 2 * (member % 2)
        best, own = tops[groups[left]], signs * tilts[asked]
        exactly = [Fraction(float(a)) - Fraction(float(b)) for a, b in zip(best, own, strict=True)]
        kept = bernoulli_exp(best - own, exactly.__getitem__, source)
        np.add.at(net, asked[kept], signs[kept])
        left = left[~kept]
    return net


def former_expectation(game: ExpectedGame, queries: QuerySet, tilts: np.ndarray) -> np.ndarray:
    """The expected level of each cell, on its grid."""
    scores, full = former_law(tilts, game.width, game.s)
    masses = np.ones(len(scores))
    if not full.all():
        weights = np.exp(scores[~full])
        masses[~full] = (game.s - int(full.sum())) * (weights / weights.sum())
    size = np.abs(tilts)
    logs = (size + np.log1p(np.exp(-2 * size))).reshape(-1, game.width)
    top = logs.max(axis=1)
    sums = top + np.log(np.exp(logs - top[:, None]).sum(axis=1))
    share = (masses / game.s)[:, None] * np.exp(logs - sums[:, None])
    net = share.ravel() * np.tanh(tilts)
    return np.rint(queries.along(net) / game.shape.levels * 2.0**PLACES).astype(np.int64)


def former_points(game: Game, counts: np.ndarray, queries: QuerySet) -> np.ndarray:
    """All cells that are published, drawn with the game's own seed."""
    n, sums = game.population, queries.sums(counts)
    rate = float(exact(game.step_q) / (2 * game.batch_x * n * game.shape.levels))
    gains = np.zeros(game.shape.universe.size, dtype=np.int64)
    drawn, cells, moves = np.zeros(len(sums), dtype=np.int64), 0, []
    for _ in range(game.rounds):
        move = winner(gains, game.gain_rate(), game.batch_x, game.randomness)
        tilts = (cells * sums - n * drawn).astype(np.float64) * rate
        if isinstance(game, SampledGame):
            gains += np.rint(queries.along(former_queries(game, tilts) * 1.0)).astype(np.int64)
        else:
            assert isinstance(game, ExpectedGame)
            gains += former_expectation(game, queries, tilts)
        drawn, cells = drawn + queries.at(move), cells + len(move)
        moves.append(move)
    return np.concatenate(moves)


@pytest.mark.parametrize("kind", [sampled, expected], ids=["sampled", "expected"])
@pytest.mark.parametrize("width", [1, 3])
@pytest.mark.parametrize("s", [2, 5, 6])
def test_seeded_games_publish_the_same_bytes_as_before(kind: object, width: int, s: int) -> None:
    shape = shape_of(8, 6, width)
    queries = random_queries(shape, np.random.default_rng(s))
    counts = np.random.default_rng(4).multinomial(300, np.full(8, 1 / 8))
    protects = OneQuery() if width == 1 else OneAnalyst()

    def game() -> Game:
        more = {"batch_q": 3} if kind is sampled else {}
        made: Game = kind(  # type: ignore[operator]
            shape, 300, s, rounds=20, batch_x=4, step_x=0.7, step_q=3, protects=protects,
            randomness=Seeded(s), **more,
        )  # fmt: skip
        return made

    found = game().release(counts, queries).points
    assert found.tobytes() == former_points(game(), counts, queries).tobytes()
