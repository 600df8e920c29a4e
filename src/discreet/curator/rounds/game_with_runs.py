"""A game, and afterwards whole runs for the analysts whose answers fail.

Of what the game leaves of the data's rho a tenth is for finding who fails, the rest for the runs.
With a run for everybody nothing more is told. With fewer, a tenth of the delta that analysts were
promised is for the chance that runs are used up, and the game is planned with the rest of it.

Source: analysts-verified:H5 (failing analysts). Proof: ``proofs/analysts-failing.md``,
``proofs/rounds.md``.
"""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

from discreet.core.errors import InvalidParameter
from discreet.core.events.mechanisms import Approximate
from discreet.core.guarantee import ApproxDP, Guarantee
from discreet.core.parameters import exact
from discreet.curator.rounds.corrected_game import (
    CorrectedGame,
    left_for_corrections,
    require_useful,
)
from discreet.queries.analysts.expected_game import ExpectedGame
from discreet.queries.analysts.failing_analysts import (
    AnalystRuns,
    FailingAnalysts,
    delta_with_overflow,
)
from discreet.queries.analysts.guarantee import AnalystGuarantee
from discreet.queries.analysts.sampled_game import SampledGame

_FINDING = 0.1
_OVERFLOW = Fraction(1, 10)
_OFTEN = 0.05
"""How often noise alone may make somebody fail, where there is a run for everybody."""


def promise_of_the_game(promise: ApproxDP, runs: AnalystRuns, places: int) -> ApproxDP:
    """What a game may tell about analysts, where the runs after it may be used up."""
    if runs.analysts is not None and runs.analysts >= places:
        return promise
    return replace(promise, delta=exact(promise.delta) * (1 - _OVERFLOW))


def game_with_runs(
    game: SampledGame | ExpectedGame, *, runs: AnalystRuns, spend: Guarantee, promise: ApproxDP
) -> tuple[CorrectedGame, AnalystGuarantee]:
    """With runs for those who fail, and what analysts are promised then."""
    places = game.shape.analysts
    many = min(game.s if runs.analysts is None else runs.analysts, places)
    rest = left_for_corrections(spend)
    failing = FailingAnalysts(
        shape=game.shape,
        size=game.size,
        runs=many,
        threshold=1,  # until the noise is known, below
        bits=_FINDING * rest,
        each=(1 - _FINDING) * rest / many,
        records=game.records,
    )
    if many == places:
        threshold, told = failing.margin(beta=_OFTEN), game.analysts
    else:
        _require_enough(many, game)
        threshold, told = _rarely_used_up(failing, game, promise)
    require_useful(threshold)
    return CorrectedGame(game, replace(failing, threshold=threshold)), told


def _rarely_used_up(
    failing: FailingAnalysts, game: SampledGame | ExpectedGame, promise: ApproxDP
) -> tuple[float, AnalystGuarantee]:
    """A threshold that hardly more than s - 1 analysts pass, and the promise with that chance."""
    delta = float(exact(promise.delta) * (1 - _OVERFLOW))
    epsilon = game.analysts.epsilon(delta=delta)
    spare = float(promise.delta) - delta
    chance = spare * math.exp(-epsilon) / 2 * (1 - 1e-6)  # exp(-e) / 2 <= 1 / (1 + exp(e))
    if not chance > 0:
        return math.inf, game.analysts
    assert delta_with_overflow(epsilon=epsilon, delta=delta, chance=chance) <= promise.delta
    threshold = game.alpha(beta=chance / 2) + failing.margin(beta=chance / 2)
    event = Approximate(epsilon=epsilon, delta=promise.delta)
    return threshold, AnalystGuarantee(game.protects, event)


def _require_enough(many: int, game: SampledGame | ExpectedGame) -> None:
    """Refuse fewer runs than the game may be wrong about: others' failures would be seen."""
    needed = min(game.s - 1, game.shape.analysts)
    if many < needed:
        raise InvalidParameter(
            code="runs_too_few",
            expectation=f"runs for the {needed} analysts about whom the game may be wrong, or for "
            f"all {game.shape.analysts}",
            received=many,
            remedy="Write corrections=AnalystRuns(), which pays for as many as it takes.",
        )
