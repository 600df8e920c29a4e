"""The truncated geometric mechanism: a private count that stays between 0 and a public size."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from discreet.core.errors import InvalidParameter
from discreet.core.events.event import Event
from discreet.core.parameters import Number, count
from discreet.mechanisms.discrete_laplace import DiscreteLaplace
from discreet.mechanisms.grid import LIMIT
from discreet.noise import SYSTEM, Source


@dataclass(frozen=True, kw_only=True)
class TruncatedGeometric:
    """Adds geometric noise to counts and clamps the *result* to ``[0, size]``.

    Assumptions: integers with L1 distance at most one between neighbours; ``size`` is public.

    Guarantee: pure epsilon-differential privacy, as post-processing of the geometric mechanism.
    The book's equation 9.1 uses alpha = 1/epsilon and clamps the noise before adding it, so that
    the output is never below the truth and privacy fails; it exists here only as a broken twin
    in the tests.

    >>> 0 <= TruncatedGeometric(epsilon=0.5, size=20).release(3) <= 20
    True

    Source: 004c:9-1, corrected. Proof: ``proofs/laplace.md``.
    """

    epsilon: Number
    size: int
    randomness: Source = SYSTEM

    def __post_init__(self) -> None:
        """Refuse a size that is not a count."""
        object.__setattr__(self, "size", count("size", self.size))
        object.__setattr__(self, "epsilon", self._geometric().epsilon)

    @classmethod
    def for_error(cls, error: float, *, confidence: float, size: int, cells: int = 1) -> Self:
        """The cheapest mechanism whose largest error over ``cells`` counts is at most ``error``."""
        geometric = DiscreteLaplace.for_error(
            error, confidence=confidence, sensitivity=1, size=cells
        )
        return cls(epsilon=geometric.epsilon, size=size)

    @property
    def event(self) -> Event:
        """The event of the geometric mechanism: clamping afterwards is free."""
        return self._geometric().event

    def release(self, value: Any) -> Any:
        """Noisy counts within the public range."""
        noisy = self._geometric().release(value)
        clamped = np.clip(noisy, 0, min(self.size, LIMIT))
        return int(clamped) if isinstance(noisy, int) else clamped

    def error(self, *, confidence: float, size: int = 1) -> float:
        """Bound on the largest error; clamping toward the truth never enlarges one."""
        return min(float(self.size), self._geometric().error(confidence=confidence, size=size))

    def estimator(self, prior: Any, loss: Any) -> list[int]:
        """For each output, the answer of least posterior expected loss under a *public* prior.

        ``prior[c]`` weighs the counts 0…size and ``loss(c, y)`` says what answering y costs
        when the truth is c (absolute, squared or asymmetric: a signed linear loss, as printed
        in the book, is minimised by y = 0 whatever the data). Post-processing, hence free.
        """
        counts = np.arange(self.size + 1)
        weights = np.asarray(prior, dtype=np.float64)
        if (
            weights.shape != counts.shape
            or not (weights >= 0).all()
            or not 0 < weights.sum() < np.inf
        ):
            raise InvalidParameter(
                code="prior_of_wrong_shape",
                expectation="one non-negative weight for each count from 0 to size",
                received=weights.shape,
                remedy="Pass size + 1 public weights.",
            )
        losses = np.array([[loss(c, y) for y in counts] for c in counts], dtype=np.float64)
        posterior = weights[:, None] * self.distribution()
        return [int(np.argmin(posterior[:, z] @ losses)) for z in counts]

    def distribution(self) -> NDArray[np.float64]:
        """Probability of each output (column) for each true count (row)."""
        a = float(np.exp(-float(self.epsilon)))
        counts = np.arange(self.size + 1)
        table: NDArray[np.float64] = (
            (1 - a) / (1 + a) * a ** np.abs(counts[:, None] - counts[None, :])
        )
        table[:, 0] = a**counts / (1 + a)
        table[:, -1] = a ** (self.size - counts) / (1 + a)
        return table

    def _geometric(self) -> DiscreteLaplace:
        return DiscreteLaplace(epsilon=self.epsilon, sensitivity=1, randomness=self.randomness)
