"""The point of a convex hull of a workload's columns that is nearest to given answers.

Pairwise Frank–Wolfe: weight moves from the worst vertex in use to the best one, by an exact line
search. The gap max_s ⟨z - y, z - s⟩ bounds how far the objective is from its least value, at every
iterate, and half the squared distance to the projection with it.

Source: 000b:B45. Errata: 004b:C12 (constant steps never converge; line search does).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from discreet.core.arrays import Floats
from discreet.queries.workload.answers import cell_weights, column
from discreet.queries.workload.workload import Workload

_REFRESH = 200
_KEPT = 1 << 24
"""Numbers that kept scalar products may take."""


class Hull(Protocol):
    """A multiple of the hull of the columns, perhaps with the origin."""

    @property
    def total(self) -> float:
        """The multiple of the hull."""

    @property
    def with_origin(self) -> int:
        """How many vertices lie in the origin: none or one."""


@dataclass(frozen=True)
class Exactly:
    """Answers of exactly ``total`` records."""

    total: float
    with_origin: int = 0


@dataclass(frozen=True)
class AtMost:
    """Answers of at most ``total`` records: one more vertex, a record that no query counts."""

    total: float
    with_origin: int = 1


@dataclass(frozen=True, eq=False)
class Nearest:
    """Counts whose answers are nearest, and the gap after each iteration."""

    counts: Floats
    gaps: tuple[float, ...]


def nearest(
    workload: Workload, answers: Floats, hull: Hull, *, gap: float, iterations: int
) -> Nearest:
    """Iterate until the gap is at most ``gap``."""
    vertices = _Vertices(workload, hull)
    pull = vertices.extended(cell_weights(workload, answers))
    # Start from the vertex in the answers' direction: the support grows one vertex at a time.
    start = int(np.argmax(pull))
    counts = np.zeros(len(pull))
    counts[start] = hull.total
    slopes = hull.total * vertices.gram(start) - pull
    gaps = []
    for turn in range(1, iterations + 1):
        best = int(np.argmin(slopes))
        used = np.flatnonzero(counts)
        worst = int(used[np.argmax(slopes[used])])
        gaps.append(float(slopes @ counts - hull.total * slopes[best]))
        towards, away = vertices.gram(best), vertices.gram(worst)
        length = float(towards[best] + away[worst] - 2 * away[best])
        if gaps[-1] <= gap or best == worst or length <= 0:
            break
        step = min(float(slopes[worst] - slopes[best]) / length, float(counts[worst]))
        counts[worst] = counts[worst] - step if step < counts[worst] else 0.0
        counts[best] += step
        slopes = slopes + step * (towards - away)
        if turn % _REFRESH == 0:
            slopes = vertices.slopes(counts, pull)
    return Nearest(counts[: workload.universe.size], tuple(gaps))


class _Vertices:
    """Scalar products of the hull's vertices, those in use kept."""

    def __init__(self, workload: Workload, hull: Hull) -> None:
        self._workload = workload
        self._hull = hull
        self._known: dict[int, Floats] = {}

    def extended(self, slopes: Floats) -> Floats:
        """Numbers for the columns, and zero for the origin if it is a vertex."""
        return np.append(slopes, np.zeros(self._hull.with_origin))

    def gram(self, place: int) -> Floats:
        """The scalar products of one vertex with all."""
        cells = self._workload.universe.size
        if place == cells:
            return np.zeros(cells + 1)
        if place not in self._known:
            if (len(self._known) + 1) * cells > _KEPT:
                self._known.clear()
            found = cell_weights(self._workload, column(self._workload, place))
            self._known[place] = self.extended(found)
        return self._known[place]

    def slopes(self, counts: Floats, pull: Floats) -> Floats:
        """The gradient, afresh: updates lose a little to rounding each time."""
        cells = self._workload.universe.size
        answers = self._workload.answers(counts[:cells])
        return self.extended(cell_weights(self._workload, answers)) - pull
