"""What a budget costs the budget above it, when it is set aside in full.

A session that keeps its budget against every questioner is one interactive mechanism. So it
enters the sum above at a price for the whole of it: in its own currency, or where its notion
converts. An (epsilon, delta) budget that adds up pairs has no price in rho, and is refused there.

Proof: ``proofs/sharing.md`` and ``proofs/filters.md``. Source: 004d:F16, F17.
"""

from __future__ import annotations

from fractions import Fraction

from discreet.accounting.adaptive.currency import EpsilonsAndDeltas, RenyiAt, Rhos, RhosAndDeltas
from discreet.accounting.adaptive.steps import Amounts, steps_up
from discreet.core.errors import Mismatch
from discreet.core.events.mechanisms import Pure
from discreet.core.guarantee import ApproxDP, PureDP
from discreet.core.parameters import exact
from discreet.curator.budget import Purse, as_written


def price_of_budget(above: Purse, below: Purse) -> Amounts:
    """The charge on ``above`` for everything that may ever be released from ``below``."""
    if above.currency == below.currency:
        return below.limit
    budget = as_written(below.budget)
    match above.currency, budget:
        case EpsilonsAndDeltas(), PureDP(epsilon=epsilon):
            return (steps_up(exact(epsilon)), 0)
        case EpsilonsAndDeltas(), ApproxDP(epsilon=epsilon, delta=delta):
            # Whatever it adds up by, the whole of it keeps this pair.
            return (steps_up(exact(epsilon)), steps_up(exact(delta)))
        case Rhos() | RhosAndDeltas() | RenyiAt(), PureDP(epsilon=epsilon):
            return above.currency.price(Pure(epsilon=epsilon), None)
    match above.currency, below.currency:
        case RhosAndDeltas(), Rhos():
            return (*below.limit, 0)
        case RenyiAt(alpha=alpha), Rhos():
            (rho,) = below.limit
            return (_ceiling(exact(alpha) * rho),)
    raise Mismatch(
        code="budget_notion",
        expectation=f"a budget whose whole has a price in {above.name}",
        received=below.budget,
        remedy="Set aside a budget in the notion of the one above, or PureDP, which converts to "
        "all of them.",
    )


def _ceiling(value: Fraction) -> int:
    return -(-value.numerator // value.denominator)
