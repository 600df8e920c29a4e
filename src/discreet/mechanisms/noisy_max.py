"""Report noisy max: the index of the largest score under continuous Laplace noise, and its gap."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.events.mechanisms import NoisyMax as NoisyMaxEvent
from discreet.core.events.mechanisms import Pure
from discreet.core.parameters import count, exact, probability
from discreet.mechanisms import grid
from discreet.mechanisms.scores import read_scores
from discreet.mechanisms.selection import Selection
from discreet.noise import LazyLaplace, Noiseless, Source, rounded_laplace


@dataclass(frozen=True, kw_only=True)
class NoisyMax(Selection):
    """The index of the largest noisy score; the noisy scores themselves stay secret.

    Assumptions: the list of candidates is public and fixed; each score moves by at most
    ``sensitivity`` between neighbouring data sets; ``scores=MONOTONE`` only where all move in
    one direction, as counts do under add/remove and not under replace-one.

    Contract: noise is continuous Laplace of scale ``2 sensitivity / epsilon`` (half for monotone
    scores); comparisons reveal as many of its digits as they need, so there are no ties. Scores
    are first rounded to a public grid, which is accounted in the sensitivity.

    Guarantee: pure epsilon-differential privacy, exactly, for the index, and also for the index
    with the gap to the runner-up (:meth:`release_with_gap`). The winning noisy score is *not*
    free, whatever the book says: 000a:C6 shows a ratio of exp(m epsilon).

    >>> NoisyMax(epsilon=1, sensitivity=1).event
    NoisyMax(epsilon=1)

    Source: 000a:C6, boosting-and-analysts:L2. Proof: ``proofs/noisy_max.md``.
    """

    @staticmethod
    def _kind() -> type[Pure]:
        return NoisyMaxEvent

    def release(self, scores: Any) -> int:
        """The index of the winner."""
        steps, noise, scale, _ = self._noisy(scores)
        ahead = np.flatnonzero(steps + noise == (steps + noise).max())
        if len(ahead) == 1 or isinstance(self.randomness, Noiseless):
            # Rounding hides at most half a step each, so a whole step ahead is ahead.
            return int(ahead[0])
        return _first_and_gap(steps, noise, scale, self.randomness)[0]

    def release_with_gap(self, scores: Any) -> tuple[int, float]:
        """The winner and how far its noisy score is ahead, rounded down to the public grid."""
        steps, noise, scale, step = self._noisy(scores)
        if isinstance(self.randomness, Noiseless):
            order = np.argsort(-steps, kind="stable")
            lead = int(steps[order[0]] - steps[order[1]]) if len(order) > 1 else 0
            return int(order[0]), lead * step
        winner, gap = _first_and_gap(steps, noise, scale, self.randomness)
        return winner, gap * step

    def error(self, *, confidence: float, candidates: int) -> float:
        """How far below the best score the winner's may be, at ``confidence``.

        All noises lie within b ln(m / (1 - confidence)), so the loss is at most twice that.
        """
        tail = 1 - float(probability("confidence", confidence))
        return 2 * float(self._scale()) * math.log(count("candidates", candidates) / tail)

    def _share(self, distance: Fraction) -> Fraction:
        step = Fraction(2) ** grid.real_exponent(exact(self.sensitivity), self._scale(), 1)
        return Fraction(
            math.ceil(distance / step) + 1, math.ceil(exact(self.sensitivity) / step) + 1
        )

    def _scale(self) -> Fraction:
        return self.scores.value * exact(self.sensitivity) / exact(self.epsilon)

    def _noisy(self, scores: Any) -> tuple[NDArray[np.int64], NDArray[np.int64], Fraction, float]:
        """Scores and noise in steps, the noise scale in steps, and the step."""
        values = read_scores(scores)
        sensitivity = exact(self.sensitivity)
        exponent = grid.real_exponent(sensitivity, self._scale(), 1)
        in_steps = math.ceil(sensitivity / Fraction(2) ** exponent) + 1
        scale = self.scores.value * in_steps / exact(self.epsilon)
        # Only differences matter, so the largest score can stand at zero.
        steps = grid.steps_behind(values, exponent)
        return steps, rounded_laplace(scale, len(steps), self.randomness), scale, 2.0**exponent


def _first_and_gap(
    steps: NDArray[np.int64], noise: NDArray[np.int64], scale: Fraction, source: Source
) -> tuple[int, int]:
    """Index of the largest ``steps + continuous noise``, and the floor of its lead in steps."""
    noisy = steps + noise
    if len(noisy) == 1:
        return 0, 0
    # Rounding hides at most half a step each, so only values within one step of the second
    # largest can be first or second.
    second = int(np.partition(noisy, -2)[-2])
    contenders = np.flatnonzero(noisy >= second - 1)
    lazy = {int(i): LazyLaplace(int(noise[i]), scale, source) for i in contenders}
    while True:
        bounds = {i: [int(steps[i]) + end for end in x.bounds()] for i, x in lazy.items()}
        first, runner, *rest = sorted(bounds, key=lambda i: bounds[i][0], reverse=True)
        behind = max([bounds[i][1] for i in rest], default=None)
        ordered = bounds[first][0] >= bounds[runner][1]
        settled = behind is None or bounds[runner][0] >= behind
        if ordered and settled:
            least = math.floor(bounds[first][0] - bounds[runner][1])
            if least == math.ceil(bounds[first][1] - bounds[runner][0]) - 1:
                return first, least
        for variable in lazy.values():
            variable.refine()
