"""Multiplicative weights over an explicit universe, in log-space.

A distribution over cells is kept as logarithms up to a common constant. An update adds a step
times a query to them; nothing is normalised until somebody asks. Exponentials are kept beside the
logarithms: an update of a box changes both in that box alone, and the total by the difference.
They are computed afresh from the logarithms before rounding could show.

Potential: with the update of 000a:F4, log-weights plus eta times a query r in [0, 1], the relative
entropy from the data x falls by at least eta <r, x - x^t> - eta**2.

Source: 000a:F4; 004b:A10, A15.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from discreet.core.arrays import Floats
from discreet.core.errors import InvalidParameter
from discreet.core.parameters import count
from discreet.queries.log_weights import LogWeights, centred, relative
from discreet.queries.workload.linear_query import LinearQuery, Region

_MOST_DRIFT = 8.0
_MOST_UPDATES = 256


class MultiplicativeWeights:
    """A distribution over ``cells`` cells that learns from queries.

    ``start`` is a public guess with positive entries; the uniform distribution if left out.

    >>> weights = MultiplicativeWeights(2)
    >>> weights.update(Region((2,), (slice(0, 1),)), 0.2)
    >>> weights.distribution.round(6).tolist()
    [0.549834, 0.450166]

    Assumptions: queries and steps are public or released; so is ``start``.

    Guarantee: post-processing: no event of its own.

    Source: 000a:F4.
    """

    def __init__(self, cells: int, start: ArrayLike | None = None) -> None:
        """Begin with the guess."""
        size = count("cells", cells)
        if start is None:
            self._state = LogWeights(np.zeros(size))
        else:
            guess = np.asarray(start, dtype=np.float64).ravel()
            if guess.size != size or not (guess.min() > 0 and np.isfinite(guess).all()):
                raise InvalidParameter(
                    code="start_misfit",
                    expectation=f"{size} positive numbers, a public guess of the distribution",
                    received=guess.shape,
                    remedy="Mix the guess with the uniform distribution, so that no cell has zero.",
                )
            self._state = LogWeights(np.log(guess))
        self._logs = self._state.logs  # no copy: what changes one changes both
        self._weights = np.empty(size)
        self._mass: float | None = None
        self._pending: dict[tuple[tuple[int, ...], tuple[int, ...]], Floats] = {}
        self._refresh()

    @property
    def cells(self) -> int:
        """How many cells there are."""
        return int(self._logs.size)

    def update(self, query: LinearQuery, step: float) -> None:
        """Add ``step`` times the query to the log-weights."""
        if not isinstance(query, Region):
            self.tilt(step * query.dense())
            return
        self._logs.reshape(query.shape)[query.box] += step
        if self._fresh:
            part = self._weights.reshape(query.shape)[query.box]
            before = float(part.sum())
            part *= math.exp(step)
            if self._mass is not None:
                self._mass += float(part.sum()) - before
            self._drifted(abs(step))

    def tilt(self, steps: Floats) -> None:
        """Add any steps to the log-weights, one for each cell."""
        self._state.learn(steps)
        self._fresh = False

    def tilt_along(self, steps: Floats, shape: tuple[int, ...]) -> None:
        """Add steps that broadcast to ``shape``, such as one for each cell of a marginal."""
        weights = self.weights.reshape(shape)
        weights *= np.exp(steps)
        self._mass = None
        # The logarithms learn of it when they are next needed: many tilts along one marginal
        # are one pass over the universe.
        known = self._pending.get((shape, steps.shape))
        self._pending[shape, steps.shape] = steps if known is None else known + steps
        self._drifted(float(np.abs(steps).max()))

    def answer(self, query: LinearQuery) -> float:
        """The query's mean."""
        return query.answer(self.weights) / self.mass

    @property
    def weights(self) -> Floats:
        """Weights that are proportional to the distribution; their sum is :attr:`mass`."""
        if not self._fresh:
            self._refresh()
        return self._weights

    @property
    def mass(self) -> float:
        """The sum of the weights."""
        weights = self.weights
        if self._mass is None:
            self._mass = float(weights.sum())
        return self._mass

    @property
    def distribution(self) -> Floats:
        """Probabilities, as a new array."""
        return np.asarray(self.weights / self.weights.sum())

    def divergence(self, data: Floats) -> float:
        """The relative entropy from a distribution to this one: what updates bring down."""
        self._settle()
        target = np.asarray(data, dtype=np.float64)
        known = target > 0
        logs = centred(self._logs)
        logs -= math.log(float(np.exp(logs).sum()))
        return float((target[known] * (np.log(target[known]) - logs[known])).sum())

    def _drifted(self, step: float) -> None:
        self._drift += step
        self._updates += 1
        self._fresh = self._drift <= _MOST_DRIFT and self._updates <= _MOST_UPDATES

    def _settle(self) -> None:
        for (shape, _), steps in self._pending.items():
            self._logs.reshape(shape)[...] += steps
        self._pending.clear()

    def _refresh(self) -> None:
        self._settle()
        relative(self._logs, out=self._weights)
        self._mass = None
        self._drift = 0.0
        self._updates = 0
        self._fresh = True
