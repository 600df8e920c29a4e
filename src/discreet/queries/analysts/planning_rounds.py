"""Games as options of a plan: settings turned into whole numbers, checked, or refused.

Source: analysts-verified:H4 ("Planner"), H5.
"""

from __future__ import annotations

import math
from dataclasses import replace

from discreet.accounting.zcdp import ZERO_CONCENTRATED, zcdp_rho
from discreet.core.events.event import Event
from discreet.core.guarantee import ZCDP
from discreet.core.parameters import rounded_up
from discreet.mechanisms.for_spend import require_gaussian
from discreet.noise.randomness import SYSTEM
from discreet.queries.analysts.expected_game import ExpectedGame
from discreet.queries.analysts.flags import expected_flags, most_pull
from discreet.queries.analysts.guarantee import OneQuery
from discreet.queries.analysts.planning_game import (
    BETA,
    GAME_PART,
    GameBudget,
    GameSetting,
    HiddenUnit,
    PerAnalyst,
    PerQuery,
    expected_setting,
    sampled_setting,
)
from discreet.queries.analysts.planning_options import RoundOption, refused
from discreet.queries.analysts.predicted_error import PredictedError
from discreet.queries.analysts.public_round import PublicRound
from discreet.queries.analysts.query_set import RoundShape
from discreet.queries.analysts.sampled_game import SampledGame

MOST_WRONG = 0.5
"""A game that may be wrong about more than half of everybody is of no use."""
MOST_BYTES = 1 << 31
"""Queries are held as one byte for each cell."""
_SAFE = 1 - 1e-6
_PLENTY = 10**15
_SECONDS, _EACH, _FEWEST = 60.0, 5e-10, 50
_SAMPLED, _EXPECTED = "sampled game", "expected game"


def sampled_option(facts: PublicRound) -> RoundOption:
    """A1, or why not."""
    setting = sampled_setting(asked_of(facts), budget_of(facts))
    reason = unhelpful(facts, setting)
    if reason:
        return refused(_SAMPLED, facts.protects, reason, _promised(setting))
    game = sampled_game(facts, setting)
    # A round's batches, and its projection over all queries.
    work = facts.universe.size * game.batch_q + facts.queries * (game.batch_x + 50)
    return _option(_SAMPLED, game, setting, 2e-9 * game.rounds * work)


def expected_option(facts: PublicRound) -> RoundOption:
    """A2, or why not."""
    work = facts.universe.size * facts.queries
    # Each round reads every query at every cell: as many rounds as a minute has room for.
    affordable = max(_FEWEST, int(_SECONDS / (_EACH * work)))
    budget = replace(budget_of(facts), rounds=min(facts.rounds, affordable))
    setting = expected_setting(asked_of(facts), budget)
    reason = unhelpful(facts, setting)
    if reason:
        return refused(_EXPECTED, facts.protects, reason, _promised(setting))
    game = expected_game(facts, setting)
    return _option(_EXPECTED, game, setting, _EACH * game.rounds * work)


def asked_of(facts: PublicRound) -> HiddenUnit:
    """Who is hidden, in public numbers."""
    if isinstance(facts.protects, OneQuery):
        return PerQuery(facts.queries)
    return PerAnalyst(facts.analysts, facts.most)


def budget_of(facts: PublicRound) -> GameBudget:
    """The budgets in what the bounds are written in."""
    paid = require_gaussian(facts.spend)
    rho = paid.rho if isinstance(paid, ZCDP) else zcdp_rho(paid.epsilon, paid.delta)
    epsilon, delta = float(facts.promise.epsilon), float(facts.promise.delta)
    return GameBudget(
        cells=facts.universe.size,
        records=facts.size.records,
        data_rho=float(rho) / facts.records**2,
        epsilon=epsilon,
        delta=delta,
        analyst_rho=float(zcdp_rho(epsilon, delta)),
        rounds=facts.rounds,
        wrong=MOST_WRONG,
    )


def unhelpful(facts: PublicRound, setting: GameSetting) -> str:
    """Why a game cannot help, or nothing."""
    asked = asked_of(facts)
    what = "queries" if isinstance(asked, PerQuery) else "analysts"
    if setting.error >= 1:
        needed = sampled_setting(_unlimited(asked), budget_of(facts)).s
        if needed > MOST_WRONG * asked.groups:
            return f"too few {what}: it needs s = {needed:.0f} that may be wrong, of {asked.groups}"
        return f"its promise, {setting.error:.2g}, says nothing about a share"
    if facts.queries * facts.universe.size > MOST_BYTES:
        return f"its queries would take {facts.queries * facts.universe.size / 2**30:.3g} GiB"
    return ""


def _unlimited(asked: HiddenUnit) -> HiddenUnit:
    """The same with as many groups as anybody could wish for."""
    if isinstance(asked, PerAnalyst):
        return replace(asked, analysts=_PLENTY)
    return PerQuery(_PLENTY)


def sampled_game(facts: PublicRound, setting: GameSetting) -> SampledGame:
    """A setting of A1 in whole numbers, its steps as long as both budgets allow."""
    rounds = max(2, int(setting.rounds))
    game = SampledGame(
        shape=RoundShape(facts.universe, facts.analysts, facts.most),
        size=facts.size,
        s=min(math.ceil(setting.s), asked_of(facts).groups),
        rounds=rounds,
        batch_x=max(1, round(setting.points / rounds)),
        batch_q=max(1, int(setting.draws / rounds)),
        step_x=1e-9,  # until the longest one is known, below
        step_q=setting.reach_q / rounds,
        protects=facts.protects,
        promise=facts.promise,
        records=facts.records,
        randomness=facts.randomness,
    )
    game = replace(game, step_q=_data_step(game, facts))
    pull = most_pull(
        flags=expected_flags(draws=game.draws, share=game.share),
        epsilon=float(facts.promise.epsilon),
        delta=float(facts.promise.delta),
    )
    longest = _SAFE * pull * game.batch_q / math.sqrt(game.points)
    return replace(game, step_x=min(longest, setting.reach_x / rounds))


def expected_game(facts: PublicRound, setting: GameSetting) -> ExpectedGame:
    """A setting of A2 in whole numbers."""
    rounds = max(2, int(setting.rounds))
    batch = max(1, round(setting.points / rounds))
    game = ExpectedGame(
        shape=RoundShape(facts.universe, facts.analysts, facts.most),
        size=facts.size,
        s=min(math.ceil(setting.s), asked_of(facts).groups),
        rounds=rounds,
        batch_x=batch,
        step_x=setting.reach_x / rounds,
        step_q=setting.reach_q / rounds,
        protects=facts.protects,
        records=facts.records,
        randomness=facts.randomness,
    )
    limit = budget_of(facts).analyst_rho
    while (cost := _cost(replace(game, randomness=SYSTEM).analysts.event)) > limit:
        # Whole numbers of points and rounds made the step a little too long.
        game = replace(game, step_x=float(game.step_x) * math.sqrt(limit / cost) * _SAFE)
    return replace(game, step_q=_data_step(game, facts))


def _data_step(game: SampledGame | ExpectedGame, facts: PublicRound) -> float:
    """The query player's step, shortened until the game's part of the data budget is kept."""
    paid = require_gaussian(facts.spend)
    rho = float(paid.rho if isinstance(paid, ZCDP) else zcdp_rho(paid.epsilon, paid.delta))
    limit = GAME_PART * rho
    step = float(game.step_q)
    while (cost := _cost(replace(game, step_q=step, randomness=SYSTEM).event)) > limit:
        # Costs grow with the square of the step, or a little slower.
        step *= math.sqrt(limit / cost) * _SAFE
    return step


def _cost(event: Event) -> float:
    return rounded_up(ZERO_CONCENTRATED.price(event))


def _promised(setting: GameSetting) -> PredictedError:
    return PredictedError(mean=math.nan, largest=setting.error)


def _option(
    name: str, game: SampledGame | ExpectedGame, setting: GameSetting, seconds: float
) -> RoundOption:
    error = game.alpha(beta=BETA) + setting.correction
    return RoundOption(
        name=name,
        mechanism=game,
        error=PredictedError(mean=math.nan, largest=error),
        basis="promise",
        analysts=game.analysts,
        seconds=seconds,
    )
