"""Keys named where their count with normal noise reaches a threshold: for several groups a person.

Normal noise grows with the root of the number of groups and is better from three groups on. Noise
and threshold are calibrated together (``accounting/key_selection.py``).

Source: modern-data:P3, P4. Proof: ``proofs/key_selection.md``.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from discreet.core.events.event import Event
from discreet.core.events.key_selection import ConcentratedThreshold as ConcentratedThresholdEvent
from discreet.core.events.key_selection import GaussianThreshold as GaussianThresholdEvent
from discreet.core.parameters import Number, exact, probability
from discreet.mechanisms import grid
from discreet.mechanisms.key_selection.rule import (
    MOST_PEOPLE,
    KeptKeys,
    KeySelectionRule,
    out_of_reach,
)
from discreet.noise import rounded_gaussian

if TYPE_CHECKING:
    from discreet.accounting.key_selection import Calibrated
    from discreet.mechanisms.distributions.symmetric import Distribution


@dataclass(frozen=True, kw_only=True)
class NormalThreshold(KeySelectionRule):
    """What both Gaussian rules share: rounded normal noise, and a whole threshold."""

    @property
    @abstractmethod
    def noise(self) -> Calibrated:
        """Sigma and threshold."""

    @property
    def distribution(self) -> Distribution:
        """Normal noise, rounded."""
        from discreet.mechanisms.distributions.gaussian import RoundedGaussian  # loads SciPy

        return RoundedGaussian(self.noise.sigma, 1.0)

    def _release(self, people: NDArray[np.int64]) -> KeptKeys:
        noise = rounded_gaussian(exact(self.noise.sigma), len(people), self.randomness)
        noisy = people + noise
        return KeptKeys((noisy >= self.noise.threshold) & (people > 0), noisy)

    def _probabilities(self, people: NDArray[np.int64]) -> NDArray[np.float64]:
        from discreet.accounting.key_selection import keep_probabilities  # loads all accountants

        return keep_probabilities(self.noise, people.astype(np.float64))


@dataclass(frozen=True, kw_only=True)
class GaussianThreshold(NormalThreshold):
    """Publishes counts with normal noise where they reach a threshold, at (epsilon, delta).

    Assumptions: those of :class:`KeySelectionRule`.

    Guarantee: (epsilon, delta)-differential privacy for names and counts together.

    >>> GaussianThreshold(epsilon=1, delta=1e-5, groups=10).people_for(0.5)
    58

    Source: modern-data:P3 (tuned). Proof: ``proofs/key_selection.md``.
    """

    epsilon: Number
    delta: Number

    def __post_init__(self) -> None:
        """Refuse parameters out of range, or under which nothing would ever be named."""
        super().__post_init__()
        object.__setattr__(self, "epsilon", grid.ordinary("epsilon", self.epsilon))
        object.__setattr__(self, "delta", probability("delta", grid.ordinary("delta", self.delta)))
        if self.noise.threshold > MOST_PEOPLE:
            raise out_of_reach()

    @property
    def noise(self) -> Calibrated:
        """Calibrated together, once for all equal rules."""
        from discreet.accounting.key_selection import calibrated  # loads all accountants

        return calibrated(exact(self.epsilon), exact(self.delta), self.groups, self.swaps)

    def _event(self) -> Event:
        return GaussianThresholdEvent(
            epsilon=self.epsilon, delta=self.delta, groups=self.groups, swaps=self.swaps
        )


@dataclass(frozen=True, kw_only=True)
class ConcentratedThreshold(NormalThreshold):
    """Publishes counts with normal noise of rho-zCDP where they reach a threshold.

    Assumptions: those of :class:`KeySelectionRule`.

    Guarantee: delta-approximate rho-zCDP for names and counts together. No rule that names
    unlisted keys is rho-zCDP without a delta.

    >>> ConcentratedThreshold(rho=0.5, delta=1e-5).noise.threshold
    6

    Source: modern-data:P4. Proof: ``proofs/key_selection.md``.
    """

    rho: Number
    delta: Number

    def __post_init__(self) -> None:
        """Refuse parameters out of range, or under which nothing would ever be named."""
        super().__post_init__()
        object.__setattr__(self, "rho", grid.ordinary("rho", self.rho))
        object.__setattr__(self, "delta", probability("delta", grid.ordinary("delta", self.delta)))
        if self.noise.threshold > MOST_PEOPLE:
            raise out_of_reach()

    @property
    def noise(self) -> Calibrated:
        """Sigma follows from rho, the threshold from delta."""
        from discreet.accounting.key_selection import concentrated  # loads all accountants

        return concentrated(exact(self.rho), exact(self.delta), self.groups, self.swaps)

    def _event(self) -> Event:
        return ConcentratedThresholdEvent(
            rho=self.rho, delta=self.delta, groups=self.groups, swaps=self.swaps
        )
