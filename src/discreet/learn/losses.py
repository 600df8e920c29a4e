"""Losses of linear predictions, with the facts that optimisers need.

A loss is a function of t = x·θ and the target. ``lipschitz`` bounds its slope, ``curvature`` its
second derivative; None where it has a kink. As a function of θ its Hessian has rank one and, for
rows of length at most r, eigenvalues of at most r**2 times the curvature.

Source: 004b:C1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from discreet.core.arrays import Floats
from discreet.core.errors import InvalidParameter
from discreet.core.parameters import positive

_FAR = 2.0**300


class Loss(Protocol):
    """A convex loss of a linear prediction."""

    @property
    def lipschitz(self) -> float:
        """The steepest slope."""

    @property
    def curvature(self) -> float | None:
        """The largest second derivative; None where there is none."""

    def targets(self, y: Floats) -> Floats:
        """Targets moved into the domain on which the facts hold; NaN stays."""

    def value(self, t: Floats, y: Floats) -> Floats:
        """The loss of each row."""

    def slope(self, t: Floats, y: Floats) -> Floats:
        """Its derivative by t; at a kink, one of the slopes."""

    def bend(self, t: Floats, y: Floats) -> Floats:
        """Its second derivative by t; zero at a kink."""


@dataclass(frozen=True)
class LogisticLoss:
    """ln(1 + exp(-y t)) for labels of -1 and 1.

    >>> LogisticLoss().curvature
    0.25
    """

    @property
    def lipschitz(self) -> float:
        return 1.0

    @property
    def curvature(self) -> float | None:
        return 0.25

    def targets(self, y: Floats) -> Floats:
        return np.clip(y, -1, 1)

    def value(self, t: Floats, y: Floats) -> Floats:
        return np.logaddexp(0, -y * t)

    def slope(self, t: Floats, y: Floats) -> Floats:
        return -y * _sigmoid(-y * t)

    def bend(self, t: Floats, y: Floats) -> Floats:
        share = _sigmoid(y * t)
        return y**2 * share * (1 - share)


@dataclass(frozen=True)
class HuberLoss:
    """Half the squared residual, linear beyond ``width``: squared error with clipped slopes."""

    width: float = 1.0

    def __post_init__(self) -> None:
        """Refuse a width that is not positive."""
        positive("width", self.width)

    @property
    def lipschitz(self) -> float:
        return self.width

    @property
    def curvature(self) -> float | None:
        return 1.0

    def targets(self, y: Floats) -> Floats:
        return np.clip(y, -_FAR, _FAR)

    def value(self, t: Floats, y: Floats) -> Floats:
        far = abs(t - y)
        return np.where(far <= self.width, far**2 / 2, self.width * (far - self.width / 2))

    def slope(self, t: Floats, y: Floats) -> Floats:
        return np.clip(t - y, -self.width, self.width)

    def bend(self, t: Floats, y: Floats) -> Floats:
        return (abs(t - y) <= self.width).astype(np.float64)


@dataclass(frozen=True)
class SmoothHingeLoss:
    """The hinge with its kink rounded over ``width`` on either side, for labels of -1 and 1."""

    width: float = 0.5

    def __post_init__(self) -> None:
        """Refuse a width that is not positive."""
        positive("width", self.width)

    @property
    def lipschitz(self) -> float:
        return 1.0

    @property
    def curvature(self) -> float | None:
        return 1 / (2 * self.width)

    def targets(self, y: Floats) -> Floats:
        return np.clip(y, -1, 1)

    def value(self, t: Floats, y: Floats) -> Floats:
        short = 1 - y * t
        inside = (short + self.width) ** 2 / (4 * self.width)
        return np.where(abs(short) <= self.width, inside, np.maximum(short, 0))

    def slope(self, t: Floats, y: Floats) -> Floats:
        return -y * np.clip((1 - y * t + self.width) / (2 * self.width), 0, 1)

    def bend(self, t: Floats, y: Floats) -> Floats:
        inside = abs(1 - y * t) <= self.width
        return y**2 * inside.astype(np.float64) / (2 * self.width)


@dataclass(frozen=True)
class AbsoluteLoss:
    """|t - y|, whose minimiser is a median: not smooth."""

    @property
    def lipschitz(self) -> float:
        return 1.0

    @property
    def curvature(self) -> float | None:
        return None

    def targets(self, y: Floats) -> Floats:
        return np.clip(y, -_FAR, _FAR)

    def value(self, t: Floats, y: Floats) -> Floats:
        return abs(t - y)

    def slope(self, t: Floats, y: Floats) -> Floats:
        return np.sign(t - y)

    def bend(self, t: Floats, y: Floats) -> Floats:
        return np.zeros_like(t - y)


def admitted(loss: Loss, x: Floats, y: Floats) -> tuple[Floats, Floats]:
    """Rows and targets on which the loss keeps its facts, each a function of its row alone.

    Targets are moved into the domain; a row whose target is NaN becomes zero and adds nothing.
    """
    targets = loss.targets(y)
    missing = np.isnan(targets)
    if not missing.any():
        return x, targets
    return np.where(missing[:, None], 0.0, x), np.where(missing, 0.0, targets)


def require_smooth(loss: Loss) -> float:
    """The curvature of a loss; refused where it has a kink.

    With a kink the minimiser of a perturbed objective sits on a record with positive probability:
    the median of the data, with probability at least 1 - exp(-epsilon/4) (004b:C3).
    """
    if loss.curvature is None:
        raise InvalidParameter(
            code="loss_not_smooth",
            expectation="a loss with a second derivative",
            received=type(loss).__name__,
            remedy="Use HuberLoss or SmoothHingeLoss, which round the kink; or gradient descent.",
        )
    return loss.curvature


def _sigmoid(t: Floats) -> Floats:
    from scipy.special import expit  # loaded on first use

    found: Floats = expit(t)
    return found
