"""By which rule a round is planned: which kinds of noise are compared, and what rho events cost.

A round is planned again when it is resumed, and must come out as it was paid for. So the rule is
written down with it, and former ones stay. Rounds of earlier versions did not write one down: what
they were charged for tells which it was.

Source: contract, "Spending" (noise that outlives a call).
"""

from __future__ import annotations

from dataclasses import dataclass

from discreet.accounting.zcdp import QUADRATIC, ZERO_CONCENTRATED, ZeroConcentrated
from discreet.mechanisms.noise_choice import (
    AnyNoise,
    FormerNoise,
    GaussianNoise,
    NoiseChoice,
    OwnNoise,
)


@dataclass(frozen=True)
class RoundRule:
    """How rounds are planned.

    Attributes:
        version: As it is written down.
        baselines: Noise of histograms, of single answers and of profiles.
        marginals: Noise of marginals under records that are exchanged.
        added: Noise of releases where records come and go.
        prices: What games and corrections cost.
    """

    version: int
    baselines: NoiseChoice
    marginals: NoiseChoice
    added: NoiseChoice
    prices: ZeroConcentrated


CURRENT = RoundRule(2, AnyNoise(), AnyNoise(), AnyNoise(), ZERO_CONCENTRATED)
UNNAMED = (
    RoundRule(1, GaussianNoise(), GaussianNoise(), OwnNoise(), QUADRATIC),
    RoundRule(1, GaussianNoise(), GaussianNoise(), FormerNoise(), QUADRATIC),
)
"""Those before rules had a name, the first one first."""


def round_rules(version: int | None) -> tuple[RoundRule, ...]:
    """The rules by which a round may have been planned; none that is known here, if it is newer."""
    if version is None:
        return UNNAMED
    return (CURRENT,) if version == CURRENT.version else ()
