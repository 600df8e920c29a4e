"""Which few of many features go with a target: chosen one after another, at a price with ln p.

A feature's score is the absolute sum over rows of feature times target, added up in exact integers.
The exponential mechanism chooses the first, then the next among those that are left.

Where features are orthogonal, a score is the number of rows times the coefficient, so the largest
are the support of the sparse model. Where they are not, with |x_j · x_k| ≤ μ n, scores differ from
that by at most μ n times the other coefficients' sum.

Source: 004b:C15 (named only; the mechanism and its bound are derived here). Proof:
``proofs/optimisers.md``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from discreet.core.errors import InvalidParameter
from discreet.core.events.event import Event
from discreet.core.parameters import count, probability
from discreet.learn.exact_sums import sums
from discreet.learn.optimisers.selections import epsilon_of_each
from discreet.learn.privacy import Privacy, bounded_rows
from discreet.mechanisms.exponential import Exponential

_STEPS = 2.0**30


@dataclass(frozen=True, kw_only=True)
class SupportSelection:
    """The ``size`` features that go with the target most; features and targets within [-1, 1].

    Assumptions: ``size``, spend and unit are chosen without the data. Which features there are is
    public.

    Guarantee: the places of all chosen features cost ``event``, which the spend covers.

    Source: 004b:C15. Proof: ``proofs/optimisers.md``.

    Numerics: what a row adds to a score is rounded to 2**-30.
    """

    size: int
    privacy: Privacy

    def __post_init__(self) -> None:
        """Refuse parameters out of range."""
        count("size", self.size)
        _ = self._choice

    @property
    def event(self) -> Event:
        """What all choices cost."""
        return self._choice.event * self.size

    @cached_property
    def _choice(self) -> Exponential:
        return Exponential(
            epsilon=epsilon_of_each(self.privacy.spend, self.size),
            sensitivity=self.privacy.rows_that_differ * int(_STEPS),
            randomness=self.privacy.randomness,
        )

    def lead(self, *, features: int, confidence: float) -> float:
        """How far the ``size`` largest scores must be above all others to be found exactly.

        Guarantee: if they are, all of them are chosen with probability at least ``confidence``.
        Scores count rows: divide by a public number of rows for the lead of coefficients of
        orthogonal features with entries of ±1.
        """
        others = count("features", features) - self.size
        if others <= 0:
            return 0.0
        wrong = 1 - float(probability("confidence", confidence))
        rate = float(self._choice.epsilon) / (2 * self.privacy.rows_that_differ)
        return math.log(self.size * others / wrong) / rate

    def select(self, x: Any, y: Any, people: Any = None) -> list[int]:
        """The places of the chosen features, in the order of choice; NaN counts as zero."""
        rows, target = bounded_rows(self.privacy, x, y, people)
        features = rows.shape[1]
        if self.size > features:
            raise InvalidParameter(
                code="parameter_out_of_range",
                expectation=f"a size of at most the {features} features",
                received=self.size,
                remedy="Choose fewer of them.",
            )
        inside = np.nan_to_num(np.clip(rows, -1, 1), nan=0.0)
        aim = np.nan_to_num(np.clip(target, -1, 1), nan=0.0)
        each = np.trunc(aim[:, None] * inside * _STEPS)
        scores = np.abs(sums(each, np.zeros(len(each), dtype=np.int64), 1)[0].astype(np.int64))
        left = list(range(features))
        return [left.pop(self._choice.release(scores[left])) for _ in range(self.size)]
