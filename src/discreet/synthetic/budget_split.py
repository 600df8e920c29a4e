"""What a synthesiser spends its budget on: public shares, planned before it runs and told after."""

from __future__ import annotations

from typing import Any


def budget_split(mechanism: Any) -> dict[str, float]:
    """The shares of the spend, by what they are to pay for; all of it for what says nothing."""
    told = getattr(mechanism, "budget_split", None) or {"marginals": 1}
    return {str(name): float(share) for name, share in told.items()}


def spent_split(mechanism: Any, model: Any) -> dict[str, float]:
    """The shares that a release spent in fact, as its model has them; else those planned.

    A mechanism that decides as it goes along spends otherwise than planned. What it decides
    follows from noisy values, so it may be told.
    """
    told = getattr(model, "split", None)
    if not told:
        return budget_split(mechanism)
    return {str(name): float(share) for name, share in told.items()}
