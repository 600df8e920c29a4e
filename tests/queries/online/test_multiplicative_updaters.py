"""Steps by the gap bring the hypothesis closer than fixed ones."""

import math

import hypothesis.strategies as st
import numpy as np
from hypothesis import given

import discreet as dp
from discreet.noise import Noiseless
from discreet.queries.online.construction import OnlineConstruction
from discreet.queries.online.multiplicative_updaters import GapUpdater
from discreet.queries.record_count import PublicCount
from discreet.queries.workload.linear_query import LinearQuery, Weights

NUMBERS = np.random.default_rng(9)

CELLS = 64

COUNTS = NUMBERS.multinomial(100_000, NUMBERS.dirichlet(np.full(CELLS, 0.1)))

QUERIES = [Weights(NUMBERS.random(CELLS) < 0.3) for _ in range(60)]

SPENDS = [dp.PureDP(epsilon=1), dp.ZCDP(rho=0.5), dp.ApproxDP(epsilon=1, delta=1e-6)]


def truth(query: LinearQuery) -> float:
    return query.answer(COUNTS.astype(float)) / float(COUNTS.sum())


@given(
    start=st.lists(st.floats(0.01, 1), min_size=4, max_size=4),
    data=st.lists(st.floats(0.01, 1), min_size=4, max_size=4),
    query=st.lists(st.floats(0, 1), min_size=4, max_size=4),
    off=st.floats(-0.3, 0.3),
)
def test_a_step_of_four_gaps_brings_it_closer_by_twice_their_squares(
    start: list[float], data: list[float], query: list[float], off: float
) -> None:
    """At least 2 ((m - p)**2 - (m - v)**2), whatever the value v."""
    truth, asked = np.array(data) / sum(data), Weights(query)
    hypothesis = GapUpdater(4, 0.1, start).begin()
    p, m = hypothesis.answer(asked), asked.answer(truth)
    before = hypothesis.weights.divergence(truth)
    hypothesis.update(asked, m + off)
    fallen = before - hypothesis.weights.divergence(truth)
    assert fallen >= 2 * ((m - p) ** 2 - off**2) - 1e-9


def test_without_noise_updates_by_the_gap_stay_within_their_bound() -> None:
    plan = OnlineConstruction(
        GapUpdater(CELLS, 0.03), SPENDS[0], PublicCount(100_000), 4000, randomness=Noiseless()
    )
    session = plan.open(COUNTS)
    for query in QUERIES * 40:
        assert abs(session.ask(query) - truth(query)) <= 0.04 + 1e-9
    assert 0 < plan.cutoff - session.updates_left <= 9 * math.log(CELLS) / (16 * 0.03**2)
