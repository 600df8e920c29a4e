"""What a fit tells while it runs: public phases only.

Source: contract, "What may be seen" (progress shows public phases only).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class FitProgress:
    """How far a fit is: nothing of what it found, which is seen once it is durable."""

    step: int
    """Steps done."""
    spent: float
    """The share of the spend that is used up."""
    seconds: float
    """Since the fit began."""

    @property
    def seconds_left(self) -> float:
        """By the share of the spend that is left; later steps take longer."""
        return self.seconds * (1 - self.spent) / self.spent if self.spent > 0 else float("inf")


ProgressCallback = Callable[[FitProgress], None]
