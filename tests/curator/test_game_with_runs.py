"""What a round with runs for failing analysts promises, and at which error somebody fails."""

from __future__ import annotations

import math

import pytest

import discreet as dp
from discreet.core.unit import Replace
from discreet.curator.rounds.corrected_game import CorrectedGame
from discreet.curator.rounds.plan import Facts, RoundPlan, plan
from discreet.queries.analysts.expected_game import ExpectedGame
from discreet.queries.analysts.failing_analysts import AnalystRuns, FailingAnalysts
from discreet.queries.analysts.guarantee import OneAnalyst
from discreet.queries.analysts.query_class import AnyQuery
from discreet.queries.record_count import PublicCount
from discreet.queries.workload.universe import Universe

PROMISE = dp.ApproxDP(epsilon=5, delta=1e-2)
SPEND = dp.ZCDP(rho=10**6)


def planned(runs: AnalystRuns) -> tuple[RoundPlan, ExpectedGame, FailingAnalysts]:
    facts = Facts(
        universe=Universe.of(x=range(8)),
        size=PublicCount(1000),
        records=1,
        unit=Replace(dp.Row()),
        analysts=400,
        most=2,
        spend=SPEND,
        protects=OneAnalyst(),
        promise=PROMISE,
        asked=AnyQuery(),
        corrections=runs,
    )
    made, mechanism = plan(facts, ExpectedGame)
    assert isinstance(mechanism, CorrectedGame)
    assert isinstance(mechanism.game, ExpectedGame)
    assert isinstance(mechanism.correction, FailingAnalysts)
    return made, mechanism.game, mechanism.correction


def test_with_fewer_runs_only_errors_beyond_the_games_bound_count_as_failing() -> None:
    made, game, failing = planned(AnalystRuns())
    assert failing.runs == game.s < 400
    told = game.analysts.epsilon(delta=0.009)
    assert told <= 5
    chance = 0.001 * math.exp(-told) / 2
    bound = game.alpha(beta=chance / 2) + failing.margin(beta=chance / 2)
    assert float(failing.threshold) == pytest.approx(bound, rel=1e-6)
    assert float(failing.threshold) > game.alpha(beta=1e-3) + failing.margin(beta=1e-3)
    assert made.analysts.epsilon(delta=0.01) == pytest.approx(told)
    assert (1 + math.exp(told)) * chance + 0.009 <= 0.01
    assert made.event.zcdp().rho <= SPEND.rho


def test_with_a_run_for_everybody_the_noise_alone_decides_and_the_promise_is_the_games() -> None:
    made, game, failing = planned(AnalystRuns(400))
    assert failing.runs == 400
    assert float(failing.threshold) == pytest.approx(failing.margin(beta=0.05))
    assert float(failing.threshold) < 0.01
    assert made.analysts == game.analysts
    assert made.event.zcdp().rho <= SPEND.rho
    fewer = planned(AnalystRuns())[2]
    assert float(fewer.each) == pytest.approx(float(failing.each) * 400 / fewer.runs)
