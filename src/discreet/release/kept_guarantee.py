"""A guarantee that was read from a file is one that the event beside it keeps, or is refused.

Whoever has a file can change what it says. A statement is printed from the guarantee, so this one
is held against the price of the event: a smaller one is a lie. A larger one holds as well. Of what
was made in test mode nothing holds, and the statement says so.

Source: contract, "Spending" (prices come from events), "What may be seen".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any

from discreet.core.errors import DiscreetError, InvalidParameter
from discreet.core.events.event import Event, from_json
from discreet.core.guarantee import ZCDP, ApproxDP, GaussianDP, Guarantee, PureDP, RenyiDP
from discreet.core.unit import relation_of
from discreet.release.guarantee import guarantee_from_dict

_ROUNDING = 1 + 1e-9
"""Prices are rounded up: those of the same event may differ by this much."""
_REFUSALS = (DiscreetError, ArithmeticError, ValueError, TypeError, RecursionError, MemoryError)
"""What an event may end in that nobody can price."""


def kept_guarantee(plain: Any, event: Event, facts: Mapping[str, Any]) -> Guarantee:
    """The guarantee that was written, checked against the event and the facts beside it."""
    guarantee, private = guarantee_from_dict(plain), facts.get("private", True)
    told = isinstance(private, bool) and guarantee.unit is not None
    if not told or (private and not keeps(guarantee, event)):
        raise InvalidParameter(
            code="guarantee_not_plain",
            expectation="a guarantee that says whom it protects, and that the event beside it "
            "keeps, by the event's own price",
            received=type(guarantee).__name__,
            remedy="Pass what was written, unchanged.",
        )
    return guarantee


def keeps(guarantee: Guarantee, event: Event) -> bool:
    """Whether what the event describes has the guarantee, by some accountant.

    An event whose price is about one neighbouring relation says nothing to units of the other.

    >>> from discreet import PureDP
    >>> from discreet.events import Laplace
    >>> [keeps(PureDP(epsilon=epsilon), Laplace(epsilon=1)) for epsilon in (0.5, 1, 2)]
    [False, True, True]
    """
    relation, unit = event.relation(), guarantee.unit
    if relation is not None and unit is not None and relation_of(unit) is not relation:
        return False
    return _keeps(replace(guarantee, unit=None), event.to_json())


@lru_cache(maxsize=256)
def _keeps(guarantee: Guarantee, text: str) -> bool:
    """The same releases are read again and again, and a price may take long."""
    event = from_json(text)
    return any(_holds(way, guarantee, event) for way in _WAYS)


def _holds(way: Callable[[Guarantee, Event], bool], guarantee: Guarantee, event: Event) -> bool:
    try:
        return way(guarantee, event)
    except _REFUSALS:  # no price of this kind, or numbers beyond all prices
        return False


def _by_filter(guarantee: Guarantee, event: Event) -> bool:
    """As a budget that is no larger would have taken it."""
    from discreet.accounting.adaptive import filter_for  # loads all accountants

    return filter_for(guarantee).admits(event)


def _at_its_delta(guarantee: Guarantee, event: Event) -> bool:
    """As a budget of (epsilon, delta) would have taken normal noise."""
    from discreet.accounting.adaptive import filter_for

    return isinstance(guarantee, ApproxDP) and filter_for(guarantee).admits(
        event, delta=guarantee.delta
    )


def _by_rho(guarantee: Guarantee, event: Event) -> bool:
    """As a budget of (epsilon, delta) that adds up rho would have taken it."""
    from discreet.accounting.adaptive import ApproxZCDPFilter

    return isinstance(guarantee, ApproxDP) and ApproxZCDPFilter.converted(limit=guarantee).admits(
        event
    )


def _by_price(guarantee: Guarantee, event: Event) -> bool:
    """By the tightest price that is known."""
    match guarantee:
        case PureDP(epsilon=epsilon):
            price, limit = event.epsilon(delta=0), epsilon
        case ApproxDP(epsilon=epsilon, delta=delta):
            price, limit = event.epsilon(delta=float(delta)), epsilon
        case ZCDP(rho=rho):
            price, limit = float(event.zcdp().rho), rho
        case RenyiDP(alpha=alpha, epsilon=epsilon):
            price, limit = float(event.rdp(orders=[float(alpha)])[0]), epsilon
        case GaussianDP(mu=mu):
            price, limit = float(event.gdp().mu), mu
        case _:
            return False
    return price <= float(limit) * _ROUNDING


def _by_delta(guarantee: Guarantee, event: Event) -> bool:
    """By the delta at a given epsilon, where the epsilon at a given delta ends in rounding."""
    return isinstance(guarantee, ApproxDP) and (
        event.delta(epsilon=float(guarantee.epsilon) * _ROUNDING)
        <= float(guarantee.delta) * _ROUNDING
    )


_WAYS = (_by_filter, _at_its_delta, _by_rho, _by_price, _by_delta)
"""Accounts of an event that may show it, the quick ones first."""
