"""Several analysts under one total, none of whom notices the others.

Source: 004d:F17; contract, "What may be seen".
"""

from __future__ import annotations

from collections.abc import Mapping

from discreet.accounting.adaptive.account import Budget
from discreet.accounting.adaptive.filter import PrivacyFilter, filter_for
from discreet.accounting.adaptive.steps import plus, steps_up
from discreet.core.guarantee import Guarantee


def allocate(total: Budget, shares: Mapping[str, Guarantee]) -> dict[str, PrivacyFilter]:
    """A filter of its own for each analyst, reserved on ``total`` in full when granted.

    Contract: shares are in the privacy definition of ``total`` and for its unit; all are granted
    or none.
    Guarantee: the shares granted, ever, add up to what ``total`` allows, so together the analysts
    keep its promise; and an analyst is refused because of their own spending alone.

    >>> from discreet.accounting.adaptive.filter import PureFilter
    >>> from discreet.core.guarantee import PureDP
    >>> total = PureFilter(limit=PureDP(epsilon=1))
    >>> own = allocate(total, {"ann": PureDP(epsilon=0.75), "bob": PureDP(epsilon=0.25)})
    >>> own["bob"].remaining().epsilon, total.remaining().epsilon
    (0.25, 0.0)
    """
    reserved = total._currency.zero
    for share in shares.values():
        reserved = plus(reserved, total._currency.read_amounts(share, steps_up))
    filters = {name: filter_for(share) for name, share in shares.items()}
    total._record(reserved)
    return filters
