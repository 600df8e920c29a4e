"""From a spend to what it buys: the noise for a sensitivity, a share of it, the largest epsilon.

One place says which noise a privacy definition permits: Laplace noise by the L1 norm for a pure
spend, discrete Gaussian noise by the L2 norm for a concentrated one, and for (epsilon, delta)
either Laplace noise at epsilon or one Gaussian release by the exact curve. What is pure at epsilon
keeps (epsilon, delta), so such a spend has two *readings*, and :func:`least_error` takes the one
that errs less: a delta never makes a release worse. The choice looks at public quantities alone.

Paid in rho, small noise is cheaper as Laplace noise: its rho grows like epsilon, that of Gaussian
noise like its square. So a spend of more than one rho has two readings as well, of one price.

Source: contract, "Spending" (a spend permits only mechanisms of its own privacy definition; the
choice of mechanism uses public quantities alone).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias, TypeVar, overload

from discreet.accounting.zcdp import ZERO_CONCENTRATED, zcdp_rho
from discreet.core.errors import InvalidParameter
from discreet.core.events.event import Event
from discreet.core.events.mechanisms import Unprotected
from discreet.core.guarantee import ZCDP, ApproxDP, Guarantee, PureDP
from discreet.core.parameters import Number, exact, rounded_up
from discreet.core.search import greatest_above_zero
from discreet.mechanisms.discrete_gaussian import DiscreteGaussian
from discreet.mechanisms.discrete_laplace import DiscreteLaplace
from discreet.mechanisms.distributions.distribution import distribution_of
from discreet.mechanisms.gaussian import Gaussian
from discreet.mechanisms.laplace import Laplace
from discreet.noise.randomness import SYSTEM, Source

WholeNoise: TypeAlias = DiscreteLaplace | DiscreteGaussian | Gaussian
"""Noise on whole numbers, whichever the spend permits."""


@dataclass(frozen=True)
class LaplaceInRho:
    """Laplace noise that costs at most ``rho``, and at most ``epsilon`` where that is limited."""

    rho: Number
    epsilon: Number | None = None


Reading: TypeAlias = PureDP | ApproxDP | ZCDP | LaplaceInRho
"""One privacy definition in which one kind of noise keeps a spend."""

_CLOSE = 1e-12
_LAPLACE_FROM = 1.0
"""Below this rho Gaussian noise errs less than Laplace noise of the same rho, whatever it hides."""
_Reading = TypeVar("_Reading")
_Made = TypeVar("_Made")


def readings(spend: Guarantee) -> tuple[Reading, ...]:
    """The definitions in which one release may be made for a spend; Laplace noise comes first.

    (epsilon, delta) that is paid in rho, ``by=ZCDP``, is what Gaussian noise costs there, and no
    more: Laplace noise at that epsilon would cost many times the rho. With a delta of zero it is a
    pure spend, for which there is no Gaussian noise.

    >>> [type(each).__name__ for each in readings(ApproxDP(epsilon=1, delta=1e-6))]
    ['PureDP', 'ApproxDP']
    """
    match spend:
        case PureDP(epsilon=epsilon) | ApproxDP(epsilon=epsilon, delta=0) if epsilon > 0:
            return (PureDP(epsilon=epsilon),)
        case ApproxDP(epsilon=epsilon, by=None) if epsilon > 0:
            return (PureDP(epsilon=epsilon), spend)
        case ApproxDP(epsilon=epsilon) if epsilon > 0:
            price = ZERO_CONCENTRATED.price(gaussian_for(spend, l2=1, randomness=SYSTEM).event)
            same = LaplaceInRho(price, epsilon)
            return (same, spend) if price > _LAPLACE_FROM else (spend,)
        case ZCDP(rho=rho) if rho > 0:
            return (LaplaceInRho(rho), spend) if rho > _LAPLACE_FROM else (spend,)
    raise _not_permitted(spend)


def is_laplace(reading: Reading) -> bool:
    """Whether a reading is of Laplace noise: then the L1 norm counts, else the L2 norm."""
    return isinstance(reading, PureDP | LaplaceInRho)


def additive_readings(spend: Guarantee) -> tuple[PureDP | ZCDP, ...]:
    """The definitions in which several steps may share a spend, since their prices add up.

    >>> [type(each).__name__ for each in additive_readings(ApproxDP(epsilon=1, delta=1e-6))]
    ['PureDP', 'ZCDP']
    """
    return tuple(
        additive_spend(each) for each in readings(spend) if not isinstance(each, LaplaceInRho)
    )


def least_error(
    given: Sequence[_Reading], make: Callable[[_Reading], _Made], error: Callable[[_Made], float]
) -> _Made:
    """What ``make`` makes of the reading that errs least; of equals, of the first.

    Contract: ``make`` and ``error`` look at public quantities alone.
    """
    made = [make(each) for each in given]
    return made[0] if len(made) == 1 else min(made, key=error)


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

    Of all that the spend permits, the one of least deviation. ``whole`` numbers get discrete
    Laplace noise from a pure spend; steps of a fine grid that stand for reals, Laplace noise.
    """

    def make_noise(reading: Reading) -> WholeNoise | Laplace:
        if is_laplace(reading) and not whole:
            return _laplace_for(reading, Laplace, l1, randomness)
        return noise_of(reading, l1=l1, l2=l2, randomness=randomness)

    return least_error(readings(spend), make_noise, deviation)


def least_noise(
    given: Sequence[Reading], *, l1: Number, l2: Number, randomness: Source
) -> WholeNoise:
    """The noise of least deviation among those of some readings, for whole numbers."""

    def make_noise(reading: Reading) -> WholeNoise:
        return noise_of(reading, l1=l1, l2=l2, randomness=randomness)

    return least_error(given, make_noise, deviation)


def noise_of(reading: Reading, *, l1: Number, l2: Number, randomness: Source) -> WholeNoise:
    """The one noise of a reading, for whole numbers; for whoever chooses the reading himself."""
    if isinstance(reading, PureDP | LaplaceInRho):
        return _laplace_for(reading, DiscreteLaplace, l1, randomness)
    return gaussian_for(reading, l2=l2, randomness=randomness)


_Laplace = TypeVar("_Laplace", DiscreteLaplace, Laplace)


def _laplace_for(
    reading: Reading, kind: type[_Laplace], l1: Number, randomness: Source
) -> _Laplace:
    """Laplace noise at the epsilon of a reading: its own, or what its rho pays for."""

    def at(epsilon: Number) -> _Laplace:
        return kind(epsilon=epsilon, sensitivity=l1, randomness=randomness)

    if isinstance(reading, PureDP):
        return at(exact(reading.epsilon))
    assert isinstance(reading, LaplaceInRho)
    found = exact(largest_epsilon(lambda e: at(e).event, ZCDP(rho=reading.rho)))
    return at(found if reading.epsilon is None else min(found, exact(reading.epsilon)))


def deviation(noise: WholeNoise | Laplace) -> float:
    """The standard deviation of one number's noise, in steps."""
    return float(distribution_of(noise, step=1.0).std)


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
        case PureDP(epsilon=epsilon) | ApproxDP(epsilon=epsilon, delta=0) if epsilon > 0:
            return PureDP(epsilon=epsilon)
        case ZCDP(rho=rho) if rho > 0:
            return ZCDP(rho=rho)
        case ApproxDP(epsilon=epsilon, delta=delta) if epsilon > 0:
            return ZCDP(rho=zcdp_rho(epsilon, delta))
    raise _not_permitted(spend)


def divided(spend: Guarantee, share: Number) -> tuple[PureDP | ZCDP, PureDP | ApproxDP | ZCDP]:
    """A spend for one step that is pure and one release of noise: ``share`` of it, and the rest.

    (epsilon, delta) is kept by a pure step and (epsilon', delta) where both epsilons add up.
    """
    part = exact(share)
    match spend:
        case ApproxDP(epsilon=epsilon, delta=delta, by=None) if delta > 0 and epsilon > 0:
            left = ApproxDP(epsilon=exact(epsilon) * (1 - part), delta=delta)
            return PureDP(epsilon=exact(epsilon) * part), left
    return share_of(spend, part), share_of(spend, 1 - part)


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

    def stays_within_spend(value: float) -> bool:
        made = event(value)
        priced = made.instead_of if isinstance(made, Unprotected) else made
        return rounded_up(ZERO_CONCENTRATED.price(priced)) <= spend.rho

    return greatest_above_zero(stays_within_spend, close=_CLOSE)


def _not_permitted(spend: Guarantee) -> InvalidParameter:
    return InvalidParameter(
        code="spend_notion",
        expectation="a spend in PureDP, ApproxDP or ZCDP, above zero",
        received=type(spend).__name__,
        remedy="Write spend=dp.PureDP(epsilon=1).",
    )
