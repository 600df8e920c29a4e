"""What a synthesiser spends its budget on: public shares, known before it runs."""

from __future__ import annotations

from typing import Any


def budget_split(mechanism: Any) -> dict[str, float]:
    """The shares of the spend, by what they pay for; all of it for what says nothing."""
    told = getattr(mechanism, "budget_split", None) or {"marginals": 1}
    return {str(name): float(share) for name, share in told.items()}
