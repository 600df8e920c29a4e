"""A game, and afterwards corrections for each analyst alone.

The game takes its part of the spend, the streams of corrections the rest: at most
.40 epsilon**2 / cutoff of rho for each analyst (comparisons at 8/9 of epsilon, values at 1/9, pure
steps each). Analysts:
the game's guarantee; a stream is a function of the synopsis, of data, of its own analyst's queries
and of noise of its own.

Source: analysts-verified:H4 (correction stage, a). Proof: ``proofs/rounds.md``,
``proofs/analysts-correction.md``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from discreet.accounting.zcdp import zcdp_rho
from discreet.core.errors import InvalidParameter
from discreet.core.events.event import Event
from discreet.core.guarantee import ZCDP, Guarantee
from discreet.core.parameters import count
from discreet.mechanisms.for_spend import largest_epsilon, require_gaussian
from discreet.noise.randomness import Source
from discreet.queries.analysts.correction import Correction
from discreet.queries.analysts.expected_game import ExpectedGame
from discreet.queries.analysts.failing_analysts import FailingAnalysts
from discreet.queries.analysts.planning_game import GAME_PART
from discreet.queries.analysts.sampled_game import SampledGame

_SAFE = 1 - 1e-6
_OFTEN = 0.05
"""How often noise alone may pass a stream's threshold, about."""
_STEPS = 65 / 81


@dataclass(frozen=True)
class CorrectedGame:
    """Plays a game, then corrects each analyst's worst answers, or runs anew for those who fail."""

    game: SampledGame | ExpectedGame
    correction: Correction | FailingAnalysts

    @property
    def event(self) -> Event:
        """What both cost the data."""
        return self.game.event + self.correction.event

    def drawing(self, randomness: Source) -> CorrectedGame:
        """The same with noise from elsewhere."""
        correction: Correction | FailingAnalysts = replace(self.correction, randomness=randomness)
        return CorrectedGame(replace(self.game, randomness=randomness), correction)


def left_for_corrections(spend: Guarantee) -> float:
    """The rho that a game leaves."""
    paid = require_gaussian(spend)
    rho = float(paid.rho if isinstance(paid, ZCDP) else zcdp_rho(paid.epsilon, paid.delta))
    return (1 - GAME_PART) * rho * _SAFE


def require_useful(threshold: float) -> None:
    """Refuse corrections of differences that no share can have."""
    if not threshold < 1:
        raise InvalidParameter(
            code="corrections_useless",
            expectation="corrections whose noise is smaller than a share can be",
            received=f"a threshold of {threshold:.3g}",
            remedy="Leave corrections out, or ask for fewer of them.",
        )


def corrected_game(
    game: SampledGame | ExpectedGame, *, spend: Guarantee, cutoff: int
) -> CorrectedGame:
    """With ``cutoff`` corrections for each analyst, as precise as the rest of the spend allows.

    The threshold is what noise alone passes once in twenty streams, about: what is farther off than
    that is worth a correction. Refused where noise would be as large as a share can be.
    """
    many = count("corrections", cutoff)
    rest = left_for_corrections(spend)

    def streams(epsilon: float, threshold: float = 1.0) -> Correction:
        return Correction(
            shape=game.shape,
            size=game.size,
            epsilon=epsilon,
            cutoff=many,
            threshold=threshold,
            records=game.records,
        )

    epsilon = largest_epsilon(lambda e: streams(e).event, ZCDP(rho=rest))
    # A comparison's noise is a threshold's and a query's: below six scales of one pure step.
    scale = 6 * game.records * many / (epsilon * (8 / 9)) / game.population
    threshold = scale * math.log(2 * game.shape.most / _OFTEN)
    require_useful(threshold)
    return CorrectedGame(game, streams(epsilon, threshold))
