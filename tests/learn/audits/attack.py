"""An audit as a row of a table: a claim, two neighbours, what an attacker sees, and a broken twin.

Half of the releases choose which outcomes to look at, the other half tests them. A true claim is
refuted with probability at most 1e-6. What the audit of the sound one refutes is the epsilon that
it could refute: had less been claimed, it would have been seen. How likely a twin is missed
is computed from what its audit found, with probabilities moved towards a miss by their own
uncertainty.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from discreet.audit import Finding, LearnedEvents, audit, outcome
from discreet.audit.testers.intervals import lower_limit, upper_limit
from discreet.core.arrays import Floats

CONFIDENCE = 1 - 1e-6
_EVENTS = 4
"""The most that `LearnedEvents` chooses; both directions of each share the chance of an alarm."""
_RUNS = 4000

Release = Callable[[Any], Hashable]


@dataclass(frozen=True)
class Attack:
    """One claim, and how it is attacked.

    Attributes:
        name: What is audited, as users call it.
        covers: Names of ``discreet.learn`` whose claim it is.
        epsilon, delta: The claim.
        pair: Two neighbours.
        sound: What an attacker sees of one release.
        broken: The same of a twin, and ``mistake`` what is wrong with it.
        trials: Releases on each of the neighbours.
        refutes: The epsilon that the audit refutes at least.
        twin_pair: Neighbours for the twin, where they are others.
        twin_epsilon: The twin's claim, where it is another.
    """

    name: str
    covers: tuple[str, ...]
    epsilon: float
    pair: tuple[Any, Any]
    sound: Release
    broken: Release
    mistake: str
    refutes: float
    delta: float = 0.0
    trials: int = 2000
    twin_pair: tuple[Any, Any] | None = None
    twin_epsilon: float | None = None

    def of_sound(self) -> Attacked:
        """The audit of the sound one."""
        return self._attacked(self.sound, self.pair, self.epsilon)

    def of_twin(self) -> Attacked:
        """The audit of the twin."""
        return self._attacked(
            self.broken, self.twin_pair or self.pair, self.twin_epsilon or self.epsilon
        )

    def _attacked(self, release: Release, pair: tuple[Any, Any], claim: float) -> Attacked:
        draws = tuple([release(each) for _ in range(self.trials)] for each in pair)
        found = audit(
            lambda place, _: draws[place],
            0,
            1,
            epsilon=claim,
            delta=self.delta,
            events=LearnedEvents(outcome),
            trials=self.trials,
            confidence=CONFIDENCE,
        )
        return Attacked(found, draws)  # type: ignore[arg-type]


@dataclass(frozen=True, eq=False)
class Attacked:
    """What an audit found, and what it was found in."""

    finding: Finding
    draws: tuple[list[Hashable], list[Hashable]]

    @cached_property
    def _counts(self) -> tuple[int, int, int]:
        """How often the witness was seen where it is likelier, where it is not, and of how many."""
        witness, half = self.finding.witness, len(self.draws[0]) // 2
        if witness is None:
            return 0, 0, len(self.draws[0]) - half
        seen = sorted(witness.count(each[half:]) for each in self.draws)
        return seen[1], seen[0], len(self.draws[0]) - half

    @property
    def chance_of_a_miss(self) -> float:
        """How likely the same audit does not refute the claim, at most."""
        likely, unlikely, kept = self._counts
        if not likely:
            return 1.0
        rng = np.random.default_rng(19)
        hits = rng.binomial(kept, lower_limit(likely, kept, alpha=0.01), _RUNS)
        others = rng.binomial(kept, upper_limit(unlikely, kept, alpha=0.01), _RUNS)
        bounds = _bounds(hits, others, kept, self.finding.delta)
        return float((bounds <= self.finding.epsilon).mean())


def _bounds(hits: Any, others: Any, kept: int, delta: float) -> Floats:
    """The epsilon that counts refute, as `audit` has it for as many events as there may be."""
    from scipy.special import betaincinv

    alpha = (1 - CONFIDENCE) / (2 * _EVENTS) / 2
    least = np.where(hits > 0, betaincinv(np.maximum(hits, 1), kept - hits + 1, alpha), 0) - delta
    gone = kept - others
    most = 1 - np.where(gone > 0, betaincinv(np.maximum(gone, 1), others + 1, alpha), 0)
    bounds: Floats = np.log(np.maximum(least, 1e-300) / most)
    return bounds
