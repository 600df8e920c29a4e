"""The sampled game at the catalogue's sizes, and its bound in a hundred runs."""

import numpy as np
import pytest

import discreet as dp
from discreet.queries.analysts.guarantee import OneQuery
from discreet.queries.analysts.query_set import QuerySet, RoundShape
from discreet.queries.analysts.sampled_game import SampledGame
from discreet.queries.record_count import PublicCount
from tests.queries.analysts.small_games import conjunctions, correlated


def reference(bits: int) -> np.ndarray:
    """A product of bits with chain correlation, the last bit an exclusive or of two others."""
    counts = correlated(100_000, bits, np.random.default_rng(12))
    cells = np.repeat(np.arange(1 << bits), counts.ravel())
    parity = (cells >> (bits - 1) ^ cells >> (bits - 6)) & 1
    return np.bincount((cells & ~1) | parity, minlength=1 << bits).reshape(counts.shape)


@pytest.mark.slow
def test_a_hundred_thousand_queries_over_twelve_bits() -> None:
    """Data and analysts at (1, 1e-6), 70 % of the data's budget; the settings of H8b."""
    counts = reference(12)
    distinct = conjunctions(12)
    picked = np.random.default_rng(3).integers(0, distinct.shape.queries, 100_000)
    shape = RoundShape(distinct.shape.universe, 1000, 100)
    queries = QuerySet(shape, distinct.rows[picked])
    game = SampledGame(
        shape=shape,
        size=PublicCount(100_000),
        s=61_859,
        rounds=400,
        batch_x=10,
        batch_q=2474,
        step_x=495 / 400,
        step_q=64 / 400,
        protects=OneQuery(),
        promise=dp.ApproxDP(epsilon=1, delta=1e-6),
    )
    assert game.event.zcdp().rho <= 0.7 * 0.024356
    assert game.analysts.epsilon(delta=1e-6) == 1
    out = game.release(counts, queries)
    errors = np.sort(np.abs(queries.means(out.counts) - queries.means(counts)))
    assert errors[-1] <= 0.15
    assert errors.mean() <= 0.02
    assert errors[-game.s] <= game.alpha(beta=0.05)
    assert game.alpha(beta=0.05) <= 10 * errors[-1]


@pytest.mark.slow
def test_the_bound_holds_in_a_hundred_runs() -> None:
    """At beta one in a million for each run: a false alarm once in ten thousand."""
    counts = correlated(4000, 6, np.random.default_rng(1))
    queries = conjunctions(6)
    game = SampledGame(
        shape=queries.shape,
        size=PublicCount(4000),
        s=8,
        rounds=300,
        batch_x=1,
        batch_q=1,
        step_x=0.3,
        step_q=0.3,
        protects=OneQuery(),
        promise=None,
    )
    truth, bound = queries.means(counts), game.alpha(beta=1e-6)
    assert bound < 1
    for _ in range(100):
        errors = np.sort(np.abs(queries.means(game.release(counts, queries).counts) - truth))
        assert errors[-game.s] <= bound
        assert errors[-1] <= bound
