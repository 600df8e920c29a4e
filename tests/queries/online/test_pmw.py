"""Plans of private multiplicative weights: as accurate as the theorem, or more."""

import math

import numpy as np
import pytest

import discreet as dp
from discreet.core.guarantee import Guarantee
from discreet.core.interactive import Interactive
from discreet.queries.online.pmw import private_gap_weights, private_multiplicative_weights
from discreet.queries.record_count import PublicCount
from discreet.queries.workload.linear_query import LinearQuery, Weights

NUMBERS = np.random.default_rng(9)

CELLS = 64

COUNTS = NUMBERS.multinomial(100_000, NUMBERS.dirichlet(np.full(CELLS, 0.1)))

QUERIES = [Weights(NUMBERS.random(CELLS) < 0.3) for _ in range(60)]

SPENDS = [dp.PureDP(epsilon=1), dp.ZCDP(rho=0.5), dp.ApproxDP(epsilon=1, delta=1e-6)]


def truth(query: LinearQuery) -> float:
    return query.answer(COUNTS.astype(float)) / float(COUNTS.sum())


def test_a_plan_is_at_least_as_accurate_as_the_theorem() -> None:
    """One comparison for two, so ln k in place of ln 2k."""
    plan = private_multiplicative_weights(
        cells=1024, spend=SPENDS[0], size=PublicCount(10**6), questions=1000, confidence=0.95
    )
    assert 0.15 < plan.updater.error <= 0.16763
    assert plan.cutoff == math.floor(4 * math.log(1024) / plan.updater.error**2)


@pytest.mark.parametrize("spend", SPENDS, ids=lambda s: type(s).__name__)
def test_answers_are_as_accurate_as_planned(spend: Guarantee) -> None:
    """At confidence 1 - 1e-4 that all are within 3 alpha."""
    plan = private_multiplicative_weights(
        cells=CELLS, spend=spend, size=PublicCount(100_000), questions=60, confidence=0.9999
    )
    session = plan.open(COUNTS)
    assert isinstance(session, Interactive)
    for query in QUERIES:
        assert abs(session.ask(query) - truth(query)) <= 3 * plan.updater.error
    assert session.event == plan.event


def test_steps_by_the_gap_are_planned_more_accurately_than_the_theorem() -> None:
    given = {"cells": 1024, "spend": SPENDS[0], "size": PublicCount(10**6), "questions": 1000}
    fixed = private_multiplicative_weights(**given, confidence=0.95)  # type: ignore[arg-type]
    plan = private_gap_weights(**given, confidence=0.95)  # type: ignore[arg-type]
    stated = plan.within(confidence=0.95, questions=1000)
    # The number of updates is whole, so a little is left over.
    assert 0.99 < stated / (5 / 3 * plan.updater.error * 10**6) <= 1
    assert stated < 0.45 * fixed.within(confidence=0.95, questions=1000)
    few = private_gap_weights(**given, confidence=0.95, updates=30)  # type: ignore[arg-type]
    assert few.cutoff == 30
    assert few.within(confidence=0.95, questions=1000) < stated / 2
