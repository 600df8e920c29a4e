"""Long audits that say how strong they are.

An audit that passes says little by itself. So each states, beside the claim, an epsilon that the
same run would have refuted had it been claimed, and refutes a twin with one plausible mistake.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any

from discreet.audit import Finding, LearnedEvents, audit, outcome, repeated

CONFIDENCE = 1 - 1e-6

Release = Callable[[Any], Hashable]


@dataclass(frozen=True)
class Attack:
    """Two neighbours, what is claimed of a release, and how much of it the attack must see.

    ``refutable`` is the epsilon that the run would refute if it were claimed: its bound on the
    honest release is at least that. ``mistake`` is the twin's.
    """

    name: str
    honest: Release
    twin: Release
    x: Any
    y: Any
    claimed: float
    refutable: float
    mistake: str
    delta: float = 0.0
    trials: int = 30_000

    def run(self) -> None:
        """Both audits, and their figures."""
        sound, broken = self.found(self.honest), self.found(self.twin)
        sys.stdout.write(
            f"\nAUDIT {self.name}: claimed {self.claimed:g} at delta {self.delta:.3g}, at least "
            f"{sound.lower_bound:.3f} ({self.refutable:g} could be refuted); twin, "
            f"{self.mistake}: {broken.lower_bound:.3f}; {self.trials} runs of each\n"
        )
        assert sound.passes
        assert sound.lower_bound >= self.refutable, "the attack is weaker than it says"
        assert not broken.passes

    def found(self, release: Release) -> Finding:
        """What the runs show, at a false-alarm rate of one in a million."""
        return audit(
            repeated(release),
            self.x,
            self.y,
            epsilon=self.claimed,
            delta=self.delta,
            events=LearnedEvents(outcome),
            trials=self.trials,
            confidence=CONFIDENCE,
        )
