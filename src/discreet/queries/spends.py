"""A spend in what adds up over rounds, and the largest parameter that it pays for.

Source: contract, "Spending".
"""

from __future__ import annotations

from collections.abc import Callable

from discreet.accounting.zcdp import zcdp_rho
from discreet.core.errors import InvalidParameter
from discreet.core.events.event import Event
from discreet.core.events.mechanisms import Unprotected
from discreet.core.guarantee import ZCDP, ApproxDP, Guarantee, PureDP


def adding(spend: Guarantee) -> PureDP | ZCDP:
    """Pure and concentrated spends as they are; (epsilon, delta) converted once to rho."""
    match spend:
        case PureDP(epsilon=epsilon) if epsilon > 0:
            return PureDP(epsilon=epsilon)
        case ZCDP(rho=rho) if rho > 0:
            return ZCDP(rho=rho)
        case ApproxDP(epsilon=epsilon, delta=delta) if delta > 0 and epsilon > 0:
            return ZCDP(rho=zcdp_rho(epsilon, delta))
    raise InvalidParameter(
        code="spend_notion",
        expectation="a spend in PureDP, ApproxDP with delta > 0, or ZCDP, above zero",
        received=type(spend).__name__,
        remedy="Write spend=dp.PureDP(epsilon=1).",
    )


def largest(make: Callable[[float], Event], spend: ZCDP) -> float:
    """The largest parameter whose event is priced at no more than ``spend``; it grows with it."""

    def paid(value: float) -> bool:
        event = make(value)
        priced = event.instead_of if isinstance(event, Unprotected) else event
        return priced.zcdp().rho <= spend.rho

    low, high = 0.0, 1.0
    while paid(high):
        low, high = high, high * 2
    while low < (middle := (low + high) / 2) < high and high - low > 1e-12 * high:
        low, high = (middle, high) if paid(middle) else (low, middle)
    return low
