"""From a spend to what it buys: the noise for a sensitivity, a share of it, the largest epsilon.

One place says which noise a privacy definition permits: Laplace noise by the L1 norm for a pure
spend, one Gaussian release by the L2 norm for (epsilon, delta), discrete Gaussian noise by the L2
norm for a concentrated one. A spend whose noise has no sensitivity given is refused.

Source: contract, "Spending" (a spend permits only mechanisms of its own privacy definition).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, TypeAlias, overload

from discreet.accounting.zcdp import zcdp_rho
from discreet.core.errors import InvalidParameter
from discreet.core.events.event import Event
from discreet.core.events.mechanisms import Unprotected
from discreet.core.guarantee import ZCDP, ApproxDP, Guarantee, PureDP
from discreet.core.parameters import Number, exact
from discreet.core.search import greatest_above_zero
from discreet.mechanisms.discrete_gaussian import DiscreteGaussian
from discreet.mechanisms.discrete_laplace import DiscreteLaplace
from discreet.mechanisms.gaussian import Gaussian
from discreet.mechanisms.laplace import Laplace
from discreet.noise.randomness import Source

WholeNoise: TypeAlias = DiscreteLaplace | DiscreteGaussian | Gaussian
"""Noise on whole numbers, whichever the spend permits."""

_CLOSE = 1e-12


@overload
def noise_for(
    spend: Guarantee, *, l1: Number, l2: Number, randomness: Source, whole: Literal[True] = True
) -> WholeNoise: ...


@overload
def noise_for(
    spend: Guarantee, *, l1: Number, l2: Number, randomness: Source, whole: bool
) -> WholeNoise | Laplace: ...


def noise_for(
    spend: Guarantee, *, l1: Number, l2: Number, randomness: Source, whole: bool = True
) -> WholeNoise | Laplace:
    """The noise for numbers that move by at most ``l1`` and ``l2`` in these norms.

    ``whole`` numbers get discrete Laplace noise from a pure spend; steps of a fine grid that stand
    for reals, Laplace noise.
    """
    if isinstance(spend, PureDP) and spend.epsilon > 0:
        laplace = DiscreteLaplace if whole else Laplace
        return laplace(epsilon=exact(spend.epsilon), sensitivity=l1, randomness=randomness)
    if not permits_gaussian(spend):
        raise _not_permitted(spend)
    return gaussian_for(spend, l2=l2, randomness=randomness)


def gaussian_for(
    spend: Guarantee, *, l2: Number, randomness: Source
) -> DiscreteGaussian | Gaussian:
    """Gaussian noise for whole numbers that move by at most ``l2`` in the L2 norm.

    (epsilon, delta) buys the continuous law rounded, by its exact curve; zCDP the discrete one.
    """
    paid = require_gaussian(spend)
    if isinstance(paid, ZCDP):
        return DiscreteGaussian(rho=exact(paid.rho), sensitivity=l2, randomness=randomness)
    return Gaussian(
        epsilon=exact(paid.epsilon), delta=paid.delta, sensitivity=l2, randomness=randomness
    )


def permits_gaussian(spend: Guarantee) -> bool:
    """Whether Gaussian noise can keep the spend."""
    match spend:
        case ApproxDP(epsilon=epsilon, delta=delta):
            return delta > 0 and epsilon > 0
        case ZCDP(rho=rho):
            return rho > 0
    return False


def require_gaussian(spend: Guarantee) -> ApproxDP | ZCDP:
    """Refuse spends that Gaussian noise cannot keep."""
    if isinstance(spend, ApproxDP | ZCDP) and permits_gaussian(spend):
        return spend
    raise InvalidParameter(
        code="gaussian_spend",
        expectation="a spend in ApproxDP with delta > 0, or in ZCDP, above zero",
        received=type(spend).__name__,
        remedy="Write spend=dp.ApproxDP(epsilon=1, delta=1e-6).",
    )


def additive_spend(spend: Guarantee) -> PureDP | ZCDP:
    """A spend in what adds up over rounds.

    Pure and concentrated spends as they are; (epsilon, delta) converted once to rho.
    """
    match spend:
        case PureDP(epsilon=epsilon) if epsilon > 0:
            return PureDP(epsilon=epsilon)
        case ZCDP(rho=rho) if rho > 0:
            return ZCDP(rho=rho)
        case ApproxDP(epsilon=epsilon, delta=delta) if delta > 0 and epsilon > 0:
            return ZCDP(rho=zcdp_rho(epsilon, delta))
    raise _not_permitted(spend)


def share_of(spend: Guarantee, share: Number) -> PureDP | ZCDP:
    """A share of a spend; all shares together cost no more than the spend if they add up to one."""
    match additive_spend(spend):
        case PureDP(epsilon=epsilon):
            return PureDP(epsilon=exact(epsilon) * exact(share))
        case ZCDP(rho=rho):
            return ZCDP(rho=exact(rho) * exact(share))


def epsilon_for(spend: PureDP | ZCDP, event: Callable[[Number], Event]) -> Number:
    """The largest epsilon whose event costs no more than the spend: its own, if that is pure."""
    if isinstance(spend, PureDP):
        return exact(spend.epsilon)
    return largest_epsilon(event, spend)


def largest_epsilon(event: Callable[[float], Event], spend: ZCDP) -> float:
    """The largest parameter whose event is priced at no more than ``spend``; it grows with it."""

    def paid(value: float) -> bool:
        made = event(value)
        priced = made.instead_of if isinstance(made, Unprotected) else made
        return priced.zcdp().rho <= spend.rho

    return greatest_above_zero(paid, close=_CLOSE)


def _not_permitted(spend: Guarantee) -> InvalidParameter:
    return InvalidParameter(
        code="spend_notion",
        expectation="a spend in PureDP, ApproxDP with delta > 0, or ZCDP, above zero",
        received=type(spend).__name__,
        remedy="Write spend=dp.PureDP(epsilon=1).",
    )
