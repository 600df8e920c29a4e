"""Which kinds of noise are compared for a spend: all that it permits, or fewer.

Whatever is made again from its spend, such as a round that goes on in another process, must come
out as it was paid for. So the kinds that earlier versions compared stay here, as values.

Source: contract, "Spending" (noise that outlives a call).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace

from discreet.core.guarantee import ApproxDP, Guarantee
from discreet.mechanisms.for_spend import LaplaceInRho, Reading, readings, require_gaussian


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


@dataclass(frozen=True)
class OwnNoise(NoiseChoice):
    """That of the spend's own definition: Laplace noise where it is pure, else Gaussian noise."""

    def readings(self, spend: Guarantee) -> tuple[Reading, ...]:
        return readings(spend)[-1:]


@dataclass(frozen=True)
class FormerNoise(NoiseChoice):
    """What was compared before small noise was paid for in rho: Gaussian noise alone, there.

    An (epsilon, delta) spend was compared with Laplace noise at its epsilon, whatever paid for it.
    """

    def readings(self, spend: Guarantee) -> tuple[Reading, ...]:
        given = replace(spend, by=None) if isinstance(spend, ApproxDP) else spend
        return tuple(each for each in readings(given) if not isinstance(each, LaplaceInRho))
