"""What a synthesiser spends its budget on: public shares, known before it runs."""

from __future__ import annotations

from fractions import Fraction
from typing import Any


def budget_split(mechanism: Any) -> dict[str, float]:
    """The shares of the spend, by what they pay for; all of it for what says nothing."""
    told = getattr(mechanism, "budget_split", None)
    if told is not None:
        return {str(name): float(share) for name, share in told.items()}
    share = getattr(mechanism, "columns", None)  # what AIM measures every column with
    if isinstance(share, float | Fraction):
        return {"columns": float(share), "marginals": float(1 - share)}
    return {"marginals": 1.0}
