"""Epsilon of each of several selections that share a spend.

Source: contract, "Spending"; 000a:C7.
"""

from __future__ import annotations

from discreet.core.events.mechanisms import Exponential as ExponentialEvent
from discreet.core.guarantee import ZCDP, ApproxDP, Guarantee, PureDP
from discreet.core.parameters import Number, exact
from discreet.mechanisms.for_spend import LaplaceInRho, largest_epsilon, readings


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
