"""The refusal of a charge that a budget cannot pay: one text for budgets, ledgers and commands.

It depends on declared costs alone.
"""

from __future__ import annotations

from discreet.accounting.adaptive.steps import STEPS, Amounts, minus
from discreet.core.errors import Exhausted

LESS = "Spend less, or ask the data owner for an amendment."
"""What helps where the whole budget pays."""
ANOTHER_GRANT = "Spend less, or ask the owner for another grant."
"""What helps where a grant pays: an amendment of the whole does not make it larger."""
_ROUNDING = (
    "It is too much by a rounding error: floats are binary, and ten times 0.1 is"
    " more than 1. Pass Fraction(1, 10), or split the total with `plan`."
)


def budget_exhausted(left: object, charge: object, remedy: str = LESS) -> Exhausted:
    """The error ``budget_exhausted``, with what is left and what was to be charged."""
    return Exhausted(
        code="budget_exhausted",
        expectation=f"a charge within what remains: {left}",
        received=charge,
        remedy=remedy,
    )


def what_helps(charge: Amounts, left: Amounts) -> str:
    """The remedy for a charge above what is left; another one where it is so by rounding only."""
    above = [over for over in minus(charge, left) if over > 0]
    return _ROUNDING if all(over < STEPS >> 30 for over in above) else LESS
