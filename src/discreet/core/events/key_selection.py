"""The events of private key selection: which of many unlisted groups may be named.

A unit is counted once in each of at most ``groups`` groups. ``swaps`` is 1 where a unit comes or
goes and 2 under Replace, where one goes and another comes: then as many counts rise as fall.

Source: modern-data:P1-P4. Prices: ``accounting/key_selection.py``.
Proof: ``proofs/key_selection.md``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from discreet.core.events.event import Event
from discreet.core.parameters import count, positive, probability

if TYPE_CHECKING:
    from discreet.core.parameters import Number


@dataclass(frozen=True, repr=False, init=False)
class KeySelection(Event):
    """The optimal keep-or-drop rule at (epsilon, delta), split evenly over the changed groups."""

    kind: ClassVar[str] = "KeySelection"

    loss: Number
    slack: Number
    groups: int
    swaps: int

    def __init__(self, *, epsilon: Number, delta: Number, groups: int, swaps: int) -> None:
        """``delta`` lies strictly between 0 and 1: without it no unlisted key can be named."""
        object.__setattr__(self, "loss", positive("epsilon", epsilon))
        object.__setattr__(self, "slack", probability("delta", delta))
        object.__setattr__(self, "groups", count("groups", groups))
        object.__setattr__(self, "swaps", count("swaps", swaps))

    @property
    def changed(self) -> int:
        """The most groups whose count differs between neighbours."""
        return self.groups * self.swaps


@dataclass(frozen=True, repr=False, init=False)
class GeometricThreshold(KeySelection):
    """Counts with truncated geometric noise, named and published where they pass its bound."""

    kind: ClassVar[str] = "GeometricThreshold"


@dataclass(frozen=True, repr=False, init=False)
class GaussianThreshold(KeySelection):
    """Counts with normal noise over a threshold, calibrated together to (epsilon, delta)."""

    kind: ClassVar[str] = "GaussianThreshold"


@dataclass(frozen=True, repr=False, init=False)
class ConcentratedThreshold(Event):
    """Counts with normal noise of rho-zCDP; a unit alone in its groups shows with ``delta``."""

    kind: ClassVar[str] = "ConcentratedThreshold"

    rho: Number
    slack: Number
    groups: int
    swaps: int

    def __init__(self, *, rho: Number, delta: Number, groups: int, swaps: int) -> None:
        """``rho`` is positive, ``delta`` strictly between 0 and 1."""
        object.__setattr__(self, "rho", positive("rho", rho))
        object.__setattr__(self, "slack", probability("delta", delta))
        object.__setattr__(self, "groups", count("groups", groups))
        object.__setattr__(self, "swaps", count("swaps", swaps))
