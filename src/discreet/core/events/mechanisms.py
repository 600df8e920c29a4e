"""The events of the basic mechanisms, in normalised form: noise relative to sensitivity.

An event holds exactly what its price depends on. ``Laplace(epsilon=0.1)`` is continuous Laplace
noise of ten sensitivities, whatever the sensitivity is; ``Gaussian(noise_multiplier=2)`` is
continuous normal noise of two sensitivities. The discrete laws also depend on how many grid
steps the sensitivity spans, so their events say so.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from discreet.core.events.event import Event, require_event
from discreet.core.parameters import count, delta_parameter, positive

if TYPE_CHECKING:
    from discreet.core.parameters import Number


@dataclass(frozen=True, repr=False, init=False)
class Pure(Event):
    """Some mechanism known only to be epsilon-differentially private.

    Also the base of the events below, each of which is pure with its own finer law.
    """

    kind: ClassVar[str] = "Pure"

    loss: Number

    def __init__(self, *, epsilon: Number) -> None:
        """``epsilon`` is positive and finite."""
        object.__setattr__(self, "loss", positive("epsilon", epsilon))


@dataclass(frozen=True, repr=False, init=False)
class Approximate(Event):
    """Some mechanism known only to be (epsilon, delta)-differentially private."""

    kind: ClassVar[str] = "Approximate"

    loss: Number
    slack: Number

    def __init__(self, *, epsilon: Number, delta: Number) -> None:
        """``epsilon`` is positive and finite, ``delta`` lies in [0, 1)."""
        object.__setattr__(self, "loss", positive("epsilon", epsilon))
        object.__setattr__(self, "slack", delta_parameter("delta", delta))


@dataclass(frozen=True, repr=False)
class Concentrated(Event):
    """Some mechanism known only to be ``rho``-zero-concentrated differentially private.

    Also one that chooses its steps adaptively, within a filter whose limit is ``rho``.
    """

    kind: ClassVar[str] = "Concentrated"

    rho: Number

    def __post_init__(self) -> None:
        """Refuse a rho that is not positive and finite."""
        object.__setattr__(self, "rho", positive("rho", self.rho))


@dataclass(frozen=True, repr=False, init=False)
class Laplace(Pure):
    """Continuous Laplace noise of ``1/epsilon`` L1 sensitivities, or any rounding of it."""

    kind: ClassVar[str] = "Laplace"


@dataclass(frozen=True, repr=False, init=False)
class DiscreteLaplace(Pure):
    """Two-sided geometric noise of scale ``steps/epsilon`` where the sensitivity is ``steps``.

    ``steps`` is the L1 sensitivity in grid steps. It matters to every price but the pure one.
    """

    kind: ClassVar[str] = "DiscreteLaplace"

    steps: int

    def __init__(self, *, epsilon: Number, steps: int) -> None:
        """``steps`` is a whole number of grid steps."""
        super().__init__(epsilon=epsilon)
        object.__setattr__(self, "steps", count("steps", steps))


@dataclass(frozen=True, repr=False)
class Gaussian(Event):
    """Continuous normal noise of ``noise_multiplier`` L2 sensitivities, or any rounding of it."""

    kind: ClassVar[str] = "Gaussian"

    noise_multiplier: Number

    def __post_init__(self) -> None:
        """Refuse a multiplier that is not positive and finite."""
        object.__setattr__(
            self, "noise_multiplier", positive("noise_multiplier", self.noise_multiplier)
        )


@dataclass(frozen=True, repr=False)
class DiscreteGaussian(Event):
    """Discrete normal noise with parameter ``sigma`` grid steps, over integer vectors.

    ``noise_multiplier`` is sigma over the L2 sensitivity. Never priced by the continuous
    formula: its true delta can be three times that (contract, "Numbers").
    """

    kind: ClassVar[str] = "DiscreteGaussian"

    noise_multiplier: Number
    sigma: Number

    def __post_init__(self) -> None:
        """Refuse parameters that are not positive and finite."""
        for name in ("noise_multiplier", "sigma"):
            object.__setattr__(self, name, positive(name, getattr(self, name)))


@dataclass(frozen=True, repr=False, init=False)
class Exponential(Pure):
    """The exponential mechanism: log-probabilities move within a range of ``epsilon``."""

    kind: ClassVar[str] = "Exponential"


@dataclass(frozen=True, repr=False, init=False)
class PermuteAndFlip(Pure):
    """Permute-and-flip: pure epsilon, but *not* of bounded range (modern-data:N2)."""

    kind: ClassVar[str] = "PermuteAndFlip"


@dataclass(frozen=True, repr=False, init=False)
class NoisyMax(Pure):
    """The index, and possibly the gap, of the largest of Laplace-noised scores."""

    kind: ClassVar[str] = "NoisyMax"


@dataclass(frozen=True, repr=False, init=False)
class RandomizedResponse(Pure):
    """One answer out of ``categories``, true with odds ``exp(epsilon)`` to each other one."""

    kind: ClassVar[str] = "RandomizedResponse"

    categories: int

    def __init__(self, *, epsilon: Number, categories: int) -> None:
        """``categories`` is at least two."""
        super().__init__(epsilon=epsilon)
        object.__setattr__(self, "categories", count("categories", categories, least=2))


@dataclass(frozen=True, repr=False, init=False)
class SparseVector(Pure):
    """AboveThreshold run until ``cutoff`` answers were positive; any number of negatives."""

    kind: ClassVar[str] = "SparseVector"

    cutoff: int

    def __init__(self, *, epsilon: Number, cutoff: int) -> None:
        """``cutoff`` is at least one."""
        super().__init__(epsilon=epsilon)
        object.__setattr__(self, "cutoff", count("cutoff", cutoff))


@dataclass(frozen=True, repr=False)
class Unprotected(Event):
    """What a seeded or noise-free run did. It has no price, so no ledger takes it.

    ``instead_of`` is the event that a private run would have recorded.
    """

    kind: ClassVar[str] = "Unprotected"

    instead_of: Event
    reason: str

    def __post_init__(self) -> None:
        """Refuse anything but an event."""
        require_event(self.instead_of)
