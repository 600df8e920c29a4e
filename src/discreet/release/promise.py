"""What a release promises: the spend that was agreed on, with the delta that its events take.

A spend is an upper price. Where the planner chose pure noise under a delta, none of it was charged
for, and none is promised, stated or warned of.

Source: contract, "Spending" (a spend is an upper price; prices follow from events).
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from discreet.accounting.approx import APPROX
from discreet.accounting.approx_zcdp import APPROXIMATELY_CONCENTRATED
from discreet.core.errors import DiscreetError
from discreet.core.events.event import Event, compose
from discreet.core.guarantee import ApproxDP, ApproxZCDP, Guarantee
from discreet.core.parameters import exact

Charges = tuple[tuple[Guarantee, tuple[Event, ...]], ...]
"""Parts of a spend, each with the events that it pays for."""


def promised(spend: Guarantee, event: Event) -> Guarantee:
    """The spend with no more delta than its event takes.

    Guarantee: it holds for ``event`` wherever ``spend`` does, and its delta is that of the charge.
    """
    return promised_by(spend, ((spend, (event,)),))


def promised_by(spend: Guarantee, charges: Charges) -> Guarantee:
    """The same where each part of a spend pays for events of its own."""
    if not isinstance(spend, ApproxDP | ApproxZCDP) or not spend.delta:
        return spend
    taken = sum((_delta(part, compose(events)) for part, events in charges), Fraction(0))
    return spend if taken >= exact(spend.delta) else replace(spend, delta=taken)


def _delta(spend: Guarantee, event: Event) -> Fraction:
    """The deltas that events state, where these are all that the part's price needs; else its own.

    As ``PrivacyBudget.charge`` prices it: Gaussian noise enters a sum of pairs at the spend's
    delta, and so do pure steps that cost more than the spend without one.
    """
    whole = exact(getattr(spend, "delta", 0))
    try:
        if isinstance(spend, ApproxDP):
            pair = APPROX.price(event)
            stated = not pair.inverse_squares and pair.epsilon <= exact(spend.epsilon)
            return pair.delta if stated else whole
        if isinstance(spend, ApproxZCDP):
            apart = APPROXIMATELY_CONCENTRATED.price(event)
            return apart.delta if apart.rho <= exact(spend.rho) else whole
    except DiscreetError:  # no sum of pairs: it was priced at the spend's delta, or in test mode
        return whole
    return whole
