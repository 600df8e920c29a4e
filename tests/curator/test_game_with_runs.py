"""What a round with runs for failing analysts promises, and at which error somebody fails."""

from __future__ import annotations

import math

import numpy as np
import pytest

import discreet as dp
from discreet.core.unit import Replace
from discreet.curator.rounds.corrected_game import CorrectedGame
from discreet.curator.rounds.plan import Facts, RoundPlan, plan
from discreet.errors import InvalidParameter
from discreet.queries.analysts.expected_game import ExpectedGame
from discreet.queries.analysts.failing_analysts import AnalystRuns, FailingAnalysts
from discreet.queries.analysts.guarantee import OneAnalyst
from discreet.queries.analysts.query_class import AnyQuery
from discreet.queries.analysts.sampled_game import SampledGame
from discreet.queries.record_count import PublicCount
from discreet.queries.workload.universe import Universe
from tests.curator.test_round import GAME, MINE, PLENTY, ROOMY, opened, people, private, truths

PLENTIFUL = GAME | {"spend": PLENTY}
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


# Rounds -------------------------------------------------------------------------------------------


def test_after_a_game_analysts_whose_answers_fail_get_a_run_of_their_own() -> None:
    """A run for everybody: noise of a run is below a record's, so 30 has a chance below 1e-12."""
    source = private(budget=ROOMY)
    asked = AnalystRuns(len(GAME["analysts"]))
    about = opened(source, mechanism=SampledGame, corrections=asked, **PLENTIFUL)
    assert "40 runs for 40 analysts" in about.plan().explain()
    assert about.plan().cost == dp.ApproxDP(epsilon=40, delta=1e-2)
    assert about.plan().event.zcdp().rho <= PLENTY.rho
    (paid,) = [entry for entry in source.ledger.entries() if entry.kind == "reserved"]
    kept = paid.body["detail"]["round"]["corrections"]
    assert kept == {"kind": "analyst-runs/1", "analysts": 40}
    about.submit("n1", MINE)
    results = about.close()
    mine = results.for_analyst("n1")
    assert mine.corrected.all() == mine.corrected.any()
    assert mine.corrected.any()  # the game's bound is .26, and a run is worth .0044
    assert not mine.exhausted
    assert np.abs(mine.answers - truths(people())).max() < 30
    assert source.resume(about.id).close().for_analyst("n1").answers.tolist() == (
        mine.answers.tolist()
    )


def test_a_round_with_runs_is_planned_the_same_when_it_is_resumed() -> None:
    ledger = dp.ledger.Memory()
    source = private(budget=ROOMY, ledger=ledger)
    about = opened(source, mechanism=SampledGame, corrections=AnalystRuns(40), **PLENTIFUL)
    about.submit("n1", MINE)
    again = private(budget=ROOMY, ledger=ledger).resume(about.id)
    assert again.plan() == about.plan()
    assert np.abs(again.close().for_analyst("n1").answers - truths(people())).max() < 30


@pytest.mark.parametrize("game", [SampledGame, pytest.param(ExpectedGame, marks=pytest.mark.slow)])
def test_fewer_runs_than_analysts_cost_the_chance_that_they_are_used_up(game: type) -> None:
    source = private(budget=dp.ZCDP(rho=10**7))
    more = {
        "spend": dp.ZCDP(rho=10**6),
        "protects": OneAnalyst(),
        "places": 400,
        "queries_each": 2,
        "promise": dp.ApproxDP(epsilon=5, delta=1e-2),
    }
    about = opened(source, mechanism=game, corrections=AnalystRuns(), **(GAME | more))
    assert "200 runs for 400 analysts" in about.plan().explain()
    plain = opened(source, mechanism=game, **(GAME | more))
    for each in (about, plain):
        assert float(each.plan().cost.epsilon) <= 5
        assert float(each.plan().cost.delta) == pytest.approx(1e-2)
    # The game itself was planned with nine tenths of the delta; the rest is for the chance.
    assert about.plan().analysts.epsilon(delta=0.0099) == math.inf
    assert plain.plan().event != about.plan().event
    with pytest.raises(InvalidParameter, match="runs_too_few"):
        opened(source, mechanism=game, corrections=AnalystRuns(50), **(GAME | more))
    with pytest.raises(InvalidParameter, match="not_a_count"):
        opened(source, mechanism=game, corrections=-1, **(GAME | more))
    few = {"places": 40, "promise": dp.ApproxDP(epsilon=10, delta=1e-2), "mechanism": ExpectedGame}
    with pytest.raises(InvalidParameter, match="corrections_useless"):
        opened(source, corrections=AnalystRuns(), **(GAME | more | few))
    assert len(source.history()) == 2
