"""What a fit tells while it runs: public phases only.

Source: contract, "What may be seen" (progress shows public phases only).
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from discreet.synthetic.adaptive_spend import AdaptiveSpend


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


class StepReport:
    """Tells a callback after each step."""

    def __init__(self, call: ProgressCallback | None) -> None:
        """Start the clock."""
        self._call = call
        self._began = time.monotonic()
        self._step = 0

    def step(self, spend: AdaptiveSpend) -> None:
        """One more step is done."""
        self._step += 1
        if self._call is not None:
            taken = time.monotonic() - self._began
            self._call(FitProgress(self._step, float(1 - spend.share_left), taken))
