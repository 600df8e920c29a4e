"""Plans: a total split over named parts, by weights or by wanted errors, before data is read.

Source: 004d:F24.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Protocol, TypeVar

from discreet.accounting.adaptive.filter import filter_for
from discreet.accounting.adaptive.steps import steps_up
from discreet.core.errors import InvalidParameter
from discreet.core.events.event import Event
from discreet.core.guarantee import ZCDP, ApproxDP, GaussianDP, Guarantee, PureDP, RenyiDP
from discreet.core.parameters import Number, exact, positive, rounded_down, rounded_up
from discreet.core.search import doubled, least

Definition = TypeVar("Definition", bound=Guarantee)

_LARGEST = 2.0**40


def plan(total: Definition, parts: Mapping[str, Number]) -> dict[str, Definition]:
    """Split ``total`` in proportion to the weights of ``parts``.

    Guarantee: the parts, in the same privacy definition, add up to ``total`` at most, exactly;
    each is rounded down. For :class:`GaussianDP` it is the squares of mu that add up.

    >>> plan(PureDP(epsilon=2), {"ages": 1, "wards": 3})["wards"].epsilon
    1.5
    """
    weights = {name: exact(positive(f"the weight of {name!r}", parts[name])) for name in parts}
    whole = sum(weights.values(), Fraction(0))
    return {name: _share(total, weight / whole, rounded_down) for name, weight in weights.items()}


class HasEvent(Protocol):
    """A mechanism that states its event, such as what ``for_error`` returns."""

    @property
    def event(self) -> Event:
        """What it costs."""


@dataclass(frozen=True)
class WantedError:
    """A wanted error, and the error that a given spend buys, falling as the spend grows."""

    wanted: Number
    error: Callable[[Guarantee], float]


@dataclass(frozen=True)
class ErrorPlan:
    """What each part costs, and whether the total suffices for all of them."""

    total: Guarantee
    costs: dict[str, Guarantee]
    suffices: bool


def plan_errors(total: Guarantee, parts: Mapping[str, WantedError | HasEvent]) -> ErrorPlan:
    """What wanted errors cost, in the privacy definition of ``total``.

    A part is a mechanism built for its error (``Laplace.for_error(...)``), or a ``WantedError``
    whose ``error`` is searched for the least share of ``total``, more than all of it if need be.
    Guarantee: at its cost a part reaches its error; ``suffices`` says that all costs, added up
    exactly, are within ``total``.

    >>> wanted = WantedError(10, lambda spend: 3 / spend.epsilon)
    >>> made = plan_errors(PureDP(epsilon=1), {"a": wanted, "b": wanted})
    >>> round(made.costs["a"].epsilon, 6), made.suffices
    (0.3, True)
    """
    costs: dict[str, Guarantee] = {}
    budget = filter_for(total)
    charges = [budget._currency.zero]
    for name, part in parts.items():
        if isinstance(part, WantedError):
            costs[name] = _search(name, total, part)
            charge = budget._currency.read_amounts(costs[name], steps_up)
        else:
            charge = budget._charge(part.event, None)
            costs[name] = budget._currency.spent(charge)
        charges.append(charge)
    suffices = budget._fits(tuple(map(sum, zip(*charges, strict=True))))
    return ErrorPlan(total, costs, suffices)


def _search(name: str, total: Guarantee, part: WantedError) -> Guarantee:
    wanted = float(positive(f"the error of {name!r}", part.wanted))

    def reached(share: float) -> bool:
        return part.error(_share(total, exact(share), rounded_up)) <= wanted

    high = doubled(reached, 1.0, at_most=_most(total))
    if high is None:
        raise InvalidParameter(
            code="accuracy_unreachable",
            expectation=f"an error of {name!r} that some spend reaches",
            received=wanted,
            remedy="Ask for a larger error, or check that `error` falls as the spend grows.",
        )
    while high > 2.0**-200 and reached(high / 2):
        high /= 2
    return _share(total, exact(least(reached, high / 2, high)), rounded_up)


def _most(total: Guarantee) -> float:
    """The most totals that are tried: an approximate guarantee ends where delta reaches one."""
    if isinstance(total, ApproxDP) and total.delta > 0:
        return min(_LARGEST, 0.99 / float(total.delta))
    return _LARGEST


def _share(total: Definition, share: Fraction, rounded: Callable[[Fraction], float]) -> Definition:
    match total:
        case ApproxDP():
            epsilon, delta = exact(total.epsilon) * share, exact(total.delta) * share
            return replace(total, epsilon=rounded(epsilon), delta=rounded(delta))
        case PureDP() | RenyiDP():
            return replace(total, epsilon=rounded(exact(total.epsilon) * share))
        case ZCDP():
            return replace(total, rho=rounded(exact(total.rho) * share))
        case GaussianDP():
            return replace(total, mu=_root(exact(total.mu) ** 2 * share))
    raise InvalidParameter(
        code="no_shares",
        expectation="PureDP, ApproxDP, ZCDP, RenyiDP or GaussianDP",
        received=type(total).__name__,
        remedy="Split the total in one of these privacy definitions.",
    )


def _root(square: Fraction) -> float:
    """The square root, rounded down."""
    root = math.sqrt(rounded_down(square))
    while Fraction(root) ** 2 > square:
        root = math.nextafter(root, 0)
    return root
