"""Which kinds of noise are compared for a spend: all that it permits, or fewer."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

from discreet.core.guarantee import Guarantee
from discreet.mechanisms.for_spend import Reading, readings, require_gaussian


class NoiseChoice(ABC):
    """The readings of a spend among which the one of least error is taken."""

    @abstractmethod
    def readings(self, spend: Guarantee) -> tuple[Reading, ...]:
        """Those that are compared; a spend that permits none of them is refused."""


@dataclass(frozen=True)
class AnyNoise(NoiseChoice):
    """All that the spend permits."""

    def readings(self, spend: Guarantee) -> tuple[Reading, ...]:
        return readings(spend)


@dataclass(frozen=True)
class GaussianNoise(NoiseChoice):
    """Gaussian noise alone, whatever pays for it; pure spends are refused."""

    def readings(self, spend: Guarantee) -> tuple[Reading, ...]:
        return (require_gaussian(spend),)
