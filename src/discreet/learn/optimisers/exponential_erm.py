"""Empirical risk minimisation by the exponential mechanism, exact on a grid of candidates.

Each row's loss is taken relative to a public candidate in the middle, clamped to what the loss's
steepness allows across the grid, and added up in exact integers. No convexity is needed.

Source: 004b:C2 (on finite sets; a chain that is only close in total variation would not be pure).
Proof: ``proofs/optimisers.md``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from discreet.core.arrays import Floats
from discreet.core.errors import InvalidParameter
from discreet.core.events.event import Event
from discreet.learn.exact_sums import sums
from discreet.learn.losses import Loss, admitted
from discreet.learn.optimisers.row_sets import RowSet
from discreet.learn.optimisers.selections import FARTHEST, epsilon_of_each, require_reach
from discreet.learn.privacy import Privacy, bounded_rows
from discreet.learn.row_products import predictions, predictions_of_each
from discreet.mechanisms.exponential import Exponential

_STEPS = 2.0**30
_MOST = 1 << 20


@dataclass(frozen=True, kw_only=True, eq=False)
class ExponentialERM:
    """Chooses one of some candidates, the likelier the smaller its sum of losses.

    Assumptions: candidates, loss, row set, spend and unit are chosen without the data.

    Guarantee: ``minimise`` costs ``event``, which the spend covers; with probability 1 - β the
    chosen sum of losses is within ``excess(confidence=1 - β)`` of the least.

    Source: 004b:C2. Proof: ``proofs/optimisers.md``.

    Numerics: a row's loss is rounded to 2**-30 of the largest that it may be.
    """

    loss: Loss
    rows: RowSet
    candidates: Floats
    privacy: Privacy

    def __post_init__(self) -> None:
        """Refuse what is no list of candidates."""
        shape = np.shape(self.candidates)
        if len(shape) != 2 or shape[1] != self.rows.dimension or not 2 <= shape[0] <= _MOST:
            raise InvalidParameter(
                code="candidates_shape",
                expectation="two candidates or more, one line each, as long as a row",
                received=shape,
                remedy="Write candidates=np.linspace(0, 1, 101)[:, None].",
            )
        if not (np.abs(self.candidates) <= FARTHEST).all():
            raise InvalidParameter(
                code="candidates_shape",
                expectation="finite candidates of usual size",
                remedy="Write candidates=np.linspace(0, 1, 101)[:, None].",
            )
        require_reach(self.reach)

    @property
    def reach(self) -> float:
        """The most that a row's loss differs from that at the middle candidate."""
        far = np.linalg.norm(self.candidates - self._middle, axis=1).max()
        return float(self.loss.lipschitz * self.rows.longest * far * (1 + 1e-12))

    @property
    def _middle(self) -> Floats:
        centre = self.candidates.mean(axis=0)
        near = int(np.argmin(np.linalg.norm(self.candidates - centre, axis=1)))
        middle: Floats = self.candidates[near]
        return middle

    @cached_property
    def _choice(self) -> Exponential:
        return Exponential(
            epsilon=epsilon_of_each(self.privacy.spend, 1),
            sensitivity=self.privacy.rows_that_differ * int(_STEPS),
            randomness=self.privacy.randomness,
        )

    @property
    def event(self) -> Event:
        """What one choice costs."""
        return self._choice.event

    def excess(self, *, confidence: float) -> float:
        """How far above the least sum of losses the chosen one is at most."""
        steps = self._choice.error(confidence=confidence, candidates=len(self.candidates))
        return steps / _STEPS * self.reach

    def minimise(self, x: Floats, y: Floats, people: Any = None) -> Floats:
        """The chosen candidate, over rows that are moved into the row set."""
        x, y = bounded_rows(self.privacy, x, y, people, self.rows.dimension)
        inside, y = admitted(self.loss, self.rows.clamped(x), y)
        everyone = np.zeros(len(x), dtype=np.int64)
        base = self.loss.value(predictions(inside, self._middle), y)
        scores = []
        for part in np.array_split(self.candidates, math.ceil(len(self.candidates) / 256)):
            values = self.loss.value(predictions_of_each(inside, part), y[:, None]) - base[:, None]
            bounded = np.trunc(np.clip(np.nan_to_num(values / self.reach), -1, 1) * _STEPS)
            scores.append(sums(bounded, everyone, 1)[0])
        total = -np.concatenate(scores).astype(np.int64)
        found: Floats = self.candidates[self._choice.release(total)]
        return found
