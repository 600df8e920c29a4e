"""Amounts as they stand in a ledger: exact fractions, readable, and the same for ever.

In memory an amount is a whole number of steps; in the file it is the fraction it stands for,
``1/2`` for half a unit, so that no later choice of the step can change what an old entry says.

>>> from discreet.accounting.adaptive.steps import STEPS
>>> format_amounts((STEPS // 2, 3 * STEPS))
['1/2', '3']
>>> parse_amounts(["1/2", "3"]) == (STEPS // 2, 3 * STEPS)
True
"""

from __future__ import annotations

import math

from discreet.accounting.adaptive.exhausted import budget_exhausted, what_helps
from discreet.accounting.adaptive.steps import STEPS, Amounts, minus, number_down, number_up
from discreet.core.errors import Exhausted, InvalidParameter

_LARGEST = 1 << 8192  # beyond every float in steps, and short enough to be written in decimals


def format_amounts(amounts: Amounts) -> list[str]:
    """Each amount as a fraction in lowest terms."""
    return [_fraction(amount) for amount in amounts]


def parse_amounts(texts: object) -> Amounts:
    """The amounts that were written so; ValueError for anything else."""
    if not isinstance(texts, list):
        message = "no list of amounts"
        raise ValueError(message)
    return tuple(_steps(text) for text in texts)


def within(total: Amounts, limit: Amounts) -> bool:
    """Whether no component exceeds its limit; False also if there are more or fewer of them."""
    if len(total) != len(limit):
        return False
    return all(spent <= most for spent, most in zip(total, limit, strict=True))


def require_amounts(name: str, value: object, components: int | None = None) -> Amounts:
    """Return ``value`` if it is a tuple of whole, non-negative steps, of the given length."""
    wanted = "one or more" if components is None else str(components)
    if (
        not isinstance(value, tuple)
        or not value
        or len(value) != (components or len(value))
        or any(type(amount) is not int or not 0 <= amount < _LARGEST for amount in value)
    ):
        raise InvalidParameter(
            code="not_amounts",
            expectation=f"{name} to be a tuple of {wanted} whole numbers of steps, none negative",
            received=type(value).__name__,
            remedy="Take it from the currency of the budget: `currency.price(event, delta)`.",
        )
    return value


def exhausted(charge: Amounts, spent: Amounts, limit: Amounts) -> Exhausted:
    """The refusal of ``charge``; it depends on declared costs alone."""
    left = minus(limit, spent)
    return budget_exhausted(
        _format_loss(tuple(map(number_down, left))),
        f"a charge of {_format_loss(tuple(map(number_up, charge)))}",
        what_helps(charge, left),
    )


def _format_loss(numbers: tuple[float, ...]) -> str:
    """The loss, and the delta if the currency has one; to twelve digits."""
    return " with delta ".join(f"{number:.12g}" for number in numbers)


def _fraction(amount: int) -> str:
    common = math.gcd(amount, STEPS)
    if common == STEPS:
        return str(amount // STEPS)
    return f"{amount // common}/{STEPS // common}"


def _steps(text: object) -> int:
    if not isinstance(text, str):
        message = "no text of an amount"
        raise ValueError(message)
    numerator, _, denominator = text.partition("/")
    parts = int(denominator or "1")
    if parts <= 0 or STEPS % parts:
        message = "no whole number of steps"
        raise ValueError(message)
    return int(numerator) * (STEPS // parts)
