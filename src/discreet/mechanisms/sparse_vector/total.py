"""The largest epsilon of a session whose composed event keeps a total (epsilon, delta).

Found by bisection on the event itself, so the claim is checked and not taken from a closed form
that fails for some delta (000a:D4).
"""

from __future__ import annotations

from collections.abc import Callable

from discreet.core import pricing
from discreet.core.errors import InvalidParameter
from discreet.core.events.event import Event
from discreet.core.parameters import Number, delta_parameter, exact, rounded_down
from discreet.mechanisms import grid

_HALVINGS = 60


def largest_epsilon(
    event: Callable[[float], Event], *, epsilon: Number, delta: Number, most: int
) -> float:
    """The largest x up to ``most * epsilon`` at which ``event(x)`` costs (epsilon, delta).

    Contract: the price of ``event(x)`` grows with x.
    """
    target = rounded_down(exact(grid.ordinary("epsilon", epsilon)))
    slack = delta_parameter("delta", delta)
    if slack == 0:
        raise InvalidParameter(
            code="delta_zero",
            expectation="delta > 0",
            received=slack,
            remedy="A pure guarantee needs no search: use pure(...), or the constructor.",
        )
    allowed = rounded_down(exact(slack))
    low, high = 0.0, target * most
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if pricing.epsilon(event(middle), allowed) <= target:
            low = middle
        else:
            high = middle
    return low
