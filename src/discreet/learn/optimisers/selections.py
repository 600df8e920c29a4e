"""Epsilon of each of several selections that share a spend, and which candidates they take.

Source: contract, "Spending"; 000a:C7.
"""

from __future__ import annotations

from discreet.core.errors import InvalidParameter
from discreet.core.events.mechanisms import Exponential as ExponentialEvent
from discreet.core.guarantee import ZCDP, ApproxDP, Guarantee, PureDP
from discreet.core.parameters import Number, exact
from discreet.mechanisms.for_spend import LaplaceInRho, largest_epsilon, readings

FARTHEST = 2.0**400
"""Losses of numbers up to this, squares included, are numbers."""


def epsilon_of_each(spend: Guarantee, rounds: int) -> Number:
    """The largest epsilon at which so many exponential mechanisms cost no more than the spend."""
    found: list[Number] = []
    for reading in readings(spend):
        match reading:
            case PureDP(epsilon=epsilon):
                found.append(exact(epsilon) / rounds)
            case ZCDP():
                found.append(
                    largest_epsilon(lambda e: ExponentialEvent(epsilon=e) * rounds, reading)
                )
            case ApproxDP(epsilon=epsilon, delta=delta):
                from discreet.accounting import calibrate  # loads all accountants

                least = float(epsilon) / rounds
                start = least * (1 + 1e-9)
                event = ExponentialEvent
                if (event(epsilon=start) * rounds).epsilon(delta=float(delta)) <= epsilon:
                    found.append(
                        calibrate(
                            lambda e: ExponentialEvent(epsilon=e) * rounds,
                            epsilon=float(epsilon),
                            delta=float(delta),
                            start=start,
                        )
                    )
            case LaplaceInRho():
                continue
    return max(found, key=float)


def require_reach(reach: float) -> None:
    """Refuse candidates among which losses differ by nothing, or by more than numbers hold.

    Dividing by the reach would overflow or not be defined, for some rows.
    """
    if not 1 / FARTHEST <= reach <= FARTHEST:
        raise InvalidParameter(
            code="reach_unusual",
            expectation="candidates among which the loss of a row differs, by a usual number",
            remedy="Declare candidates or an interval of usual size, from what is known.",
        )
