"""The noise that a spend buys for whole-number measurements of known sensitivity.

Source: contract, "Spending" (a spend permits only mechanisms of its own notion).
"""

from __future__ import annotations

from fractions import Fraction

from discreet.core.errors import InvalidParameter
from discreet.core.guarantee import ZCDP, ApproxDP, Guarantee, PureDP
from discreet.core.parameters import exact
from discreet.mechanisms import DiscreteGaussian, DiscreteLaplace, Gaussian
from discreet.mechanisms.grid import sqrt_above
from discreet.noise.randomness import Source

Additive = DiscreteLaplace | DiscreteGaussian | Gaussian


def additive(
    spend: Guarantee, *, l1: int, l2_squared: Fraction | int, randomness: Source
) -> Additive:
    """Laplace noise for a pure spend by the L1 norm, else Gaussian noise by the L2 norm."""
    far = sqrt_above(Fraction(l2_squared))
    match spend:
        case PureDP(epsilon=epsilon) if epsilon > 0:
            return DiscreteLaplace(epsilon=exact(epsilon), sensitivity=l1, randomness=randomness)
        case ApproxDP(epsilon=epsilon, delta=delta) if delta > 0 and epsilon > 0:
            return Gaussian(
                epsilon=exact(epsilon), delta=delta, sensitivity=far, randomness=randomness
            )
        case ZCDP(rho=rho) if rho > 0:
            return DiscreteGaussian(rho=exact(rho), sensitivity=far, randomness=randomness)
    raise InvalidParameter(
        code="spend_notion",
        expectation="a spend in PureDP, ApproxDP with delta > 0, or ZCDP, above zero",
        received=type(spend).__name__,
        remedy="Write spend=dp.PureDP(epsilon=1).",
    )
